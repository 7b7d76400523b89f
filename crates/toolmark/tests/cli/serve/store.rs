//! Tests of the store under failures: full disks, locks, signals, other versions.

use super::{TIMEOUT, binary, log, request, sample, start, watched};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

fn count(db: &str, table: &str) -> i64 {
    let store = Connection::open(db).unwrap();
    store.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn what_waits_too_long_is_refused_and_taken_later() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    // Another process locks the store for a moment.
    let other = Connection::open(&db).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let address: Arc<str> = served.http.as_str().into();
    let senders: Vec<_> = (0..200)
        .map(|n| {
            let address = Arc::clone(&address);
            std::thread::spawn(move || request(&address, "POST", "/v1/logs", &JSON, &log("q", n)))
        })
        .collect();
    std::thread::sleep(Duration::from_secs(1));
    other.execute_batch("ROLLBACK").unwrap();
    let answers: Vec<_> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert!(!refused.is_empty() && refused.len() < answers.len(), "{}", refused.len());
    for answer in &refused {
        assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
        assert_eq!(answer.json()["code"], 14, "{}", answer.body);
    }
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(taken + refused.len(), answers.len());
    assert_eq!(request(&served.http, "POST", "/v1/logs", &JSON, &log("q", 999)).status, 200);
    assert_eq!(count(&db, "log"), taken as i64 + 1);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_after_what_is_under_way() {
    let (dir, folder, db) = watched();
    let mut served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let address: Arc<str> = served.http.as_str().into();
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let address = Arc::clone(&address);
            std::thread::spawn(move || {
                let send = |n| {
                    std::panic::catch_unwind(|| {
                        let body = log(&format!("t{sender}"), n);
                        request(&address, "POST", "/v1/logs", &JSON, &body).status
                    })
                };
                (0..400).take_while(|n| matches!(send(*n), Ok(200))).count()
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(400));
    let pid = served.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let code = served.process.wait().unwrap().code();
    let taken: usize = senders.into_iter().map(|sender| sender.join().unwrap()).sum();
    assert_eq!(code, Some(0));
    assert!(taken > 0);
    // The log was put into the file.
    assert!(fs::metadata(format!("{db}-wal")).map_or(0, |data| data.len()) == 0);
    assert!(count(&db, "log") >= taken as i64);
}

#[test]
fn a_store_of_a_newer_version_is_refused() {
    let (dir, folder, db) = watched();
    drop(start(dir.path(), &["--watch", &folder, "--db", &db]));
    Connection::open(&db).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let output = binary()
        .args(["serve", "--ui", "127.0.0.1:0", "--http", "off", "--grpc", "off", "--db", &db])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("newer version of toolmark") && words.contains("--db"), "{words}");
}

#[test]
fn old_sessions_are_not_kept() {
    let (dir, folder, db) = watched();
    fs::write(Path::new(&folder).join("old.jsonl"), sample()).unwrap();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M").to_string();
    // The same session, of today.
    let text = sample().replace("2026-03-14T09:1", &now[..15]);
    assert_ne!(text, sample(), "the sample has other times");
    let fresh = text.replace("\"sessionId\":\"", "\"sessionId\":\"new-");
    fs::write(Path::new(&folder).join("new.jsonl"), fresh).unwrap();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db, "--retention", "30d"]);
    let page = served.wait("/api/v1/sessions", |page| page["total"] == 1);
    assert!(page["items"][0]["id"].as_str().unwrap().starts_with("new-"), "{page}");
}

#[test]
fn a_folder_that_disappears_is_named_and_the_rest_goes_on() {
    let (dir, folder, db) = watched();
    let path = Path::new(&folder).join("disk-full.jsonl");
    fs::write(&path, sample()).unwrap();
    fs::write(Path::new(&folder).join("broken.jsonl"), sample().replacen("\"type\"", "\"ty", 1))
        .unwrap();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    served.wait("/api/v1/sessions", |page| page["total"].as_u64() >= Some(1));
    let info = served.wait("/api/v1/info", |info| !info["problems"].as_array().unwrap().is_empty());
    assert!(info["problems"][0]["text"].as_str().unwrap().contains("broken.jsonl"), "{info}");
    drop(served);
    fs::remove_dir_all(&folder).unwrap();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let info = served.wait("/api/v1/info", |info| info["watched"][0]["exists"] == false);
    assert!(info["counts"]["sessions"].as_u64() >= Some(1), "{info}");
    let page = served.get("/api/v1/sessions").json();
    let id = page["items"][0]["id"].as_str().unwrap().to_owned();
    let gone = served.get(&format!("/api/v1/sessions/{id}"));
    assert_eq!((gone.status, &gone.json()["error"]["code"]), (410, &json!("unreadable")));
}

#[test]
fn it_is_exported_as_parquet() {
    let (dir, folder, db) = watched();
    fs::write(Path::new(&folder).join("disk-full.jsonl"), sample()).unwrap();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    served.wait("/api/v1/sessions", |page| page["total"] == 1);
    let sent = request(&served.http, "POST", "/v1/logs", &JSON, &log("e", 1));
    assert_eq!(sent.status, 200);
    // Beside the server that has it open.
    let out = dir.path().join("out");
    let output =
        binary().args(["serve", "--db", &db, "--export", "parquet"]).arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["sessions", "calls", "evaluations", "spans", "logs"] {
        let bytes = fs::read(out.join(format!("{name}.parquet"))).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
    let unknown = binary().args(["serve", "--db", &db, "--export", "csv"]).arg(&out).output();
    assert_eq!(unknown.unwrap().status.code(), Some(2));
}

/// A server in a separate file system that soon fills up; skipped if the file system cannot be
/// created.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_answers_503_and_recovers() {
    let (dir, folder, _) = watched();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = "mount -t tmpfs -o size=6m tmpfs \"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(&disk);
    command.arg(assert_cmd::cargo::cargo_bin("toolmark"));
    command.args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "127.0.0.1:0", "--grpc"]);
    command.args(["off", "--watch", &folder, "--db"]).arg(disk.join("s.db"));
    command.env("HOME", dir.path()).current_dir(dir.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut process) = command.spawn() else {
        return toolmark_testing::skip("unshare is not installed");
    };
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line.is_empty() {
        let _ = process.wait();
        return toolmark_testing::skip("file systems cannot be mounted here");
    }
    let served = super::served(process, &line);
    let inside = PathBuf::from(format!("/proc/{}/root{}", served.process.id(), disk.display()));
    fs::write(inside.join("filler"), vec![1_u8; 4 << 20]).unwrap();
    let mut taken = 0;
    let began = Instant::now();
    let full = loop {
        let body = large_log(taken);
        let answer = request(&served.http, "POST", "/v1/logs", &JSON, &body);
        if answer.status != 200 {
            break answer;
        }
        taken += 1;
        assert!(taken < 1000 && began.elapsed() < TIMEOUT);
    };
    assert_eq!(full.status, 503, "{}", full.body);
    assert!(full.head.contains("retry-after"), "{}", full.head);
    let info = served.get("/api/v1/info").json();
    assert!(info["problems"].to_string().contains("full"), "{info}");
    fs::remove_file(inside.join("filler")).unwrap();
    let began = Instant::now();
    while request(&served.http, "POST", "/v1/logs", &JSON, &large_log(taken)).status != 200 {
        assert!(began.elapsed() < TIMEOUT);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(served.get("/api/v1/info").json()["problems"], Value::Array(Vec::new()));
    // SQLite would look for the real name of the file, which is another one out here.
    for name in ["s.db", "s.db-wal"] {
        fs::copy(inside.join(name), dir.path().join(name)).unwrap();
    }
    let copy = dir.path().join("s.db").to_string_lossy().into_owned();
    assert_eq!(count(&copy, "log"), taken as i64 + 1);
}

fn large_log(sequence: usize) -> Vec<u8> {
    let text = String::from_utf8(log("full", sequence)).unwrap();
    text.replace("<script>", &"x".repeat(50_000)).into_bytes()
}
