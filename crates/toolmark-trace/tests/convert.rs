//! Checks that an exporter's output is read as the same run, apart from declared losses.
//!
//! Every target is written from every shared trajectory and from a hand-built one, and read
//! again by its content alone. Parts that the target cannot represent are in its [`Losses`];
//! everything else must be equal.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Cursor;
use toolmark_testing::{assert_compared, find_traces};
use toolmark_trace::{
    Call, EXPORTERS, EventKind, Exporter, Losses, Payload, ReadOptions, Trajectory, TrajectoryPart,
    Usage, read, read_path,
};

/// Format of the output of each target.
const READ_AS: &[(&str, &str)] = &[
    ("toolmark", "toolmark"),
    ("atif", "atif"),
    ("vally", "vally"),
    ("agentv", "agentv-transcript"),
    ("openai", "openai-chat"),
    ("otlp", "otlp-json"),
];

/// Maximum number of runs used of a file, spread over the file.
const MAX_RUNS: usize = 6;

fn spread(runs: Vec<Trajectory>) -> Vec<Trajectory> {
    let every = runs.len().div_ceil(MAX_RUNS).max(1);
    runs.into_iter().step_by(every).collect()
}

#[test]
fn every_shared_trajectory_survives_every_target() {
    let Some(files) = find_traces() else { return };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for file in files {
        let Ok(runs) = read_path(&file, &ReadOptions::default()) else { continue };
        for run in spread(runs.collect()) {
            for exporter in EXPORTERS {
                checked += 1;
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                wrong.extend(differences(*exporter, &run).into_iter().map(|difference| {
                    format!("{} {name} [{}] {difference}", exporter.info().id, run.format)
                }));
            }
        }
    }
    assert_compared(checked, 3_200, "conversions");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_run_with_one_of_everything_survives_every_target() {
    let text = include_str!("fixtures/readers/toolmark.jsonl");
    let mut runs = read(text.as_bytes(), "everything", &ReadOptions::default()).unwrap();
    let run = runs.next().unwrap();
    let mut wrong = Vec::new();
    for exporter in EXPORTERS {
        let differences = differences(*exporter, &run).into_iter();
        wrong.extend(differences.map(|difference| format!("{} {difference}", exporter.info().id)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the differences after `run` is written and read again.
fn differences(exporter: &dyn Exporter, run: &Trajectory) -> Vec<String> {
    let mut bytes = Vec::new();
    let losses = exporter.export(run, &mut bytes).unwrap();
    let mut read = match read(Cursor::new(bytes), "written", &ReadOptions::default()) {
        Ok(read) => read,
        Err(error) => return vec![error.to_string()],
    };
    let target = exporter.info().id;
    let format = read.format().info().id;
    let expected = READ_AS.iter().find(|(id, _)| *id == target).unwrap().1;
    if format != expected {
        return vec![format!("is taken for {format}")];
    }
    let runs: Vec<Trajectory> = read.by_ref().collect();
    if read.skipped() > 0 {
        return vec![format!("{} skipped: {}", read.skipped(), read.diagnostics()[0].message)];
    }
    let [back] = runs.as_slice() else { return vec![format!("{} runs", runs.len())] };
    let kept = |run: &'_ Trajectory| {
        losses.count(TrajectoryPart::SubAgents) == 0 && !run.children.is_empty()
    };
    let (before, after) =
        if kept(run) { (run.flatten(), back.flatten()) } else { (vec![run], vec![back]) };
    let mut differences = Vec::new();
    if before.len() != after.len() {
        return vec![format!("{} runs in the tree, now {}", before.len(), after.len())];
    }
    for (before, after) in before.into_iter().zip(after) {
        let mut compared = Compared { losses: &losses, differences: Vec::new() };
        compared.run(before, after);
        differences.append(&mut compared.differences);
    }
    differences
}

struct Compared<'a> {
    losses: &'a Losses,
    differences: Vec<String>,
}

impl Compared<'_> {
    fn lost(&self, part: TrajectoryPart) -> bool {
        self.losses.count(part) > 0
    }

    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, before: T, after: T) {
        if before != after {
            let cut = |value: &T| format!("{value:?}").chars().take(160).collect::<String>();
            self.differences.push(format!("{what}: {} became {}", cut(&before), cut(&after)));
        }
    }

    fn run(&mut self, before: &Trajectory, after: &Trajectory) {
        self.same("user turns", before.user_turns, after.user_turns);
        if !self.lost(TrajectoryPart::OrphanResults) {
            self.same("orphans", before.orphans, after.orphans);
        }
        if !self.lost(TrajectoryPart::RunId) && before.id.is_some() {
            self.same("id", before.id.as_ref(), after.id.as_ref());
        }
        if !self.lost(TrajectoryPart::Usage) && !self.lost(TrajectoryPart::AbsentUsage) {
            let counts = |usage: &Option<Usage>| self.counts(usage.as_ref());
            let (before, after) = (counts(&before.usage), counts(&after.usage));
            self.same("tokens", before, after);
        }
        for (part, what, before, after) in [
            (TrajectoryPart::Name, "name", &before.name, &after.name),
            (TrajectoryPart::Outcome, "outcome", &before.outcome, &after.outcome),
            (TrajectoryPart::WorkingDirectory, "working directory", &before.cwd, &after.cwd),
        ] {
            if !self.lost(part) && before.is_some() {
                self.same(what, before.as_ref(), after.as_ref());
            }
        }
        if !self.lost(TrajectoryPart::Cost) {
            self.same("cost", before.cost, after.cost);
        }
        self.events(before, after);
        let name = |call: &Call| call.name.full().into_owned();
        let names = |run: &Trajectory| run.calls.iter().map(name).collect::<Vec<_>>();
        if before.calls.len() != after.calls.len() {
            return self.same("calls", names(before), names(after));
        }
        for (i, (before, after)) in before.calls.iter().zip(&after.calls).enumerate() {
            self.call(i, before, after);
        }
    }

    /// Compares the number of events of each kind.
    fn events(&mut self, before: &Trajectory, after: &Trajectory) {
        for (part, kind) in [
            (Some(TrajectoryPart::Reasoning), EventKind::Reasoning),
            (Some(TrajectoryPart::Skills), EventKind::Skill),
            (Some(TrajectoryPart::Compactions), EventKind::Compaction),
            (Some(TrajectoryPart::Errors), EventKind::Error),
            (None, EventKind::Context),
        ] {
            let count = |run: &Trajectory| run.events.iter().filter(|e| e.kind == kind).count();
            let joined = self.lost(TrajectoryPart::Boundaries)
                || self.lost(TrajectoryPart::WithheldReasoning);
            if !part.is_some_and(|part| self.lost(part)) && !joined {
                self.same(kind.word(), count(before), count(after));
            }
        }
    }

    /// Returns the counts in one convention, without those that the target cannot hold.
    fn counts(&self, usage: Option<&Usage>) -> Option<Vec<u64>> {
        let usage = usage?;
        let n = usage.normalised();
        let mut counts = vec![n.output, n.cache_read];
        if self.lost(TrajectoryPart::CacheWrites) {
            counts.push(n.uncached_input + n.cache_write);
        } else {
            counts.extend([n.uncached_input, n.cache_write]);
        }
        if !self.lost(TrajectoryPart::ReasoningTokens) {
            counts.push(n.reasoning);
        }
        if !self.lost(TrajectoryPart::StatedTotal) {
            counts.push(usage.total());
        }
        Some(counts)
    }

    fn call(&mut self, index: usize, before: &Call, after: &Call) {
        let what = |field: &str| format!("call {index} {field}");
        self.same(&what("name"), before.name.full(), after.name.full());
        if before.id.as_ref().is_some_and(|id| !id.is_empty()) {
            self.same(&what("id"), before.id.as_ref(), after.id.as_ref());
        }
        let value = |args: &Option<Payload>| args.as_ref().map(Payload::to_value);
        if before.args.is_some() || !self.lost(TrajectoryPart::AbsentArguments) {
            self.same(&what("arguments"), value(&before.args), value(&after.args));
        }
        self.same(&what("is answered"), before.result.is_some(), after.result.is_some());
        let payload = |call: &'_ Call| call.result.as_ref().and_then(|r| r.payload.clone());
        let text = |p: &Option<Payload>| p.as_ref().map(|p| p.plain().into_owned());
        let (was, is) = (payload(before), payload(after));
        // JSON may have become text, and may have lost its white space.
        if value(&was) != value(&is) {
            let is_empty = |p: &Option<Payload>| p.as_ref().is_none_or(|p| p.raw().is_empty());
            if !(is_empty(&was) && is_empty(&is)) {
                self.same(&what("result"), text(&was), text(&is));
            }
        }
        let is_lost = before.result.is_none() && self.lost(TrajectoryPart::UnansweredStatus);
        if !is_lost && !self.lost(TrajectoryPart::Status(before.status)) {
            self.same(&what("status"), before.status, after.status);
        }
        if !self.lost(TrajectoryPart::ExitCodes) {
            self.same(&what("exit code"), before.exit_code, after.exit_code);
        }
        if !self.lost(TrajectoryPart::Actors) {
            self.same(&what("actor"), before.actor, after.actor);
        }
        if !self.lost(TrajectoryPart::Levels) && !is_lost {
            self.same(&what("level"), before.level, after.level);
        }
        if !self.lost(TrajectoryPart::Namespaces) {
            let namespace = |call: &Call| call.name.namespace.clone();
            self.same(&what("namespace"), namespace(before), namespace(after));
        }
        if !self.lost(TrajectoryPart::Spawned) && before.spawned.is_some() {
            self.same(&what("spawned"), before.spawned.as_ref(), after.spawned.as_ref());
        }
    }
}
