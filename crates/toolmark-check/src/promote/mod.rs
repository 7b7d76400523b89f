//! Findings as regression cases: which ones, the part of the trace that shows
//! them, and an expectation that the trace does not meet.

mod trim;

use crate::fingerprint;
use crate::session::{Session, SessionCall};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::{Axis, Finding};
use toolmark_trace::Trajectory;

/// An argument that takes more bytes is not asked about: other arguments tell
/// the call.
const LARGE: usize = 2000;

/// Of which findings one is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// Those of one rule.
    Code,
    /// Those of one rule and tool that say the same.
    Cluster,
    /// Those of one rule, tool and bucket.
    Bucket,
}

/// The first of each group of like findings that are new, at most so many.
#[must_use]
pub fn choose(findings: &[Finding], alike: Alike, most: Option<usize>) -> Vec<&Finding> {
    let mut seen = BTreeSet::new();
    let key = |finding: &Finding| match alike {
        Alike::Code => finding.code.to_owned(),
        Alike::Cluster => fingerprint::cluster(finding),
        Alike::Bucket => fingerprint::of(&[
            finding.code,
            finding.tool.raw(),
            finding.bucket.as_ref().map(|text| text.raw()).unwrap_or_default(),
        ]),
    };
    let new = findings.iter().filter(|finding| finding.is_new());
    new.filter(|finding| seen.insert(key(finding))).take(most.unwrap_or(usize::MAX)).collect()
}

/// A finding as a case.
#[derive(Debug)]
pub struct Case {
    /// Its id, and the name of its trajectory.
    pub id: String,
    /// What went wrong.
    pub description: String,
    /// The rule.
    pub code: &'static str,
    /// What must not happen again, as the configuration of an `expect` grader.
    pub expect: Value,
    /// The part of the trajectory that shows it.
    pub run: Trajectory,
}

/// The case of a finding, made from the trajectory it is about; `None` where the
/// finding is about another one.
#[must_use]
pub fn case(finding: &Finding, run: &Trajectory, toolsets: &Toolsets) -> Option<Case> {
    let index = finding.evidence.first()?.call.as_ref()?.index;
    let is_about = finding.place == run.calls.get(index)?.at.location().into()
        && run.id.as_ref().map(|id| id.get()).as_deref()
            == finding.session.as_ref().map(|text| text.raw());
    if !is_about {
        return None;
    }
    let session = Session::new(run, toolsets);
    let call = session.calls().iter().find(|call| call.index == index)?;
    let made = |index: usize| session.calls().iter().find(|call| call.index == index);
    let others = finding.evidence.iter().skip(1).filter_map(|e| made(e.call.as_ref()?.index));
    let repeats = others.into_iter().find(|other| is_repeated(other, call));
    let wanted = condition(call, finding.axis);
    let expect = match repeats {
        // Once was right, and again was not.
        Some(_) => json!({"forbidden_sequences": [[wanted, wanted]]}),
        None => json!({"forbidden": [wanted]}),
    };
    let id = format!("{}-{}", finding.code.to_ascii_lowercase(), finding.fingerprint);
    let description = format!("{} {}: {}", finding.code, finding.name, finding.message.raw());
    let mut run = trim::trimmed(run, finding);
    run.name = Some(id.as_str().into());
    Some(Case { id, description, code: finding.code, expect, run })
}

/// Is `call` made after `other`, in another response, and the same?
fn is_repeated(other: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
    other.index < call.index
        && (other.call.step != call.call.step || call.call.step.is_none())
        && other.tool == call.tool
        && other.args().is_some()
        && other.args() == call.args()
}

/// What tells the call from others: the tool and the arguments that matter.
fn condition(call: &SessionCall<'_>, axis: Axis) -> Value {
    let name = call.call.name.original.get();
    let Some(Value::Object(args)) = call.args() else { return json!({"tool": name}) };
    let decisive: Vec<&str> = match call.spec {
        // Any of the arguments may be what is wrong with them.
        Some(tool) if axis != Axis::Arguments => {
            let keys = [
                &tool.path,
                &tool.content,
                &tool.old,
                &tool.new,
                &tool.edits,
                &tool.patch,
                &tool.command,
                &tool.pattern,
                &tool.offset,
                &tool.limit,
            ];
            keys.iter().flat_map(|keys| keys.names()).collect()
        }
        _ => Vec::new(),
    };
    let small = |value: &Value| value.to_string().len() <= LARGE;
    let pick = |wanted: &dyn Fn(&String) -> bool| -> Map<String, Value> {
        let kept = args.iter().filter(|(key, value)| wanted(key) && small(value));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let mut picked = pick(&|key| decisive.contains(&key.as_str()));
    if picked.is_empty() {
        picked = pick(&|_| true);
    }
    if picked.is_empty() {
        return json!({"tool": name});
    }
    json!({"tool": name, "args": picked})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, notation, rule_by_code};
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::Confidence;

    const TRACE: &str = "user: tidy up\n\
        Glob {\"pattern\":\"*\"} -> \"a.rs\"\n\
        Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
        user: and now\n\
        Grep {\"pattern\":\"x\"} -> \"\"\n\
        Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
        Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
        Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
        Edit {\"file_path\":\"/w/a.rs\",\"old_string\":\"two\",\"new_string\":\"2\"} !> \"String to replace not found in file.\"\n";

    #[test]
    fn cases_hold_what_is_needed() {
        let run = notation::parse(TRACE).unwrap();
        let mut checked = Checker::default().check(&run);
        checked.sort();
        let toolsets = Toolsets::default();
        let one = |code: &str| {
            let finding = checked.findings.iter().find(|finding| finding.code == code).unwrap();
            case(finding, &run, &toolsets).unwrap()
        };
        let again = one("S101");
        let read = json!({"tool": "Read", "args": {"file_path": "/w/a.rs"}});
        assert_eq!(again.expect, json!({"forbidden_sequences": [[read, read]]}));
        assert_eq!(again.run.calls.len(), 2);
        assert_eq!(again.run.calls.iter().map(|c| c.step).collect::<Vec<_>>(), [Some(0), Some(1)]);
        let edit = one("A202");
        assert_eq!(edit.expect["forbidden"][0]["args"]["old_string"], "two");
        assert!(edit.run.calls.len() < run.calls.len());
        assert_eq!(edit.run.user_turns, 1);
    }

    #[test]
    fn one_of_a_kind_is_enough() {
        let run = notation::parse(TRACE).unwrap();
        let rules = ["S101", "A202"].into_iter().filter_map(rule_by_code).collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
        let mut findings = checker.check(&run).findings;
        let count = |findings: &[Finding], alike, most| choose(findings, alike, most).len();
        assert_eq!(findings.len(), 4);
        assert_eq!(count(&findings, Alike::Code, None), 2);
        assert_eq!(count(&findings, Alike::Bucket, None), 2);
        assert_eq!(count(&findings, Alike::Cluster, Some(1)), 1);
        findings.iter_mut().for_each(|finding| finding.new = Some(false));
        assert_eq!(count(&findings, Alike::Code, None), 0, "what is known is no new case");
    }
}
