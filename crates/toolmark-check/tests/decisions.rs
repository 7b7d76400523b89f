//! Tests with commands of the shared sessions that were labelled by people: certain
//! destruction is stopped, and hardly anything else.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use toolmark_check::Checker;
use toolmark_testing::find_shared;
use toolmark_trace::{ReadOptions, read_path};

#[test]
fn what_destroys_beyond_doubt_is_stopped() {
    let Some(shared) = find_shared("sessions") else { return };
    let events = fs::read_to_string(shared.join("events.jsonl")).unwrap();
    // By file: the ids of calls, and whether they destroy.
    let mut labelled: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let is = |key: &str, word: &str| event[key] == word;
        if is("kind", "state_change") && is("tool", "Bash") && is("sure", "clear") {
            let text = |key: &str| event[key].as_str().unwrap().to_owned();
            let calls = labelled.entry(text("file")).or_default();
            calls.push((text("call_id"), is("label", "destructive")));
        }
    }
    let checker = Checker::default().keep_sessions();
    let (mut right, mut missed, mut wrong) = (0, Vec::new(), Vec::new());
    for (file, calls) in &labelled {
        let path = shared.join("files").join(format!("{file}.zst"));
        let mut stopped = BTreeSet::new();
        for run in read_path(&path, &ReadOptions::default()).unwrap() {
            let stops = checker.check(&run).decisions.stops;
            stopped.extend(
                stops.iter().filter_map(|stop| Some(stop.call.id.as_ref()?.raw().to_owned())),
            );
        }
        for (id, destroys) in calls {
            match (destroys, stopped.contains(id)) {
                (true, true) => right += 1,
                (true, false) => missed.push(format!("{file} {id}")),
                (false, true) => wrong.push(format!("{file} {id}")),
                (false, false) => {}
            }
        }
    }
    assert!(right > 0 && missed.is_empty(), "{right} of {}: {missed:?}", right + missed.len());
    // Of the calls that are stopped, 85 in 100 destroy something; one more may be wrong, for
    // there are only a few.
    assert!(wrong.len() <= 1 + right * 15 / 85, "{right} right, wrong: {wrong:?}");
}
