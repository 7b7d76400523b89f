//! Tests with damaged, foreign or hostile files: the messages of the binary, and that no control
//! characters reach a terminal.

use crate::{FLAKY_TEST, root, toolmark, transcript};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const USER: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}"#;
const CALL: &str = r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
const RESULT: &str = r#"{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a b"}]}}"#;

/// Runs `stats` on one file with these bytes: returns the output and the exit code.
fn stats(bytes: impl AsRef<[u8]>) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.jsonl"), bytes).unwrap();
    in_dir(dir.path(), &["stats", "f.jsonl", "--format", "csv"])
}

/// The row of a session with one call.
const ROW: &str = r#"f.jsonl,claude-code,1,1,1,0,0,0,1,1,1,"[""Bash""]""#;

fn in_dir(dir: &Path, args: &[&str]) -> String {
    transcript(toolmark(args).current_dir(dir))
}

fn assert_tells(text: &str, words: &[&str], exit: u8) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in\n{text}");
    }
    assert!(text.ends_with(&format!("--- exit {exit}\n")), "{text}");
}

#[test]
fn harmless_damage_is_no_error() {
    let lines = [USER, CALL, RESULT];
    for text in
        [lines.join("\n"), format!("\u{feff}{}", lines.join("\n")), lines.join("\r\n") + "\r\n\r\n"]
    {
        assert_tells(&stats(&text), &[ROW], 0);
    }
}

#[test]
fn what_is_damaged_is_named_and_the_rest_is_read() {
    let row = ROW;
    let cut = format!("{USER}\n{CALL}\n{RESULT}\n{}", &RESULT[..90]);
    assert_tells(&stats(cut), &[row, "skipped: f.jsonl:4:"], 3);
    let noisy = format!("{USER}\nnpm warn deprecated\n{CALL}\n[INFO] hello\n{RESULT}\n");
    assert_tells(&stats(noisy), &[row, "skipped: f.jsonl:2:1: ", "skipped: f.jsonl:4:"], 3);
    let mut invalid = format!("{USER}\n{CALL}\n").into_bytes();
    invalid.extend(
        RESULT
            .replace("a b", "a\u{7f}b")
            .bytes()
            .map(|b| b.max(0x20))
            .map(|b| if b == 0x7f { 0xff } else { b }),
    );
    assert_tells(&stats(invalid), &[row, "skipped: f.jsonl:3:"], 3);
}

#[test]
fn what_is_no_trace_is_named() {
    assert_tells(&stats(""), &["error: failed to read f.jsonl: it is empty"], 3);
    assert_tells(&stats("\n\n  \n"), &["error: failed to read f.jsonl: it is empty"], 3);
    let garbage: Vec<u8> = (0..4096u32).map(|n| (n * 31 % 251) as u8).collect();
    assert_tells(&stats(&garbage), &["error: unrecognized trace format: f.jsonl is "], 3);
    assert_tells(&stats(b"PK\x03\x04 no archive"), &["error: failed to open f.jsonl"], 3);
    assert_tells(&stats(zip_of_notes()), &["error: unrecognized trace format: f.jsonl is "], 3);
    assert_tells(&stats(b"\x1f\x8b\x08\x00 no gzip"), &["error: ", "f.jsonl"], 3);
    assert_tells(&stats(b"\x28\xb5\x2f\xfd no zstd"), &["error: ", "f.jsonl"], 3);
}

/// An archive with one stored entry, `notes.txt`.
fn zip_of_notes() -> Vec<u8> {
    let (name, text, crc) = (b"notes.txt", b"hi", 0xd893_2aac_u32);
    let sizes = [2u32.to_le_bytes(), 2u32.to_le_bytes()].concat();
    let fields = [
        &[20u8, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x58][..],
        &crc.to_le_bytes(),
        &sizes,
        &9u16.to_le_bytes(),
        &0u16.to_le_bytes(),
    ]
    .concat();
    let local = [b"PK\x03\x04", &fields[..], name, text].concat();
    let central =
        [b"PK\x01\x02\x14\x00", &fields[..], &[0; 2], &[0; 2], &[0; 2], &[0; 4], &[0; 4], name]
            .concat();
    let end = [
        b"PK\x05\x06",
        &[0u8, 0, 0, 0, 1, 0, 1, 0][..],
        &(central.len() as u32).to_le_bytes(),
        &(local.len() as u32).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    [local, central, end].concat()
}

#[test]
fn nothing_to_count_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let empty = in_dir(dir.path(), &["stats", "."]);
    assert_tells(&empty, &["error: found no trace in .", "hint: "], 3);
    fs::write(dir.path().join("notes.txt"), "hello\n").unwrap();
    for format in ["table", "json", "jsonl", "csv"] {
        let text = in_dir(dir.path(), &["stats", ".", "--format", format]);
        assert_tells(
            &text,
            &["skipped 1 file that is not a trace: ./notes.txt", "error: found no trace in ."],
            3,
        );
    }
    assert!(in_dir(dir.path(), &["stats", ".", "--format", "json"]).starts_with("[\n]\n"));
    assert_tells(&in_dir(dir.path(), &["stats", "none*.jsonl"]), &["error: ", "none*.jsonl"], 3);
    assert_tells(&in_dir(dir.path(), &["stats", "missing.jsonl"]), &["missing.jsonl"], 3);
    assert_tells(&in_dir(dir.path(), &["convert", ".", "--to", "atif"]), &["error: "], 3);
    for command in [&["stats", "-"][..], &["show", "-"], &["convert", "-", "--to", "atif"]] {
        let text = transcript(toolmark(command).write_stdin(""));
        assert_tells(&text, &["error: failed to read <stdin>: it is empty"], 3);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("secret.jsonl");
    fs::write(&file, USER).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        return toolmark_testing::skip("this user may read every file");
    }
    for arguments in [["stats", "secret.jsonl"], ["stats", "."], ["show", "secret.jsonl"]] {
        let text = in_dir(dir.path(), &arguments);
        assert_tells(&text, &["error: failed to read ", "secret.jsonl", "denied"], 3);
    }
}

/// Whether the text contains terminal control characters.
fn is_obeyed(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c))
}

const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{8}\u{9b}31m\u{202e}";

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = serde_json::to_string(HOSTILE).unwrap();
    let inside = &hostile[1..hostile.len() - 1];
    let call = CALL.replace("Bash", &format!("Ba{inside}sh")).replace("\"ls\"", &hostile);
    let text = format!(
        "{}\n{HOSTILE} noise\n{}\n{}\n{{\"type\":{hostile},\"sessionId\":\"s\",\"uuid\":\"x\",\"parentUuid\":null}}\n",
        USER.replace("\"go\"", &hostile).replace("\"s\"", &hostile),
        call.replace("\"t1\"", &hostile),
        RESULT.replace("a b", inside).replace("\"t1\"", &hostile),
    );
    let mut files = vec!["f.jsonl".to_owned()];
    let strange = "a\u{1b}[2J\u{202e}b.jsonl";
    if fs::write(dir.path().join(strange), &text).is_ok() {
        files.push(strange.to_owned());
    }
    fs::write(dir.path().join("f.jsonl"), &text).unwrap();
    fs::write(dir.path().join("c\u{1b}[2Jd.txt"), "no trace").unwrap();
    for file in &files {
        for arguments in [
            &["stats", file][..],
            &["stats", file, "--verbose"],
            &["show", file],
            &["show", file, "--full"],
            &["show", file, "--calls"],
            &["show", file, "--step", "1"],
            &["show", file, "--run", HOSTILE],
            &["convert", file, "--to", "openai", "-o", "out.jsonl"],
            &["stats", "."],
            &["stats", ".", "--verbose"],
            &["stats", "no\u{1b}[2Jfile"],
            &["show", "no\u{1b}[2Jfile"],
            &["stats", "--as", "no\u{1b}[2Jformat", file],
        ] {
            let text = in_dir(dir.path(), arguments);
            assert!(!is_obeyed(&text), "{arguments:?}: {text:?}");
        }
        for format in ["json", "jsonl", "csv"] {
            let text = in_dir(dir.path(), &["stats", file, "--format", format]);
            let (_, errors) = text.split_once("--- stderr\n").unwrap();
            assert!(!is_obeyed(errors), "{errors:?}");
        }
    }
}

#[test]
fn long_lines_are_cut() {
    let noise = "word ".repeat(100_000);
    let text = stats(format!("{USER}\n{noise}\n{{\"type\":\"user\",{noise}\n{CALL}\n{RESULT}\n"));
    assert_tells(&text, &["skipped: f.jsonl:2:1", "skipped: f.jsonl:3:"], 3);
    let (_, errors) = text.split_once("--- stderr\n").unwrap();
    assert!(errors.lines().all(|line| line.chars().count() <= 100), "{errors}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(root().join(FLAKY_TEST)).unwrap();
    for n in 0..60 {
        fs::write(dir.path().join(format!("{n}.jsonl")), &whole).unwrap();
    }
    let file = dir.path().join("0.jsonl");
    let (dir, file) = (dir.path().to_str().unwrap(), file.to_str().unwrap());
    for arguments in [
        &["show", file, "--full"][..],
        &["show", file, "--format", "json"],
        &["stats", dir],
        &["stats", dir, "--format", "csv"],
        &["convert", dir, "--to", "toolmark", "--quiet"],
        &["formats"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("toolmark"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The pipe has no reader: every write fails.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    }
}
