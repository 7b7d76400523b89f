//! A program that judges: it reads the prompt on standard input and writes JSON to
//! standard output.

use super::{AttemptTokens, FaultKind, Prompt, Provider, ProviderFault, Reply};
use crate::config::{KeySource, Model, ProviderKind};
use crate::secret::{Secret, resolve, scrub_result};
use serde_json::Value;
use std::fmt;
use toolmark_config::quoted;
use toolmark_process::{Finished, ProcessProgram, run};

/// Maximum number of bytes a program may write.
const MAX_OUTPUT: usize = 16 << 20;

/// Maximum number of bytes scanned for the answer: each position where it could begin may have to
/// be read to the end.
const MAX_SCANNED: usize = 64 << 20;

/// The program of a model.
pub(super) struct JudgeProgram(Model);

impl JudgeProgram {
    pub(super) fn new(model: Model) -> Self {
        Self(model)
    }

    fn program(
        &self,
        prompt: &Prompt<'_>,
        key: Option<&Secret>,
    ) -> Result<ProcessProgram, ProviderFault> {
        let Some((name, args)) = self.0.command.split_first() else {
            return Err(ProviderFault::new(FaultKind::Request, "the command is empty"));
        };
        let mut program = ProcessProgram::new(name, &self.0.directory);
        program.args = args.to_vec();
        program.env = vec![("TOOLMARK_JUDGE_MODEL".into(), (&self.0.model).into())];
        if let Some(key) = key {
            program.env.push(("TOOLMARK_JUDGE_KEY".into(), key.reveal().into()));
        }
        program.stdin = Some(write_input(prompt).into_bytes());
        program.timeout = self.0.timeout;
        program.output_limit = MAX_OUTPUT;
        Ok(program)
    }

    fn attempt(&self, prompt: &Prompt<'_>, key: Option<&Secret>) -> Result<Reply, ProviderFault> {
        let program = self.program(prompt, key)?;
        let called = quoted(&program.program);
        let fault =
            |kind, what: String| ProviderFault::new(kind, format!("the command {called} {what}"));
        // A retry would not start it either.
        let finished = run(program)
            .map_err(|error| ProviderFault::new(FaultKind::Request, error.to_string()))?;
        if finished.timed_out {
            return Err(fault(FaultKind::Timeout, "timed out".to_owned()));
        }
        if finished.code != Some(0) {
            return Err(fault(FaultKind::Server, describe_failure(&finished)));
        }
        if finished.truncated {
            return Err(fault(FaultKind::Garbled, format!("wrote more than {MAX_OUTPUT} bytes")));
        }
        Ok(read(&finished.stdout))
    }
}

impl Provider for JudgeProgram {
    fn ask(&self, prompt: &Prompt<'_>) -> Result<Reply, ProviderFault> {
        let key = resolve(&self.0.key, &self.0.directory)?;
        // The program inherits these too, and might print them.
        let kinds = [
            ProviderKind::Anthropic,
            ProviderKind::Openai,
            ProviderKind::Azure,
            ProviderKind::Bedrock,
        ];
        let usual = kinds.into_iter().filter_map(ProviderKind::key_env);
        let inherited = usual.map(|env| KeySource::Env(env.to_owned()));
        let mut secrets: Vec<Secret> =
            inherited.filter_map(|source| resolve(&source, &self.0.directory).ok()?).collect();
        secrets.extend(key.clone());
        scrub_result(self.attempt(prompt, key.as_ref()), &secrets)
    }
}

impl fmt::Debug for JudgeProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("model", &self.0.model).finish()
    }
}

/// Returns the standard input of the program.
fn write_input(prompt: &Prompt<'_>) -> String {
    format!(
        "{}\n\n{}\n\nAnswer with one JSON object that conforms to this JSON Schema, and nothing \
         else:\n{}\n",
        prompt.system,
        prompt.question(),
        prompt.schema
    )
}

/// Describes the failure of a program, with the last line of its standard error.
fn describe_failure(finished: &Finished) -> String {
    let how = match finished.code {
        Some(code) => format!("ended with code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let last = finished.stderr.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or(how.clone(), |line| format!("{how}: {line}"))
}

/// Finds the answer in the output of a program.
fn read(output: &str) -> Reply {
    let Some((start, end, object)) = find_object(output) else {
        return Reply { text: output.trim().to_owned(), ..Reply::default() };
    };
    let around =
        [output.get(..start), output.get(end..)].map(|part| part.unwrap_or_default().trim());
    let text = around.join("\n").trim().to_owned();
    let (answer, usage) = match object.get("answer") {
        Some(answer @ Value::Object(_)) if is_envelope(&object) => {
            (answer.to_string(), object.get("usage"))
        }
        _ => (output.get(start..end).unwrap_or_default().to_owned(), None),
    };
    let tokens: AttemptTokens = super::wire::tokens(usage, &["input_tokens"], "output_tokens");
    Reply { answers: vec![answer], text, tokens, ..Reply::default() }
}

/// Whether an object is an envelope around an answer, and not the answer.
fn is_envelope(object: &Value) -> bool {
    let keys = object.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    keys.into_iter().all(|key| matches!(key, "answer" | "usage"))
}

/// Finds the outermost JSON object of a text: its start, its end and its value. If there are
/// several, the longest: examples are shorter than answers.
fn find_object(text: &str) -> Option<(usize, usize, Value)> {
    let mut best: Option<(usize, usize, Value)> = None;
    let (mut from, mut work) = (0, 0);
    while work < MAX_SCANNED
        && let Some(at) = text.get(from..).and_then(|rest| rest.find('{'))
    {
        let start = from + at;
        let rest = text.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(object)) => {
                let length = values.byte_offset();
                work += length;
                from = start + length;
                if best.as_ref().is_none_or(|(start, end, _)| end - start < length) {
                    best = Some((start, from, object));
                }
            }
            Some(Err(error)) => {
                work += scanned_bytes(rest, &error);
                from = start + 1;
            }
            None => break,
        }
    }
    best
}

/// Returns the number of bytes scanned up to an error.
fn scanned_bytes(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answer_is_found_among_other_words() {
        for (said, answer, text) in [
            (r#"{"a": 1}"#, Some(r#"{"a": 1}"#), ""),
            (
                "Sure:\n```json\n{\"a\": {\"b\": 2}}\n```\nDone.",
                Some(r#"{"a": {"b": 2}}"#),
                "Sure:\n```json\n```\nDone.",
            ),
            ("an {example} of {\"a\": \"}{\"}", Some("{\"a\": \"}{\"}"), "an {example} of"),
            ("{\"x\":1} {\"answer\": 12345}", Some("{\"answer\": 12345}"), "{\"x\":1}"),
            ("no answer", None, "no answer"),
            ("{\"a\": ", None, "{\"a\":"),
            ("", None, ""),
        ] {
            let reply = read(said);
            assert_eq!(reply.answers.first().map(String::as_str), answer, "{said}");
            assert_eq!(reply.text, text, "{said}");
        }
    }

    #[test]
    fn an_envelope_is_opened() {
        let usage = json!({"input_tokens": 7, "output_tokens": 2});
        let reply = read(&json!({"answer": {"a": 1}, "usage": usage}).to_string());
        assert_eq!(reply.answers, [r#"{"a":1}"#]);
        assert_eq!(reply.tokens, AttemptTokens { input: 7, output: 2 });
        // An answer that only has a part of that name is the answer.
        let own = json!({"answer": {"a": 1}, "summary": "s"}).to_string();
        assert_eq!(read(&own).answers, [own]);
    }

    #[test]
    fn endless_beginnings_end() {
        let start = toolmark_testing::CpuWatch::start();
        assert_eq!(find_object(&"{\"a\":[".repeat(200_000)), None);
        assert_eq!(find_object(&format!("{}{}", "{".repeat(500), "\"a".repeat(1 << 20))), None);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
