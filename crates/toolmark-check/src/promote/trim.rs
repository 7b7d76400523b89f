//! Trims a trajectory to the part that shows a finding: the calls that prove it, the messages
//! around them, and the prompts that they answer.

use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::{Finding, TracePlace};
use toolmark_trace::{Event, EventKind, Move, Stated, Step, Trajectory};

/// Returns the calls that the finding refers to.
pub(super) fn proof(run: &Trajectory, finding: &Finding) -> SortedSet<usize> {
    let indices = finding.evidence.iter().filter_map(|e| Some(e.call.as_ref()?.index));
    indices.filter(|index| *index < run.calls.len()).collect()
}

/// Returns a trajectory with only these calls and the records at these positions.
pub(super) fn trimmed(
    run: &Trajectory,
    places: &[TracePlace],
    kept: &SortedSet<usize>,
) -> Trajectory {
    let numbers: SortedMap<usize, u32> = (0..).zip(kept).map(|(n, at)| (*at, n)).collect();
    let steps: SortedSet<u32> = kept.iter().filter_map(|at| run.calls.get(*at)?.step).collect();
    let new_step: SortedMap<u32, u32> = (0..).zip(&steps).map(|(n, at)| (*at, n)).collect();
    let (events, turns) = events(run, places, &numbers, &new_step);
    let calls = kept.iter().filter_map(|at| run.calls.get(*at)).cloned().map(|mut call| {
        call.step = call.step.and_then(|step| new_step.get(&step).copied());
        call.spawned = None;
        call
    });
    let calls: Vec<_> = calls.collect();
    let step = |(at, n): (&u32, &u32)| -> Option<Step> {
        let step = run.steps.get(*at as usize)?.clone();
        Some(Step { turn: turns.get(n).copied().unwrap_or(0), ..step })
    };
    let names: SortedSet<_> = calls.iter().map(|call| call.name.original.get()).collect();
    let tools = run.tools.as_ref().map(|tools| {
        tools.iter().filter(|tool| names.contains(&tool.name.get())).cloned().collect()
    });
    drop(names);
    let moves = run.moves.iter().map(|moved| Move {
        call: kept.iter().filter(|at| **at < moved.call).count(),
        to: moved.to.clone(),
    });
    let moves = moves.collect();
    Trajectory {
        format: run.format,
        file: run.file.clone(),
        id: run.id.clone(),
        name: run.name.clone(),
        agent: run.agent.clone(),
        parent: None,
        cwd: run.cwd.clone(),
        moves,
        moves_recorded: run.moves_recorded,
        started: run.started,
        ended: run.ended,
        user_turns: events.iter().filter(|event| event.starts_turn()).count() as u32,
        events,
        calls,
        steps: new_step.iter().filter_map(step).collect(),
        orphans: 0,
        failed_orphans: 0,
        repeated_results: 0,
        usage: None,
        cost: None,
        tools,
        children: Vec::new(),
        outcome: None,
        declared: None,
        stated: Stated::default(),
        relayed: run.relayed,
        fidelity: run.fidelity,
        completeness: run.completeness.clone(),
    }
}

/// Returns the kept events, and the turn of each kept step.
fn events(
    run: &Trajectory,
    places: &[TracePlace],
    numbers: &SortedMap<usize, u32>,
    new_step: &SortedMap<u32, u32>,
) -> (Vec<Event>, SortedMap<u32, u32>) {
    let is_proof =
        |event: &Event| !places.is_empty() && places.contains(&event.at.location().into());
    let (mut kept, mut turns) = (Vec::new(), SortedMap::new());
    let (mut asked, mut turn): (Option<&Event>, u32) = (None, 0);
    for event in &run.events {
        let step = event.step.and_then(|step| new_step.get(&step)).copied();
        let kind = match &event.kind {
            EventKind::User if event.starts_turn() => {
                asked = Some(event);
                continue;
            }
            EventKind::Call(at) => numbers.get(&(*at as usize)).map(|n| EventKind::Call(*n)),
            EventKind::Result(at) => numbers.get(&(*at as usize)).map(|n| EventKind::Result(*n)),
            kind @ (EventKind::Message | EventKind::Reasoning) if step.is_some() => {
                Some(kind.clone())
            }
            kind => is_proof(event).then(|| kind.clone()),
        };
        let Some(kind) = kind else { continue };
        // The user's message is kept with the first event that answers it.
        if let Some(words) = asked.take() {
            kept.push(Event { step: None, ..words.clone() });
            turn += 1;
        }
        if let Some(step) = step {
            turns.entry(step).or_insert(turn);
        }
        kept.push(Event { kind, step, ..event.clone() });
    }
    (kept, turns)
}
