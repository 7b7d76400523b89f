//! `toolmark guard mcp`: a proxy between an MCP client and an MCP server.
//!
//! Standard output carries the protocol; messages for people go to standard error.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::guarding;
use crate::printer::{Printer, StyledLine, style};
use clap::{Args, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_base::read_file;
use toolmark_guard::files::{self, Opened};
use toolmark_guard::policy::CallRate;
use toolmark_guard::{Args as CallArgs, GuardAnswer, HookEvent, Moment, audit};
use toolmark_mcp::{
    AuditSink, DecisionRecord, Ending, GuardPolicy, NoAudit, Occasion, OnAsk, Pins, PinsError,
    Proxy, ProxySettings, Remote, ResultLimits, ServeError, serve_http, serve_stdio,
};
use toolmark_shell::Decision;

const EXAMPLES: &str = "\
Examples:
  toolmark guard mcp -- npx -y @modelcontextprotocol/server-filesystem .
  toolmark guard mcp --name mail --rate 30/min -- uvx mail-server
  toolmark guard mcp --url https://example.com/mcp --header 'Authorization: Bearer …'
  toolmark guard mcp --accept mail           accept the current descriptions of its tools

Exit codes:
  0  the client ended the session
  2  the command line is invalid
  3  the server did not start, or ended before the client did";

/// Maximum size of a file with a policy, in bytes.
const MAX_POLICY: u64 = 64 << 20;

/// Guard the tools of an MCP server
///
/// Started by an MCP client in place of the server, which it starts itself or reaches over HTTP.
/// Tools the policy denies are not offered, calls are decided as the hook decides them and checked
/// against the tool's own schema, results are searched for secrets, and a tool whose description
/// changes is held until the user accepts it. Everything else passes unchanged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GuardMcpCommand {
    /// Program of the server, and its arguments
    #[arg(
        value_name = "SERVER",
        trailing_var_arg = true,
        required_unless_present_any = ["url", "accept"],
        conflicts_with_all = ["url", "accept"]
    )]
    server: Vec<OsString>,
    /// URL of a server that speaks streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "accept")]
    url: Option<String>,
    /// Header to send with every request, as `Name: value`; may be given several times
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    headers: Vec<String>,
    /// Name of the server in policies [default: derived from its program or URL]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Accept changed tools of a server (`NAME`) or one of them (`NAME/TOOL`)
    #[arg(long, value_name = "NAME")]
    accept: Option<String>,
    /// The user's policy [default: the one in the home directory that the system has for the user;
    /// a policy named by variables applies only where it is stricter]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Log decisions to this file, or `off` [default: the log of the guard]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// File with the pinned descriptions of tools [default: beside the log]
    #[arg(long, value_name = "FILE")]
    pins: Option<PathBuf>,
    /// Decision for calls of a tool whose description changed [default: that of the policy, or
    /// deny]
    #[arg(long, value_enum, value_name = "DECISION")]
    changed: Option<Changed>,
    /// Decision if the policy says to ask and the client cannot ask
    #[arg(long, value_enum, value_name = "DECISION", default_value = "deny")]
    on_ask: Alone,
    /// Rate limit for all tools together, such as `60/min`
    #[arg(long, value_name = "RATE")]
    rate: Option<CallRate>,
    /// Rate limit for each tool
    #[arg(long, value_name = "RATE")]
    tool_rate: Option<CallRate>,
    /// Do not redact secrets in results
    #[arg(long)]
    pass_secrets: bool,
    /// Maximum bytes of text in a result
    #[arg(long, value_name = "BYTES", default_value_t = ResultLimits::default().text)]
    most_text: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Changed {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Alone {
    Allow,
    Deny,
}

impl GuardMcpCommand {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let pins = self.pins_file()?;
        if let Some(name) = &self.accept {
            let tools = Pins::accept(&pins, name).map_err(failed)?;
            for tool in tools {
                let tool = toolmark_mcp::suspicion::sanitize(&tool, 200);
                printer.line(
                    &StyledLine::of(style::GOOD, "accepted")
                        .with(style::PLAIN, printer.redact(format!("  {tool}"))),
                )?;
            }
            return Ok(Exit::Ok);
        }
        let proxy = self.proxy(&pins, printer)?;
        let tell = |words: &str| {
            // An error while writing to standard error cannot be reported anywhere.
            let words = printer.redact(format!("toolmark: {words}"));
            let _ = printer.notice(&StyledLine::of(style::PLAIN, words));
        };
        let ended = match (self.url, self.server.split_first()) {
            (Some(url), _) => serve_http(proxy, Remote { url, headers: self.headers }, tell),
            (None, Some((program, args))) => serve_stdio(proxy, program, args, tell),
            (None, None) => return Err(Failure::usage("no server is given").into()),
        };
        match ended {
            Ok(Ending::ClientLeft | Ending::Signalled) => Ok(Exit::Ok),
            Ok(Ending::ServerLeft(how)) => {
                Err(Failure::unread(format!("the server ended: {how}")).into())
            }
            Err(error @ ServeError::Remote(_)) => Err(Failure::usage(error.to_string()).into()),
            Err(error) => Err(Failure::unread(error.to_string()).into()),
        }
    }

    fn proxy(&self, pins: &Path, printer: &mut Printer) -> Result<Proxy, Stop> {
        // A project's settings start it, in an environment that they set.
        if let Some(policy) = &self.policy {
            let checked = read_file::check_regular(policy);
            match checked.and_then(|()| read_file::read_text(policy, MAX_POLICY)) {
                // `install` names the policy of a user who has none yet.
                Err(error) if error.is_missing() || error.is_empty() => {}
                read => drop(read?),
            }
        }
        let opened = guarding::fixed(self.policy.as_deref()).with_log(self.log.as_deref());
        let opened = guarding::without_faults(opened, printer)?;
        let policy = opened.guard.policy().mcp();
        let settings = ProxySettings {
            server: self.server_name(),
            limits: ResultLimits { text: self.most_text, pass_secrets: self.pass_secrets },
            on_ask: match self.on_ask {
                Alone::Allow => OnAsk::Allow,
                Alone::Deny => OnAsk::Deny,
            },
            rate: self.rate.or(policy.rate),
        };
        let cwd =
            std::env::current_dir().ok().and_then(|cwd| cwd.into_os_string().into_string().ok());
        let audit = self.audit_sink(&opened, &settings.server, cwd.as_deref())?;
        let mut call_policy = GuardPolicy::new(opened, cwd);
        call_policy.rate = self.tool_rate;
        call_policy.changed = match self.changed {
            Some(Changed::Allow) => Decision::Allow,
            Some(Changed::Ask) => Decision::Ask,
            Some(Changed::Deny) => Decision::Deny,
            None => policy.changed.unwrap_or(Decision::Deny),
        };
        let pins = Pins::open(pins).map_err(failed)?;
        Ok(Proxy::new(settings, pins, Box::new(call_policy), audit))
    }

    /// Returns the sink for decisions.
    fn audit_sink(
        &self,
        opened: &Opened,
        server: &str,
        cwd: Option<&str>,
    ) -> Result<Box<dyn AuditSink>, Failure> {
        let path = opened.log_place(self.log.as_deref());
        let path = path.map_err(|error| Failure::unread(error.to_string()))?;
        Ok(match path {
            None => Box::new(NoAudit),
            Some(path) => Box::new(AuditLog {
                path,
                limits: opened.guard.policy().log().limits(),
                session: format!("{server}-{}", std::process::id()),
                cwd: cwd.map(str::to_owned),
            }),
        })
    }

    /// Path of the pins: as named, beside the log, or in the user's state directory.
    fn pins_file(&self) -> Result<PathBuf, Stop> {
        const FILE: &str = "mcp-pins.json";
        if let Some(path) = &self.pins {
            return Ok(path.clone());
        }
        if let Some(log) = &self.log {
            return Ok(log.with_file_name(FILE));
        }
        // Variables are used only if the system knows no home directory of the user.
        match files::log_of_system() {
            Some(log) => Ok(log.with_file_name(FILE)),
            None => Err(Failure::usage("no home directory to keep pins in")
                .hint("set one with --pins FILE")
                .into()),
        }
    }

    fn server_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        if let Some(url) = &self.url {
            let host = url.split("://").nth(1).unwrap_or(url).split(['/', '?', '#']).next();
            return tidy(host.unwrap_or_default());
        }
        named_by(&self.server)
    }
}

/// Derives a server name from its program, or from the program that a launcher starts.
fn named_by(command: &[OsString]) -> String {
    const LAUNCHERS: [&str; 14] = [
        "npx", "bunx", "pnpx", "uvx", "uv", "pipx", "node", "bun", "deno", "python", "python3",
        "docker", "sh", "bash",
    ];
    let mut words = command.iter().map(|word| {
        let word = word.to_string_lossy().into_owned();
        let path = Path::new(&word);
        let is_script = path
            .extension()
            .is_some_and(|end| ["js", "mjs", "py", "ts", "exe"].iter().any(|known| *known == end));
        let name = if is_script { path.file_stem() } else { path.file_name() };
        name.map(OsStr::to_string_lossy).map_or_else(|| word.clone(), |name| name.into_owned())
    });
    let program = words.next().unwrap_or_default();
    if !LAUNCHERS.contains(&program.as_str()) {
        return tidy(&program);
    }
    let is_name = |word: &String| {
        !word.starts_with('-') && !["run", "exec", "x", "tool"].contains(&word.as_str())
    };
    let launched = words.find(is_name).unwrap_or(program);
    // Without its version: `name@1.2`.
    tidy(launched.split('@').find(|part| !part.is_empty()).unwrap_or(&launched))
}

/// Removes characters that are not allowed in the name of a tool.
fn tidy(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(kept).collect();
    match name.trim_matches('_') {
        "" => "server".to_owned(),
        name => name.replace("__", "_"),
    }
}

fn failed(error: PinsError) -> Stop {
    match error {
        PinsError::Nothing(_) => Failure::usage(error.to_string()).into(),
        PinsError::Read(error) => error.into(),
        _ => Failure::unread(error.to_string()).into(),
    }
}

/// The log of the guard, in which the proxy is another host.
struct AuditLog {
    path: PathBuf,
    limits: audit::AuditLimits,
    session: String,
    cwd: Option<String>,
}

impl AuditSink for AuditLog {
    fn write(&mut self, record: &DecisionRecord) -> io::Result<()> {
        let moment = match record.occasion {
            Occasion::Call => Moment::Before,
            Occasion::Result => Moment::After,
            Occasion::List | Occasion::Server => Moment::Other,
        };
        let mut event = HookEvent::new(moment, HOST, record.tool.as_deref().unwrap_or_default());
        event.name = record.occasion.as_str().into();
        event.session = Some(self.session.as_str().into());
        event.cwd = self.cwd.as_deref().map(Into::into);
        event.call_id = record.request.as_deref().map(Into::into);
        event.args = record.args.clone().map_or(CallArgs::None, CallArgs::Json);
        let decision = Decision::ALL.iter().copied().find(|one| one.word() == record.decision);
        let mut reason = record.reason.clone();
        for finding in &record.findings {
            reason.push_str(&format!("; {}: {}", finding.name, finding.excerpt));
        }
        // A decision with an unknown name must not be logged as allowed.
        let decision = decision.unwrap_or(Decision::Deny);
        let verdict = GuardAnswer::new(decision, record.rule.as_str(), reason);
        let record = audit::AuditRecord::of(HOST, Some(&event), &verdict, Duration::ZERO);
        audit::append(&self.path, self.limits, &record)
    }
}

/// Host name of the proxy in the log.
const HOST: &str = "mcp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_what_runs() {
        for (command, want) in [
            ("/usr/bin/my-server --x", "my-server"),
            ("npx -y @modelcontextprotocol/server-filesystem /tmp", "server-filesystem"),
            ("npx -y server-git@1.2.3", "server-git"),
            ("uvx mcp_server_time", "mcp_server_time"),
            ("uv run server.py", "server"),
            ("python3 -u ./tools/mail.py", "mail"),
            ("node dist/index.js", "index"),
            ("python3", "python3"),
            ("a__b", "a_b"),
            ("é", "server"),
        ] {
            let words: Vec<OsString> = command.split(' ').map(Into::into).collect();
            assert_eq!(named_by(&words), want, "{command}");
        }
    }
}
