//! Hosts: programs that run agents, and everything that differs between them.
//!
//! A host is one folder in this crate and one line in [`HOSTS`]. The folder contains the
//! tools (`toolset.yaml`), the hook protocol (`protocol.rs`), the installation of the guard
//! in the settings (`install.rs`), the file locations (`paths.rs`) and the launch settings
//! (`launch.rs`). All other code consults this list: the available toolsets, the hosts for
//! which the guard can be installed, the locations of sessions, and the files that the guard
//! must protect.

#![forbid(unsafe_code)]

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod event;
mod gemini_cli;
mod generic;
pub mod install;
pub mod launch;
mod opencode;
pub mod own;
mod paths;
mod pi;
mod plain;
mod protect;
mod protocol;
pub mod results;
pub mod tool_effect;
pub mod tool_policy;
pub mod toolset;
mod verdict;

pub use event::{Args, HookEvent, LeftOut, Moment, PayloadError};
pub use paths::{HostSessions, MovedBy, Paths};
pub use protect::{moved_settings, protected};
pub use protocol::{HookOutput, PayloadShape, Protocol};
pub use verdict::{Effects, GuardAnswer};

use install::Installer;
use launch::Launch;
use toolset::Toolset;

/// A program that runs agents.
pub struct Host {
    /// Id, such as `claude-code`.
    pub id: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Hook protocol; plain JSON if the host has no protocol of its own.
    pub protocol: &'static dyn Protocol,
    /// File locations.
    pub paths: Option<&'static Paths>,
    /// Tools of the host.
    pub toolset: Option<&'static Toolset>,
    /// Settings for a headless launch.
    pub launch: Option<&'static Launch>,
    pub(crate) installer: Option<&'static Installer>,
}

/// All hosts. If a payload or a tool matches several hosts, the first one wins.
pub static HOSTS: &[&Host] = &[
    &claude_code::HOST,
    &codex::HOST,
    &copilot_cli::HOST,
    &gemini_cli::HOST,
    &cursor::HOST,
    &opencode::HOST,
    &pi::HOST,
    &generic::HOST,
    &plain::HOST,
];

/// Returns the host with this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Host> {
    HOSTS.iter().copied().find(|host| host.id == id)
}

/// Returns the host whose hook most likely sent a payload.
#[must_use]
pub fn detect(payload: &[u8]) -> &'static Host {
    let shape: PayloadShape = serde_json::from_slice(payload).unwrap_or_default();
    let mut surest = (0, &plain::HOST);
    for host in HOSTS {
        let sure = host.protocol.detect(&shape);
        if sure > surest.0 {
            surest = (sure, host);
        }
    }
    surest.1
}

impl Host {
    /// Reads a payload of the host's hook.
    ///
    /// # Errors
    ///
    /// Fails if the payload is broken or lacks information that every decision needs.
    pub fn read<'a>(&self, payload: &'a [u8]) -> Result<HookEvent<'a>, PayloadError> {
        self.protocol.read(payload)
    }

    /// Returns the reason why an `ask` cannot prompt the user; `None` if the user would be
    /// prompted.
    #[must_use]
    pub fn unasked(&self, event: &HookEvent<'_>) -> Option<String> {
        self.protocol.unasked(event)
    }

    /// Formats the answer for the host. Without an event, the payload was not readable.
    #[must_use]
    pub fn answer(&self, event: Option<&HookEvent<'_>>, verdict: &GuardAnswer) -> HookOutput {
        self.protocol.answer(event, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_shell::Decision;

    /// Returns the event of a payload, and asserts that the payload is detected by its shape
    /// and read in the same way by the named host.
    pub(crate) fn seen<'a>(id: &str, payload: &'a str) -> HookEvent<'a> {
        assert_eq!(detect(payload.as_bytes()).id, id, "{payload}");
        by_id(id).unwrap().read(payload.as_bytes()).unwrap()
    }

    pub(crate) fn verdict(decision: Decision) -> GuardAnswer {
        let mut verdict = GuardAnswer::new(decision, "effect", "why");
        verdict.suggestion = Some("instead".to_owned());
        verdict
    }

    /// Returns the JSON in an answer, if any.
    pub(crate) fn answered(answer: &HookOutput) -> Option<serde_json::Value> {
        (!answer.stdout.is_empty()).then(|| serde_json::from_str(&answer.stdout).unwrap())
    }

    #[test]
    fn no_host_lets_a_denied_or_unread_call_pass() {
        for host in HOSTS.iter().filter(|host| host.installer.is_some()) {
            for event in [None, Some(HookEvent::new(Moment::Before, host.id, "x"))] {
                let answer = host.answer(event.as_ref(), &verdict(Decision::Deny));
                let text = format!("{}{}", answer.stdout, answer.stderr);
                let says_no = answer.exit == 2 || text.contains("\"deny\"");
                assert!(says_no && text.contains("why"), "{}: {answer:?}", host.id);
            }
        }
    }

    #[test]
    fn samples_are_what_hosts_send() {
        for host in HOSTS.iter().filter(|host| host.installer.is_some()) {
            let payload = host.protocol.sample("ls", "/w", "s").to_string();
            let event = seen(host.id, &payload);
            assert_eq!((event.moment, event.session.as_deref()), (Moment::Before, Some("s")));
            assert_eq!(event.cwd.as_deref(), Some("/w"), "{}", host.id);
            assert_eq!(event.args.json().unwrap()["command"], "ls", "{}", host.id);
            assert!(!host.answer(Some(&event), &verdict(Decision::Allow)).stops(), "{}", host.id);
            assert!(host.answer(Some(&event), &verdict(Decision::Deny)).stops(), "{}", host.id);
        }
    }

    #[test]
    fn ids_are_unique_and_what_nobody_knows_is_plain() {
        let mut ids: Vec<_> = HOSTS.iter().map(|host| host.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), HOSTS.len());
        for broken in ["", "[]", "{", "null", "{\"hook_event_name\":1}", "{\"tool\":\"x\"}"] {
            assert_eq!(detect(broken.as_bytes()).id, "plain", "{broken}");
        }
    }
}
