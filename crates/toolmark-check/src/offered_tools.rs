//! Tools that a session could have called: those recorded in the trace, those it used, and
//! those that its host always offers.

use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_trace::ToolName;

/// A tool that the agent could have called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Name of the tool.
    pub(crate) name: String,
    /// Whether the trace itself shows that the tool was available.
    pub(crate) is_proven: bool,
}

/// Returns the available tool with one of these roles, preferring earlier roles; `None` if
/// there was none or if it is unknown.
pub(crate) fn offered(session: &Session<'_>, roles: &[ToolRole]) -> Option<Offer> {
    roles.iter().find_map(|role| with_role(session, *role))
}

fn with_role(session: &Session<'_>, role: ToolRole) -> Option<Offer> {
    let proven = |name: String| Some(Offer { name, is_proven: true });
    if let Some(tools) = &session.trajectory().tools {
        let found = tools.iter().find(|tool| {
            let described = session.describe(&ToolName::new(tool.name.get().into_owned()));
            described.is_some_and(|tool| tool.role == role)
        });
        return found.and_then(|tool| proven(tool.name.get().into_owned()));
    }
    let is_use = |call: &&SessionCall<'_>| call.role == role && call.ended == Ended::Ok;
    if let Some(call) = session.calls().iter().find(is_use) {
        return proven(call.tool.to_string());
    }
    // A sub-agent has the tools that it was given, and a guessed host may have any
    // tools.
    if session.trajectory().parent.is_some() || session.is_host_guessed() {
        return None;
    }
    let host = session.host();
    let version = session.trajectory().agent.version.as_ref().map(|version| version.get());
    let is_usual = |tool: &&Tool| tool.role == role && tool.is_usual(version.as_deref());
    let usual = host.tools.iter().find(is_usual);
    usual.map(|tool| Offer { name: tool.name.to_string(), is_proven: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_session::notation;
    use toolmark_trace::Text;

    #[test]
    fn recorded_used_or_usual() {
        for (trace, role, want) in [
            ("tools: Bash, Read", ToolRole::Reads, Some(("Read", true))),
            ("tools: Bash", ToolRole::Reads, None),
            ("Bash {}", ToolRole::Reads, Some(("Read", false))),
            ("Read {} -> \"x\"", ToolRole::Reads, Some(("Read", true))),
            ("Bash {}", ToolRole::Lists, None),
            ("LS {\"path\":\"/w\"} -> \"x\"", ToolRole::Lists, Some(("LS", true))),
            ("host: codex\nshell {}", ToolRole::Reads, None),
            ("host: openai\nbash {}", ToolRole::Reads, None),
            ("host: openai\nread_file {} -> \"x\"", ToolRole::Reads, Some(("read_file", true))),
        ] {
            let run = notation::parse(trace).unwrap();
            let toolsets = Toolsets::default();
            let session = Session::new(&run, &toolsets);
            let found = offered(&session, &[role]);
            let found = found.as_ref().map(|offer| (offer.name.as_str(), offer.is_proven));
            assert_eq!(found, want, "{trace}");
        }
    }
    /// Native builds of Claude Code have no search tools since 2.1.117.
    #[test]
    fn usual_until_a_version() {
        for (version, trace, want) in [
            (None, "Bash {}", Some(false)),
            (Some("1.0.128"), "Bash {}", Some(false)),
            (Some("2.1.116"), "Bash {}", Some(false)),
            (Some("2.1.117"), "Bash {}", None),
            (Some("2.2.0-beta.1"), "Bash {}", None),
            (Some("2.1.200"), "Grep {\"pattern\":\"x\"} -> \"a\"", Some(true)),
            (Some("2.1.200"), "tools: Bash, Grep", Some(true)),
        ] {
            let mut run = notation::parse(trace).unwrap();
            run.agent.version = version.map(Text::owned);
            let toolsets = Toolsets::default();
            let session = Session::new(&run, &toolsets);
            let found = offered(&session, &[ToolRole::SearchesContent]);
            assert_eq!(found.map(|offer| offer.is_proven), want, "{version:?} {trace}");
            let reads = offered(&session, &[ToolRole::Reads]);
            assert_eq!(reads.is_some(), !trace.starts_with("tools"), "{version:?} {trace}");
        }
    }
}
