//! One decision as one line of the log.

use super::json::{self, Object};
use jiff::Timestamp;
use std::io::Write;
use std::time::Duration;
use toolmark_hosts::GuardAnswer;
use toolmark_hosts::{Args, HookEvent, Moment};
use toolmark_shell::LeftState;

/// Version of the format, stored under the key that names it.
const VERSION: u64 = 1;

/// Maximum size kept of the arguments, in bytes.
const ARGS: usize = 4 << 10;
/// Maximum size kept of the state a call leaves behind, in bytes.
const LEFT: usize = 8 << 10;
/// Maximum size kept of the result, in bytes.
const RESULT: usize = 2 << 10;
/// Maximum size kept of any other text, in bytes.
const TEXT: usize = 1 << 10;
/// Maximum number of effects kept.
const EFFECTS: usize = 8;
/// Maximum size kept of the target of an effect, in bytes.
const TARGET: usize = 256;

/// A decision and the call it is about.
#[derive(Debug, Clone)]
pub struct AuditRecord<'a> {
    /// Time of the decision.
    pub time: Timestamp,
    /// Host of the call, if the event does not contain it.
    pub host: &'a str,
    /// Event of the call; `None` if it could not be read.
    pub event: Option<&'a HookEvent<'a>>,
    /// Verdict returned to the host.
    pub verdict: &'a GuardAnswer,
    /// Time taken by the decision.
    pub duration: Duration,
    /// State left behind for later calls of the session.
    pub left: Option<LeftState>,
    /// Settings without effect, because they would have loosened the policy.
    pub ignored: Option<String>,
    /// ID of the process that decided.
    pub pid: u32,
}

impl<'a> AuditRecord<'a> {
    /// Creates the record of a decision made just now by this process.
    #[must_use]
    pub fn of(
        host: &'a str,
        event: Option<&'a HookEvent<'a>>,
        verdict: &'a GuardAnswer,
        duration: Duration,
    ) -> Self {
        let (time, pid) = (Timestamp::now(), std::process::id());
        Self { time, host, event, verdict, duration, left: None, ignored: None, pid }
    }

    /// Returns the record as one line of JSON, including the line end.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(1 << 10);
        let mut object = Object::begin(&mut line);
        object.number("toolmark_guard", VERSION);
        // A vector takes whatever is written to it.
        let _ = write!(object.key("time"), "\"{:.6}\"", self.time);
        let named = self.event.map(|event| &*event.host).filter(|host| !host.is_empty());
        object.text("host", named.unwrap_or(self.host), TEXT);
        if let Some(event) = self.event {
            call(&mut object, event);
        }
        verdict(&mut object, self.verdict);
        if let Some(left) = self.left.as_ref().filter(|left| !left.is_empty())
            && let Ok(left) = serde_json::to_value(left)
        {
            json::value(object.key("left"), &left, LEFT);
        }
        object.maybe("ignored", self.ignored.as_deref(), TEXT);
        if let Some(event) = self.event.filter(|event| event.moment == Moment::After) {
            if let Some(failed) = event.failed {
                object.word("status", if failed { "failed" } else { "succeeded" });
            }
            object.maybe("result", event.result.as_deref(), RESULT);
        }
        object.number("duration_us", self.duration.as_micros().try_into().unwrap_or(u64::MAX));
        object.number("pid", self.pid.into());
        object.end();
        line.push(b'\n');
        line
    }
}

fn call(object: &mut Object<'_>, event: &HookEvent<'_>) {
    object.maybe("session", event.session.as_deref(), TEXT);
    object.maybe("agent", event.agent.as_deref(), TEXT);
    object.maybe("mode", event.mode.as_deref(), TEXT);
    object.maybe("cwd", event.cwd.as_deref(), TEXT);
    object.text("event", &event.name, TEXT);
    object.word("moment", moment(event.moment));
    object.maybe("call_id", event.call_id.as_deref(), TEXT);
    object.text("tool", &event.tool, TEXT);
    match &event.args {
        Args::None => {}
        Args::Json(value) => json::value(object.key("args"), value, ARGS),
        Args::Text(text) => json::text(object.key("args"), text, ARGS),
    }
}

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::Before => "before",
        Moment::After => "after",
        Moment::Permission => "permission",
        Moment::Other => "other",
    }
}

fn verdict(object: &mut Object<'_>, verdict: &GuardAnswer) {
    object.word("decision", verdict.decision.word());
    object.text("rule", &verdict.rule, TEXT);
    object.text("reason", &verdict.reason, TEXT);
    object.maybe("suggestion", verdict.suggestion.as_deref(), TEXT);
    if let Some(observed) = verdict.observed {
        object.word("observed", observed.word());
    }
    let effects = verdict.analysis.iter().flat_map(|analysis| &analysis.effects);
    let mut effects = effects.take(EFFECTS).peekable();
    if effects.peek().is_none() {
        return;
    }
    let out = object.key("effects");
    out.push(b'[');
    for (index, effect) in effects.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let mut object = Object::begin(out);
        object.word("kind", effect.kind.word());
        object.text("target", &effect.target, TARGET);
        object.word("scope", effect.scope.word());
        object.word("reversibility", effect.reversibility.word());
        object.word("certainty", effect.certainty.word());
        object.end();
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Guard;
    use serde_json::{Value, json};
    use toolmark_shell::Decision;

    fn event(args: Args) -> HookEvent<'static> {
        HookEvent {
            name: "PreToolUse".into(),
            session: Some("s".into()),
            cwd: Some("/w".into()),
            call_id: Some("t1".into()),
            args,
            ..HookEvent::new(Moment::Before, "claude-code", "Bash")
        }
    }

    fn parsed(event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> Value {
        let line = AuditRecord::of("plain", event, verdict, Duration::from_micros(7)).line();
        assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
        assert_eq!(line.last(), Some(&b'\n'));
        serde_json::from_slice(&line).unwrap()
    }

    fn args(args: Value) -> Value {
        parsed(Some(&event(Args::Json(args))), &GuardAnswer::allow())["args"].take()
    }

    #[test]
    fn a_decision_in_full() {
        let event = event(Args::Json(json!({"command": "git push --force"})));
        let mut verdict = Guard::default().decide(&event, None);
        verdict.suggestion = Some("push with a lease".into());
        verdict.observed = Some(Decision::Deny);
        let mut record = parsed(Some(&event), &verdict);
        let time: Timestamp = record["time"].as_str().unwrap().parse().unwrap();
        assert!(Timestamp::now().duration_since(time).as_secs() < 60);
        for own in ["time", "pid", "reason"] {
            assert!(!record.as_object_mut().unwrap().remove(own).unwrap().is_null());
        }
        assert_eq!(
            record,
            json!({
                "toolmark_guard": 1, "host": "claude-code", "session": "s", "cwd": "/w",
                "event": "PreToolUse", "moment": "before", "call_id": "t1", "tool": "Bash",
                "args": {"command": "git push --force"}, "decision": "deny", "rule": "effect",
                "suggestion": "push with a lease", "observed": "deny", "duration_us": 7,
                "effects": [{
                    "kind": "rewrite-history", "target": record["effects"][0]["target"],
                    "scope": "remote", "reversibility": "r5", "certainty": "proven"
                }],
            })
        );
    }

    #[test]
    fn what_could_not_be_read_and_what_has_run() {
        let record = parsed(None, &GuardAnswer::new(Decision::Ask, "error", "no JSON"));
        assert_eq!((&record["host"], &record["decision"]), (&json!("plain"), &json!("ask")));
        assert!(record.get("event").is_none());
        let after = HookEvent {
            moment: Moment::After,
            failed: Some(true),
            result: Some(format!("password=hunter2 {}", "x".repeat(9_000)).into()),
            ..event(Args::Text("ls".into()))
        };
        let record = parsed(Some(&after), &GuardAnswer::allow());
        assert_eq!((&record["status"], &record["args"]), (&json!("failed"), &json!("ls")));
        let result = record["result"].as_str().unwrap();
        assert!(result.starts_with("password=[redacted] xxx"), "{result}");
        assert!(result.ends_with("… [6969 bytes cut]"), "{result}");
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        assert_eq!(
            args(json!({
                "command": "curl -u x --password hunter2", "password": "hunter2", "pin": 1,
                "db_password": 123_456, "env": {"API_KEY": "abcdefgh", "A": ["x", {"token": "12345678"}]},
                "--token=abc12345678": "x", "max_tokens": 12_345_678,
            })),
            json!({
                "command": "curl -u x --password [redacted]", "password": "[redacted]", "pin": 1,
                "db_password": "[redacted]",
                "env": {"API_KEY": "[redacted]", "A": ["x", {"token": "[redacted]"}]},
                "--token=[redacted]": "x", "max_tokens": 12_345_678,
            })
        );
        let mut verdict = GuardAnswer::new(Decision::Ask, "r", "it says password=hunter2");
        verdict.suggestion = Some("--password hunter2".into());
        let line = parsed(Some(&event(Args::Text("password: hunter2".into()))), &verdict);
        assert!(!line.to_string().contains("hunter2"), "{line}");
    }

    #[test]
    fn a_cut_shows_no_part_of_a_secret() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        for before in 4_050..4_100 {
            let text = format!("{} {token} {}", "é".repeat(before / 2), "y".repeat(2_000));
            let record = parsed(Some(&event(Args::Text(text))), &GuardAnswer::allow());
            let kept = record["args"].as_str().unwrap();
            assert!(!kept.contains("a1B2"), "{before}: {kept}");
            assert!(kept.ends_with(" bytes cut]"), "{before}");
        }
    }

    #[test]
    fn long_arguments_are_cut_and_short_ones_stay() {
        let kept = args(json!({"content": "x".repeat(100_000), "file_path": "/w/a", "n": [1, 2]}));
        assert_eq!((&kept["file_path"], &kept["n"]), (&json!("/w/a"), &json!([1, 2])));
        let content = kept["content"].as_str().unwrap();
        assert!((3_900..4_200).contains(&content.len()), "{}", content.len());
        assert!(content.ends_with(" bytes cut]"));
        let fits = json!({"command": "x".repeat(4_000)});
        assert_eq!(args(fits.clone()), fits);
        // Many small ones: what comes last is left out, and it is said how many.
        let many = args(json!({"a": vec![12_345; 10_000], "b": 1}));
        let last = many["a"].as_array().unwrap().last().unwrap().as_str().unwrap();
        assert!(last.starts_with("… [8") && last.ends_with(" cut]"), "{last}");
        assert_eq!(many["…"], json!("[1 cut]"));
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(args(deep).to_string().contains("[1 cut]"));
        // Nothing makes a record long: names, keys, escapes.
        let long = HookEvent { session: Some("s".repeat(1 << 20).into()), ..event(Args::None) };
        let hostile = json!({"k".repeat(1 << 20): "\u{1}".repeat(1 << 20)});
        for event in [long, event(Args::Json(hostile))] {
            let line =
                AuditRecord::of("h", Some(&event), &GuardAnswer::allow(), Duration::ZERO).line();
            assert!(line.len() < 32 << 10, "{}", line.len());
        }
    }
}
