//! Keys to recognize repeated calls: the tool and its arguments without irrelevant parts
//! (descriptions, time limits, blanks; for a shell the filters after its pipes), with
//! resolved paths and directory.

use crate::path::resolve;
use crate::session::{Ended, Session, SessionCall};
use crate::shell::CommandLine;
use crate::words::SearchWords;
use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt};
use memchr::memmem;
use serde_json::Value;
use std::hash::{BuildHasher, Hash, Hasher};
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::ir::{IrNode, Operator, Script, Word};
use toolmark_trace::Status;

/// Key of a call. Calls with equal `work` request the same thing; calls with equal `text`
/// also present the result in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// Request of the call.
    pub work: u64,
    /// Text of the call: filters and redirections count.
    pub text: u64,
    /// The directory a command runs in.
    pub place: u64,
}

/// Arguments that are irrelevant to the request.
const IRRELEVANT: &[&str] = &[
    "description",
    "timeout",
    "timeout_ms",
    "yield_time_ms",
    "max_output_tokens",
    "justification",
    "explanation",
    "initial_wait",
    "is_background",
    "run_in_background",
    "security_risk",
];

/// Returns the keys of all calls.
#[must_use]
pub fn call_keys(session: &Session<'_>) -> Vec<CallKey> {
    let calls = session.calls().iter().zip(session.directories()).enumerate();
    calls.map(|(at, (call, directory))| call_key(call, directory, at)).collect()
}

/// The directory of the shell before each call. A shell that is not given one stays
/// where the command before has left it.
pub fn directories(session: &Session<'_>) -> Vec<String> {
    let mut shells = Shells::new(session);
    let mut next = |call| {
        shells.follow_record(call);
        let directory = shells.directory(call);
        shells.follow(call);
        directory
    };
    session.calls().iter().map(&mut next).collect()
}

/// Directories of the shells of a session, one shell per agent.
struct Shells {
    start: String,
    moved: HashMap<Option<String>, String>,
    /// Whether the host resets the directory after every command.
    is_put_back: bool,
    /// Whether the source records the directory of the shell with every call.
    is_recorded: bool,
    /// The response that made the last call.
    step: Option<u32>,
}

/// Message of Claude Code when it resets the directory of the shell.
const RESET: &str = "Shell cwd was reset to ";

/// Words without which a result does not reveal the directory of the shell.
static MOVES: SearchWords = SearchWords::new(|| SearchWords::searcher(&[RESET, "cd:"]));

impl Shells {
    fn new(session: &Session<'_>) -> Self {
        let cwd = session.trajectory().cwd.as_ref().map(|cwd| cwd.get());
        let start = cwd.as_deref().unwrap_or_default().to_owned();
        let is_recorded = session.trajectory().moves_recorded;
        let mut shells =
            Self { start, moved: HashMap::new(), is_put_back: false, is_recorded, step: None };
        for call in session.calls() {
            shells.follow(call);
        }
        shells.moved.clear();
        shells
    }

    fn agent(call: &SessionCall<'_>) -> Option<String> {
        call.call.agent.as_ref().map(|agent| agent.get().into_owned())
    }

    fn given<'a>(call: &SessionCall<'a>) -> Option<&'a str> {
        let spec = call.spec.filter(|spec| !spec.directory.is_empty())?;
        spec.directory.text(call.args()?)
    }

    /// Takes the shell where the record of a call says that it is. The calls of one response
    /// are recorded before the first of them has run: the first says where all begin.
    fn follow_record(&mut self, call: &SessionCall<'_>) {
        let is_first = call.call.step.is_none() || call.call.step != self.step;
        self.step = call.call.step;
        if let Some(cwd) = call.cwd().filter(|_| self.is_recorded && is_first) {
            self.moved.insert(Self::agent(call), cwd.to_owned());
        }
    }

    /// Returns the directory in which a command starts.
    fn directory(&self, call: &SessionCall<'_>) -> String {
        match Self::given(call) {
            Some(given) => resolve(Some(&self.start), given),
            None => self.moved.get(&Self::agent(call)).unwrap_or(&self.start).clone(),
        }
    }

    /// Updates the directory of the shell after a command.
    fn follow(&mut self, call: &SessionCall<'_>) {
        let moves = |line: &&CommandLine<'_>| line.contains("cd ");
        let Some(command) = call.line().filter(moves) else { return };
        let is_left = !self.is_put_back && Self::given(call).is_none();
        if !is_left || command.parsed().is_none() {
            return;
        }
        let result = call.may_say(&MOVES).then(|| call.result()).flatten();
        let reset = result.as_deref().and_then(|text| {
            let at = memmem::rfind(text.as_bytes(), RESET.as_bytes())?;
            let rest = text.get(at + RESET.len()..)?;
            rest.lines().next().map(|line| line.trim().to_owned())
        });
        if let Some(dir) = reset {
            self.moved.insert(Self::agent(call), dir);
            return;
        }
        // The `cd` itself may have failed, and a refused command changes nothing. After a chain
        // that failed, hosts do not keep the directory that it changed to.
        let is_chain = || {
            let items = command.parsed().map(|script| script.items.as_slice());
            items.and_then(<[_]>::first).is_some_and(|item| item.after == Operator::And)
        };
        let is_unmoved = call.call.status == Status::Denied
            || (call.ended == Ended::Failed
                && (is_chain() || result.as_deref().is_some_and(|text| text.contains("cd:"))));
        if !is_unmoved {
            let mut dir = self.directory(call);
            let items = command.parsed().map(|script| script.items.as_slice());
            for item in items.unwrap_or_default() {
                let [IrNode::Simple(simple)] = item.pipeline.stages.as_slice() else { continue };
                let words: Vec<_> = simple.words.iter().filter_map(Word::fixed).collect();
                if let [cd, to] = words.as_slice()
                    && cd == "cd"
                    && to != "-"
                {
                    // The same relative `cd` cannot work twice unless the host resets the
                    // directory.
                    self.is_put_back |= call.ended == Ended::Ok
                        && to.contains(char::is_alphanumeric)
                        && !to.starts_with(['/', '~', '$'])
                        && dir.strip_suffix(to.trim_matches('/')).is_some_and(|d| d.ends_with('/'));
                    dir = resolve(Some(&dir), to);
                }
            }
            self.moved.insert(Self::agent(call), dir);
        }
    }
}

/// Returns the key of the call at an index, whose command starts in `directory`.
fn call_key(call: &SessionCall<'_>, directory: &str, at: usize) -> CallKey {
    if let Some(command) = call.line() {
        // A command that is too long is compared as text.
        let Some(script) = command.parsed() else {
            let text = hash(&(directory, &**command));
            return CallKey { work: text, text, place: hash(directory) };
        };
        let mut dir = directory.to_owned();
        let start = enter(script, &mut dir);
        let shown = command.get(start..).unwrap_or(command);
        return CallKey {
            work: hash(&(&*dir, toolmark_shell::key(command, script))),
            text: hash_words(&dir, shown),
            place: hash(&*dir),
        };
    }
    let mut hasher = FixedState::default().build_hasher();
    call.tool.hash(&mut hasher);
    match (call.args(), &call.call.args) {
        (Some(Value::Object(args)), _) => {
            let all = args.iter().filter(|(key, _)| !IRRELEVANT.contains(&key.as_str()));
            let mut all: Vec<(&String, &Value)> = all.collect();
            all.sort_by_key(|(key, _)| *key);
            for (key, value) in all {
                let is_path = call.spec.is_some_and(|spec| spec.path.contains(key));
                match &call.path {
                    Some(path) if is_path => path.hash(&mut hasher),
                    _ => {
                        key.hash(&mut hasher);
                        hash_value(value, &mut hasher);
                    }
                }
            }
        }
        (_, Some(payload)) => payload.raw().hash(&mut hasher),
        // Calls without recorded arguments are never equal.
        (_, None) => at.hash(&mut hasher),
    }
    let work = hasher.finish();
    CallKey { work, text: work, place: 0 }
}

/// Follows the `cd DIR &&` at the start of a script. Returns the offset at which the rest
/// starts.
fn enter(script: &Script, dir: &mut String) -> usize {
    let mut start = 0;
    for item in &script.items {
        let [IrNode::Simple(simple)] = item.pipeline.stages.as_slice() else { return start };
        let words: Vec<_> = simple.words.iter().filter_map(Word::fixed).collect();
        match words.as_slice() {
            [cd, to] if cd == "cd" && matches!(item.after, Operator::And | Operator::Then) => {
                *dir = resolve(Some(dir.as_str()), to);
                start = simple.span.end;
            }
            _ => return simple.span.start.max(start),
        }
    }
    start
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    FixedState::default().hash_one(value)
}

/// Hashes a text in a directory, ignoring the white space between words.
fn hash_words(directory: &str, text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    directory.hash(&mut hasher);
    let blank = |b: &u8| matches!(b, b'\t'..=b'\r' | b' ');
    match text.is_ascii() {
        true => text
            .as_bytes()
            .split(blank)
            .filter(|word| !word.is_empty())
            .for_each(|word| word.hash(&mut hasher)),
        false => text.split_whitespace().for_each(|word| word.hash(&mut hasher)),
    }
    hasher.finish()
}

/// Hashes a value. A string hashes like the number or boolean with the same spelling.
fn hash_value(value: &Value, hasher: &mut impl Hasher) {
    // A string hashes like the value with the same spelling.
    match value {
        Value::String(text) => text.hash(hasher),
        Value::Bool(true) => "true".hash(hasher),
        Value::Bool(false) => "false".hash(hasher),
        Value::Number(number) => match number.as_u64() {
            Some(number) => hash_number(number, hasher),
            None => number.to_string().hash(hasher),
        },
        value => value.to_string().hash(hasher),
    }
}

/// Hashes the digits of a number.
fn hash_number(mut number: u64, hasher: &mut impl Hasher) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len() - 1;
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
        if number == 0 {
            start = at;
            break;
        }
    }
    let digits = digits.get(start..).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.unwrap_or_default().hash(hasher);
}

/// The first program of a script that is none of these.
pub fn first_program(script: &Script, passed: &[&str]) -> Option<String> {
    let visits = toolmark_shell::commands(script);
    let word = visits
        .iter()
        .filter_map(|visit| visit.command.words.first()?.fixed())
        .find(|word| !passed.contains(&&**word))?;
    Some(word.rsplit('/').next().unwrap_or(&word).to_owned())
}

/// Programs whose first argument selects the operation.
const MANY_IN_ONE: &[&str] = &[
    "git",
    "gh",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "go",
    "docker",
    "kubectl",
    "pip",
    "uv",
    "apt-get",
    "apt",
    "brew",
    "dotnet",
    "make",
    "mise",
    "terraform",
    "aws",
    "gcloud",
    "az",
];

/// Returns the purpose of a command: its program and, for programs with several operations,
/// the first argument.
#[must_use]
pub fn errand(command: &CommandLine<'_>) -> Option<String> {
    // Preparing commands are not part of the errand.
    let prepares =
        ["cd", "sleep", "echo", "export", "set", "source", ".", "cat", "mkdir", "rm", "cp"];
    let name = first_program(command.parsed()?, &prepares);
    let name = name.or_else(|| command.program().map(str::to_owned))?;
    if !MANY_IN_ONE.contains(&name.as_str()) {
        return Some(name);
    }
    let mut words = command.split_whitespace().skip_while(|word| !word.ends_with(name.as_str()));
    words.next();
    // Words after an operator belong to another command, and redirections to none.
    let is_operator = |word: &&str| matches!(*word, "&&" | "||" | "|" | ";" | "&");
    let verb = words
        .take_while(|word| !is_operator(word))
        .find(|word| !word.starts_with(['-', '/']) && !word.contains(['<', '>']));
    Some(match verb {
        Some(verb) => format!("{name} {verb}"),
        None => name,
    })
}

/// Whether the call searches for files or for text.
#[must_use]
pub fn searches(call: &SessionCall<'_>) -> bool {
    match call.role {
        ToolRole::SearchesNames | ToolRole::SearchesContent | ToolRole::Lists => true,
        ToolRole::RunsShell => call.line().and_then(CommandLine::program).is_some_and(|program| {
            matches!(
                program,
                "find" | "fd" | "ls" | "tree" | "grep" | "rg" | "git" | "locate" | "dir" | "pwd"
            )
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;
    use toolmark_hosts::toolset::Toolsets;

    /// Returns whether the first two calls request the same, and whether they are worded
    /// alike.
    fn compare(trace: &str) -> (bool, bool) {
        let run = notation::parse(trace).unwrap();
        let toolsets = Toolsets::default();
        let session = Session::new(&run, &toolsets);
        let keys = call_keys(&session);
        (keys[0].work == keys[1].work, keys[0].text == keys[1].text)
    }

    #[test]
    fn what_is_the_same() {
        for (a, b, want) in [
            (
                r#"Bash {"command":"make  x","description":"a"}"#,
                r#"Bash {"command":"make x","timeout":9}"#,
                (true, true),
            ),
            (r#"Bash {"command":"cd /w && make"}"#, r#"Bash {"command":"make"}"#, (true, true)),
            // The shell keeps its directory.
            (r#"Bash {"command":"cd /v && make"}"#, r#"Bash {"command":"make"}"#, (true, true)),
            (r#"Bash {"command":"make"}"#, r#"Bash {"command":"cd /v && make"}"#, (false, false)),
            (r#"Bash {"command":"make"}"#, r#"Bash {"command":"make 2>&1 | tail"}"#, (true, false)),
            (r#"Bash {"command":"make"}"#, r#"Bash {"command":"make x"}"#, (false, false)),
            (r#"Read {"file_path":"/w/a"}"#, r#"Read {"file_path":"a"}"#, (true, true)),
            (
                r#"Read {"file_path":"a","offset":1}"#,
                r#"Read {"file_path":"a","offset":2}"#,
                (false, false),
            ),
            (r#"Read {"file_path":"a"}"#, r#"Grep {"path":"a"}"#, (false, false)),
            ("Next {}", "Next {}", (true, true)),
        ] {
            assert_eq!(compare(&format!("{a}\n{b}")), want, "{a} {b}");
        }
    }
    #[test]
    fn arguments_that_were_not_recorded_are_not_the_same() {
        let mut run =
            notation::parse("Edit {\"file_path\":\"a\"}\nEdit {\"file_path\":\"a\"}").unwrap();
        run.calls.iter_mut().for_each(|call| call.args = None);
        let toolsets = Toolsets::default();
        let session = Session::new(&run, &toolsets);
        let keys = call_keys(&session);
        assert_ne!(keys[0].work, keys[1].work);
        assert_ne!(keys[0].text, keys[1].text);
    }
}
