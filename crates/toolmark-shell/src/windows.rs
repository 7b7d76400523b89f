//! Paths with a drive letter: `C:\work\a.txt`, with either kind of slash and in any case.

use crate::ShellContext;
use crate::effects::EffectScope;
use crate::paths::{PathLocation, is_artefact};

/// Whether a path begins with a drive.
pub(crate) fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), None | Some(b'\\' | b'/'))
}

/// Returns `D:/x` for the spellings of the same path in other shells: `/d/x`, `/mnt/d/x` and
/// `/cygdrive/d/x`.
fn with_drive(path: &str) -> Option<String> {
    let start = ["/mnt/", "/cygdrive/", "/"].into_iter().find(|start| path.starts_with(start))?;
    let rest = path.get(start.len()..)?;
    let (drive, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let is_drive = drive.len() == 1 && drive.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_drive.then(|| format!("{}:/{rest}", drive.to_ascii_uppercase()))
}

/// Returns a path in the spelling of the directory in which the session runs; `None` if it is
/// spelled so already, or is not on a drive.
pub(crate) fn respelled(session: &str, path: &str) -> Option<String> {
    if has_drive(session) {
        return if path.starts_with('/') { with_drive(path) } else { None };
    }
    if !has_drive(path) {
        return None;
    }
    let session = session.trim_end_matches('/');
    let known = with_drive(session)?;
    let start =
        session.get(..session.len().checked_sub(known.get(2..)?.trim_end_matches('/').len())?)?;
    let is_same = path.get(..1)?.eq_ignore_ascii_case(known.get(..1)?);
    is_same.then(|| format!("{start}{}", path.get(2..).unwrap_or_default().replace('\\', "/")))
}

/// Returns the path with forward slashes and without `.` and `..`.
pub(crate) fn normalise(cwd: &str, path: &str) -> String {
    let joined = if has_drive(path) { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => {
                parts.pop();
            }
            ".." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Determines the location of a path.
pub(crate) fn place(context: &ShellContext<'_>, cwd: &str, path: &str) -> PathLocation {
    let full = normalise(cwd, path);
    let lower = full.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('/').skip(1).collect();
    let roots =
        context.roots.iter().copied().chain(context.cwd.filter(|_| context.roots.is_empty()));
    let roots = roots.map(|root| with_drive(root).unwrap_or_else(|| root.to_owned()));
    let tree = roots.filter(|root| has_drive(root)).find_map(|root| {
        let root = normalise("", &root);
        let rest = lower.strip_prefix(&root.to_ascii_lowercase())?;
        let rest = full.get(full.len() - rest.len()..)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/').to_owned())
    });
    let is_temp = lower.contains("/appdata/local/temp/")
        || matches!(parts.as_slice(), ["temp" | "tmp", _, ..] | ["windows", "temp", _, ..]);
    let (scope, whole) = match (&tree, parts.as_slice()) {
        _ if is_temp => (EffectScope::Temp, false),
        (Some(rest), _) if rest.split('/').any(|part| part == ".git") => {
            (EffectScope::VcsMetadata, rest == ".git")
        }
        (Some(rest), [_, _, ..]) if is_artefact(rest) => (EffectScope::TreeArtefact, false),
        (Some(rest), [_, _, ..]) => (EffectScope::TreeUntracked, rest.is_empty()),
        (_, [] | ["users"]) => (EffectScope::System, true),
        (_, ["users", _]) => (EffectScope::Home, true),
        (_, ["users", ..]) => (EffectScope::Home, false),
        (_, ["windows" | "program files" | "program files (x86)" | "programdata", rest @ ..]) => {
            (EffectScope::System, rest.is_empty())
        }
        _ => (EffectScope::Outside, parts.len() < 2),
    };
    let display = tree.filter(|rest| !rest.is_empty() && !is_temp).unwrap_or_else(|| full.clone());
    PathLocation { display, path: full, scope, whole, through_link: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path() {
        for (session, path, want) in [
            ("D:\\work", "/d/work/x", Some("D:/work/x")),
            ("D:\\work", "/mnt/d/work/x", Some("D:/work/x")),
            ("D:\\work", "/cygdrive/c/x", Some("C:/x")),
            ("D:\\work", "/dev/null", None),
            ("D:\\work", "D:\\work\\x", None),
            ("/d/work", "D:\\work\\x", Some("/d/work/x")),
            ("/mnt/d/work", "d:/work/x", Some("/mnt/d/work/x")),
            ("/mnt/d/work", "C:/work/x", None),
            ("/home/me", "/d/work/x", None),
            ("/home/me", "D:\\x", None),
        ] {
            assert_eq!(respelled(session, path).as_deref(), want, "{session} {path}");
        }
        for (session, command) in [
            ("D:\\work", "rm -rf /d/work/build; echo x > /mnt/d/work/a"),
            ("D:\\work", "cd /d/work/sub && echo x > a"),
            ("D:\\work", "echo x > /c/Users/me/AppData/Local/Temp/scratch/a"),
            ("/d/work", "echo x > D:/work/a"),
        ] {
            let context = ShellContext { cwd: Some(session), ..ShellContext::default() };
            let found = crate::analyze(command, &context);
            assert_eq!(found.decision, crate::Decision::Allow, "{command}: {:?}", found.effects);
        }
        let context = ShellContext { cwd: Some("D:\\work"), ..ShellContext::default() };
        assert_ne!(crate::analyze("rm -rf /d/other", &context).decision, crate::Decision::Allow);
    }

    #[test]
    fn scopes() {
        let context = ShellContext { cwd: Some("C:\\Users\\me\\app"), ..ShellContext::default() };
        for (path, scope, shown) in [
            ("src\\a.ts", EffectScope::TreeUntracked, "src/a.ts"),
            ("c:/users/ME/app/dist", EffectScope::TreeArtefact, "dist"),
            ("C:\\Users\\me\\app\\.git\\config", EffectScope::VcsMetadata, ".git/config"),
            ("..\\other\\x", EffectScope::Home, "C:/Users/me/other/x"),
            (
                "C:\\Users\\me\\AppData\\Local\\Temp\\x",
                EffectScope::Temp,
                "C:/Users/me/AppData/Local/Temp/x",
            ),
            ("C:\\Windows\\System32", EffectScope::System, "C:/Windows/System32"),
            ("D:\\", EffectScope::System, "D:"),
            ("D:\\data\\x", EffectScope::Outside, "D:/data/x"),
        ] {
            let place = context.place(Some(&context.start()), path);
            assert_eq!((place.scope, place.display.as_str()), (scope, shown), "{path}");
        }
    }
}
