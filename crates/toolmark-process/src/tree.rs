//! Descendants of a process: found in `/proc`, and signalled without mistaking a process
//! that reused an ID.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Identity of a process, which distinguishes it from a later one with the same ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    id: i32,
    started: u64,
}

/// Sends a signal to every process below `root`, but not to `root` itself. Returns the
/// number of processes.
pub(crate) fn signal_below(root: i32, signal: Signal) -> usize {
    let below = below(root);
    below.iter().for_each(|process| send(*process, signal));
    below.len()
}

/// Kills every process whose environment holds this assignment (`NAME=value`).
pub(crate) fn kill_marked(assignment: &[u8]) -> usize {
    let mut killed = 0;
    for (process, _) in all() {
        let environ = fs::read(format!("/proc/{}/environ", process.id)).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|one| one == assignment) {
            send(process, Signal::KILL);
            killed += 1;
        }
    }
    killed
}

fn send(process: Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.id) else { return };
    // The handle belongs to the process that has the ID now. It is signalled only if it
    // is still the process that was found; a process that has ended needs no signal.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if read(process.id).is_some_and(|(now, _)| now == process) {
        let _ = pidfd_send_signal(handle, signal);
    }
}

/// Returns every process below `root`.
fn below(root: i32) -> BTreeSet<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for (process, parent) in all() {
        children.entry(parent).or_default().push(process);
    }
    let mut found = BTreeSet::new();
    let mut todo = vec![root];
    while let Some(parent) = todo.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if found.insert(*child) {
                todo.push(child.id);
            }
        }
    }
    found
}

/// Returns every process that is not a zombie, with the ID of its parent.
fn all() -> Vec<(Process, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn read(id: i32) -> Option<(Process, i32)> {
    let stat = fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")).ok()?;
    parse(id, &stat)
}

/// Parses `pid (name) state parent …`, where the name may contain any character.
fn parse(id: i32, stat: &str) -> Option<(Process, i32)> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    (state != "Z").then_some((Process { id, started }, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let stat = |name: &str, state: &str| {
            format!("7 ({name}) {state} 3 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4321 0 0")
        };
        let process = Process { id: 7, started: 4321 };
        assert_eq!(parse(7, &stat("a) S 1 (b", "S")), Some((process, 3)));
        assert_eq!(parse(7, &stat("gone", "Z")), None);
        assert_eq!(parse(7, "7 (x"), None);
    }

    #[test]
    fn we_are_below_our_parent() {
        let own = i32::try_from(std::process::id()).unwrap();
        let (_, parent) = read(own).unwrap();
        assert!(below(parent).iter().any(|process| process.id == own));
    }
}
