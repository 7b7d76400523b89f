//! Detects graders that cannot fail.
//!
//! A grader that always passes proves nothing. [`probe`] takes a
//! trajectory that passes, changes it in many small ways (a call is dropped,
//! repeated, renamed, given another argument or result, made to fail, or
//! exchanged with its neighbour; an available tool is called; the answer
//! is replaced; everything takes many more calls, tokens, time and money) and runs
//! every grader again. Graders that no change makes fail are reported, part by part if
//! a grader has parts.

use crate::grader::AnswerCost;
use crate::plan::{Case, Planned};
use serde_json::Value;
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::Environment;
use toolmark_outcome::{Outcome, Verdict};
use toolmark_trace::{
    Actor, At, Call, Event, EventKind, Location, Payload, Status, StatusLevel, ToolName, Trajectory,
};

/// Maximum number of changes of one kind; if there are more possible places, they are sampled
/// evenly.
const OF_A_KIND: usize = 60;

/// Maximum number of arguments changed per call, one at a time.
const ARGUMENTS: usize = 4;

/// Maximum number of calls in all changed trajectories together, to bound time and memory.
const MAX_CALLS: usize = 4_000_000;

/// Number of times all calls are repeated to simulate too many calls.
const FLOOD: usize = 12;

/// Factor applied to the resource usage of a run to simulate waste.
const WASTE: u64 = 1_000_000;

/// Replacement text.
const OTHER: &str = "toolmark-probe";

/// Result of probing a grader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuousGrader {
    /// Name of the grader.
    pub grader: String,
    /// Part of the grader, in its own wording; `None` for the whole grader.
    pub item: Option<String>,
    /// Kind of result.
    pub kind: FindingKind,
    /// Description.
    pub words: String,
}

/// Kinds of a [`VacuousGrader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// No change made the grader fail.
    CannotFail,
    /// The grader was not probed: it runs a program, calls a judge, or did not pass.
    NotProbed,
}

/// Returns the graders that cannot fail on this trajectory. `tools` are available tools in
/// addition to those that the trajectory records.
#[must_use]
pub fn probe(
    case: &Case,
    trajectory: &Trajectory,
    environment: &Environment,
    tools: &SortedSet<String>,
) -> Vec<VacuousGrader> {
    let mut probes: Vec<GraderProbe<'_>> = Vec::new();
    let mut findings = Vec::new();
    for planned in &case.graders {
        let whole = |kind, words: String| VacuousGrader {
            grader: planned.name.clone(),
            item: None,
            kind,
            words,
        };
        let taxonomy = planned.info.taxonomy;
        if planned.asks_judge() || matches!(taxonomy.cost, AnswerCost::Medium | AnswerCost::High) {
            let words = "it runs a program or asks a judge and was not asked again".into();
            findings.push(whole(FindingKind::NotProbed, words));
            continue;
        }
        let outcome = planned.ask(&case.context, trajectory, environment);
        if outcome.verdict != Verdict::Pass {
            let words = format!("it did not pass to begin with: {}", outcome.reason.raw());
            findings.push(whole(FindingKind::NotProbed, words));
            continue;
        }
        probes.push(GraderProbe::new(planned, &outcome));
    }
    let mut tried = 0;
    for mutant in mutants(trajectory, tools) {
        if probes.iter().all(GraderProbe::is_done) {
            break;
        }
        let changed = mutant.apply(trajectory);
        tried += 1;
        for probe in probes.iter_mut().filter(|probe| !probe.is_done()) {
            probe.look(&probe.planned.ask(&case.context, &changed, environment));
        }
    }
    findings.extend(probes.into_iter().flat_map(|probe| probe.findings(tried)));
    findings
}

/// A grader that is being probed.
struct GraderProbe<'p> {
    planned: &'p Planned,
    has_failed: bool,
    /// Parts that passed and have not failed yet: text, and index among the parts with the same
    /// text.
    parts: SortedSet<(String, usize)>,
}

impl<'p> GraderProbe<'p> {
    fn new(planned: &'p Planned, outcome: &Outcome) -> Self {
        let parts = verdicts(outcome).into_iter().filter(|(_, verdict)| *verdict == Verdict::Pass);
        Self { planned, has_failed: false, parts: parts.map(|(part, _)| part).collect() }
    }

    fn is_done(&self) -> bool {
        self.has_failed && self.parts.is_empty()
    }

    fn look(&mut self, outcome: &Outcome) {
        self.has_failed |= outcome.verdict == Verdict::Fail;
        let now = verdicts(outcome);
        // A part that is missing was replaced by another.
        self.parts.retain(|part| now.get(part).is_some_and(|verdict| *verdict != Verdict::Fail));
    }

    fn findings(self, tried: usize) -> Vec<VacuousGrader> {
        let cannot = |item: Option<String>| VacuousGrader {
            grader: self.planned.name.clone(),
            item,
            kind: FindingKind::CannotFail,
            words: format!("none of {tried} changes to the run made it fail"),
        };
        match self.has_failed {
            false => vec![cannot(None)],
            true => self.parts.iter().map(|(text, _)| cannot(Some(text.clone()))).collect(),
        }
    }
}

fn verdicts(outcome: &Outcome) -> SortedMap<(String, usize), Verdict> {
    let mut seen: SortedMap<&str, usize> = SortedMap::new();
    let mut all = SortedMap::new();
    for part in &outcome.parts {
        let number = seen.entry(part.text.raw()).or_default();
        all.insert((part.text.raw().to_owned(), *number), part.verdict);
        *number += 1;
    }
    all
}

/// One small change.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mutant {
    DropAll,
    Answer,
    Insert(String),
    Flood,
    Waste,
    Drop(usize),
    Argument(usize, String),
    NewArgument(usize),
    Rename(usize),
    Fail(usize),
    Result(usize),
    Swap(usize),
    Repeat(usize),
    Slow(usize),
}

/// Returns the changes to make, the most informative first.
fn mutants(trajectory: &Trajectory, tools: &SortedSet<String>) -> Vec<Mutant> {
    let calls = trajectory.calls.len();
    let all: Vec<usize> = (0..calls).collect();
    let places = |most: usize| -> Vec<usize> {
        let step = calls.div_ceil(most).max(1);
        all.iter().copied().step_by(step).collect()
    };
    let mut list = vec![Mutant::DropAll, Mutant::Answer, Mutant::Insert(OTHER.to_owned())];
    list.extend([Mutant::Flood, Mutant::Waste]);
    let mut tools = tools.clone();
    tools.extend(trajectory.tools.iter().flatten().map(|tool| tool.name.get().into_owned()));
    list.extend(tools.into_iter().take(OF_A_KIND).map(Mutant::Insert));
    list.extend(places(OF_A_KIND).into_iter().map(Mutant::Drop));
    for at in places(OF_A_KIND) {
        let args = trajectory.calls[at].args.as_ref().and_then(Payload::parsed);
        let keys = args.and_then(Value::as_object).into_iter().flat_map(|args| args.keys());
        list.extend(keys.take(ARGUMENTS).map(|key| Mutant::Argument(at, key.clone())));
    }
    list.extend(places(OF_A_KIND).into_iter().map(Mutant::Rename));
    list.extend(places(OF_A_KIND).into_iter().filter(|at| at + 1 < calls).map(Mutant::Swap));
    for kind in [Mutant::Fail, Mutant::Result, Mutant::Repeat, Mutant::Slow, Mutant::NewArgument] {
        list.extend(places(OF_A_KIND / 2).into_iter().map(kind));
    }
    list.truncate(MAX_CALLS / calls.max(1) + 3);
    list
}

impl Mutant {
    fn apply(&self, trajectory: &Trajectory) -> Trajectory {
        let mut run = trajectory.clone();
        // What the source states of the whole would contradict the change.
        run.stated.calls = None;
        match self {
            Self::DropAll => {
                run.calls.clear();
                run.events.retain(|e| !matches!(e.kind, EventKind::Call(_) | EventKind::Result(_)));
            }
            Self::Answer => replace_answer(&mut run),
            Self::Insert(tool) => insert(&mut run, tool),
            Self::Flood => flood(&mut run),
            Self::Waste => waste(&mut run),
            Self::Drop(at) => drop_call(&mut run, *at),
            Self::Swap(at) => swap(&mut run, *at),
            Self::Repeat(at) => repeat(&mut run, *at),
            Self::Argument(at, key) => {
                change_call(&mut run, *at, |call| change_argument(call, key))
            }
            Self::NewArgument(at) => {
                change_call(&mut run, *at, |call| set_argument(call, OTHER, Value::from(OTHER)));
            }
            Self::Rename(at) => change_call(&mut run, *at, |call| {
                call.name = ToolName::new(OTHER);
            }),
            Self::Fail(at) => change_call(&mut run, *at, |call| call.status = Status::Failed),
            Self::Result(at) => change_call(&mut run, *at, |call| {
                if let Some(result) = &mut call.result {
                    result.payload = Some(Payload::value(&Value::from(OTHER)));
                }
            }),
            Self::Slow(at) => change_call(&mut run, *at, |call| {
                let hour = jiff::SignedDuration::from_hours(1);
                call.duration = call.duration.map(|duration| duration.saturating_add(hour));
            }),
        }
        run
    }
}

fn change_call(run: &mut Trajectory, at: usize, change: impl FnOnce(&mut Call)) {
    if let Some(call) = run.calls.get_mut(at) {
        change(call);
    }
}

fn change_argument(call: &mut Call, key: &str) {
    let args = call.args.as_ref().and_then(Payload::parsed);
    let other = match args.and_then(|args| args.get(key)) {
        Some(Value::Bool(flag)) => Value::from(!flag),
        Some(Value::Number(number)) => {
            Value::from(number.as_f64().map_or(-1.0, |number| -number - 1_000_003.0))
        }
        Some(Value::String(text)) if text == OTHER => Value::from(""),
        _ => Value::from(OTHER),
    };
    set_argument(call, key, other);
}

fn set_argument(call: &mut Call, key: &str, value: Value) {
    let mut args = match call.args.as_ref().map(Payload::to_value) {
        Some(Value::Object(args)) => args,
        Some(_) => return,
        None => serde_json::Map::new(),
    };
    args.insert(key.to_owned(), value);
    call.args = Some(Payload::value(&Value::Object(args)));
}

fn replace_answer(run: &mut Trajectory) {
    let other = || Some(Payload::value(&Value::from(OTHER)));
    for event in &mut run.events {
        if event.kind == EventKind::Message {
            event.text = other();
        }
    }
    if run.stated.output.is_some() {
        run.stated.output = other();
    }
}

/// Appends a call of another tool.
fn insert(run: &mut Trajectory, tool: &str) {
    let name = ToolName::new(tool);
    let call = match run.calls.last() {
        Some(last) => Call { name, step: None, ..last.clone() },
        None => first_call(run, name),
    };
    add(run, run.calls.len(), call);
}

/// Creates a call for a run without calls.
fn first_call(run: &Trajectory, name: ToolName) -> Call {
    let place = Location { file: Arc::clone(&run.file), line: 1, column: 1, byte: 0 };
    Call {
        id: None,
        name,
        args: Some(Payload::value(&Value::Object(serde_json::Map::new()))),
        result: None,
        status: Status::Succeeded,
        level: StatusLevel::Protocol,
        exit_code: None,
        started: None,
        duration: None,
        duration_stated: false,
        step: None,
        actor: Actor::Agent,
        agent: None,
        spawned: None,
        at: At::recorded(&place),
    }
}

/// Repeats every call many times, beyond any limit that leaves some room.
fn flood(run: &mut Trajectory) {
    let mut again = run.calls.clone();
    if again.is_empty() {
        again.push(first_call(run, ToolName::new(OTHER)));
    }
    for _ in 0..FLOOD.min(MAX_CALLS / again.len().max(1)) {
        for call in &again {
            let call = Call { step: None, ..call.clone() };
            run.events.push(event_of(run.calls.len() as u32, &call));
            run.calls.push(call);
        }
    }
}

/// Multiplies the resource usage of a run beyond any limit that leaves some room.
fn waste(run: &mut Trajectory) {
    let more = |count: u64| count.saturating_mul(WASTE).saturating_add(WASTE);
    if let Some(usage) = &mut run.usage {
        usage.recorded.input = more(usage.recorded.input);
        usage.recorded.output = more(usage.recorded.output);
        usage.stated_total = usage.stated_total.map(more);
    }
    if let Some(cost) = &mut run.cost {
        cost.nano_usd = cost.nano_usd.saturating_mul(WASTE as i64).saturating_add(WASTE as i64);
    }
    let year = jiff::SignedDuration::from_hours(24 * 365);
    run.stated.duration = run.stated.duration.map(|duration| duration.saturating_add(year));
    run.ended = run.ended.and_then(|ended| ended.checked_add(year).ok());
}

fn repeat(run: &mut Trajectory, at: usize) {
    if let Some(call) = run.calls.get(at).cloned() {
        add(run, at + 1, call);
    }
}

fn drop_call(run: &mut Trajectory, at: usize) {
    run.calls.remove(at);
    let at = at as u32;
    run.events.retain(|event| match event.kind {
        EventKind::Call(index) | EventKind::Result(index) => index != at,
        _ => true,
    });
    renumber(run, |index| if index > at { index - 1 } else { index });
}

fn event_of(index: u32, call: &Call) -> Event {
    Event {
        kind: EventKind::Call(index),
        text: None,
        time: None,
        step: call.step,
        at: call.at.clone(),
        label: None,
    }
}

/// Inserts a call at this index.
fn add(run: &mut Trajectory, at: usize, call: Call) {
    let index = at as u32;
    renumber(run, |other| if other >= index { other + 1 } else { other });
    let event = event_of(index, &call);
    let before = index.checked_sub(1);
    let place = run.events.iter().position(|event| match (&event.kind, before) {
        (EventKind::Call(other), Some(before)) => *other == before,
        _ => false,
    });
    run.events.insert(place.map_or(run.events.len(), |place| place + 1), event);
    run.calls.insert(at, call);
}

/// Exchanges a call with the next one, including their steps.
fn swap(run: &mut Trajectory, at: usize) {
    if at + 1 >= run.calls.len() {
        return;
    }
    run.calls.swap(at, at + 1);
    let step = run.calls[at].step;
    run.calls[at].step = run.calls[at + 1].step;
    run.calls[at + 1].step = step;
}

fn renumber(run: &mut Trajectory, number: impl Fn(u32) -> u32) {
    for event in &mut run.events {
        match &mut event.kind {
            EventKind::Call(index) | EventKind::Result(index) => *index = number(*index),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Match;
    use crate::testing::OWN;
    use serde_json::json;
    use toolmark_outcome::testing::{runs, vally};
    use toolmark_outcome::{CaseContext, CaseScoring, Profile, SpecPlace};

    fn case(graders: &[(&str, Value)]) -> Case {
        let graders = graders.iter().map(|(id, config)| Planned {
            name: (*id).into(),
            type_word: (*id).into(),
            info: OWN.0.by_id(id).unwrap(),
            profile: Profile::Toolmark,
            weight: 1.0,
            required: false,
            min_score: None,
            negate: false,
            turn: None,
            grader: OWN.build(id, Profile::Toolmark, config).unwrap(),
            place: SpecPlace::default(),
        });
        Case {
            id: "c".into(),
            tags: SortedMap::new(),
            matches: Match::default(),
            context: Arc::new(CaseContext::default()),
            graders: graders.collect(),
            scoring: CaseScoring::default(),
            trials: None,
            run: crate::run_plan::RunSettings::default(),
            target: None,
            place: SpecPlace::default(),
        }
    }

    fn run(tools: &[&str]) -> Trajectory {
        let mut events = vec![("user_message", json!({"content": "go"}))];
        for (n, tool) in tools.iter().enumerate() {
            let id = format!("c{n}");
            events.extend([
                ("turn_start", json!({"turnId": id})),
                ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": {"x": n}})),
                ("tool_result", json!({"toolCallId": id, "success": true, "result": "ok"})),
                ("turn_end", json!({"turnId": id})),
            ]);
        }
        events.push(("assistant_message", json!({"content": "done"})));
        runs(&vally(&events)).remove(0)
    }

    fn found(graders: &[(&str, Value)], tools: &[&str]) -> Vec<(Option<String>, FindingKind)> {
        let offered = SortedSet::from(["offered".to_owned()]);
        let findings = probe(&case(graders), &run(tools), &Environment::default(), &offered);
        findings.into_iter().map(|finding| (finding.item, finding.kind)).collect()
    }

    #[test]
    fn what_can_fail_is_not_reported() {
        for config in [
            json!({"sequence": ["a", "b"]}),
            json!({"calls": [{"tool": "a", "args": {"x": 0}}, "b"]}),
            json!({"sequence": [{"tool": "a", "where": {"x": {"range": {"max": 5}}}}, "b"]}),
            json!({"calls": [{"tool": "b", "status": "succeeded"}]}),
            json!({"calls": [{"tool": "b", "result": "ok"}]}),
            json!({"calls": [{"tool": "b", "duration": {"max": "5s"}}]}),
            json!({"only": ["a", "b"]}),
            json!({"sequence": ["a", "b"], "extras": "forbid"}),
            json!({"calls": [{"tool": "a", "count": {"max": 1}}]}),
            json!({"calls": [{"tool": "a", "count": {"max": 6}}]}),
            json!({"calls": ["a"], "forbidden": ["offered"]}),
            json!({"never": [{"call": "b", "before": "a"}]}),
            json!({"forbidden_sequences": [["b", "a"]]}),
            json!({"calls": [{"tool": "a", "args": {"x": 0}, "args_match": "exact"}]}),
        ] {
            assert_eq!(found(&[("expect", config.clone())], &["a", "b"]), [], "{config}");
        }
    }

    #[test]
    fn what_cannot_fail_is() {
        let optional = json!({"sequence": [{"tool": "a", "optional": true}]});
        assert_eq!(found(&[("expect", optional)], &["a", "b"]), [(None, FindingKind::CannotFail)]);
        // The one that can fail does not hide the one that cannot.
        let mixed = json!({"calls": ["a"], "forbidden": ["rm"]});
        assert_eq!(
            found(&[("expect", mixed)], &["a", "b"]),
            [(Some("never `rm`".into()), FindingKind::CannotFail)]
        );
        // A run without calls has nothing to take away.
        assert_eq!(found(&[("expect", json!({"none": true}))], &[]), []);
        // Any of several calls will do: dropping one is not enough.
        let any = json!({"calls": ["*"]});
        assert_eq!(found(&[("expect", any)], &["a", "b"]), [], "without any call it fails");
    }

    #[test]
    fn what_does_not_pass_is_not_probed() {
        let missing = json!({"calls": ["z"]});
        let findings = found(&[("expect", missing)], &["a"]);
        assert_eq!(findings, [(None, FindingKind::NotProbed)]);
    }

    #[test]
    fn changed_runs_stay_whole() {
        let original = run(&["a", "b", "c"]);
        let offered = SortedSet::from(["offered".to_owned()]);
        let kinds = mutants(&original, &offered);
        assert_eq!(kinds, mutants(&original, &offered), "the same every time");
        for mutant in kinds {
            let changed = mutant.apply(&original);
            let calls = changed.calls.len() as u32;
            let mut listed = Vec::new();
            for event in &changed.events {
                match event.kind {
                    EventKind::Call(index) => listed.push(index),
                    EventKind::Result(index) => assert!(index < calls, "{mutant:?}"),
                    _ => {}
                }
            }
            assert_eq!(listed, (0..calls).collect::<Vec<_>>(), "{mutant:?}");
        }
        let many: Vec<&str> = vec!["a"; 5000];
        assert!(mutants(&run(&many), &offered).len() < 1000);
    }
}
