//! Reads from the transcript of a host whether the session made a file. Used if the log does not
//! contain it: there is no log, or the session is older than the guard. Claude Code and Codex pass
//! the path of the transcript to hooks.

use crate::audit::tail;
use crate::history::{Edge, FileHistory};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;
use toolmark_hosts::toolset::{ToolRole, Toolsets};
use toolmark_session::effects::{Arguments, ToolInput};
use toolmark_session::patch::{self, FileChange};
use toolmark_trace::ToolName;

/// Maximum number of bytes read from the end of the file.
const MAX_BYTES: u64 = 8 << 20;

/// The fields of a line that matter here, of both hosts.
#[derive(Deserialize)]
struct TranscriptLine<'l> {
    #[serde(borrow)]
    timestamp: Cow<'l, str>,
    /// Claude Code.
    #[serde(borrow, default)]
    message: Option<TranscriptMessage<'l>>,
    #[serde(borrow, default, rename = "toolUseResult")]
    result: Option<&'l RawValue>,
    /// Codex.
    #[serde(borrow, default)]
    payload: Option<TranscriptPayload<'l>>,
}

#[derive(Deserialize)]
struct TranscriptMessage<'l> {
    #[serde(borrow, default)]
    content: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct TranscriptBlock<'l> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'l, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    input: Option<&'l RawValue>,
    #[serde(borrow, default)]
    content: Option<&'l RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct TranscriptPayload<'l> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    input: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    output: Option<&'l RawValue>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(borrow, default)]
    changes: Option<&'l RawValue>,
}

/// When a session made a file, and when its calls ran.
pub(crate) fn history(transcript: &Path, host: &str, cwd: Option<&str>, file: &str) -> FileHistory {
    let mut reader = GuardTranscriptReader {
        host,
        cwd,
        file,
        toolsets: Toolsets::default(),
        makers: Vec::new(),
        history: FileHistory::default(),
    };
    for line in tail(transcript, MAX_BYTES).split(|byte| *byte == b'\n') {
        // Messages of people and of the model are neither calls nor results.
        if ["tool_use", "_call", "patch_apply_end"]
            .iter()
            .any(|mark| memchr::memmem::find(line, mark.as_bytes()).is_some())
        {
            reader.read(line);
        }
    }
    reader.history
}

struct GuardTranscriptReader<'r> {
    host: &'r str,
    cwd: Option<&'r str>,
    file: &'r str,
    toolsets: Toolsets,
    /// Calls that make the file if they succeed.
    makers: Vec<String>,
    history: FileHistory,
}

impl GuardTranscriptReader<'_> {
    fn read(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<TranscriptLine<'_>>(line) else { return };
        let Ok(time) = line.timestamp.parse::<Timestamp>() else { return };
        let content = line.message.and_then(|message| message.content);
        let blocks = content
            .and_then(|raw| serde_json::from_str::<Vec<TranscriptBlock<'_>>>(raw.get()).ok());
        for block in blocks.into_iter().flatten() {
            self.read_block(&block, line.result, time);
        }
        if let Some(payload) = &line.payload {
            self.read_payload(payload, time);
        }
    }

    /// A call of Claude Code, or the result of one.
    fn read_block(
        &mut self,
        block: &TranscriptBlock<'_>,
        result: Option<&RawValue>,
        time: Timestamp,
    ) {
        match &*block.kind {
            "tool_use" => {
                let input = block.input.filter(|raw| self.is_named(raw.get()));
                let input = input.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
                let args = input.as_ref().map(Arguments::Json);
                self.begin(block.id.as_deref(), block.name.as_deref(), args, time);
            }
            "tool_result" => {
                // An existing file that was replaced is not the session's own.
                let kind = result
                    .and_then(|raw| serde_json::from_str::<TranscriptKind<'_>>(raw.get()).ok());
                let is_new = match kind.and_then(|result| result.kind) {
                    Some(kind) => kind == "create",
                    None => block.content.is_some_and(|raw| raw.get().contains("created")),
                };
                let has_failed = block.is_error == Some(true);
                self.end(block.tool_use_id.as_deref(), is_new && !has_failed, time);
            }
            _ => {}
        }
    }

    /// A call of Codex, its result, or what a patch has changed.
    fn read_payload(&mut self, payload: &TranscriptPayload<'_>, time: Timestamp) {
        let call = payload.call_id.as_deref();
        match payload.kind.as_deref() {
            Some("function_call") => self.begin(call, None, None, time),
            Some("custom_tool_call") => {
                let patch = payload.input.as_deref().filter(|text| self.is_named(text));
                let args = patch.map(|text| Arguments::Text(Cow::Borrowed(text)));
                self.begin(call, payload.name.as_deref(), args, time);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let is_done = payload.output.is_some_and(|raw| raw.get().contains("Success"));
                self.end(call, is_done, time);
            }
            Some("patch_apply_end") if payload.success == Some(true) => {
                let changes = payload.changes.filter(|raw| self.is_named(raw.get()));
                let changes = changes.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
                let change = changes.as_ref().and_then(|changes| changes.get(self.file));
                if change.and_then(|change| change.get("type")) == Some(&Value::from("add")) {
                    self.history.make(time);
                }
            }
            _ => {}
        }
    }

    /// Returns whether a text contains the name of the file. Most texts do not, and need not be
    /// parsed.
    fn is_named(&self, text: &str) -> bool {
        let name = self.file.rsplit('/').next().unwrap_or(self.file);
        // Other names may be written with escapes.
        !name.is_ascii() || text.contains(name)
    }

    fn begin(
        &mut self,
        call: Option<&str>,
        tool: Option<&str>,
        args: Option<Arguments<'_>>,
        time: Timestamp,
    ) {
        let makes = tool.zip(args).is_some_and(|(tool, args)| self.makes(tool, args));
        self.makers.extend(call.filter(|_| makes).map(str::to_owned));
        let call = call.map(str::to_owned);
        self.history.edges.push(Edge { time, call, is_end: false, is_asked: false });
    }

    fn end(&mut self, call: Option<&str>, is_done: bool, time: Timestamp) {
        if is_done && self.makers.iter().any(|maker| Some(maker.as_str()) == call) {
            self.history.make(time);
        }
        let call = call.map(str::to_owned);
        self.history.edges.push(Edge { time, call, is_end: true, is_asked: false });
    }

    /// Returns whether a call makes the file if it succeeds.
    fn makes(&self, tool: &str, args: Arguments<'_>) -> bool {
        let known = self.toolsets.tool_of(self.host, &ToolName::new(tool));
        let input = ToolInput { name: tool.into(), tool: known, args, cwd: self.cwd };
        match input.role() {
            ToolRole::Writes => input.paths().any(|path| path == self.file),
            ToolRole::Patches => {
                let files = patch::parse(input.patch().unwrap_or_default());
                let mut added =
                    files.iter().filter(|file| matches!(file.change, FileChange::Add(_)));
                let cwd = self.cwd.unwrap_or_default();
                added.any(|file| Path::new(cwd).join(file.path) == Path::new(self.file))
            }
            _ => false,
        }
    }
}

#[derive(Deserialize)]
struct TranscriptKind<'r> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'r, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(host: &str, lines: &[Value]) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        let lines = lines.iter().enumerate().map(|(second, line)| {
            let mut line = line.clone();
            line["timestamp"] = json!(format!("2026-03-01T10:00:{second:02}.000Z"));
            line.to_string()
        });
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let history = history(&path, host, Some("/w/app"), "/w/app/notes.md");
        assert!(!history.edges.is_empty());
        history.made.is_some()
    }

    #[test]
    fn writes_of_claude_code() {
        let write = |path: &str| {
            json!({"type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "text", "text": "I write notes.md"},
                {"type": "tool_use", "id": "t1", "name": "Write",
                    "input": {"file_path": path, "content": "# Notes"}}]}})
        };
        let result = |text: &str, is_error: bool, kind: Option<&str>| {
            let mut line = json!({"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": text,
                    "is_error": is_error}]}});
            if let Some(kind) = kind {
                line["toolUseResult"] = json!({"type": kind, "filePath": "/w/app/notes.md"});
            }
            line
        };
        let own = "/w/app/notes.md";
        for (path, text, is_error, kind, want) in [
            (own, "File created successfully", false, Some("create"), true),
            (own, "File created successfully", false, None, true),
            (own, "The file has been updated", false, Some("update"), false),
            (own, "The file has been updated", false, None, false),
            (own, "The user doesn't want this file created", true, None, false),
            ("/w/other/notes.md", "File created successfully", false, Some("create"), false),
        ] {
            let lines = [write(path), result(text, is_error, kind)];
            assert_eq!(made("claude-code", &lines), want, "{path} {text}");
        }
        assert!(!made("claude-code", &[write(own)]), "without a result");
    }

    #[test]
    fn patches_of_codex() {
        let line = |payload: Value| json!({"type": "response_item", "payload": payload});
        let patch = |verb: &str| {
            line(json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1",
                "input": format!("*** Begin Patch\n*** {verb} File: notes.md\n+x\n*** End Patch")}))
        };
        let output = |text: &str| {
            line(json!({"type": "custom_tool_call_output", "call_id": "c1", "output": text}))
        };
        let applied = |kind: &str, success: bool| {
            line(json!({"type": "patch_apply_end", "call_id": "c1", "success": success,
                "changes": {"/w/app/notes.md": {"type": kind}}}))
        };
        let run = || {
            line(json!({"type": "function_call", "name": "exec_command", "call_id": "c2",
            "arguments": "{\"cmd\":\"ls\"}"}))
        };
        let done = "Success. Updated the following files:\nA notes.md\n";
        for (lines, want) in [
            (vec![patch("Add"), output(done)], true),
            (vec![patch("Update"), output(done)], false),
            (vec![patch("Add"), output("apply_patch verification failed")], false),
            (vec![run(), applied("add", true)], true),
            (vec![run(), applied("add", false)], false),
            (vec![run(), applied("update", true)], false),
        ] {
            assert_eq!(made("codex", &lines), want, "{lines:?}");
        }
    }
}
