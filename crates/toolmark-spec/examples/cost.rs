//! Workload of `bench/cost`: reading, checking and grading, as in the commands but without
//! output. Half the size of the whole program, so that CI can build it with
//! the profile of the product.
//!
//! `cost read DIR`, `cost check DIR`, `cost grade SPEC TRACES`

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use toolmark_check::{CheckedTraces, Checker};
use toolmark_grade::{Grading, LoadOptions, RunSelection};
use toolmark_outcome::{Environment, Redactor};
use toolmark_trace::{FileSummary, ReadOptions, read_path};

/// The allocator of the product.
#[global_allocator]
static ALLOCATOR: toolmark_scan::Allocator = toolmark_scan::Allocator;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let calls = match args[..] {
        ["read", directory] => read(directory.as_ref())?,
        ["check", directory] => check(directory.as_ref())?,
        ["grade", spec, traces] => grade(spec.as_ref(), traces.as_ref())?,
        _ => return Err("usage: cost read|check DIR, cost grade SPEC TRACES".into()),
    };
    #[allow(clippy::print_stdout, reason = "the one answer of a bench")]
    {
        println!("{calls}");
    }
    Ok(())
}

/// Counts the calls: the work of `stats`.
fn read(directory: &Path) -> Result<u64, Box<dyn Error>> {
    let mut calls = 0;
    for file in files(directory)? {
        calls += FileSummary::of(&mut read_path(&file, &ReadOptions::default())?).tool_calls;
    }
    Ok(calls)
}

/// Checks the traces: the work of `check`.
fn check(directory: &Path) -> Result<u64, Box<dyn Error>> {
    let checker = Checker::default();
    let (mut all, mut calls) = (CheckedTraces::default(), 0);
    for file in files(directory)? {
        for run in read_path(&file, &ReadOptions::default())? {
            calls += run.calls.len() as u64;
            all.merge(checker.check(&run));
        }
    }
    all.sort();
    std::hint::black_box(all.redact(Redactor::new(true)));
    Ok(calls)
}

/// Grades the traces: the work of `grade --format jsonl`.
fn grade(spec: &Path, traces: &Path) -> Result<u64, Box<dyn Error>> {
    let options = LoadOptions { stores_cases: true, ..LoadOptions::default() };
    let loaded = toolmark_spec::load(spec, &options).map_err(|error| error.to_string())?;
    let plan = loaded.plan.as_ref().ok_or("the spec has errors")?;
    let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
    let (mut calls, mut line) = (0, Vec::new());
    for run in read_path(traces, &ReadOptions::default())? {
        calls += run.calls.len() as u64;
        let outcome = grading.grade(&run).map_err(|why| format!("{why:?}"))?;
        line.clear();
        // Secrets are hidden as it is written.
        serde_json::to_writer(&mut line, &outcome)?;
        std::hint::black_box(&line);
    }
    Ok(calls)
}

/// Returns the files below a directory, sorted by name.
fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(next) = open.pop() {
        if next.is_file() {
            files.push(next);
            continue;
        }
        for entry in std::fs::read_dir(next)? {
            open.push(entry?.path());
        }
    }
    files.sort();
    Ok(files)
}
