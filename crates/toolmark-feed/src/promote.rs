//! Conversion of an issue to a case that fails when the issue recurs.

use crate::collect::failure_keys;
use crate::issue::Issue;
use crate::key::IssueKey;
use crate::occurrence::OccurrenceKind;
use serde_json::Value;
use toolmark_check::Checker;
use toolmark_check::promote::{Alike, CallFault, Case, case, case_of_call};
use toolmark_trace::Trajectory;

impl Issue {
    /// Returns the case if this trajectory has the call that represents the issue.
    #[must_use]
    pub fn case_in(&self, session: &Trajectory, root: &Trajectory) -> Option<Case> {
        let shown = self.representative.as_ref()?;
        let index = session.calls.iter().position(|call| {
            let at = call.at.location();
            *at.file == **shown.place.file.raw() && at.byte == shown.place.byte
        })?;
        let description =
            format!("{} (issue {}, session {})", self.title.raw(), self.id, shown.session.raw());
        match self.kind {
            OccurrenceKind::Finding => {
                let findings = Checker::default().check_alone(session).findings;
                let finding = findings.iter().find(|finding| {
                    IssueKey::of_finding(finding).id() == self.id && finding.place == shown.place
                })?;
                let mut case = case(finding, session, root, Alike::Cluster).ok()?;
                case.description = description;
                Some(case)
            }
            OccurrenceKind::Failure => case_of_call(CallFault {
                id: format!("failure-{}", self.id),
                description,
                tag: self.subtype,
                grader: "failure",
                config: self.case.get("config")?.clone(),
                is_shown: fails,
                run: session,
                root,
                index,
            }),
        }
    }
}

/// Whether a call of the run fails as described by the grader's configuration.
fn fails(config: &Value, run: &Trajectory) -> bool {
    let text = |name: &str| config.get(name).and_then(Value::as_str);
    let counts = |key: &IssueKey| match key {
        IssueKey::Failure { role, class, template } => {
            text("class") == Some(class.word())
                && text("role").or(text("tool")).is_none_or(|word| word == role.word())
                && text("template").is_none_or(|wanted| wanted == template)
        }
        IssueKey::Finding { .. } => false,
    };
    let keys = |run: &Trajectory| failure_keys(run, &toolmark_check::Toolsets::default());
    run.flatten().into_iter().any(|run| keys(run).iter().any(|(_, key)| counts(key)))
}
