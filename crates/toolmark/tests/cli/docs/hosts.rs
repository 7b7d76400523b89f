//! The tables of hosts in the pages, generated from the list of hosts.
//!
//! A line `<!-- hosts: NAME -->` precedes each table.

use super::{keep, page};
use std::path::Path;
use toolmark_hosts::install::{Environment, HostSettings, SettingsScope, ids};
use toolmark_hosts::{HOSTS, Paths};

/// Returns the page with these rows in the table below a marker.
fn with_table(text: &str, name: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mark = format!("<!-- hosts: {name} -->\n");
    let (before, rest) = text.split_once(&mark).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{before}{mark}{}{rule}{rows}\n{after}", line(&head))
}

fn paths(host: &str) -> &'static Paths {
    toolmark_hosts::by_id(host).unwrap().paths.unwrap()
}

/// Formats texts as inline code.
fn code<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let all: Vec<String> = texts.into_iter().map(|text| format!("`{text}`")).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

/// The events that the guard subscribes to in a host.
fn events(host: &str) -> String {
    let nowhere = Path::new("/nowhere");
    let environment =
        Environment { home: nowhere.into(), project: nowhere.into(), variable: |_| None };
    let binary = Path::new("/bin/toolmark");
    let settings = HostSettings::new(host, SettingsScope::User, &environment, binary).unwrap();
    let text = settings.install().unwrap().after.unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    code(value["hooks"].as_object().unwrap().keys().map(String::as_str))
}

#[test]
fn where_the_guard_is_installed_and_what_it_protects() {
    let hooks: Vec<Vec<String>> = ids()
        .map(|host| {
            let paths = paths(host);
            let mut user = format!("`~/{}/{}`", paths.directory, paths.user_hooks);
            if let Some(moved) = paths.moved_by {
                user.push_str(&format!(" (`{}`)", moved.variable()));
            }
            vec![format!("`{host}`"), user, code([paths.project_hooks]), events(host)]
        })
        .collect();
    let hosts = HOSTS.iter().filter_map(|host| Some((host, host.paths?)));
    let protected: Vec<Vec<String>> = hosts
        .map(|(host, paths)| {
            let lists = [paths.settings, paths.lasting, paths.credentials];
            let lists = lists.map(|list| code(list.iter().copied()));
            [vec![format!("`{}`", host.id)], lists.into()].concat()
        })
        .collect();
    let name = "docs/guard-hosts.md";
    let head = ["host", "`--scope user`", "`--scope project`", "events"];
    let text = with_table(&page(name), "hooks", &head, &hooks);
    let head = ["host", "settings and hooks", "followed by later sessions", "keys and tokens"];
    keep(name, &with_table(&text, "protected", &head, &protected));
}

#[test]
fn where_sessions_lie() {
    let hosts = HOSTS.iter().filter_map(|host| Some((host, host.paths?)));
    let rows: Vec<Vec<String>> = hosts
        .filter_map(|(host, paths)| {
            let folder = format!("~/{}/{}", paths.directory, paths.sessions.as_ref()?.folder);
            let moved = code(paths.moved_by.map(|moved| moved.variable()));
            Some(vec![format!("`{}`", host.id), code([folder.as_str()]), moved])
        })
        .collect();
    let name = "docs/commands/show.md";
    keep(name, &with_table(&page(name), "sessions", &["agent", "folder", "moved by"], &rows));
}

#[test]
fn which_agents_can_be_run() {
    use toolmark_hosts::launch::SessionTrace;
    let hosts = HOSTS.iter().filter_map(|host| Some((host, host.launch?)));
    let rows: Vec<Vec<String>> = hosts
        .clone()
        .map(|(host, launch)| {
            let trace = match launch.session {
                SessionTrace::File { folder, .. } => code([format!("~/{folder}").as_str()]),
                SessionTrace::Stream => "its stream".to_owned(),
            };
            let turns = if launch.resumes { "yes" } else { "no" };
            let passes = code(launch.passes.iter().copied());
            let id = format!("`{}`", host.id);
            vec![id, code([launch.program]), launch.tried.into(), trace, turns.into(), passes]
        })
        .collect();
    let name = "docs/running.md";
    let head = ["agent", "program", "tried with", "trace", "several turns", "passed on"];
    let text = with_table(&page(name), "agents", &head, &rows);
    let mark = "<!-- agents: remarks -->\n";
    let (before, rest) = text.split_once(mark).unwrap();
    let (_, after) = rest.split_once("\nThe prompt goes to stdin.").unwrap();
    let remarks: String =
        hosts.map(|(host, launch)| format!("- `{}`: {}\n", host.id, launch.remarks)).collect();
    keep(name, &format!("{before}{mark}{remarks}\nThe prompt goes to stdin.{after}"));
}
