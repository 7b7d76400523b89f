//! Facts about calls from the ledger of their session.

use serde_json::Value;
use std::cell::OnceCell;
use std::sync::LazyLock;
use toolmark_hosts::results::unframe;
use toolmark_hosts::toolset::{ArgClass, ToolClass, Toolsets};
use toolmark_match::call_match::{Facts, Lack, TableCall, Truth};
use toolmark_session::patch;
use toolmark_session::path::resolve;
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Session, SessionCall};
use toolmark_shell::results::ResultKind;
use toolmark_trace::{Fact, Status, Trajectory};

static TOOLSETS: LazyLock<Toolsets> = LazyLock::new(Toolsets::default);

/// Sessions of the agent and of its sub-agents, prepared on first use.
struct Sessions<'a> {
    runs: Vec<(&'a Trajectory, OnceCell<Session<'a>>)>,
}

/// Returns the facts about the calls of these runs.
pub(crate) fn facts<'a>(runs: &[&'a Trajectory]) -> Box<dyn Facts + 'a> {
    let runs = runs.iter().map(|run| (*run, OnceCell::new()));
    Box::new(Sessions { runs: runs.collect() })
}

impl<'a> Sessions<'a> {
    fn session(&self, made: &TableCall<'_>) -> Option<&Session<'a>> {
        let (run, session) = self.runs.get(made.lane as usize)?;
        Some(session.get_or_init(|| Session::new(run, &TOOLSETS)))
    }

    fn call(&self, made: &TableCall<'_>) -> Option<&SessionCall<'a>> {
        self.session(made)?.call_at(made.seen.index)
    }
}

impl Facts for Sessions<'_> {
    fn class(&self, made: &TableCall<'_>, class: ToolClass) -> Truth {
        let Some(call) = self.call(made) else { return Truth::Unknown(Lack::Class) };
        if call.spec.is_some() {
            return Truth::of(ToolClass::of(call.role) == Some(class));
        }
        // The name may be one that other hosts or most servers have.
        let name = call.call.name.canonical().tool;
        if ToolClass::of_name(&name).is_some() {
            return Truth::of(class.has(&name));
        }
        match call.args() {
            Some(args) if class.may_be(args) => Truth::Unknown(Lack::Class),
            None if made.fidelity.lacks(Fact::Arguments) => Truth::Unknown(Lack::Class),
            _ => Truth::No,
        }
    }

    fn values(&self, made: &TableCall<'_>, class: ArgClass) -> Option<Vec<Vec<Value>>> {
        let call = self.call(made)?;
        let texts: Vec<String> = match (class, call.command(), call.patch()) {
            (ArgClass::Command, Some(command), _) => vec![command.into_owned()],
            (ArgClass::Path, _, Some(text)) => {
                let files = patch::parse(&text);
                files.iter().flat_map(|file| file.paths().map(str::to_owned)).collect()
            }
            _ => match call.args() {
                Some(args) => {
                    let found = class.values(call.spec, args);
                    found.into_iter().map(std::borrow::Cow::into_owned).collect()
                }
                None if made.fidelity.lacks(Fact::Arguments) => return None,
                None => Vec::new(),
            },
        };
        let spellings = |text: String| match class {
            ArgClass::Path => spellings_of_path(text, call.cwd()),
            _ => vec![Value::String(text)],
        };
        Some(texts.into_iter().map(spellings).collect())
    }

    fn exit_code(&self, made: &TableCall<'_>) -> Option<i64> {
        let call = self.call(made)?;
        let recorded = call.call.exit_code;
        let framed = || unframe(&call.result()?).exit_code;
        let code = recorded.or_else(framed);
        // A command that the host reports as done, and that is not still running, ended with 0.
        let is_done = call.call.status == Status::Succeeded && call.line().is_some();
        match code {
            None if is_done && result_kind(call) != ResultKind::StillRunning => Some(0),
            code => code,
        }
    }

    fn result_kind(&self, made: &TableCall<'_>) -> ResultKind {
        self.call(made).map_or(ResultKind::Unknown, result_kind)
    }
}

/// Returns a path as an absolute one, as it is written, and below the working directory.
fn spellings_of_path(text: String, cwd: Option<&str>) -> Vec<Value> {
    let absolute = resolve(cwd, &text);
    let below = cwd.and_then(|cwd| absolute.strip_prefix(cwd)?.strip_prefix('/'));
    let below = below.filter(|path| !path.is_empty()).map(str::to_owned);
    let mut all = vec![absolute];
    for spelling in [Some(text), below].into_iter().flatten() {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    }
    all.into_iter().map(Value::String).collect()
}
