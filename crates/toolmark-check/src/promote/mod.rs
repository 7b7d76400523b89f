//! Regression cases from findings: the selection of findings, the part of the trace that
//! shows each, the prompts, and the rule itself as the expectation.
//!
//! A case does not compare the arguments of the call with those of a new run: the same fault
//! with other arguments is the same fault.

mod trim;

use crate::fingerprint;
use crate::{Checker, rule_by_code};
use serde_json::{Value, json};
use toolmark_base::SortedSet;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::{Confidence, Finding};
use toolmark_trace::{EventKind, Trajectory};

/// Maximum length of prompts; with longer ones, a case would be larger than its trace.
const MAX_PROMPT_BYTES: usize = 32 << 10;

/// Criterion for similar findings, of which one is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// Same rule.
    Code,
    /// Same rule, tool, bucket and message, in any file.
    Cluster,
    /// Same rule, tool and bucket.
    Bucket,
}

/// Returns the first new finding of each group of similar findings, at most `most`.
#[must_use]
pub fn choose(findings: &[Finding], alike: Alike, most: Option<usize>) -> Vec<&Finding> {
    let mut seen = SortedSet::new();
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

/// A regression case of a finding.
#[derive(Debug)]
pub struct Case {
    /// Id of the case, and name of its trajectory.
    pub id: String,
    /// Description of the fault.
    pub description: String,
    /// Code of the rule.
    pub code: &'static str,
    /// Prompts of the user, one per turn up to the fault; empty if the trace does not record
    /// them.
    pub prompts: Vec<String>,
    /// Working directory of the agent.
    pub workspace: Option<String>,
    /// Grader that fails if the fault is repeated.
    pub grader: &'static str,
    /// Configuration of the grader, which describes the fault.
    pub config: Value,
    /// Part of the trajectory that shows the fault.
    pub run: Trajectory,
    fault: PromotionSubject,
}

/// Subject of a case.
#[derive(Debug)]
enum PromotionSubject {
    Finding(CaseKind),
    /// Another fault, defined by the configuration of its grader.
    Other(IsShown),
}

/// Function that returns whether a grader with this configuration fails on a trajectory.
pub type IsShown = fn(&Value, &Trajectory) -> bool;

/// Kind of findings of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CaseKind {
    code: &'static str,
    tool: String,
    bucket: Option<String>,
    least: Confidence,
}

impl CaseKind {
    fn is_shown_by(&self, run: &Trajectory) -> bool {
        let rules = rule_by_code(self.code).into_iter().collect();
        // Graders only know the built-in toolsets.
        let checker = Checker::new(rules, self.least, Toolsets::default());
        checker.check(run).findings.iter().any(|finding| {
            let bucket = finding.bucket.as_ref().map(|bucket| bucket.raw());
            finding.tool == *self.tool
                && (self.bucket.is_none() || bucket == self.bucket.as_deref())
        })
    }
}

impl Case {
    /// Whether the grader of the case fails on this trajectory.
    #[must_use]
    pub fn is_shown_by(&self, run: &Trajectory) -> bool {
        match &self.fault {
            PromotionSubject::Finding(kind) => kind.is_shown_by(run),
            PromotionSubject::Other(is_shown) => is_shown(&self.config, run),
        }
    }
}

/// A fault of one call that has no rule.
#[derive(Debug)]
pub struct CallFault<'f> {
    /// Id of the case.
    pub id: String,
    /// Description of the fault.
    pub description: String,
    /// Tag of the case.
    pub tag: &'static str,
    /// Grader that fails if the fault is repeated.
    pub grader: &'static str,
    /// Configuration of the grader.
    pub config: Value,
    /// Returns whether the grader fails on a trajectory.
    pub is_shown: IsShown,
    /// Trajectory with the fault, which is `root` or a sub-agent of it.
    pub run: &'f Trajectory,
    /// The whole run.
    pub root: &'f Trajectory,
    /// Index of the call.
    pub index: usize,
}

/// Returns the case for a fault of one call; `None` if the trajectory does not show the
/// fault.
#[must_use]
pub fn case_of_call(fault: CallFault<'_>) -> Option<Case> {
    let CallFault { id, description, tag, grader, config, is_shown, run, root, index } = fault;
    let proof = SortedSet::from([index]);
    let parts = [proof, (0..=index).collect()];
    let parts = parts.iter().map(|kept: &SortedSet<usize>| trim::trimmed(run, &[], kept));
    let mut parts = parts.chain(std::iter::once_with(|| run.clone()));
    let mut shown = parts.find(|part| is_shown(&config, part))?;
    shown.name = Some(id.as_str().into());
    let is_root = std::ptr::eq(run, root);
    Some(Case {
        id,
        description,
        code: tag,
        prompts: prompts(root, is_root.then_some(index)),
        workspace: run.cwd.as_ref().map(|cwd| cwd.get().into_owned()),
        grader,
        config,
        run: shown,
        fault: PromotionSubject::Other(is_shown),
    })
}

/// Reason why a finding has no case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCase {
    /// The finding is about another trajectory.
    Elsewhere,
    /// The rule reports nothing with the tools that a grader knows.
    Unseen,
}

/// Returns the case for a finding and its trajectory, which is `root` or a sub-agent of it.
pub fn case(
    finding: &Finding,
    run: &Trajectory,
    root: &Trajectory,
    alike: Alike,
) -> Result<Case, NoCase> {
    let first = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
    let index = first.map(|call| call.index).ok_or(NoCase::Elsewhere)?;
    let call = run.calls.get(index).ok_or(NoCase::Elsewhere)?;
    let is_about = first.and_then(|call| call.place.as_ref()) == Some(&call.at.location().into())
        && run.id.as_ref().map(|id| id.get()).as_deref()
            == finding.session.as_ref().map(|text| text.raw());
    if !is_about {
        return Err(NoCase::Elsewhere);
    }
    let bucket = finding.bucket.as_ref().filter(|_| alike == Alike::Bucket);
    let kind = CaseKind {
        code: finding.code,
        tool: finding.tool.raw().to_owned(),
        bucket: bucket.map(|bucket| bucket.raw().to_owned()),
        least: finding.confidence.min(Confidence::Medium),
    };
    let mut config = json!({"code": kind.code, "tool": kind.tool, "scope": "all"});
    if let Some(bucket) = &kind.bucket {
        config["bucket"] = bucket.as_str().into();
    }
    if kind.least < Confidence::Medium {
        config["min_confidence"] = kind.least.word().into();
    }
    let id = format!("{}-{}", finding.code.to_ascii_lowercase(), finding.fingerprint);
    let description = format!("{} {}: {}", finding.code, finding.name, finding.message.raw());
    let mut shown = shortest(finding, run, &kind).ok_or(NoCase::Unseen)?;
    shown.name = Some(id.as_str().into());
    let is_root = std::ptr::eq(run, root);
    let prompts = prompts(root, is_root.then_some(index));
    let workspace = run.cwd.as_ref().map(|cwd| cwd.get().into_owned());
    let code = finding.code;
    let (grader, fault) = ("finding", PromotionSubject::Finding(kind));
    Ok(Case { id, description, code, prompts, workspace, grader, config, run: shown, fault })
}

/// Returns the shortest part of a trajectory in which the rule still reports the fault: the
/// calls that prove it, those in between, those before, or all of them.
fn shortest(finding: &Finding, run: &Trajectory, kind: &CaseKind) -> Option<Trajectory> {
    let proof = trim::proof(run, finding);
    let (first, last) = (*proof.first()?, *proof.last()?);
    let parts = [proof, (first..=last).collect(), (0..=last).collect()];
    let places: Vec<_> = finding.evidence.iter().filter_map(|e| e.place.clone()).collect();
    let parts = parts.iter().map(|kept: &SortedSet<usize>| trim::trimmed(run, &places, kept));
    let mut parts = parts.chain(std::iter::once_with(|| run.clone()));
    parts.find(|part| kind.is_shown_by(part))
}

/// Returns the user's messages up to a call; only the first one if there is no call.
fn prompts(run: &Trajectory, call: Option<usize>) -> Vec<String> {
    let mut prompts = Vec::new();
    for event in &run.events {
        if event.starts_turn() {
            let Some(text) = event.text.as_ref().map(|text| text.plain().into_owned()) else {
                break;
            };
            prompts.push(text);
        }
        let is_call = matches!(event.kind, EventKind::Call(at) if Some(at as usize) == call);
        if is_call || (call.is_none() && !prompts.is_empty()) {
            break;
        }
    }
    let bytes: usize = prompts.iter().map(String::len).sum();
    if bytes > MAX_PROMPT_BYTES { Vec::new() } else { prompts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, rule_by_code};
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::Confidence;
    use toolmark_session::notation;

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
        let one = |code: &str| {
            let finding = checked.findings.iter().find(|finding| finding.code == code).unwrap();
            case(finding, &run, &run, Alike::Cluster).unwrap()
        };
        let again = one("S101");
        assert_eq!(again.config, json!({"code": "S101", "tool": "Read", "scope": "all"}));
        assert_eq!(again.run.calls.len(), 2);
        assert_eq!(again.run.calls.iter().map(|c| c.step).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!(again.prompts, ["tidy up", "and now"]);
        assert_eq!(again.workspace.as_deref(), Some("/w"));
        let edit = one("A202");
        assert!(edit.run.calls.len() < run.calls.len());
        assert_eq!(edit.run.user_turns, 1);
        assert!(!edit.config.to_string().contains("two"), "no argument is part of the case");
        let finding = checked.findings.iter().find(|finding| finding.code == "A202").unwrap();
        let of_bucket = case(finding, &run, &run, Alike::Bucket).unwrap();
        assert_eq!(of_bucket.config["bucket"], finding.bucket.as_ref().unwrap().raw());
        let other = notation::parse("Glob {\"pattern\":\"*\"} -> \"\"\n").unwrap();
        assert_eq!(case(finding, &other, &other, Alike::Code).unwrap_err(), NoCase::Elsewhere);
    }

    /// Every finding of an example is still reported in the trimmed trace.
    #[test]
    fn what_is_kept_shows_the_fault() {
        for rule in crate::RULES {
            for example in rule.examples() {
                let run = notation::parse(&example.trace).unwrap();
                let checker = Checker::new(vec![rule], Confidence::Medium, Toolsets::default());
                for session in run.flatten() {
                    for finding in checker.check_alone(session).findings {
                        let case = case(&finding, session, &run, Alike::Bucket).unwrap();
                        assert!(case.is_shown_by(&case.run), "{}: {}", rule.code, example.trace);
                    }
                }
            }
        }
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
