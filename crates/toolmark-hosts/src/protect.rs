//! Files that must not be changed unnoticed: the settings and hooks of every host, and
//! toolmark's own files.

use crate::{HOSTS, MovedBy, Paths, own};
use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;
use toolmark_shell::{Protected, Protection};

/// Returns the files that are protected on every machine.
#[must_use]
pub fn protected() -> &'static [Protected<'static>] {
    static ALL: LazyLock<Vec<Protected<'static>>> = LazyLock::new(|| {
        let of_hosts = HOSTS.iter().filter_map(|host| host.paths).flat_map(|paths| {
            let because = |because| move |path: &&'static str| Protected { path, because };
            let settings = paths.settings.iter().map(because(Protection::Settings));
            let lasting = paths.lasting.iter().map(because(Protection::Lasting));
            let credentials = paths.credentials.iter().map(because(Protection::Credentials));
            settings.chain(lasting).chain(credentials)
        });
        let of = |because| move |path: &&'static str| Protected { path, because };
        let own = own::PROTECTED.iter().map(of(Protection::Policy));
        let project = own::PROJECT_POLICIES.iter().map(of(Protection::ProjectPolicy));
        own.chain(project).chain(of_hosts).collect()
    });
    &ALL
}

/// Returns the absolute paths of host settings whose directory is overridden by an
/// environment variable on this machine.
#[must_use]
pub fn moved_settings(variable: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
    let moved = |paths: &'static Paths| {
        let Some(MovedBy::Directory(name)) = paths.moved_by else { return None };
        let directory = variable(name).filter(|value| Path::new(value).is_absolute())?;
        Some((paths, directory.into_string().ok()?))
    };
    let moved = HOSTS.iter().filter_map(|host| moved(host.paths?));
    let settings = moved.flat_map(|(paths, directory)| {
        let inside = move |path: &&'static str| {
            let rest = path.strip_prefix(paths.directory)?.strip_prefix('/')?;
            Some(format!("{}/{rest}", directory.trim_end_matches('/')))
        };
        paths.settings.iter().filter_map(inside)
    });
    settings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hooks_of_every_host_are_protected() {
        for paths in HOSTS.iter().filter_map(|host| host.paths) {
            for hooks in [
                format!("{}/{}", paths.directory, paths.user_hooks),
                paths.project_hooks.to_owned(),
            ] {
                let context =
                    toolmark_shell::ShellContext { protected: protected(), ..Default::default() };
                let judged = toolmark_shell::analyze_write(&hooks, &context);
                assert_eq!(judged.decision, toolmark_shell::Decision::Deny, "{hooks}");
            }
        }
    }

    #[test]
    fn a_variable_moves_what_is_protected() {
        let variable = |name: &str| (name == "CODEX_HOME").then(|| "/x/codex/".into());
        let moved = moved_settings(variable);
        assert!(moved.contains(&"/x/codex/hooks*".to_owned()), "{moved:?}");
        assert!(moved_settings(|_| None).is_empty());
        assert!(moved_settings(|_| Some("relative".into())).is_empty());
    }
}
