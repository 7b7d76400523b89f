//! Collection of the occurrences in a trajectory.

use crate::class::{Classified, FailedCall, classify};
use crate::key::IssueKey;
use crate::occurrence::{
    About, Batch, Occurrence, OccurrenceExample, OccurrenceKind, Rank, Recovery, SessionOrigin,
};
use crate::role::{command_of, tool_role};
use crate::salient::printed;
use crate::subject::{self, Subject};
use crate::template::{cut, first_value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toolmark_check::{CallCost, Checker, calls_by_response};
use toolmark_hosts::toolset::{ToolRole, Toolsets};
use toolmark_outcome::{Axis, Finding};
use toolmark_session::error_class::{self, is_failed};
use toolmark_session::session::{Session, SessionCall};
use toolmark_trace::{RecordedCalls, Status, Trajectory};

/// Maximum length of an excerpt of a call or its error.
const MAX_EXCERPT: usize = 400;

/// Maximum number of calls searched for an outer span.
const MAX_NEIGHBOURS: usize = 64;

/// Minimum length of an error that is compared; shorter ones occur in every text.
const MIN_ERROR: usize = 12;

/// A collector of occurrences.
pub struct Collector {
    checker: Checker,
    has_failures: bool,
    has_findings: bool,
}

impl Collector {
    /// Creates a collector of occurrences of this kind, or of both; findings come from the rules of
    /// the checker.
    #[must_use]
    pub fn new(checker: Checker, only: Option<OccurrenceKind>) -> Self {
        Self {
            checker,
            has_failures: only != Some(OccurrenceKind::Finding),
            has_findings: only != Some(OccurrenceKind::Failure),
        }
    }

    /// Adds the occurrences of a run and its sub-agents.
    pub fn collect(&self, run: &Trajectory, batch: &mut Batch) {
        let all = run.flatten();
        let wrappers = wrappers(&all);
        for (n, one) in all.iter().enumerate() {
            batch.sessions += u64::from(n == 0);
            batch.calls += one.calls.len() as u64;
            batch.unrecorded += u64::from(one.calls_recorded() == RecordedCalls::Not);
            self.collect_alone(one, run, &wrappers, batch);
        }
    }

    fn collect_alone(
        &self,
        run: &Trajectory,
        root: &Trajectory,
        wrappers: &HashSet<(usize, usize)>,
        batch: &mut Batch,
    ) {
        let session = Session::new(run, self.checker.toolsets());
        let has_failed =
            self.has_failures && session.calls().iter().any(|call| is_failure(call).is_some());
        if !has_failed && !self.has_findings {
            return;
        }
        let mut one = Collecting {
            session: &session,
            toolsets: self.checker.toolsets(),
            in_response: calls_by_response(&session),
            ids: call_ids(run),
            origin: batch.origins.len(),
            batch,
        };
        one.batch.origins.push(origin(&session, root));
        if has_failed {
            let address = std::ptr::from_ref(run) as usize;
            one.failures(|index| wrappers.contains(&(address, index)));
        }
        if self.has_findings {
            for finding in self.checker.check_session(&session).findings {
                one.finding(&finding);
            }
        }
    }
}

/// Returns the result of a failed call, and whether it was interrupted; `None` if it did not fail.
fn is_failure<'c>(call: &'c SessionCall<'_>) -> Option<(Cow<'c, str>, bool)> {
    let is_interrupted = call.call.status == Status::Interrupted;
    if !is_interrupted && !is_failed(call) {
        return None;
    }
    let text = call.result();
    // An interrupted call without a result gives no reason.
    match (is_interrupted, text) {
        (true, None) => None,
        (_, text) => Some((text.unwrap_or_default(), is_interrupted)),
    }
}

/// Returns the IDs of calls; a repeated ID is made unique.
fn call_ids(run: &Trajectory) -> Vec<String> {
    let mut used: HashMap<String, u32> = HashMap::new();
    let ids = run.calls.iter().enumerate().map(|(index, call)| {
        let id = call.id.as_ref().map(|id| id.get().into_owned());
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("#{}", index + 1));
        let times = used.entry(id.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{id}#{times}") } else { id }
    });
    ids.collect()
}

fn origin(session: &Session<'_>, root: &Trajectory) -> SessionOrigin {
    let run = session.trajectory();
    let text = |text: &Option<toolmark_trace::Text>| -> Option<Arc<str>> {
        text.as_ref().map(|text| text.get().as_ref().into())
    };
    let project = session.project().roots().first().map(|root| Arc::from(root.as_str()));
    // Sub-agents are versions of what started them.
    let version = text(&run.agent.version).or_else(|| text(&root.agent.version));
    SessionOrigin {
        session: text(&run.id).or_else(|| text(&root.id)).unwrap_or_else(|| run.file.clone()),
        file: run.file.clone(),
        project: project.or_else(|| text(&run.cwd)).or_else(|| text(&root.cwd)),
        model: text(&run.agent.model).or_else(|| text(&root.agent.model)),
        agent: text(&root.agent.name).unwrap_or_else(|| run.format.into()),
        version,
        host: session.host().id.as_ref().into(),
        started: root.started.or(run.started),
    }
}

struct Collecting<'s, 'a, 'b> {
    session: &'s Session<'a>,
    toolsets: &'s Toolsets,
    in_response: HashMap<u32, u64>,
    ids: Vec<String>,
    origin: usize,
    batch: &'b mut Batch,
}

impl Collecting<'_, '_, '_> {
    fn failures(&mut self, is_wrapper: impl Fn(usize) -> bool) {
        let verdicts: HashMap<usize, Recovery> = self
            .session
            .failures()
            .iter()
            .filter(|failure| failure.asks && failure.masked.is_none())
            .map(|failure| (failure.at, failure.verdict.into()))
            .collect();
        for (at, call) in self.session.calls().iter().enumerate() {
            let Some((text, is_interrupted)) = is_failure(call) else { continue };
            if is_wrapper(call.index) {
                continue;
            }
            let recovery = verdicts.get(&at).copied().unwrap_or(Recovery::NotAsked);
            self.failure(at, call, &text, is_interrupted, recovery);
        }
    }

    fn failure(
        &mut self,
        at: usize,
        call: &SessionCall<'_>,
        text: &str,
        is_interrupted: bool,
        recovery: Recovery,
    ) {
        with_failed(call, text, is_interrupted, self.toolsets, |failed, classified| {
            let key = IssueKey::of_failure(failed, classified);
            let path = call.path.as_deref().map(|path| short_path(self.session, path));
            let subject = subject::of(failed, classified, path);
            let said = || match classified.salient {
                Some(salient) if salient.weight > 0 && !classified.class.is_by_language() => {
                    cut(salient.line, MAX_EXCERPT).to_owned()
                }
                _ => excerpt(without_frame(text)),
            };
            let length = text.len() + call.call.args.as_ref().map_or(0, |args| args.raw().len());
            self.add(key, OccurrenceKind::Failure, call, subject, recovery, length, &said, || {
                next_move(self.session, at)
            })
        })
    }

    fn finding(&mut self, finding: &Finding) {
        let first = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
        let call = first.and_then(|call| self.session.call_at(call.index));
        let Some(call) = call else { return };
        let key = IssueKey::of_finding(finding);
        let id = key.id();
        let path = call.path.as_deref().map(|path| short_path(self.session, path).to_owned());
        let what = match call.line() {
            // The subject is the command for findings about destruction and recovery,
            // and the named value for others.
            Some(command) if matches!(finding.axis, Axis::Selection | Axis::Arguments) => {
                let named = first_value(finding.message.raw()).map(str::to_owned);
                named.or_else(|| toolmark_session::errand(command)).unwrap_or_default()
            }
            Some(command) => toolmark_session::errand(command).unwrap_or_default(),
            None => path.unwrap_or_default(),
        };
        let bucket = finding.bucket.as_ref().map(|bucket| bucket.raw().to_owned());
        let subject = Subject { what, detail: bucket.unwrap_or_default() };
        let length = finding.message.raw().len()
            + call.call.args.as_ref().map_or(0, |args| args.raw().len());
        let at = self.session.calls().partition_point(|other| other.index < call.index);
        let said = || finding.message.raw().to_owned();
        let followed = || next_move(self.session, at);
        self.add(
            key,
            OccurrenceKind::Finding,
            call,
            subject,
            Recovery::NotAsked,
            length,
            &said,
            followed,
        );
        if let Some(about) = self.batch.about.get_mut(&id) {
            about.remedy.get_or_insert_with(|| finding.remedy.raw().to_owned());
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one call in two places")]
    fn add(
        &mut self,
        key: IssueKey,
        kind: OccurrenceKind,
        call: &SessionCall<'_>,
        subject: Subject,
        recovery: Recovery,
        length: usize,
        said: &dyn Fn() -> String,
        followed: impl FnOnce() -> Option<String>,
    ) {
        let issue = key.id();
        let place = self.session.place(&call.call.at);
        let call_id = self.ids.get(call.index).cloned().unwrap_or_default();
        let origin = &self.batch.origins[self.origin];
        let about = self.batch.about.entry(issue).or_insert_with(|| About {
            key,
            remedy: None,
            example: None,
        });
        // Only what may become the shortest is written out.
        if about
            .example
            .as_ref()
            .is_none_or(|best| best.rank.is_incomplete || length <= best.rank.length)
        {
            let (followed, said) = (followed(), said());
            let rank = Rank {
                is_incomplete: followed.is_none() || said.trim().is_empty(),
                length,
                session: origin.session.clone(),
                call_id: call_id.clone(),
                file: origin.file.clone(),
                line: place.line,
                column: place.column,
                byte: place.byte,
            };
            if about.example.as_ref().is_none_or(|best| rank < best.rank) {
                about.example =
                    Some(OccurrenceExample { call: shown_call(call), said, followed, rank });
            }
        }
        let of_step = call.call.step.and_then(|step| self.in_response.get(&step)).copied();
        let time = call
            .call
            .started
            .or_else(|| call.call.result.as_ref().and_then(|result| result.time))
            .or(self.batch.origins[self.origin].started);
        self.batch.occurrences.push(Occurrence {
            issue,
            kind,
            origin: self.origin,
            call_id,
            line: place.line,
            column: place.column,
            byte: place.byte,
            time,
            tool: call.tool.as_ref().into(),
            subject,
            recovery,
            spent: CallCost::of(self.session.trajectory(), call, of_step.unwrap_or(1)),
        });
    }
}

/// Calls a function with the failure of a call.
fn with_failed<R>(
    call: &SessionCall<'_>,
    text: &str,
    is_interrupted: bool,
    toolsets: &Toolsets,
    then: impl FnOnce(&FailedCall<'_>, &Classified<'_>) -> R,
) -> R {
    let role = tool_role(call, toolsets);
    let is_shell = matches!(role, ToolRole::RunsShell | ToolRole::TalksToShell);
    let command = match call.command() {
        Some(command) => Some(command),
        None => command_of(call.args()).filter(|_| is_shell).map(Cow::Owned),
    };
    let failed = FailedCall {
        role,
        tool: &call.tool,
        args: call.args(),
        command: command.as_deref(),
        exit_code: call.call.exit_code,
        is_denied: call.call.status == Status::Denied,
        is_interrupted,
        // Only where the session knows the tool has it looked at the text as that.
        error: error_class::classify(call).filter(|_| call.spec.is_some()),
        text,
    };
    then(&failed, &classify(&failed))
}

/// Returns the keys of all failed calls of a trajectory, with the index of each call, for graders.
#[must_use]
pub fn failure_keys(run: &Trajectory, toolsets: &Toolsets) -> Vec<(usize, IssueKey)> {
    let session = Session::new(run, toolsets);
    let keys = session.calls().iter().filter_map(|call| {
        let (text, is_interrupted) = is_failure(call)?;
        let key = with_failed(call, &text, is_interrupted, toolsets, IssueKey::of_failure);
        Some((call.index, key))
    });
    keys.collect()
}

/// Returns a call in one line.
fn shown_call(call: &SessionCall<'_>) -> String {
    let asked = match (call.command(), &call.path) {
        (Some(command), _) => command.into_owned(),
        (None, Some(path)) => path.clone(),
        (None, None) => {
            call.call.args.as_ref().map(|args| args.raw().into_owned()).unwrap_or_default()
        }
    };
    let asked = excerpt(&asked);
    if asked.is_empty() { call.tool.to_string() } else { format!("{}: {asked}", call.tool) }
}

/// Returns the next action of the agent in one line.
fn next_move(session: &Session<'_>, at: usize) -> Option<String> {
    let failed = session.calls().get(at)?;
    let next = session.calls().get(at + 1..)?.iter().find(|next| {
        next.call.agent == failed.call.agent
            && (failed.call.step.is_none() || next.call.step != failed.call.step)
    });
    match next {
        Some(next) => Some(shown_call(next)),
        None => {
            let said = session.said_after(failed).next()?;
            let words = said.text.as_ref()?.plain();
            Some(format!("said: {}", excerpt(&words)))
        }
    }
}

/// Returns a path relative to the project, in any of its worktrees.
fn short_path<'p>(session: &Session<'_>, path: &'p str) -> &'p str {
    let root = session
        .project()
        .roots()
        .iter()
        .filter_map(|root| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/'));
    let shown = root.min_by_key(|rest| rest.len()).unwrap_or_else(|| session.shown(path));
    let in_worktree = ["worktrees/", ".worktrees/"].iter().find_map(|folder| {
        let (_, rest) = shown.split_once(folder)?;
        rest.split_once('/').map(|(_, rest)| rest)
    });
    in_worktree.filter(|rest| !rest.is_empty()).unwrap_or(shown)
}

/// Returns a result without the framing that a host adds to it.
fn without_frame(text: &str) -> &str {
    let text = printed(text).trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let text = text.strip_suffix("</tool_use_error>").unwrap_or(text);
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("Exit code ") && !rest.trim().is_empty() => rest,
        _ => text,
    }
}

/// Returns the start of a text, on one line.
fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.len() + word.len() > MAX_EXCERPT {
            out.push_str(if out.is_empty() { cut(word, MAX_EXCERPT) } else { " …" });
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns the calls that only report the error of a call inside them: the innermost call of a
/// chain is the failed one. Each is given by the address of its trajectory and its index.
fn wrappers(all: &[&Trajectory]) -> HashSet<(usize, usize)> {
    let mut found = HashSet::new();
    for run in all {
        let address = std::ptr::from_ref(*run) as usize;
        let failed = |call: &toolmark_trace::Call| -> Option<String> {
            let text = call.result.as_ref()?.payload.as_ref()?.plain();
            (call.status == Status::Failed && text.len() >= MIN_ERROR).then(|| text.into_owned())
        };
        for (index, outer) in run.calls.iter().enumerate() {
            if outer.status != Status::Failed {
                continue;
            }
            let children = || {
                let id = outer.spawned.as_ref()?;
                all.iter().find(|child| child.id.as_ref() == Some(id))
            };
            let spans = || {
                let (start, took) = (outer.started?, outer.duration?);
                let inner = run.calls.iter().skip(index + 1).take(MAX_NEIGHBOURS);
                Some(inner.filter(move |inner| {
                    let times = inner.started.zip(inner.duration);
                    times.is_some_and(|(at, lasted)| at >= start && at + lasted <= start + took)
                }))
            };
            let nested = spans().into_iter().flatten().filter(|_| outer.duration_stated);
            let below = children().into_iter().flat_map(|child| child.flatten());
            let mut inner = nested.chain(below.flat_map(|child| &child.calls)).filter_map(failed);
            let Some(text) = failed(outer) else { continue };
            if inner.any(|inner| {
                let line = crate::salient::find(&inner).map_or("", |salient| salient.line);
                line.len() >= MIN_ERROR && text.len() > line.len() && text.contains(line)
            }) {
                found.insert((address, index));
            }
        }
    }
    found
}
