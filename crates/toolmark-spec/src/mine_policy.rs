//! Mines conditions on calls of named tools from runs: the `tools:` section.
//!
//! A condition is proposed if it holds for the calls that worked, and tested with the code that
//! checks it later: one that stops a call that worked in a run that passed is dropped. A
//! condition that would have stopped nothing is written as a comment.

mod propose;
mod write;

use propose::candidates;
use toolmark_check::{ToolPolicy, Toolsets};
use toolmark_session::session::{Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;
use toolmark_session::tool_rules::{Past, SessionPast, breaches};
use toolmark_trace::Trajectory;

/// Minimum number of calls that support a condition.
pub const MIN_SUPPORT: usize = 3;
/// Maximum share of calls that worked in runs that passed and that a condition may stop.
const MAX_WRONG: f64 = 0.02;

/// A run and its result.
#[derive(Debug)]
pub struct JudgedRun {
    /// The run.
    pub run: Trajectory,
    /// Whether the run passed; `None` if that is not known.
    pub passed: Option<bool>,
}

/// One condition on calls of a tool, with what the runs say about it.
#[derive(Debug, Clone)]
pub struct MinedTerm {
    /// Tool.
    pub tool: String,
    /// Key of the entry: `needs`, `from`.
    pub key: &'static str,
    /// Key below it, for entries that are maps.
    pub name: Option<String>,
    /// Value as YAML.
    pub value: String,
    /// Number of calls that worked and meet it.
    pub meets: usize,
    /// Number of calls that worked and do not, in runs that passed.
    pub wrong: usize,
    /// Number of calls that it would have stopped and that failed.
    pub stops_failed: usize,
    /// Number of calls that it would have stopped in runs that failed.
    pub stops_in_failed: usize,
    /// Start of the error of a stopped call.
    pub error: Option<String>,
}

impl MinedTerm {
    /// Whether the condition would have stopped a fault.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.stops_failed + self.stops_in_failed > 0
    }
}

/// Mined conditions.
#[derive(Debug)]
pub struct MinedPolicy {
    /// Effects by tool, in order of the tools.
    pub effects: Vec<(String, ToolEffect)>,
    /// Conditions, in order of the tools.
    pub terms: Vec<MinedTerm>,
    /// Number of runs that passed, that failed, and whose result is not known.
    pub runs: (usize, usize, usize),
}

/// Mines the conditions of runs.
#[must_use]
pub fn mine_policy(runs: &[JudgedRun]) -> MinedPolicy {
    let toolsets = Toolsets::default();
    let sessions: Vec<Judged<'_>> = runs
        .iter()
        .flat_map(|one| one.run.flatten().into_iter().map(|run| (run, one.passed)))
        .map(|(run, passed)| Judged { session: Session::new(run, &toolsets), passed })
        .collect();
    let effects = effects(&sessions);
    let mut terms = Vec::new();
    for (tool, _) in effects.iter().filter(|(_, effect)| is_guarded(*effect)) {
        let calls = CallsOfTool::of(tool, &sessions);
        let found = candidates(&calls).into_iter().filter_map(|term| tested(term, &calls));
        terms.extend(found);
    }
    let count = |wanted| runs.iter().filter(|run| run.passed == wanted).count();
    MinedPolicy { effects, terms, runs: (count(Some(true)), count(Some(false)), count(None)) }
}

impl MinedPolicy {
    /// Returns the policy as YAML, with the support of every line.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        write::to_yaml(self)
    }
}

/// Whether calls with an effect need conditions.
fn is_guarded(effect: ToolEffect) -> bool {
    effect.is_change() || effect == ToolEffect::Send
}

/// A session with the result of its run.
struct Judged<'a> {
    session: Session<'a>,
    passed: Option<bool>,
}

/// Returns the tools with an effect by their names, in the order of their names.
fn effects(sessions: &[Judged<'_>]) -> Vec<(String, ToolEffect)> {
    let mut found: Vec<(String, ToolEffect)> = Vec::new();
    for call in sessions.iter().flat_map(|one| one.session.calls()) {
        let name = call.call.name.full();
        let Some(effect) = call.tool_effect().filter(|effect| *effect != ToolEffect::Read) else {
            continue;
        };
        if let Err(at) = found.binary_search_by(|(known, _)| known.as_str().cmp(&name)) {
            found.insert(at, (name.into_owned(), effect));
        }
    }
    found
}

/// Calls of one tool.
struct CallsOfTool<'s, 'a> {
    tool: &'s str,
    calls: Vec<OneCall<'s, 'a>>,
}

/// A call with what is known about it.
struct OneCall<'s, 'a> {
    call: &'s SessionCall<'a>,
    past: SessionPast<'s, 'a>,
    failed: bool,
    passed: Option<bool>,
}

impl<'s, 'a> CallsOfTool<'s, 'a> {
    fn of(tool: &'s str, sessions: &'s [Judged<'a>]) -> Self {
        let mut calls = Vec::new();
        for one in sessions {
            let all = SessionPast::of_pending(&one.session, None);
            for (at, call) in one.session.calls().iter().enumerate() {
                if call.call.name.full() == tool {
                    let past = SessionPast::before(&one.session, call);
                    let failed = all.has_failed(at);
                    calls.push(OneCall { call, past, failed, passed: one.passed });
                }
            }
        }
        Self { tool, calls }
    }

    /// Returns the calls that worked, and not in a run that failed.
    fn good(&self) -> impl Iterator<Item = &OneCall<'s, 'a>> {
        self.calls.iter().filter(|one| !one.failed && one.passed != Some(false))
    }
}

/// Counts what a condition would have stopped; `None` if it stops calls that worked.
fn tested(mut term: MinedTerm, calls: &CallsOfTool<'_, '_>) -> Option<MinedTerm> {
    let policy = term.policy()?;
    for one in &calls.calls {
        let name = one.call.call.name.full();
        let found = breaches(&policy, &name, one.call.args(), &one.past);
        let is_stopped = !found.is_empty();
        match (is_stopped, one.failed, one.passed) {
            (true, true, _) => {
                term.stops_failed += 1;
                let error = || one.call.result_start(ERROR).map(|text| line(&text));
                term.error = term.error.take().or_else(error);
            }
            (true, false, Some(false)) => term.stops_in_failed += 1,
            (true, false, _) => term.wrong += 1,
            (false, false, passed) if passed != Some(false) => term.meets += 1,
            (false, ..) => {}
        }
    }
    let worked = term.meets + term.wrong;
    let is_right = term.meets >= MIN_SUPPORT && term.wrong as f64 <= MAX_WRONG * worked as f64;
    is_right.then_some(term)
}

/// Length of an error that is shown, in bytes.
const ERROR: usize = 80;

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl MinedTerm {
    /// Creates a condition that is not tested yet.
    fn new(tool: &str, key: &'static str, name: Option<String>, value: String) -> Self {
        let tool = tool.to_owned();
        let counts = (0, 0, 0, 0);
        let (meets, wrong, stops_failed, stops_in_failed) = counts;
        Self { tool, key, name, value, meets, wrong, stops_failed, stops_in_failed, error: None }
    }

    /// Returns the policy with this condition alone.
    fn policy(&self) -> Option<ToolPolicy> {
        let text = write::alone(self);
        let parsed = toolmark_config::parse(&toolmark_config::SourceText::new("mined", text));
        let mut problems = parsed.problems;
        let policy = ToolPolicy::read(&parsed.node?, &mut problems);
        problems.is_empty().then_some(policy)
    }
}

#[cfg(test)]
mod tests;
