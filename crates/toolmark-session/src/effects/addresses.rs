//! Deceptive URLs and URLs of services that only collect data: the effect of a call that
//! names one.

use crate::addresses::{Address, addresses, is_drop, is_public_number, suspicious};
use serde_json::Value;
use toolmark_redact::{Proof, secrets};
use toolmark_shell::{Certainty, Effect, EffectKind, EffectScope, PlannedCommand, Reversibility};

/// Maximum number of URLs of one text to check.
const MAX_ADDRESSES: usize = 16;

/// Placeholder for the name of a program.
const PROGRAM: &str = "address";

/// Whether the effect belongs to a deceptive address.
pub fn is_suspicious_address(effect: &Effect) -> bool {
    effect.program == PROGRAM
}

fn effect(host: &str, why: &'static str) -> Effect {
    Effect {
        kind: EffectKind::SendOut,
        target: host.to_owned(),
        scope: EffectScope::Remote,
        reversibility: Reversibility::R3,
        certainty: Certainty::Likely,
        span: (0, 0),
        program: PROGRAM.to_owned(),
        why,
    }
}

/// Returns the effect of the first suspicious URL among the arguments of a tool that fetches.
pub(super) fn in_arguments(args: &Value) -> Option<Effect> {
    let texts = args.as_object()?.values().filter_map(Value::as_str);
    texts.flat_map(|text| addresses(text, MAX_ADDRESSES)).find_map(|address| {
        let why = suspicious(address.host)
            .or_else(|| is_metadata(address.host).then_some("reads the machine's credentials"))
            .or_else(|| sends_secret(&address).then_some("sends a secret to another machine"))?;
        Some(effect(address.host, why))
    })
}

/// Whether the host is a cloud service that returns the credentials of the machine.
fn is_metadata(host: &str) -> bool {
    matches!(host, "169.254.169.254" | "metadata.google.internal" | "100.100.100.200")
}

/// Whether the part of a URL after its host contains a secret.
fn sends_secret(address: &Address<'_>) -> bool {
    let after = address.text.split_once(address.host).map_or("", |(_, after)| after);
    after.contains(['?', '/']) && !secrets(after, Proof::Certain, 1).is_empty()
}

/// Returns the effect of the first suspicious URL that a command fetches from or sends to.
pub(super) fn in_commands(text: &str, commands: &[PlannedCommand]) -> Option<Effect> {
    if !text.contains("://") {
        return None;
    }
    let fetching = commands.iter().filter(|command| {
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
        texts().flat_map(|text| addresses(text, MAX_ADDRESSES)).find_map(|address| {
            let why = suspicious(address.host).or_else(|| {
                let drop =
                    (uploads && is_drop(address.host)).then_some("takes uploads from anybody");
                drop.or_else(|| fetches_program(&address).then_some("a program from a bare number"))
            })?;
            Some(effect(address.host, why))
        })
    })
}

/// Whether an executable is downloaded from an IP address.
fn fetches_program(address: &Address<'_>) -> bool {
    let path = address.text.split(['?', '#']).next().unwrap_or("");
    let runs = [".sh", ".exe", ".elf", ".bin", ".py", ".ps1", ".pl", ".so", ".dll", ".bat"];
    is_public_number(address.host) && runs.iter().any(|end| path.ends_with(end))
}
