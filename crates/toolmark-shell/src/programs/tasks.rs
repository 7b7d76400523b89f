//! Task files: the commands that a call of `make`, `just`, `task`, `npm run` or `mise run` runs, with
//! those of the tasks it depends on. Only a file that the command line or the session wrote, or that
//! is not committed, is read.
//!
//! ```asked
//! printf 'x:\n  rm -rf ~/code\n' > justfile && just x
//! printf 'a: b\nb:\n\trm -rf ~/code\n' > Makefile && make a
//! printf 'D = ~/code\nall:\n\trm -rf $(D)\n' > Makefile && make
//! printf 'x:;rm -rf ~/code\n' > Makefile && make x
//! echo '{"scripts":{"x":"rm -rf ~/code"}}' > package.json && npm run x
//! echo '{"scripts":{"pretest":"rm -rf ~/code","test":"jest"}}' > package.json && npm test
//! echo '{"scripts":{"x":"rm -rf ~/code"}}' > package.json && yarn x
//! printf 'tasks:\n  x:\n    cmds:\n      - rm -rf ~/code\n' > Taskfile.yml && task x
//! printf 'tasks:\n  a:\n    deps: [b]\n  b:\n    cmd: rm -rf ~/code\n' > Taskfile.yml && task a
//! printf '[tasks.x]\nrun = "rm -rf ~/code"\n' > mise.toml && mise run x
//! printf '[tool.poe.tasks]\nx = "rm -rf ~/code"\n' > pyproject.toml && poe x
//! ```
//! ```allowed
//! printf 'x:\n\trm -rf ~/code\ny:\n\tls\n' > Makefile && make y
//! printf 'x:\n\trm -rf ~/code\n' > Makefile && make -n x
//! printf 'x:\n  rm -rf ~/code\ny:\n  ls\n' > justfile && just y
//! printf 'x:\n  rm -rf ~/code\n' > justfile && just --show x
//! echo '{"scripts":{"x":"rm -rf ~/code","y":"tsc"}}' > package.json && npm run y
//! echo '{"scripts":{"x":"rm -rf ~/code"}}' > package.json && npm install
//! printf 'clean:\n\trm -rf build\n' > Makefile && make clean
//! printf '[tasks.x]\nrun = "rm -rf ~/code"\n[tasks.y]\nrun = "ls"\n' > mise.toml && mise run y
//! ```

use super::runners::suspect;
use crate::expand::Arg;
use crate::run::CommandRun;
use std::collections::BTreeSet;

/// Maximum number of lines of a file that are read.
const MAX_LINES: usize = 4096;
/// Maximum number of tasks that a call runs.
const MAX_TASKS: usize = 64;
/// Marks around a text of several lines in TOML.
const LONG_QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// Notation of a task file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Rules with recipes behind a tab, and variables.
    Make,
    /// Recipes behind any indentation.
    Just,
    /// YAML with `tasks`, `cmds` and `deps`.
    Taskfile,
    /// JSON with an object of scripts.
    Scripts,
    /// TOML with tables of tasks.
    Toml,
}

/// A task runner: its names, the words before the names of tasks (empty where there are none, with
/// `=` where the word is the task), and its files.
struct Runner {
    names: &'static [&'static str],
    verbs: &'static [&'static str],
    files: &'static [&'static str],
    notation: Notation,
}

const fn runner(
    names: &'static [&'static str],
    verbs: &'static [&'static str],
    files: &'static [&'static str],
    notation: Notation,
) -> Runner {
    Runner { names, verbs, files, notation }
}

const RUNNERS: &[Runner] = &[
    runner(&["make", "gmake"], &[""], &["GNUmakefile", "makefile", "Makefile"], Notation::Make),
    runner(&["just"], &[""], &["justfile", "Justfile", ".justfile"], Notation::Just),
    runner(
        &["task", "go-task"],
        &[""],
        &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"],
        Notation::Taskfile,
    ),
    runner(
        &["npm", "pnpm", "yarn", "bun"],
        &["run", "run-script", "=test", "=start", "=stop", "=restart"],
        &["package.json"],
        Notation::Scripts,
    ),
    runner(&["pnpm", "yarn", "bun"], &[""], &["package.json"], Notation::Scripts),
    runner(&["composer"], &["run", "run-script", ""], &["composer.json"], Notation::Scripts),
    runner(&["deno"], &["task"], &["deno.json", "deno.jsonc", "package.json"], Notation::Scripts),
    runner(&["mise"], &["run", "r"], &["mise.toml", ".mise.toml"], Notation::Toml),
    runner(
        &["poe", "task", "pdm", "pixi", "hatch"],
        &["run", ""],
        &["pyproject.toml"],
        Notation::Toml,
    ),
    runner(&["pixi"], &["run"], &["pixi.toml"], Notation::Toml),
];

/// A task of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Task {
    name: String,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// Analyzes the tasks that a command runs.
pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if run.analyzer.made.is_empty() && run.analyzer.context.facts.is_none() {
        return;
    }
    let name = run.name;
    for runner in RUNNERS.iter().filter(|runner| runner.names.contains(&name)) {
        let Some(wanted) = runner.wanted(run.args) else { continue };
        for file in runner.files(run.args) {
            let Some(text) = run.analyzer.script_text(&file) else { continue };
            for line in commands(runner.notation, &text, &wanted) {
                suspect(run, |run| run.shell_text(&line));
            }
        }
    }
}

impl Runner {
    /// Returns the names of the tasks that are called; `None` if the command does not run any.
    fn wanted(&self, args: &[Arg]) -> Option<Vec<String>> {
        let values = [
            "-C",
            "-f",
            "--file",
            "--makefile",
            "--justfile",
            "-d",
            "--dir",
            "-j",
            "--prefix",
            "--cwd",
            "-w",
            "--workspace",
            "--filter",
            "-F",
            "--taskfile",
            "-t",
            "--working-directory",
        ];
        let shows = ["-n", "--dry-run", "--just-print", "--show", "--list", "-l", "--summary"];
        let mut words = Vec::new();
        let mut is_value = false;
        for text in args.iter().map(|arg| arg.text.as_str()).take_while(|text| *text != "--") {
            if std::mem::take(&mut is_value) {
                continue;
            }
            if shows.contains(&text) {
                return None;
            }
            is_value = values.contains(&text);
            if !text.starts_with('-') && !text.contains('=') {
                words.push(text.to_owned());
            }
        }
        let verb = self.verbs.iter().find_map(|verb| match verb.strip_prefix('=') {
            Some(own) => (words.first()? == own).then_some(0),
            None if verb.is_empty() => Some(0),
            None => (words.first()? == verb).then_some(1),
        })?;
        words.drain(..verb);
        // Behind the name of a script are its arguments.
        if matches!(self.notation, Notation::Scripts | Notation::Toml) {
            words.truncate(1);
        }
        (!words.is_empty() || self.notation != Notation::Scripts).then_some(words)
    }

    /// Returns the files in which the tasks may be: the one that an option names, or the usual ones
    /// of the directory.
    fn files(&self, args: &[Arg]) -> Vec<String> {
        let value = |names: &[&str]| {
            args.windows(2).find_map(|pair| match pair {
                [flag, value] if names.contains(&&*flag.text) => Some(value.text.as_str()),
                _ => None,
            })
        };
        let named = match self.notation {
            Notation::Make => value(&["-f", "--file", "--makefile"]),
            Notation::Just => value(&["-f", "--justfile"]),
            Notation::Taskfile => value(&["-t", "--taskfile"]),
            _ => None,
        };
        let directory = value(&["-C", "--directory", "-d", "--dir", "--prefix", "--cwd"]);
        match (named, directory) {
            (Some(file), _) => vec![file.to_owned()],
            (None, Some(directory)) => {
                let inside = |file: &&str| format!("{}/{file}", directory.trim_end_matches('/'));
                self.files.iter().map(inside).collect()
            }
            (None, None) => self.files.iter().map(|file| (*file).to_owned()).collect(),
        }
    }
}

/// Returns the commands of the wanted tasks and of those they depend on. Without a name it is the
/// first task of a file, or the one called `default`.
fn commands(notation: Notation, text: &str, wanted: &[String]) -> Vec<String> {
    let tasks = match notation {
        Notation::Make | Notation::Just => recipes(text, notation),
        Notation::Taskfile => taskfile(text),
        Notation::Scripts => scripts(text),
        Notation::Toml => toml(text),
    };
    let mut open: Vec<String> = wanted.to_vec();
    if open.is_empty() {
        let default = tasks.iter().find(|task| task.name == "default");
        let mut rules = tasks.iter().filter(|task| !task.name.starts_with('.'));
        let first = rules.next().filter(|_| matches!(notation, Notation::Make | Notation::Just));
        open.extend(default.or(first).map(|task| task.name.clone()));
    }
    if notation == Notation::Scripts {
        let around = |name: &String| [format!("pre{name}"), name.clone(), format!("post{name}")];
        open = open.iter().flat_map(around).collect();
    }
    let (mut lines, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(name) = open.pop() {
        if seen.len() > MAX_TASKS || !seen.insert(name.clone()) {
            continue;
        }
        for task in tasks.iter().filter(|task| task.name == name) {
            open.extend(task.needs.iter().cloned());
            lines.extend(task.lines.iter().cloned());
        }
    }
    lines
}

/// Reads rules with recipes, as make and just have them.
fn recipes(text: &str, notation: Notation) -> Vec<Task> {
    let text = text.replace("\\\n", " ");
    let mut tasks: Vec<Task> = Vec::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    // Number of tasks that the current rule defines.
    let mut current = 0;
    for line in text.lines().take(MAX_LINES) {
        let is_just = notation == Notation::Just;
        if line.starts_with('\t') || is_just && line.starts_with(' ') {
            let command = line.trim().trim_start_matches(['@', '-', '+', ' ']);
            let command = with_variables(command, &variables, notation);
            let from = tasks.len() - current;
            tasks.iter_mut().skip(from).for_each(|task| task.lines.push(command.clone()));
            continue;
        }
        let plain = line.split(" #").next().unwrap_or(line).trim();
        if plain.is_empty() || plain.starts_with(['#', '[']) {
            continue;
        }
        if let Some((name, value)) = assignment(plain, is_just) {
            variables.push((name.to_owned(), value.to_owned()));
            continue;
        }
        let Some((heads, rest)) = plain.split_once(':') else { continue };
        let (needs, recipe) = rest.split_once(';').unwrap_or((rest, ""));
        let needs =
            needs.split_whitespace().map(|need| need.trim_matches([':', '(', ')', '|', '&']));
        let needs: Vec<String> = needs.map(str::to_owned).collect();
        // Behind the name of a recipe of just are its parameters.
        let count = if is_just { 1 } else { usize::MAX };
        current = 0;
        for name in heads.split_whitespace().take(count) {
            let recipe = with_variables(recipe.trim(), &variables, notation);
            let lines = if recipe.is_empty() { Vec::new() } else { vec![recipe] };
            let name = name.trim_start_matches('@').to_owned();
            tasks.push(Task { name, needs: needs.clone(), lines });
            current += 1;
        }
    }
    tasks
}

/// Reads `NAME = value`, `NAME := value` and `export NAME = value`.
fn assignment(line: &str, is_just: bool) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(if is_just { ":=" } else { "=" })?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ']);
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_name && !name.is_empty()).then(|| (name, value.trim().trim_matches(['"', '\''])))
}

/// Replaces the variables of a recipe.
fn with_variables(line: &str, variables: &[(String, String)], notation: Notation) -> String {
    /// Maximum length of a line with its variables.
    const MAX_LINE: usize = 16 << 10;
    let mut line = line.to_owned();
    // The value of a variable may name an earlier one.
    for (name, value) in variables.iter().rev() {
        let forms = match notation {
            Notation::Just => [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")],
            _ => [format!("$({name})"), format!("${{{name}}}")],
        };
        for form in forms {
            if line.contains(&form) && line.len() < MAX_LINE {
                line = line.replace(&form, value);
            }
        }
    }
    if notation == Notation::Make { line.replace("$$", "$") } else { line }
}

/// Reads the tasks of a Taskfile by their indentation.
fn taskfile(text: &str) -> Vec<Task> {
    let mut lines = text.lines().take(MAX_LINES).filter(|line| !line.trim().is_empty());
    if !lines.by_ref().any(|line| line.trim_end() == "tasks:") {
        return Vec::new();
    }
    let mut tasks: Vec<Task> = Vec::new();
    let (mut level, mut section) = (None, String::new());
    for line in lines {
        let depth = line.len() - line.trim_start().len();
        let body = line.trim();
        if depth == 0 {
            break;
        }
        if body.starts_with('#') {
            continue;
        }
        if depth == *level.get_or_insert(depth) {
            let (name, rest) = body.split_once(':').unwrap_or((body, ""));
            let lines = Some(unquoted(rest.trim())).filter(|line| !line.is_empty());
            let lines = lines.into_iter().collect();
            tasks.push(Task { name: unquoted(name), lines, ..Task::default() });
            section.clear();
        } else if let Some(task) = tasks.last_mut() {
            taskfile_line(task, body, &mut section);
        }
    }
    tasks
}

/// Reads one line of a task of a Taskfile.
fn taskfile_line(task: &mut Task, body: &str, section: &mut String) {
    let item = body.strip_prefix("- ").unwrap_or(body);
    let is_item = item.len() < body.len();
    let key = item.split_once(':').filter(|(key, rest)| {
        let is_key = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        is_key && (rest.is_empty() || rest.starts_with(' '))
    });
    match key {
        Some(("task", name)) => task.needs.push(unquoted(name.trim())),
        Some(("cmd" | "sh" | "defer", command)) => {
            task.lines.push(unquoted(command.trim().trim_start_matches(['|', '>'])));
        }
        Some((key, rest)) if !is_item => {
            key.clone_into(section);
            let rest = rest.trim().trim_matches(['[', ']']);
            let values = rest.split(',').map(|value| unquoted(value.trim()));
            let values = values.filter(|value| !value.is_empty());
            match key {
                "deps" => task.needs.extend(values),
                "cmds" => task.lines.extend(values),
                _ => {}
            }
        }
        _ if section == "deps" => task.needs.push(unquoted(item)),
        _ if section == "cmds" => task.lines.push(unquoted(item)),
        _ => {}
    }
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'']).to_owned()
}

/// Reads the object `scripts` or `tasks` of JSON; a list of commands is several lines.
fn scripts(text: &str) -> Vec<Task> {
    let start = ["\"scripts\"", "\"tasks\""].iter().find_map(|key| text.find(key));
    let object = start.and_then(|start| text.get(start..)).and_then(|rest| rest.split_once('{'));
    let Some((_, object)) = object else { return Vec::new() };
    let mut tasks: Vec<Task> = Vec::new();
    let mut chars = object.chars();
    let (mut depth, mut is_value) = (0_usize, false);
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let text = json_text(&mut chars);
                match tasks.last_mut() {
                    Some(task) if is_value || depth > 0 => task.lines.push(text),
                    _ => tasks.push(Task { name: text, ..Task::default() }),
                }
            }
            ':' => is_value = true,
            ',' if depth == 0 => is_value = false,
            '[' | '{' => depth += 1,
            '}' if depth == 0 => break,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    tasks
}

/// Reads a JSON string behind its opening quote.
fn json_text(chars: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
            c => text.push(c),
        }
    }
    text
}

/// Part of a TOML file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Every key is a task.
    Tasks,
    /// The keys are those of the last task.
    Task,
    Other,
}

/// Reads the tasks of mise, poe, taskipy, pdm, hatch and pixi.
fn toml(text: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut section = Section::Other;
    let mut lines = text.lines().take(MAX_LINES);
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let parent = name.rsplit_once('.').filter(|(parent, _)| is_list_of_tasks(parent));
            section = match parent {
                _ if is_list_of_tasks(name) => Section::Tasks,
                Some((_, name)) => {
                    tasks.push(Task { name: unquoted(name), ..Task::default() });
                    Section::Task
                }
                None => Section::Other,
            };
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| section != Section::Other) else {
            continue;
        };
        let (key, mut value) = (unquoted(key.trim()), value.trim().to_owned());
        while !is_closed(&value) {
            let Some(more) = lines.next() else { break };
            value.push('\n');
            value.push_str(more);
        }
        let texts = quoted_texts(&value);
        match (section, tasks.last_mut()) {
            (Section::Tasks, _) => tasks.push(Task { name: key, lines: texts, ..Task::default() }),
            (_, Some(task)) => match key.as_str() {
                "run" | "cmd" | "shell" | "script" | "sequence" => task.lines.extend(texts),
                "depends" | "depends_on" | "deps" | "depends-on" => task.needs.extend(texts),
                _ => {}
            },
            _ => {}
        }
    }
    tasks
}

fn is_list_of_tasks(section: &str) -> bool {
    let known = ["tasks", "tool.poe.tasks", "tool.taskipy.tasks", "tool.pdm.scripts"];
    known.contains(&section)
        || section == "tool.pixi.tasks"
        || section.starts_with("tool.hatch.envs.") && section.ends_with(".scripts")
}

/// Whether a value of TOML ends where it does.
fn is_closed(value: &str) -> bool {
    let is_open = value.starts_with('[') && !value.contains(']');
    !is_open && !LONG_QUOTES.iter().any(|mark| value.matches(mark).count() == 1)
}

/// Returns the texts in quotes of a value.
fn quoted_texts(value: &str) -> Vec<String> {
    for mark in LONG_QUOTES {
        if let Some((_, rest)) = value.split_once(mark) {
            return vec![rest.split(mark).next().unwrap_or(rest).to_owned()];
        }
    }
    let mut texts = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find(['"', '\'']) {
        let mark = rest.get(at..=at).unwrap_or("\"");
        let inner = rest.get(at + 1..).unwrap_or("");
        let Some((text, behind)) = inner.split_once(mark) else { break };
        texts.push(text.to_owned());
        rest = behind;
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_runs() {
        use Notation::{Just, Make, Scripts, Taskfile, Toml};
        const TASKS: &str = "version: 3\ntasks:\n  a:\n    deps: [b]\n    cmds:\n      - x\n      \
                             - task: c\n  b:\n    cmd: y\n  c: z\n";
        const JSON: &str =
            r#"{"n":"x","scripts":{"prea":"p","a":"echo \"1\"","b":["q","r"]},"c":"d"}"#;
        const MISE: &str = "[tasks.a]\nrun = ['x', \"y\"]\ndepends = [\"b\"]\n[tasks.b]\nrun = \
                            '''\nz\n'''\n";
        const POE: &str = "[tool.poe.tasks]\na = \"x\"\nb = {cmd = \"y\"}\n[tool.x]\na = \"z\"\n";
        for (notation, text, wanted, lines) in [
            (Make, "a: b\n\tx\nb:\n\ty $$z\nc:\n\tw\n", "a", "x;y $z"),
            (Make, ".PHONY: all\nall:\n\t@x\nb:\n\ty\n", "", "x"),
            (Make, "D := out\nE = $(D)/e\na b:\n\trm ${E}\n", "b", "rm out/e"),
            (Just, "d := 'out'\na x='1': b\n  @rm {{d}}\nb:\n  y\n", "a", "rm out;y"),
            (Taskfile, TASKS, "a", "x;z;y"),
            (Scripts, JSON, "a", r#"echo "1";p"#),
            (Scripts, JSON, "b", "q;r"),
            (Toml, MISE, "a", "x;y;\nz\n"),
            (Toml, POE, "b", "y"),
        ] {
            let wanted: Vec<String> = wanted.split_whitespace().map(str::to_owned).collect();
            assert_eq!(commands(notation, text, &wanted).join(";"), lines, "{text}");
        }
    }
}
