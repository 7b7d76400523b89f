//! Tests with real telemetry of agents, received twice.

use super::units::Units;
use super::{OtlpLimits, Receiver, Signal};
use crate::evaluate::Evaluator;
use crate::live::Hub;
use crate::model::SessionSource;
use crate::sessions::{self, Filter};
use crate::store::SessionStore;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use toolmark_redact::Redactor;
use toolmark_testing::find_shared;
use toolmark_trace::{ReadOptions, load_path};

fn receiver(dir: &Path) -> Receiver {
    let store = Arc::new(SessionStore::open(&dir.join("s.db")).unwrap());
    Receiver::new(store, Redactor::new(true), OtlpLimits::default())
}

fn units(receiver: &Receiver) -> Units {
    Units {
        store: Arc::clone(&receiver.store),
        evaluator: Arc::new(Evaluator::new(receiver.redactor)),
        hub: Arc::new(Hub::default()),
        keys: Vec::new(),
        queue: None,
        stop: Arc::new(AtomicBool::new(false)),
    }
}

/// Returns every row of every table.
fn dump(store: &SessionStore) -> Vec<String> {
    let tables = ["span", "log", "metric", "origin", "trace_unit", "call"];
    let of = |table: &&str| {
        store.read(|db| {
            let mut rows = db.prepare(&format!("SELECT * FROM {table}"))?;
            let columns = rows.column_count();
            let rows = rows.query_map([], |row| {
                let cells: Vec<String> =
                    (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
                Ok(format!("{table} {}", cells.join("|")))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        })
    };
    tables.iter().flat_map(|table| of(table).unwrap()).collect()
}

/// Sends every request of a folder, in order; returns their number.
fn send(receiver: &Receiver, folder: &Path) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| file.file_name().unwrap().to_string_lossy().contains("_v1_"));
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let signal = match () {
            () if name.contains("traces") => Signal::Traces,
            () if name.contains("logs") => Signal::Logs,
            () => Signal::Metrics,
        };
        let body = std::fs::read(file).unwrap();
        let taken = runtime.block_on(async {
            match file.extension().is_some_and(|ending| ending == "json") {
                true => receiver.json(signal, body.into(), None).await,
                false => receiver.protobuf(signal, body.into(), None).await,
            }
        });
        assert_eq!(taken.unwrap().rejected, 0, "{name}");
    }
    files.len()
}

fn evaluate(receiver: &Receiver) {
    let in_an_hour = Timestamp::now().as_millisecond() + 3_600_000;
    while units(receiver).evaluate_due(in_an_hour).unwrap() > 0 {}
}

#[test]
fn what_agents_send_becomes_sessions_and_twice_is_once() {
    let Some(shared) = find_shared("otel") else { return };
    let entries = std::fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let mut met = 0;
    for folder in folders {
        let dir = tempfile::tempdir().unwrap();
        let receiver = receiver(dir.path());
        assert!(send(&receiver, &folder) > 3);
        let list = || {
            let (filter, now) = (Filter::default(), Timestamp::now());
            receiver.store.read(|db| sessions::list(db, &filter, 100, 0, now)).unwrap().0
        };
        evaluate(&receiver);
        let (first, rows) = (list(), dump(&receiver.store));
        assert!(first.iter().any(|row| row.calls > Some(0)), "{folder:?}: {first:?}");
        send(&receiver, &folder);
        evaluate(&receiver);
        assert_eq!(dump(&receiver.store), rows, "{folder:?}");
        // The file of the same session decides, and the gap is named.
        for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "jsonl")) {
            let loaded = load_path(file, &ReadOptions::default()).unwrap();
            let evaluator = Evaluator::new(Redactor::new(true));
            let evaluated: Vec<_> = loaded
                .runs
                .iter()
                .map(|run| evaluator.evaluate(run, SessionSource::File))
                .collect();
            let (id, calls) = (evaluated[0].row.id.clone(), evaluated[0].row.calls);
            let evaluated = evaluated.into_iter().enumerate().collect();
            sessions::put_file(&receiver.store, "f.jsonl", 1, evaluated, |_| Ok(())).unwrap();
            if let Some(told) = first.iter().find(|row| row.id == id) {
                let row = list().into_iter().find(|row| row.id == id).unwrap();
                assert_eq!((row.source, row.calls), (SessionSource::Both, calls));
                assert_eq!(row.gap.is_some(), told.calls != calls || told.failed != row.failed);
                met += 1;
            }
        }
    }
    assert!(met > 0, "no telemetry is of a session whose file is there");
}
