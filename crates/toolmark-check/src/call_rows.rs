//! Every call as a row, for custom tables.

use crate::profile::{CallCost, calls_by_response};
use toolmark_base::SortedMap;
use toolmark_outcome::{Finding, Printable, Redactor, TracePlace, Untrusted};
use toolmark_session::result_kind::reading;
use toolmark_session::session::Session;
use toolmark_shell::results::ResultKind;

/// Table row of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow<T = Untrusted> {
    /// Id of the session or of the sub-agent.
    pub session: Option<T>,
    /// Position of the call in the trace.
    pub place: TracePlace<T>,
    /// Number in the session, from 1.
    pub number: usize,
    /// Step of the call, from 1.
    pub step: Option<u64>,
    /// User turn of the call, from 1; 0 before the first.
    pub turn: u32,
    /// Name of the tool.
    pub tool: T,
    /// Status of the call.
    pub status: &'static str,
    /// Meaning of the result, whatever the status.
    pub result_kind: ResultKind,
    /// Whether the status does not tell the result kind.
    pub masked: bool,
    /// Program of the command that the result kind is about.
    pub program: Option<T>,
    /// Exit code.
    pub exit_code: Option<i64>,
    /// Start time.
    pub started: Option<String>,
    /// Cost of the call.
    pub spent: CallCost,
    /// Codes of the findings about the call.
    pub codes: Vec<&'static str>,
}

impl CallRow {
    /// Returns the calls of a session.
    pub(crate) fn all(session: &Session<'_>, findings: &[Finding]) -> Vec<Self> {
        let mut codes: SortedMap<usize, Vec<&'static str>> = SortedMap::new();
        for finding in findings {
            if let Some(call) = finding.evidence.first().and_then(|e| e.call.as_ref()) {
                codes.entry(call.index).or_default().push(finding.code);
            }
        }
        let run = session.trajectory();
        let in_response = calls_by_response(session);
        let mut row = |call: &toolmark_session::session::SessionCall<'_>| {
            let of_step = call.call.step.and_then(|step| in_response.get(&step)).copied();
            let reading = reading(call);
            Self {
                session: run.id.as_ref().map(|id| id.get().into()),
                place: session.place(&call.call.at),
                number: call.index + 1,
                step: call.call.step.map(|step| u64::from(step) + 1),
                turn: call.turn,
                tool: (&*call.tool).into(),
                status: call.call.status.word(),
                result_kind: reading.kind,
                masked: reading.is_masked,
                program: reading.program.clone().map(Into::into),
                exit_code: call.call.exit_code,
                started: call.call.started.map(|time| time.to_string()),
                spent: CallCost::of(run, call, of_step.unwrap_or(1)),
                codes: codes.remove(&call.index).unwrap_or_default(),
            }
        };
        session.calls().iter().map(&mut row).collect()
    }

    /// Returns the printable row.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CallRow<Printable> {
        CallRow {
            session: self.session.map(|session| redactor.apply(session)),
            place: self.place.redact(redactor),
            number: self.number,
            step: self.step,
            turn: self.turn,
            tool: redactor.apply(self.tool),
            status: self.status,
            result_kind: self.result_kind,
            masked: self.masked,
            program: self.program.map(|program| redactor.apply(program)),
            exit_code: self.exit_code,
            started: self.started,
            spent: self.spent,
            codes: self.codes,
        }
    }
}
