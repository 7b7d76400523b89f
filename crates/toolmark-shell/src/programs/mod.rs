//! The rules of programs, one file per family. One row of [`FAMILIES`] assigns a program to its
//! family; programs without a row are handled by `unknown`.

#![allow(clippy::collapsible_match, reason = "one arm per program, its condition inside")]

mod agents;
mod archives;
mod backup;
mod carriers;
mod cloud;
mod containers;
mod copies;
mod databases;
mod delete;
mod devices;
mod directory;
mod editors;
mod families;
mod find;
mod frameworks;
mod git;

mod iac;
mod interpreters;
mod kubernetes;
pub(crate) mod launchers;
mod network;
mod other_vcs;
mod packages;
mod permissions;
pub(crate) mod powershell;
pub(crate) mod powershell_text;
mod projects;
mod publish;
mod queues;
mod readers;
mod resources;
mod rows;
mod runners;
mod secret_stores;
mod senders;
mod services;
mod sources;
mod system;
mod tasks;
mod unknown;
mod verbs;
pub(crate) mod windows;
mod writers;
mod xargs;

use crate::catalog::{FamilySource, source};
use crate::expand::Arg;
use crate::lookup::{NameLookup, column};
use crate::run::CommandRun;
use families::FAMILIES;

pub(crate) use git::printed_version;
pub(crate) use git::work_tree::replace_files;
pub(crate) use network::downloads_to_output;
pub(crate) use projects::run_source;
pub(crate) use resources::writes_endlessly;
pub(crate) use runners::suspect;

/// The rules of a program.
type ProgramRules = fn(&mut CommandRun<'_, '_>);

const NAMES: [&[&str]; FAMILIES.len()] = column!(FAMILIES.0, &[] as &[&str]);
static PROGRAMS: NameLookup<2048> = NameLookup::new(&NAMES);

/// Returns the sources of all families.
pub(crate) fn sources() -> Vec<FamilySource> {
    vec![
        source!("agents", &[]),
        source!("archives", &[]),
        source!("backup", &[]),
        source!("carriers", &[]),
        source!("cloud", &[]),
        source!("containers", &[]),
        source!("copies", copies::PROGRAMS),
        source!("databases", &[]),
        source!("delete", delete::PROGRAMS),
        source!("devices", &[]),
        source!("directory", &[]),
        source!("editors", &[]),
        source!("find", &[]),
        source!("frameworks", &[]),
        source!("git/commits", git::commits::PROGRAMS),
        source!("git/mod", git::PROGRAMS),
        source!("git/refs", git::refs::PROGRAMS),
        source!("git/remotes", git::remotes::PROGRAMS),
        source!("git/settings", git::settings::PROGRAMS),
        source!("git/work_tree", git::work_tree::PROGRAMS),
        source!("iac", iac::PROGRAMS),
        source!("interpreters", &[]),
        source!("kubernetes", &[]),
        source!("launchers", &[]),
        source!("network", &[]),
        source!("other_vcs", &[]),
        source!("packages", &[]),
        source!("permissions", &[]),
        source!("powershell", &[]),
        source!("projects", &[]),
        source!("publish", &[]),
        source!("queues", &[]),
        source!("readers", &[]),
        source!("resources", &[]),
        source!("rows/access", &[]),
        source!("rows/clusters", &[]),
        source!("rows/data", &[]),
        source!("rows/exposure", &[]),
        source!("rows/hosting", &[]),
        source!("rows/machines", &[]),
        source!("rows/mobile", &[]),
        source!("rows/registries", &[]),
        source!("runners", &[]),
        source!("secret_stores", &[]),
        source!("senders", &[]),
        source!("services", &[]),
        source!("system", &[]),
        source!("tasks", &[]),
        source!("unknown", &[]),
        source!("windows", &[]),
        source!("writers", writers::PROGRAMS),
        source!("xargs", xargs::PROGRAMS),
    ]
}

/// Returns the names of a family's programs.
pub(crate) fn names_of(id: &str) -> Vec<&'static str> {
    let rows = FAMILIES.iter().filter(|(_, _, file)| *file == id);
    let mut names: Vec<&str> = rows.flat_map(|(names, ..)| *names).copied().collect();
    match id {
        "launchers" => names.extend(launchers::names()),
        "windows" => names.extend(windows::names()),
        "other_vcs" => names.extend(other_vcs::names()),
        "cloud" => names.extend(cloud::NAMES),
        "directory" => names.extend(["cd", "pushd", "popd", "chdir"]),
        id => names.extend(rows::names_of(id)),
    }
    names
}

fn rule(name: &str) -> Option<ProgramRules> {
    let listed = || PROGRAMS.find(name).and_then(|family| FAMILIES.get(family));
    Some(match name {
        "cd" | "pushd" | "popd" | "chdir" => directory::run,
        name if windows::knows(name) && name != "shutdown" => windows::run,
        name if other_vcs::knows(name) => other_vcs::run,
        name if name.starts_with("partclone.") => devices::run,
        name => match listed() {
            Some((_, rule, _)) => *rule,
            None if powershell::is_common(name) => powershell::run,
            None => return None,
        },
    })
}

/// Whether words name a production environment and not a trial one.
fn names_production(args: &[Arg]) -> bool {
    args.iter().any(|arg| {
        let mut words = arg.text.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| {
            matches!(word.to_ascii_lowercase().as_str(), "prod" | "production" | "live")
        })
    })
}

/// Applies the rules of the program.
pub(crate) fn run(run: &mut CommandRun<'_, '_>) {
    let rule =
        match run.name {
            name if name.starts_with("python3.") || name.starts_with("pip3.") => {
                if name.starts_with("pip") {
                    Some(packages::run as ProgramRules)
                } else {
                    Some(interpreters::run as ProgramRules)
                }
            }
            // `lua5.4`, `ruby3.2`, `php8.3`, `node22`
            name if versioned(name).is_some() => Some(interpreters::versioned as ProgramRules),
            name if name.starts_with("mkfs.") || name.starts_with("newfs_") => {
                Some(devices::run as ProgramRules)
            }
            name if name.starts_with("git-") => Some(git::dashed as ProgramRules),
            "deno" | "bun"
                if run.args.first().is_some_and(|arg| {
                    matches!(&*arg.text, "eval" | "run" | "install" | "serve")
                }) && run.args.len() > 1 =>
            {
                interpreters::run(run);
                rule(run.name)
            }
            // Elixir's shell has the name that PowerShell gives to a command.
            "iex"
                if run.args.first().is_some_and(|arg| {
                    matches!(&*arg.text, "-e" | "--eval" | "-S" | "--dot-iex")
                }) =>
            {
                Some(interpreters::run as ProgramRules)
            }
            "truncate" if databases::is_sql(run.args) => Some(databases::bare as ProgramRules),
            name => rule(name),
        };
    system::environment(run);
    system::programs_of_environment(run);
    secret_stores::run(run);
    senders::run(run);
    let has_row = rows::run(run);
    carriers::run(run);
    cloud::upload(run);
    match rule {
        // The text is read as a whole elsewhere, with the quotes and slashes it means.
        Some(_) if run.analyzer.is_powershell && powershell::is_cmdlet(run.name) => {}
        Some(rule) => rule(run),
        None if cloud::knows(run.name) && has_row => {}
        None if cloud::knows(run.name) => cloud::run(run),
        None => {
            unknown::run(run);
            runners::run(run);
        }
    }
    projects::run(run);
}

/// Returns the interpreter for a name with a version suffix.
fn versioned(name: &str) -> Option<&'static str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let known = ["lua", "luajit", "ruby", "php", "node", "perl", "pypy", "erl", "gawk", "tclsh"];
    known.into_iter().find(|own| *own == stem && *own != name)
}

/// Whether a program reads the files that its operands name.
pub(crate) fn reads_operands(name: &str) -> bool {
    matches!(name, "sed" | "gsed" | "sort" | "jq" | "yq")
        || !matches!(name, "open" | "type" | "tr" | "xclip" | "pbcopy")
            && PROGRAMS
                .find(name)
                .and_then(|at| FAMILIES.get(at))
                .is_some_and(|row| row.2 == "readers")
}

/// Whether a program has rules.
pub(crate) fn is_known(name: &str) -> bool {
    rule(name).is_some()
        || cloud::knows(name)
        || matches!(name, "sudo" | "env" | "nice" | "nohup" | "timeout")
}

/// Returns the literal words that are not options.
fn plain_words(args: &[Arg]) -> Vec<&str> {
    args.iter().filter(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.as_str()).collect()
}

/// Whether help or a dry run is requested, in the words that most programs use.
fn only_informs(args: &[Arg]) -> bool {
    let first = args.first().map(|arg| arg.text.as_str());
    first == Some("help")
        || args.last().is_some_and(|arg| matches!(arg.text.as_str(), "--version" | "help" | "-h"))
        || args.iter().any(|arg| {
            let text = arg.text.as_str();
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let rehearses = matches!(
                name,
                "--dry-run"
                    | "--dryrun"
                    | "-dry-run"
                    | "--dry_run"
                    | "--help"
                    | "-help"
                    | "--what-if"
                    | "--whatif"
                    | "--check-only"
                    | "--no-execute"
                    | "--validate-only"
            );
            rehearses && !matches!(value, "none" | "false")
        })
}

/// Runs the test shared by all families: commands that are denied, asked about and allowed.
#[cfg(test)]
pub(crate) fn check(deny: &[&str], ask: &[&str], allow: &[&str]) {
    use crate::{Decision, ShellContext, analyze};
    let mut wrong = Vec::new();
    for (commands, expected) in
        [(deny, Decision::Deny), (ask, Decision::Ask), (allow, Decision::Allow)]
    {
        for command in commands {
            let analysis = analyze(command, &ShellContext::default());
            if analysis.decision != expected {
                wrong.push(format!(
                    "{command}\n    {:?} ({}), not {expected:?}",
                    analysis.decision, analysis.reason
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The family of a program must not depend on the order of the families.
    #[test]
    fn no_program_is_in_two_families() {
        for (at, (names, ..)) in FAMILIES.iter().enumerate() {
            for name in *names {
                assert_eq!(PROGRAMS.find(name), Some(at), "{name}");
                assert!(!other_vcs::knows(name) && !powershell::is_common(name), "{name}");
                assert!(!name.starts_with("partclone."), "{name}");
            }
        }
    }
}
