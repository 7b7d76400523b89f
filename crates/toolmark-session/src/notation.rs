//! A compact, readable notation for traces, used in the examples on the rule pages
//! and in tests.
//!
//! ```text
//! host: claude-code
//! cwd: /w
//! user: please fix the build
//! assistant: I'll look first.
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}\n"
//! & Read {"file_path":"/w/b.rs"} !> "File does not exist."
//! Bash {"command":"make"} !2 "Exit code 2\nmake: *** no rule"
//! ```
//!
//! - `host:` sets the host (`claude-code` by default), or `openai` for an
//!   unknown agent. `cwd:` sets the working directory (`/w` by default) or, after a
//!   call, the new one. `tools:` lists the available tools, separated by commas, or
//!   one tool with its JSON Schema.
//! - `policy:` is an entry of the `tools:` section: a tool and its conditions as JSON. Only rules
//!   that check a policy read it: [`policy`].
//! - `expected:` is a call that the task expects, in a run that failed by its own record.
//! - `user:`, `assistant:` and `reasoning:` are messages, and `context:` is text that the
//!   host gave the model; `compaction` has no text.
//!   `\n` in a message is a line break.
//! - A call consists of its tool, its arguments as JSON (a string for arguments that are
//!   text), a mark and its result as a JSON string. The marks are `->` for success, `!>`
//!   for failure, `!N` for failure with exit code N, `x>` for a refused call and `?>` for an
//!   unknown status. A call without a mark has no result.
//! - A message of the assistant starts a response, to which the next call belongs.
//!   Every other call is a response of its own, unless it is preceded by `&`.
//! - The lines of a sub-agent follow the call that started it, each with the prefix
//!   `>`.
//! - Empty lines and lines that start with `#` are ignored.

use serde_json::Value;
use std::sync::Arc;
use toolmark_config::Node;
use toolmark_hosts::tool_policy::ToolPolicy;
use toolmark_hosts::toolset::builtin;
use toolmark_trace::{
    At, DeclaredOutcome, EventKind, ExpectedCall, Location, Move, NewCall, Parent, Payload,
    ReaderResult, RunDeclaration, Status, StatusLevel, Text, ToolDefinition, ToolName, Trajectory,
    TrajectoryBuilder, format_by_id,
};

/// File name of a trace in this notation, used in evidence.
const FILE: &str = "example";

/// Reason why a text is not a trace in this notation.
#[derive(Debug, thiserror::Error)]
pub enum NotationError {
    /// A format is unknown.
    #[error("there is no format {0}")]
    Format(String),
    /// A host is unknown, or writes no traces.
    #[error("there is no host {0} that writes traces")]
    Host(String),
    /// A line is invalid.
    #[error("line {0}: {1}")]
    Line(usize, LineError),
}

/// Reason why a line is invalid.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// A sub-agent has sub-agents.
    #[error("sub-agents of sub-agents are not part of the notation")]
    Nested,
    /// A sub-agent is not preceded by a call.
    #[error("no call has started a sub-agent")]
    NoParent,
    /// An expected call has no arguments.
    #[error("an expected call has a tool and arguments")]
    Expected,
    /// A schema, or the arguments of an expected call, are not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The arguments of a call are not JSON.
    #[error("the arguments of {0}: {1}")]
    Arguments(String, serde_json::Error),
    /// A call has no arguments.
    #[error("{0} has no arguments")]
    NoArguments(String),
    /// The result of a call is not a JSON string.
    #[error("the result of {0} is no JSON string: {1}")]
    Result(String, serde_json::Error),
    /// A mark is unknown.
    #[error("there is no mark {0}")]
    Mark(String),
}

/// Parses a trace in this notation.
pub fn parse(text: &str) -> Result<Trajectory, NotationError> {
    let host = text.lines().find_map(|line| line.trim().strip_prefix("host:")).map(str::trim);
    let (format, agent) = written_by(host.unwrap_or("claude-code"))?;
    let info = format_by_id(format).ok_or_else(|| NotationError::Format(format.into()))?.info();
    let mut builder = TrajectoryBuilder::new(info, Arc::from(FILE));
    builder.run.agent.name = Some(agent.into());
    builder.run.cwd = Some("/w".into());
    builder.run.id = Some("example".into());
    let mut lines = NotationLines { builder, step: None, offset: 0, children: Vec::new() };
    for (number, line) in text.split('\n').enumerate() {
        let told = lines.take(line.trim(), number);
        told.map_err(|error| NotationError::Line(number + 1, error))?;
        lines.offset += line.len() as u64 + 1;
    }
    let mut run = lines.builder.finish();
    for (call, text) in lines.children {
        let mut child = parse(&text)?;
        let call = run.calls.get(call).and_then(|call| call.id.clone());
        child.parent = Some(Parent { trajectory: run.id.clone(), call });
        run.children.push(child);
    }
    Ok(run)
}

/// Returns the policy for named tools in this notation.
#[must_use]
pub fn policy(text: &str) -> ToolPolicy {
    let entries = text.lines().filter_map(|line| {
        let (tool, terms) = line.trim().strip_prefix("policy:")?.trim().split_once(' ')?;
        Some((tool.to_owned(), serde_json::from_str(terms).ok()?))
    });
    let tools: serde_json::Map<String, Value> = entries.collect();
    let root = Node::from_json(&serde_json::json!({ "tools": tools }));
    root.map(|root| ToolPolicy::read(&root, &mut Vec::new())).unwrap_or_default()
}

/// Returns the trace format of a host, and the name of its agent.
fn written_by(host: &str) -> Result<(&str, &str), NotationError> {
    if host == "openai" {
        return Ok(("openai-chat", "assistant"));
    }
    builtin(host)
        .and_then(|set| Some((&**set.formats.first()?, &**set.agents.first()?)))
        .ok_or_else(|| NotationError::Host(host.to_owned()))
}

struct NotationLines {
    builder: TrajectoryBuilder,
    /// Response to which the next call belongs.
    step: Option<u32>,
    offset: u64,
    /// Lines of the sub-agents, by the call that started them.
    children: Vec<(usize, String)>,
}

impl NotationLines {
    fn take(&mut self, line: &str, number: usize) -> Result<(), LineError> {
        let at = At::recorded(&Location {
            file: FILE.into(),
            line: number as u32 + 1,
            column: 1,
            byte: self.offset,
        });
        let is_setting = ["#", "host:", "policy:"].iter().any(|start| line.starts_with(start));
        if line.is_empty() || is_setting {
            return Ok(());
        }
        if let Some(line) = line.strip_prefix("> ") {
            return self.child(line);
        }
        if line == "compaction" {
            self.builder.event(EventKind::Compaction, None, None, None, at);
            return Ok(());
        }
        let word = line.split_once(": ").map(|(word, rest)| (word, rest.trim()));
        match word {
            Some(("cwd", dir)) if self.builder.run.calls.is_empty() => {
                self.builder.run.cwd = Some(dir.into());
            }
            Some(("cwd", dir)) => {
                let call = self.builder.run.calls.len();
                self.builder.run.moves.push(Move { call, to: dir.into() });
            }
            Some(("context", said)) => {
                self.builder.event(EventKind::Context, Some(words(said)), None, None, at);
            }
            Some(("tools", tools)) => self.tools(tools)?,
            Some(("expected", action)) => self.expected(action, at)?,
            Some(("user", said)) => {
                self.step = None;
                self.builder.user(Some(words(said)), None, at);
            }
            Some(("assistant", said)) => {
                let step = self.builder.step(None, None, at.clone());
                self.builder.message(step, words(said), None, at);
                self.step = Some(step);
            }
            Some(("reasoning", said)) => {
                let step = self.builder.step(None, None, at.clone());
                self.builder.reasoning(step, Some(words(said)), None, at);
                self.step = Some(step);
            }
            _ => self.call(line, at)?,
        }
        Ok(())
    }

    fn child(&mut self, line: &str) -> Result<(), LineError> {
        if line.starts_with('>') {
            return Err(LineError::Nested);
        }
        let last = self.builder.run.calls.len();
        let call = last.checked_sub(1).ok_or(LineError::NoParent)?;
        match self.children.last_mut().filter(|(of, _)| *of == call) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(line);
            }
            None => self.children.push((call, line.to_owned())),
        }
        Ok(())
    }

    /// Adds an expected call. The run then failed by its own record.
    fn expected(&mut self, text: &str, at: At) -> Result<(), LineError> {
        let (name, args) = text.split_once(' ').ok_or(LineError::Expected)?;
        serde_json::from_str::<Value>(args)?;
        let run = &mut self.builder.run;
        run.declared = Some(RunDeclaration {
            outcome: DeclaredOutcome::Failed,
            says: "reward 0".into(),
            at: at.clone(),
        });
        run.stated.expected.get_or_insert_default().calls.push(ExpectedCall {
            name: Text::owned(name),
            args: Payload::json(Text::owned(args)),
            compared: None,
            at,
        });
        Ok(())
    }

    fn tools(&mut self, text: &str) -> Result<(), LineError> {
        let tools = self.builder.run.tools.get_or_insert_default();
        match text.split_once(" {") {
            Some((name, schema)) => {
                let schema = format!("{{{schema}");
                serde_json::from_str::<Value>(&schema)?;
                tools.push(ToolDefinition {
                    name: name.into(),
                    description: None,
                    schema: Some(Payload::json(Text::owned(schema))),
                });
            }
            None => tools.extend(text.split(',').map(|name| ToolDefinition {
                name: name.trim().into(),
                description: None,
                schema: None,
            })),
        }
        Ok(())
    }

    fn call(&mut self, line: &str, at: At) -> Result<(), LineError> {
        let (is_parallel, line) = match line.strip_prefix("& ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, line),
        };
        let (name, rest) = line.split_once(' ').unwrap_or((line, "{}"));
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let args = match values.next() {
            Some(Ok(args)) => args,
            Some(Err(error)) => return Err(LineError::Arguments(name.to_owned(), error)),
            None => return Err(LineError::NoArguments(name.to_owned())),
        };
        let after = rest.get(values.byte_offset()..).unwrap_or("").trim();
        let step = match self.step {
            Some(step) => step,
            None => match self.builder.last_step().filter(|_| is_parallel) {
                Some(step) => step,
                None => self.builder.step(None, None, at.clone()),
            },
        };
        self.step = None;
        let index = self.builder.call(NewCall {
            id: Some(format!("call-{}", self.builder.run.calls.len() + 1).into()),
            name: ToolName::new(name),
            args: Some(Payload::value(&args)),
            step: Some(step),
            time: None,
            at: at.clone(),
        });
        if after.is_empty() {
            return Ok(());
        }
        let (mark, result) = after.split_once(' ').unwrap_or((after, "\"\""));
        let result: String = serde_json::from_str(result.trim())
            .map_err(|error| LineError::Result(name.to_owned(), error))?;
        let answer = ReaderResult::new(Some(Payload::text(Text::owned(result))), at);
        let answer = match mark {
            "->" => answer.protocol(false),
            "!>" => answer.protocol(true),
            "x>" => answer.status(Status::Denied, StatusLevel::Denial),
            "?>" => answer,
            mark => match mark.strip_prefix('!').map(str::parse) {
                Some(Ok(code)) => answer.protocol(true).exit_code(Some(code)),
                _ => return Err(LineError::Mark(mark.to_owned())),
            },
        };
        self.builder.answer_call(index, answer);
        Ok(())
    }
}

fn words(text: &str) -> Payload {
    Payload::text(Text::owned(text.replace("\\n", "\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_every_kind_of_line() {
        let run = parse(
            "host: codex\ncwd: /x\ntools: a, b\ntools: c {\"type\":\"object\"}\n\n# a remark\n\
             user: hello\nassistant: first\nshell {\"command\":[\"ls\"]} -> \"a\\nb\"\n\
             & shell {\"command\":[\"x\"]} !127 \"no\"\napply_patch \"*** Begin Patch\"\n\
             compaction\nb {} ?> \"x\"\nuser: bye\na {} x> \"no\"",
        )
        .unwrap();
        assert_eq!((run.format, run.calls.len(), run.steps.len()), ("codex-rollout", 5, 4));
        assert_eq!(run.user_turns, 2);
        let status: Vec<_> = run.calls.iter().map(|c| c.status.word()).collect();
        assert_eq!(status, ["succeeded", "failed", "unanswered", "unknown", "denied"]);
        assert_eq!(run.calls[0].step, run.calls[1].step);
        assert_ne!(run.calls[1].step, run.calls[2].step);
        assert_eq!(run.calls[1].exit_code, Some(127));
        assert_eq!(run.calls[2].args.as_ref().unwrap().raw(), "*** Begin Patch");
        assert_eq!(run.calls[1].at.location().line, 10);
        assert_eq!(run.tools.unwrap().len(), 3);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, want) in [
            ("host: emacs", "there is no host emacs that writes traces"),
            ("user: x\nRead {", "line 2: the arguments of Read"),
            ("Read {} => \"x\"", "line 1: there is no mark =>"),
            ("Read {} -> x", "line 1: the result of Read"),
            ("> Read {}", "line 1: no call has started"),
            ("Task {}\n> > Read {}", "line 2: sub-agents of sub-agents"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
