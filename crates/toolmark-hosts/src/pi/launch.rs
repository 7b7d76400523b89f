//! Headless launch of pi.

use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use std::ffi::OsString;

pub(super) static LAUNCH: Launch = Launch {
    program: "pi",
    tried: "0.73.1",
    args,
    env,
    files: |_| Vec::new(),
    passes: &[
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "PI_MODELS_JSON",
    ],
    session: SessionTrace::File {
        folder: ".pi/agent/sessions",
        is_session: |path| path.extension().is_some_and(|end| end == "jsonl"),
    },
    end,
    resumes: false,
    remarks: "Exits with 0 whatever happens; `stopReason` of its last record says how it ended.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-p", "--mode", "json"].map(OsString::from).to_vec();
    if let Some(home) = request.home {
        args.extend(["--session-dir".into(), home.join(".pi/agent/sessions").into()]);
    }
    if request.permissions == Allowed::Read {
        args.extend(["--tools", "read,grep,find,ls"].map(Into::into));
    }
    // `provider/model`, as other agents write it.
    match request.model.map(|model| model.split_once('/').ok_or(model)) {
        Some(Ok((provider, model))) => {
            args.extend(["--provider", provider, "--model", model].map(Into::into));
        }
        Some(Err(model)) => args.extend(["--model", model].map(Into::into)),
        None => {}
    }
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    let home = request.home.map(|home| ("PI_CODING_AGENT_DIR", home.join(".pi/agent").into()));
    home.into_iter().collect()
}

fn end(printed: &Printed<'_>) -> End {
    for record in records_from_end(printed.stdout) {
        if !is_type(&record, "agent_end") {
            continue;
        }
        let messages = record.get("messages").and_then(serde_json::Value::as_array);
        let last = messages.and_then(|messages| messages.last());
        let Some(last) = last else { return End::COMPLETED };
        return match text_at(last, "/stopReason") {
            Some("error") => End::trouble(text_at(last, "/errorMessage").unwrap_or_default(), None),
            Some("aborted") => End::Unmarked,
            _ => End::COMPLETED,
        };
    }
    complaint(printed)
}
