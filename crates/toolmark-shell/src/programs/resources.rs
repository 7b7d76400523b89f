//! Commands that exhaust the machine: full disks, unbounded memory and processes.
//!
//! ```asked
//! fallocate -l 900G x
//! stress-ng --vm 8 --vm-bytes 200% --timeout 0
//! dd if=/dev/zero of=/var/tmp/fill bs=1M
//! dd if=/dev/urandom of=big bs=1G count=500
//! yes > fill
//! cat /dev/zero > fill
//! head -c 900G /dev/zero > fill
//! ```
//! ```allowed
//! fallocate -l 1G /tmp/disk.img
//! dd if=/dev/zero of=/tmp/test.img bs=1M count=100
//! stress-ng --version
//! yes | head -3
//! yes | apt-get update
//! head -c 32 /dev/urandom > key.bin
//! head -c 1M /dev/urandom | base64 > x.txt
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::program::Program;
use crate::run::CommandRun;

/// Size limit in bytes, larger than the free space of most disks.
const MUCH: u64 = 50 << 30;

/// Returns the number of bytes of `50G`, `1MiB` or `4096`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let shift = match unit.chars().next().map(|c| c.to_ascii_lowercase()) {
        None | Some('b' | 'c') => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        Some('p') => 50,
        Some('e') => 60,
        _ => return None,
    };
    number.checked_mul(1 << shift).or(Some(u64::MAX))
}

/// Whether a size is larger than a command should allocate on disk at once.
fn is_much(text: &str) -> bool {
    bytes(text).is_some_and(|bytes| bytes >= MUCH)
}

fn is_endless_source(path: &str) -> bool {
    matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/full")
}

fn fills(run: &mut CommandRun<'_, '_>) {
    run.ask(EffectKind::StopService, &run.line(), EffectScope::System, "fills the disk");
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if super::only_informs(run.args) || run.args.iter().any(|arg| arg.text == "-V") {
        return;
    }
    match run.name {
        "fallocate" => {
            let grammar = Program::open("l= o= length= offset=");
            if grammar.parse(run.args).value("l", "length").is_some_and(is_much) {
                fills(run);
            }
        }
        "stress" | "stress-ng" => {
            if !run.args.is_empty() {
                let why = "uses up what the machine has";
                run.ask(EffectKind::StopService, &run.line(), EffectScope::System, why);
            }
        }
        "sysbench" | "fio" => {
            let sizes = run.args.iter().filter_map(|arg| arg.text.split_once("size="));
            if sizes.into_iter().any(|(_, size)| is_much(size)) {
                fills(run);
            }
        }
        _ => {}
    }
}

/// Reports a `dd` that copies an unbounded source, or very much data, into a file.
pub(super) fn dd(run: &mut CommandRun<'_, '_>) {
    let value = |key: &str| {
        run.args.iter().rev().find_map(|arg| arg.text.strip_prefix(key)).map(str::to_owned)
    };
    let block = value("bs=").and_then(|text| bytes(&text)).unwrap_or(512);
    let much = match value("count=").map(|text| bytes(&text)) {
        None => true,
        Some(count) => count.is_some_and(|count| count.saturating_mul(block) >= MUCH),
    };
    if much && value("if=").is_some_and(|path| is_endless_source(&path)) {
        fills(run);
    }
}

/// Whether a command writes without an end, or very much.
pub(crate) fn writes_endlessly(name: &str, args: &[Arg]) -> bool {
    let reads_endless = || args.iter().any(|arg| is_endless_source(&arg.text));
    let bound = || {
        let grammar = Program::open("c= n= bytes= lines=");
        grammar.parse(args).value("c", "bytes").map(str::to_owned)
    };
    match name {
        "yes" => true,
        "cat" | "tac" | "tr" | "base64" | "xxd" | "od" | "hexdump" | "rev" | "pv" => {
            reads_endless()
        }
        "head" => reads_endless() && bound().is_some_and(|size| is_much(&size)),
        _ => false,
    }
}

impl crate::analyze::Analyzer<'_> {
    /// Reports output to a file whose size, judging by the command's words, is unbounded or very
    /// large.
    pub(crate) fn report_endless(&mut self, call: &crate::analyze::CommandContext, name: &str) {
        let (kind, scope, level) =
            (EffectKind::StopService, EffectScope::System, Reversibility::R3);
        let why = "fills the disk";
        self.push(call, name, kind, "the disk", scope, level, Certainty::Likely, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn sizes() {
        for (text, want) in
            [("4096", Some(4096)), ("1k", Some(1024)), ("50GiB", Some(MUCH)), ("x", None)]
        {
            assert_eq!(bytes(text), want, "{text}");
        }
    }
}
