//! Selects the calls to judge.

use super::config::{JudgedCalls, StatusFilter};
use toolmark_config::{Node, Problem, Spanned};
use toolmark_match::Mention;
use toolmark_outcome::Subject;
use toolmark_outcome::judging::BuiltIn;
use toolmark_outcome::{IndexedCall, Missing};
use toolmark_pattern::is_wildcard_match;
use toolmark_trace::Status;

/// The selection of calls to judge.
#[derive(Debug, Default)]
pub(super) struct CallSelection {
    tools: Vec<String>,
    findings: Vec<String>,
    status: Option<StatusFilter>,
    sample: Option<usize>,
}

impl CallSelection {
    pub(super) fn of_built_in(rubric: &BuiltIn) -> Self {
        Self {
            tools: rubric.tools.iter().map(|tool| (*tool).to_owned()).collect(),
            status: rubric.only_failed.then_some(StatusFilter::Failed),
            ..Self::default()
        }
    }

    pub(super) fn read(calls: &Spanned<JudgedCalls>, problems: &mut Vec<Problem>) -> Self {
        let JudgedCalls { tool, finding, status, sample } = &calls.value;
        if tool.is_none() && finding.is_none() && status.is_none() && sample.is_none() {
            let problem =
                Problem::error("empty-config", "the selection of calls is empty").at(calls.span);
            problems.push(problem.help("add `tool`, `finding`, `status` or `sample`"));
        }
        if let Some(sample) = sample
            && sample.value == 0
        {
            let message = "expected a sample of at least 1 call";
            problems.push(Problem::error("out-of-range", message).at(sample.span));
        }
        Self {
            tools: texts(tool.as_ref(), "tool", problems),
            findings: texts(finding.as_ref(), "finding", problems),
            status: *status,
            sample: sample.map(|sample| sample.value as usize),
        }
    }

    pub(super) fn mentions(&self) -> Vec<Mention> {
        let of = |tool: &String| {
            let own = tool.clone();
            Mention::new(tool, move |name| names(&own, name))
        };
        self.tools.iter().map(of).collect()
    }

    /// Returns the selected calls, in order.
    pub(super) fn choose<'a>(
        &self,
        subject: &Subject<'a>,
    ) -> Result<Vec<IndexedCall<'a>>, Missing> {
        let trajectory = subject.view.trajectory();
        let found = match (self.findings.is_empty(), &subject.environment.findings) {
            (true, _) => Vec::new(),
            (false, Some(findings)) => findings.of(trajectory),
            (false, None) => {
                return Err(Missing::new("this trajectory was not checked for findings"));
            }
        };
        let is_found = |seen: &IndexedCall<'_>| {
            let mut codes = found.iter().filter(|(at, _)| *at == seen.index).map(|(_, code)| code);
            codes.any(|code| {
                let starts = |want: &String| {
                    code.get(..want.len()).is_some_and(|start| start.eq_ignore_ascii_case(want))
                };
                self.findings.iter().any(starts)
            })
        };
        let mut chosen: Vec<IndexedCall<'a>> = subject
            .view
            .calls()
            .iter()
            .filter(|seen| {
                let name = seen.call.name.full();
                let short = seen.call.name.canonical().tool;
                self.tools.is_empty()
                    || self.tools.iter().any(|tool| names(tool, &name) || names(tool, &short))
            })
            .filter(|seen| match self.status {
                None => true,
                Some(StatusFilter::Failed) => seen.call.status.is_error(),
                Some(StatusFilter::Succeeded) => seen.call.status == Status::Succeeded,
            })
            .filter(|seen| self.findings.is_empty() || is_found(seen))
            .copied()
            .collect();
        if let Some(sample) = self.sample
            && chosen.len() > sample
        {
            let id = trajectory.id.as_ref().map(|id| id.get().into_owned()).unwrap_or_default();
            chosen.sort_by_key(|seen| (spread(&id, seen.index), seen.index));
            chosen.truncate(sample);
            chosen.sort_by_key(|seen| seen.index);
        }
        Ok(chosen)
    }
}

fn names(pattern: &str, tool: &str) -> bool {
    is_wildcard_match(&pattern.to_lowercase(), &tool.to_lowercase())
}

/// Returns a deterministic pseudo-random number (FNV-1a, then
/// mixed, so that neighbours are far apart).
fn spread(id: &str, index: usize) -> u64 {
    let bytes = id.bytes().chain((index as u64).to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn texts(node: Option<&Node>, key: &str, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let items: Vec<&Node> = match node.as_list() {
        Some(items) => items.iter().collect(),
        None => vec![node],
    };
    let all: Option<Vec<String>> = items
        .iter()
        .map(|item| item.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
        .collect();
    match all {
        Some(all) if !all.is_empty() => all,
        _ => {
            let message = format!("expected text or a list of text for `{key}`");
            problems.push(Problem::error("wrong-type", message).at(node.span));
            Vec::new()
        }
    }
}
