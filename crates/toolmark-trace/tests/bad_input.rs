//! Tests of hostile and broken files: nothing is lost silently, nothing panics, nothing hangs,
//! and every loss has a position.

#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Read, Write};
use toolmark_trace::{
    Diagnostic, DiagnosticSeverity, FileSummary, ReadError, ReadLimits, ReadOptions, Trajectories,
    Trajectory, read,
};

const USER: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}"#;
const CALL: &str = r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
const RESULT: &str = r#"{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a b"}]}}"#;

fn open(bytes: impl Into<Vec<u8>>) -> Result<Trajectories, ReadError> {
    read(Cursor::new(bytes.into()), "f.jsonl", &ReadOptions::default())
}

struct Done {
    runs: Vec<Trajectory>,
    skipped: u64,
    diagnostics: Vec<Diagnostic>,
}

fn all(bytes: impl Into<Vec<u8>>) -> Done {
    let mut runs = open(bytes).unwrap();
    Done {
        runs: runs.by_ref().collect(),
        skipped: runs.skipped(),
        diagnostics: runs.diagnostics().to_vec(),
    }
}

fn counts(done: &Done) -> (u64, u64) {
    let mut summary = FileSummary::default();
    done.runs.iter().for_each(|r| summary.add(r));
    (summary.tool_calls, summary.tool_results)
}

#[test]
fn harmless_forms_lose_nothing() {
    let lines = [USER, CALL, RESULT].join("\n");
    let crlf = format!("\u{feff}{}\r\n\r\n", [USER, CALL, RESULT].join("\r\n"));
    let array = format!("[{},\n{},{}]", USER, CALL, RESULT);
    for text in [lines.clone(), crlf, array, format!("\n\n  {lines}\n\n")] {
        let done = all(text.clone());
        assert_eq!(counts(&done), (1, 1), "{text}");
        assert_eq!(done.skipped, 0, "{text}");
    }
}

#[test]
fn broken_lines_are_placed_and_the_rest_is_read() {
    let text = format!(
        "{USER}\nnpm warn: something\n{{\"broken\": \n[DEBUG] x\n{CALL}\n{RESULT}\n{}",
        &CALL[..60]
    );
    let done = all(text);
    assert_eq!(counts(&done), (1, 1));
    assert_eq!(done.skipped, 4);
    let places: Vec<(u32, u32)> =
        done.diagnostics.iter().map(|d| (d.location.line, d.location.column)).collect();
    assert_eq!(places, [(2, 1), (3, 12), (4, 2), (7, 61)]);
    assert!(done.diagnostics.iter().all(|d| d.severity == DiagnosticSeverity::Skipped));
    assert_eq!(done.diagnostics[0].excerpt.as_deref(), Some("npm warn: something"));
}

#[test]
fn a_record_without_its_start_is_missed() {
    let done = all(format!("{}\n{CALL}\n{RESULT}\n", &USER[10..]));
    assert_eq!(counts(&done), (1, 1));
    assert_eq!(done.skipped, 1);
}

#[test]
fn events_are_found_behind_much_noise() {
    let noise = "[DEBUG] Writing to temp file\n[server] recv: {\"id\":1}\nPulling layer\n";
    let text = format!("Job started\n{}{USER}\n{CALL}\n{RESULT}\n", noise.repeat(500));
    let done = all(text);
    assert_eq!(counts(&done), (1, 1));
    // What begins like JSON counts; what a program merely printed does not.
    assert_eq!(done.skipped, 1000);
}

#[test]
fn a_value_printed_over_many_lines_inside_a_log_is_found() {
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(CALL).unwrap())
            .unwrap();
    let done = all(format!("{USER}\n{pretty}\n{RESULT}\n"));
    assert_eq!(counts(&done), (1, 1));
    assert_eq!(done.skipped, 0);
}

#[test]
fn invalid_utf8_is_replaced_and_reported() {
    let mut bytes = format!("{USER}\n{CALL}\n").into_bytes();
    bytes.extend(
        RESULT.replace("a b", "a \u{7f} b").bytes().map(|b| if b == 0x7f { 0xff } else { b }),
    );
    let done = all(bytes);
    assert_eq!(counts(&done), (1, 1));
    assert_eq!(done.skipped, 1);
    assert_eq!(done.diagnostics[0].location.line, 3);
}

#[test]
fn wrong_types_and_cycles_are_harmless() {
    let text = format!(
        "{USER}\n{CALL}\n{}\n{}\n{}\n{}\n",
        r#"{"type":17,"uuid":{},"parentUuid":[],"sessionId":null,"message":"x"}"#,
        r#"{"type":"assistant","uuid":"a","parentUuid":"b","sessionId":"s","message":{"id":7,"content":{"x":[1]},"usage":"[REDACTED]"}}"#,
        r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"content":[null,3,"x",{"type":"tool_use"}]}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"c","isSidechain":true,"sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":5}]}}"#,
    );
    let done = all(text);
    assert_eq!(counts(&done).0, 2);
    assert_eq!(done.skipped, 0);
}

#[test]
fn repeated_records_ids_and_orphans() {
    let again = RESULT.replace("\"u3\"", "\"u9\"");
    let orphan = RESULT.replace("\"t1\"", "\"t7\"").replace("\"u3\"", "\"u8\"");
    let done = all(format!("{USER}\n{CALL}\n{CALL}\n{RESULT}\n{again}\n{orphan}\n"));
    assert_eq!(counts(&done), (1, 2));
    assert_eq!(done.runs[0].orphans, 1);
    assert_eq!(done.runs[0].repeated_results, 1);
}

#[test]
fn deep_nesting_costs_no_stack() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let call = CALL.replace(r#"{"command":"ls"}"#, &deep);
    let done = all(format!("{USER}\n{call}\n{RESULT}\n{}\n", "{\"a\":".repeat(100_000)));
    assert_eq!(counts(&done), (1, 1));
    assert_eq!(done.skipped, 1);
    assert!(done.runs[0].calls[0].args.as_ref().unwrap().parsed().is_none());
}

#[test]
fn a_line_of_100_mb_is_one_record() {
    let long = RESULT.replace("a b", &"x".repeat(100 << 20));
    let done = all(format!("{USER}\n{CALL}\n{long}\n"));
    assert_eq!(counts(&done), (1, 1));
    let result = done.runs[0].calls[0].result.as_ref().unwrap();
    assert_eq!(result.payload.as_ref().unwrap().raw().len(), 100 << 20);
}

#[test]
fn a_record_over_the_limit_is_an_error_not_a_silence() {
    let options = ReadOptions {
        limits: ReadLimits { record: 1 << 20, ..ReadLimits::default() },
        force: None,
    };
    let text = format!("{USER}\n{CALL}\n{}\n", RESULT.replace("a b", &"x".repeat(3 << 20)));
    let mut runs = read(Cursor::new(text.into_bytes()), "f", &options).unwrap();
    assert_eq!(runs.by_ref().count(), 1);
    assert_eq!(runs.skipped(), 1);
    assert_eq!(runs.diagnostics()[0].severity, DiagnosticSeverity::Error);
}

#[test]
fn compressed_files_and_bombs() {
    let text = [USER, CALL, RESULT].join("\n");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(text.as_bytes()).unwrap();
    assert_eq!(counts(&all(gz.finish().unwrap())), (1, 1));
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(counts(&all(zst.clone())), (1, 1));
    // Cut off in the middle: what came before is read, the rest is reported.
    let mut long = text.clone();
    for i in 0..20_000 {
        long.push_str(&format!(
            "\n{{\"type\":\"summary\",\"leafUuid\":\"{i}\",\"n\":{}}}",
            i * 7919
        ));
    }
    let zst = zstd::encode_all(long.as_bytes(), 3).unwrap();
    let cut = all(&zst[..zst.len() / 2]);
    assert_eq!(counts(&cut), (1, 1));
    assert!(cut.skipped >= 1);

    let mut bomb = zstd::encode_all(format!("{USER}\n").as_bytes(), 1).unwrap();
    bomb.extend(zstd::encode_all(std::io::repeat(b' ').take(64 << 20), 1).unwrap());
    let limits = ReadLimits { expansion_floor: 1 << 20, ..ReadLimits::default() };
    let mut runs = read(Cursor::new(bomb), "f", &ReadOptions { limits, force: None }).unwrap();
    assert_eq!(runs.by_ref().count(), 1);
    assert!(
        runs.diagnostics()[0].message.contains("1000 times its size"),
        "{:?}",
        runs.diagnostics()
    );
}

#[test]
fn empty_unknown_and_missing_files() {
    assert!(matches!(open(""), Err(ReadError::File(error)) if error.is_empty()));
    assert!(matches!(open("\n \n"), Err(ReadError::File(error)) if error.is_empty()));
    assert!(matches!(open("hello\nworld\n"), Err(ReadError::UnknownFormat { .. })));
    assert!(matches!(open("{\"a\":1}"), Err(ReadError::UnknownFormat { .. })));
    assert!(matches!(open(b"\x00\x01\x02\xff\xfe".to_vec()), Err(ReadError::UnknownFormat { .. })));
    assert!(matches!(open(b"PK\x03\x04broken".to_vec()), Err(ReadError::Archive { .. })));
    let near = open(r#"{"type":"x","sessionId":"s"}"#).unwrap_err();
    let near = Diagnostic::from_error(&near);
    assert!(near.message.ends_with("the first record has the keys type, sessionId"), "{near:?}");
    assert!(near.hint.unwrap().contains("closest format is claude-code"));
    let missing = toolmark_trace::read_path("no/such/file", &ReadOptions::default()).unwrap_err();
    assert_eq!(missing.to_string(), "failed to read no/such/file: no such file");
}
