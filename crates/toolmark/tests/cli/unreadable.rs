//! Every command and option that takes a file, with files that cannot be read: the same words and
//! the same exit code everywhere, and no command waits for a pipe that no program writes to.

use crate::{DISK_FULL, root, run_in, toolmark};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Exit code of a command that could not read a file.
const UNREAD: i32 = 3;

/// Time limit of an invocation. Three seconds of it are the time to wait for the writer of a pipe.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of invocations at once: most of them wait.
const AT_ONCE: usize = 8;

/// The command lines: command, argument, and the arguments after the command. `@` is the file,
/// `T` a trace, `S` a spec, `J` a spec with a judge, `X` a spec that takes a dataset, `R` a report,
/// `E` evaluators. After a `!` are the kinds of files that are valid there.
const READ: &str = "
show | <TRACE> | @
stats | <TRACE> | @ ! directory
stats | --prices | --prices @ T
stats | --files-from | --files-from @
convert | <TRACE> | --to atif @ ! directory
convert | --files-from | --to atif --files-from @
check | <TRACE> | @ ! directory
check | --config | --config @ T
check | --gold | --gold @ T
check | --files-from | --files-from @
check | --baseline | --baseline @ T
check | --judge-config | --judge --offline --judge-config @ T
feed | <TRACE> | @ ! directory
feed | --state | --state @ T ! missing empty
feed | --files-from | --files-from @
feed fix | <TRACE> | 0123456789abcdef @ ! directory
feed fix | --state | 0123456789abcdef T --state @ ! missing empty
feed fix | --files-from | 0123456789abcdef --files-from @
feed promote | <ID|TRACE> | --to out 0123456789abcdef @ ! directory
feed promote | --state | --to out 0123456789abcdef T --state @ ! missing empty
feed promote | --files-from | --to out 0123456789abcdef --files-from @
feed resolve | --state | 0123456789abcdef --state @ ! missing empty
feed ignore | --state | 0123456789abcdef --state @ ! missing empty
feed reopen | --state | 0123456789abcdef --state @ ! missing empty
feed merge | --state | 0123456789abcdef --into fedcba9876543210 --state @ ! missing empty
feed note | --state | 0123456789abcdef --text x --state @ ! missing empty
trend | <TRACE> | @ ! directory
trend | --prices | --prices @ T
trend | --files-from | --files-from @
serve | --state | --state @ --ui 127.0.0.1:0 --http off --grpc off ! missing empty
serve | --db | --db @ ! missing empty binary
serve | --token-file | --token-file @
serve | --config | --db store.db --config @
serve | --tls-cert | --db store.db --tls-cert @ --tls-key S
serve | --tls-key | --db store.db --tls-cert S --tls-key @
serve evaluate | --db | --db @ --config E ! missing empty binary
serve evaluate | --config | --db store.db --config @
mcp | --db | --db @ ! missing empty binary
mcp | --state | --db store.db --state @ ! missing empty
grade | <SPEC> | @ T ! directory
grade | <TRACE> | S @ ! directory
grade | --baseline | S T --baseline @ ! directory
grade | --files-from | S --files-from @
grade | --dataset | X T --dataset @
grade | --diff-file | S T --stimulus a --diff-file @ ! empty
grade | --judge-config | J T --offline --judge-config @
run | <SPEC> | @
run | --dataset | X --dry-run --dataset @
compare | <A> | @ R ! directory
compare | <B> | R @ ! directory
lint | <SPEC> | @ ! directory
lint | --traces | S --traces @ ! directory
lint | --dataset | X --dataset @
mine | <TRACE> | @ ! directory
mine | --fail | T --fail @ ! directory
mine | --pass-if | T --pass-if @
judge calibrate | <LABELS> | @
judge calibrate | --rubric | L.jsonl --rubric @
judge calibrate | --judge-config | L.jsonl --rubric B --judge-config @
judge cache | --judge-config | --judge-config @
judge cache export | --judge-config | --judge-config @
judge cache import | <FILE> | @
judge cache import | --judge-config | L.jsonl --judge-config @
judge cache clear | --judge-config | --judge-config @
guard test | --batch | --batch @
guard log verify | <FILE> | @
guard log export | <FILE> | @
guard replay | <TRACE> | @ ! directory
guard replay | --files-from | --files-from @
guard mcp | --policy | --log off --pins pins.json --policy @ -- true ! missing empty
guard mcp | --pins | --log off --pins @ -- true ! missing
guard permissions | <FILE> | @
prices | <TRACE> | @ ! directory
prices | --prices | --prices @ T
prices | --files-from | --files-from @
";

/// Arguments that name files and are not in the table: command, argument and reason. An empty
/// command means every command.
const NOT_READ: &[(&str, &str, &str)] = &[
    ("", "--export-answers", "is written"),
    ("", "--output", "is written"),
    ("guard", "--log", "is written"),
    ("guard mcp", "--log", "is written"),
    ("guard", "--policy", "the host of a hook sets the exit code; see guard_faults"),
    ("init", "<FILE>", "is written"),
    ("judge cache export", "<FILE>", "is written"),
    ("runs", "<RUN>", "is a directory or the start of a name"),
    ("run", "--judge-config", "is read as in `grade`, after the agents were found"),
    ("feed fix", "--judge-config", "is read as in `check`, for an issue that was found"),
    ("serve evaluate", "--judge-config", "is read as in `check`, for a tag with a judge"),
];

/// Names of values that are files to read or to write.
const FILES: &[&str] =
    &["FILE", "TRACE", "SPEC", "RUN", "LABELS", "A", "B", "ID|TRACE", "NAME|FILE"];

/// Names of all other values. A new one belongs here or to [`FILES`].
const OTHERS: &[&str] = &[
    "0..1",
    "ADDRESS",
    "AGE",
    "BYTES",
    "CASE",
    "CODE",
    "COMMAND",
    "DATE",
    "DECISION",
    "DIALECT",
    "DIR",
    "FORMAT",
    "FORMAT=FILE",
    "GATE",
    "GRADER",
    "GROUPING",
    "HEADER",
    "HOST",
    "I/N",
    "ID",
    "JSON",
    "KEY",
    "KIND",
    "LEVEL",
    "MODE",
    "MODEL",
    "N",
    "N|ID",
    "NAME",
    "NAME=MIN",
    "NAME=VALUE",
    "PROFILE",
    "RATE",
    "RULE",
    "RUBRIC",
    "SCALE",
    "SCOPE",
    "SERVER",
    "SESSION",
    "SEVERITY",
    "SHARE",
    "SHELL",
    "TAG",
    "TAG[=VALUE]",
    "TEXT",
    "TIME",
    "TOPIC",
    "TYPE",
    "URL",
    "USD",
    "VERSION",
    "WHAT",
    "WHEN",
    "WHICH",
    // Restored, not read.
    "PATH",
];

/// A row of the table.
struct Row {
    command: &'static str,
    argument: &'static str,
    line: &'static str,
    valid: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let (line, valid) = line.split_once('!').unwrap_or((line, ""));
        let mut parts = line.splitn(3, " | ").map(str::trim);
        let mut part = || parts.next().unwrap();
        Row { command: part(), argument: part(), line: part(), valid: valid.trim() }
    };
    READ.trim().lines().map(row).collect()
}

/// Every command and its arguments with the names of their values, from the help.
fn arguments(command: &[String], all: &mut Vec<(String, String, String)>) {
    let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
    args.push("--help");
    let help = crate::stdout(&args);
    let (mut in_commands, mut below) = (false, Vec::new());
    for line in help.lines() {
        if !line.starts_with(' ') {
            in_commands = line == "Commands:";
            continue;
        }
        let words = line.trim_start();
        if in_commands {
            let name = words.split_whitespace().next().unwrap();
            // `help` is in the list of every command; its topics are not files.
            if name != "help" && !line.starts_with("   ") {
                below.push(name.to_owned());
            }
            continue;
        }
        let indent = line.len() - words.len();
        let option = words.split(' ').find(|word| word.starts_with("--"));
        let starts_option = indent <= 6 && words.starts_with('-');
        let is_positional = indent == 2 && words.starts_with(['<', '[']);
        let (Some(from), true) =
            (words.find(['<']).or(words.find('[')), starts_option || is_positional)
        else {
            continue;
        };
        let value = words[from + 1..].split(['>']).next().unwrap();
        let value = if is_positional { value.split(']').next().unwrap() } else { value };
        // The description of an option without a value is not one.
        let is_value = starts_option && words[..from].split("  ").count() == 1;
        if is_positional || is_value {
            let argument = match (starts_option, option) {
                (true, Some(option)) => option.to_owned(),
                _ => format!("<{value}>"),
            };
            all.push((command.join(" "), argument, value.to_owned()));
        }
    }
    for name in below {
        arguments(&[command, &[name]].concat(), all);
    }
}

#[test]
fn every_argument_that_names_a_file_is_in_the_table() {
    let mut all = Vec::new();
    arguments(&[], &mut all);
    assert!(all.len() > 200, "{}", all.len());
    let values: BTreeSet<&str> = all.iter().map(|(.., value)| value.as_str()).collect();
    let new: Vec<_> = values.iter().filter(|v| !FILES.contains(v) && !OTHERS.contains(v)).collect();
    assert!(new.is_empty(), "does a value with this name name a file? {new:?}");
    let rows = rows();
    let lacking: Vec<_> = all
        .iter()
        .filter(|(.., value)| FILES.contains(&value.as_str()))
        .filter(|(command, argument, _)| {
            let is_read = rows.iter().any(|r| r.command == command && r.argument == argument);
            let is_left_out = NOT_READ.iter().any(|(other, written, _)| {
                (other.is_empty() || other == command) && written == argument
            });
            !is_read && !is_left_out
        })
        .collect();
    assert!(lacking.is_empty(), "add rows for {lacking:#?}");
}

/// Files that cannot be read, and what a command says about each.
fn files(dir: &Path) -> Vec<(&'static str, String, &'static str)> {
    fs::write(dir.join("empty"), "").unwrap();
    let bytes: Vec<u8> = [0, 159, 146, 150, 255, 10].repeat(60);
    fs::write(dir.join("binary"), bytes).unwrap();
    fs::create_dir(dir.join("directory")).unwrap();
    let mut files = vec![
        ("missing", "missing.x".to_owned(), "no such file"),
        // Also not readable for root, for whom permissions do not count.
        ("missing", "empty/below".to_owned(), "no such file"),
        ("empty", "empty".to_owned(), "it is empty"),
        ("binary", "binary".to_owned(), "it is a binary file"),
        ("directory", "directory".to_owned(), "it is a directory"),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let made = Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap();
        assert!(made.success());
        files.push(("pipe", "pipe".to_owned(), "it is a named pipe, and no program writes to it"));
        let denied = dir.join("denied");
        fs::write(&denied, "x").unwrap();
        fs::set_permissions(&denied, fs::Permissions::from_mode(0o0)).unwrap();
        match fs::read(&denied) {
            Err(_) => files.push(("denied", "denied".to_owned(), "permission denied")),
            Ok(_) => eprintln!("skipped: files without permissions, which root can read"),
        }
    }
    files
}

/// Writes the files that command lines need besides the one that cannot be read.
fn write_inputs(dir: &Path) {
    let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    let stimulus = "stimuli:\n  - name: a\n    prompt: x\n    graders:\n      - type: ";
    write("S", &format!("{stimulus}completed\n"));
    write("J", &format!("{stimulus}prompt\n        config: {{prompt: Is it good?}}\n"));
    write("X", "cases:\n  - id: a\n    expect: {none: true}\ndataset: rows.jsonl\n");
    write("E", "serve:\n  evaluate: [{rules: all}]\n");
    write("B", "criteria: Is it good?\n");
    write("L.jsonl", "{\"id\":\"a\",\"label\":\"pass\",\"inputs\":{\"user_request\":\"x\"}}\n");
    let trace = root().join(DISK_FULL);
    fs::copy(&trace, dir.join("T")).unwrap();
    let report = run_in(dir, &["check", "T", "--report", "json=R", "--exit-zero"]);
    assert!(report.ends_with("--- exit 0\n"), "{report}");
}

/// Runs a command line, or returns what is wrong with it: it took too long.
fn limited(command: &mut Command) -> Result<Output, String> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > TIME_LIMIT {
            child.kill().unwrap();
            return Err("did not end".to_owned());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(child.wait_with_output().unwrap())
}

/// Returns what is wrong with the answer to a file that cannot be read.
fn complaint(row: &Row, dir: &Path, kind: &str, file: &str, reason: &str) -> Option<String> {
    let line = row.line.split(' ').map(|word| if word == "@" { file } else { word });
    let args: Vec<&str> = row.command.split(' ').chain(line).collect();
    let output = match limited(&mut command_of(&args, dir)) {
        Ok(output) => output,
        Err(why) => return Some(format!("{}: {why}", args.join(" "))),
    };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = Path::new(file).display();
    let is_trace = row.argument.contains("TRACE") || ["--traces", "--fail"].contains(&row.argument);
    let wanted = match (kind, row.argument) {
        // A trace may be in a binary format.
        ("binary", _) if is_trace => format!("unrecognized trace format: {path} is binary data"),
        // A list of names may be separated by zeros.
        ("binary", "--files-from") => "failed to read ".to_owned(),
        // A guard must not wait for a pipe.
        ("pipe", "--policy") => format!("failed to read {path}: it is not a regular file"),
        ("pipe", "<FILE>") if row.command == "guard permissions" => {
            format!("failed to read {path}: it is not a regular file")
        }
        _ => format!("failed to read {path}: {reason}"),
    };
    let is_said = stderr.contains(&wanted);
    (!is_said || output.status.code() != Some(UNREAD)).then(|| {
        format!("{}\n  wanted: {wanted}\n  {:?}: {stderr}", args.join(" "), output.status.code())
    })
}

/// Returns the binary with the environment of the other tests, as a process that can be stopped.
fn command_of(args: &[&str], dir: &Path) -> Command {
    let known = toolmark(args);
    let mut command = Command::new(known.get_program());
    command.args(known.get_args()).current_dir(dir);
    for (name, value) in known.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_file_that_cannot_be_read_has_the_same_words_and_exit_code_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path());
    let files = files(dir.path());
    let rows = rows();
    let work: Vec<(&Row, _)> = rows
        .iter()
        .flat_map(|row| files.iter().map(move |file| (row, file)))
        .filter(|(row, (kind, ..))| !row.valid.split(' ').any(|valid| valid == *kind))
        .collect();
    let next = AtomicUsize::new(0);
    let complaints: Vec<String> = thread::scope(|scope| {
        let one = || {
            let mut found = Vec::new();
            while let Some((row, (kind, file, reason))) =
                work.get(next.fetch_add(1, Ordering::Relaxed))
            {
                found.extend(complaint(row, dir.path(), kind, file, reason));
            }
            found
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[cfg(unix)]
#[test]
fn pipes_of_a_shell_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path());
    let pipe = dir.path().join("late");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = {
        let (from, to) = (dir.path().join("T"), pipe.clone());
        thread::spawn(move || fs::write(to, fs::read(from).unwrap()).unwrap())
    };
    let text = run_in(dir.path(), &["stats", "late"]);
    assert!(text.contains("late   2026-03-14") && text.ends_with("--- exit 0\n"), "{text}");
    writer.join().unwrap();
}
