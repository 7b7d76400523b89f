//! # What it does
//!
//! Finds secrets by their shape in the arguments and results of calls: tokens
//! of about fifty vendors, private keys, JSON Web Tokens, passwords and keys in
//! URLs, and variables such as `DB_PASSWORD=…` with a random-looking value.
//! Placeholders, examples, hashes and UUIDs are not reported. The finding does
//! not repeat the secret.
//!
//! # Why
//!
//! A trace is stored, shared, and sent to the model's provider again with every
//! step. A secret in an argument also ends up in the shell's history.
//!
//! # What to do
//!
//! Rotate the secret, pass it in an environment variable, and keep it out of
//! files that the agent reads.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"curl -H 'Authorization: token ghp_k3Jd8sLq0ZrW5nVb2XyT7cMa9PfGhE1uRo4i' https://api.github.com"} -> "{}"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/config.yml"} -> "1\tdo_token: dop_v1_3f9c2b7a1e5d8046c2f19b7e3a5d80464f1c9e2b7a3d5e8061f4c9b2e7a3d516"
//! ```
//!
//! ```fires
//! Bash {"command":"git clone https://ci:k3Jd8sLq0ZrW5nVb@git.corp.internal/x.git"} -> ""
//! ```
//!
//! ```fires
//! Bash {"command":"DB_PASSWORD=k3Jd8sLq0ZrW5nVb ./migrate"} -> ""
//! ```
//!
//! ```fires
//! Bash {"command":"curl -s 'https://rpc.example.com/?api-key=d4f302b4-c9aa-4632-a08c-dba50524db17'"} -> "{}"
//! ```
//!
//! The id of the key that signed an address, which is sent in the open:
//!
//! ```quiet
//! WebFetch {"url":"https://b.s3.amazonaws.com/a?X-Amz-Credential=AKIAQ3EGRIDVNJ5XTAYZ%2F20260101%2Fus-east-1%2Fs3%2Faws4_request"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"export AWS_ACCESS_KEY_ID=AKIAQ3EGRIDVNJ5XTAYZ"} -> ""
//! ```
//!
//! ```quiet
//! Bash {"command":"curl -s \"https://rpc.example.com/?api-key=$KEY\""} -> "{}"
//! ```
//!
//! ```quiet
//! Bash {"command":"curl -H \"Authorization: token $GITHUB_TOKEN\" https://api.github.com"} -> "{}"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/README.md"} -> "1\texport TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE"
//! ```
//!
//! ```quiet
//! Bash {"command":"git show da39a3ee5e6b4b0d3255bfef95601890afd80709"} -> "id 550e8400-e29b-41d4-a716-446655440000"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use memchr::memmem;
use toolmark_base::SortedSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_redact::{Proof, Secret, secrets};
use toolmark_session::session::Session;
use toolmark_trace::Payload;

pub(crate) static RULE: Rule = Rule {
    code: "I306",
    name: "secret-in-call",
    axis: Axis::Irreversibility,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "the arguments or the result of a call contain a secret",
    remedy: "rotate the secret, and pass it in an environment variable",
    source: page!("i306_secret_in_call.rs"),
    check,
};

/// Maximum number of secrets of one text to examine.
const MAX_SECRETS: usize = 8;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // A repeated secret is not another finding.
    let mut seen: SortedSet<String> = SortedSet::new();
    for call in session.calls() {
        // The absence of secrets in a call of an unknown tool says nothing about the
        // effects of the call.
        if call.role != ToolRole::Other {
            recorder.count_opportunity(call);
        }
        let result = call.call.result.as_ref().and_then(|result| result.payload.as_ref());
        for (payload, place, severity) in [
            (call.call.args.as_ref(), "in the arguments", Severity::Error),
            (result, "in the result", Severity::Warning),
        ] {
            let Some(text) = payload.map(Payload::source).map(|text| text.raw()) else { continue };
            let found: Vec<_> = secrets(text, Proof::Certain, MAX_SECRETS)
                .into_iter()
                .filter(|secret| !is_public(text, secret))
                .filter(|secret| {
                    let whole = text.get(secret.range.clone()).unwrap_or("");
                    seen.insert(whole.to_owned())
                })
                .collect();
            let draft = match found.split_first() {
                Some((secret, rest)) => {
                    let more = match rest.len() {
                        0 => String::new(),
                        more => format!(" (and {more} more)"),
                    };
                    let masked = secret.masked(text);
                    let message = format!("{} {place}: {masked}{more}", secret.what);
                    Draft::new(call, message).bucket(secret.what)
                }
                None if severity == Severity::Error
                    && matches!(call.role, ToolRole::RunsShell | ToolRole::Writes) =>
                {
                    let Some((name, key)) = key_in_address(text) else { continue };
                    // A file keeps the secret permanently.
                    if !seen.insert(format!("{:?} {key}", call.role)) {
                        continue;
                    }
                    let message = format!("key in an address {place}: {name}=…");
                    Draft::new(call, message).bucket("key in an address")
                }
                None => continue,
            };
            recorder.find(draft.severity(severity).without_arguments());
        }
    }
}

/// Returns whether this is the ID of a key that signed a request. The ID is public; the key itself
/// stays with the signer.
fn is_public(text: &str, secret: &Secret) -> bool {
    const SIGNED_BY: &[&str] = &["x-amz-credential=", "awsaccesskeyid=", "credential="];
    const LONGEST: usize = 24;
    let start = secret.range.start;
    let before = text.as_bytes().get(start.saturating_sub(LONGEST)..start).unwrap_or_default();
    secret.what == "AWS access key id"
        && SIGNED_BY.iter().any(|name| {
            let end = before.len().checked_sub(name.len()).and_then(|from| before.get(from..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
        })
}

/// Returns a key in the query of a URL: the name of the parameter and its value.
fn key_in_address(text: &str) -> Option<(&'static str, &str)> {
    /// Names of parameters that contain a key.
    const NAMES: &[&str] = &["api-key", "api_key", "apikey", "access_token", "auth_token", "token"];
    /// Minimum length of a key.
    const SHORTEST: usize = 20;
    // Most texts have no URL.
    memmem::find(text.as_bytes(), b"://")?;
    NAMES.iter().find_map(|name| {
        text.match_indices(name).find_map(|(at, _)| {
            let before = text.get(..at)?.chars().next_back()?;
            let value = text.get(at + name.len()..)?.strip_prefix('=')?;
            let is_end = |c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c));
            let value = value.get(..value.find(is_end).unwrap_or(value.len()))?;
            let has_both = value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic());
            let is_key = value.len() >= SHORTEST && has_both && !value.contains("...");
            let is_address = matches!(before, '?' | '&')
                && text.get(..at).is_some_and(|text| text.contains("://"));
            (is_key && is_address).then_some((*name, value))
        })
    })
}
