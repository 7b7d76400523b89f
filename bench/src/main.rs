//! Measures how fast full trajectories are built, beside bare parsers that only look at
//! the same bytes: `toolmark-bench CORPUS_DIR`.
//!
//! Every contender reads the same JSONL files, one thread, and the whole list
//! is gone through several times in turn, so that all of them meet the same
//! noise; the best pass of each counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use toolmark_trace::{ReadOptions, FileSummary, read_path};

#[global_allocator]
static ALLOCATOR: toolmark_scan::Allocator = toolmark_scan::Allocator;

type Contender = (&'static str, fn(&Path) -> u64);

const CONTENDERS: &[Contender] = &[
    ("toolmark: full trajectories", trajectories),
    ("toolmark: JSON documents only", documents),
    ("sonic-rs: skip, checked", sonic_checked),
    ("sonic-rs: skip, unchecked", sonic_unchecked),
    ("simd-json: tape", simd_tape),
    ("serde_json: IgnoredAny", serde_ignored),
    ("serde_json: Value", serde_value),
    ("read the file only", read_only),
];

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(dir) = args.next() else {
        eprintln!("usage: toolmark-bench CORPUS_DIR [PASSES] [ONLY]");
        std::process::exit(2);
    };
    let passes: usize = args.next().and_then(|p| p.parse().ok()).unwrap_or(3);
    let only = args.next().unwrap_or_default();
    let mut files = Vec::new();
    collect(Path::new(&dir), &mut files);
    files.sort();
    let bytes: u64 = files.iter().filter_map(|f| fs::metadata(f).ok()).map(|m| m.len()).sum();
    println!("{} files, {:.2} GB", files.len(), bytes as f64 / 1e9);

    let chosen: Vec<&Contender> = CONTENDERS.iter().filter(|c| c.0.contains(&only)).collect();
    let mut best = vec![f64::INFINITY; chosen.len()];
    let mut counts = vec![0; chosen.len()];
    for _ in 0..passes {
        for (i, (_, run)) in chosen.iter().enumerate() {
            let start = Instant::now();
            counts[i] = files.iter().map(|f| run(f)).sum();
            best[i] = best[i].min(start.elapsed().as_secs_f64());
        }
    }
    for (i, (name, _)) in chosen.iter().enumerate() {
        println!("{name:32} {:6.2} GB/s   ({} counted)", bytes as f64 / 1e9 / best[i], counts[i]);
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn trajectories(path: &Path) -> u64 {
    read_path(path, &ReadOptions::default()).map_or(0, |mut runs| FileSummary::of(&mut runs).tool_calls)
}

fn lines(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}

fn per_line(path: &Path, mut each: impl FnMut(&str) -> bool) -> u64 {
    // The check of the encoding must not be what is measured.
    let (toolmark_scan::Utf8::Valid(text) | toolmark_scan::Utf8::Lossy { text, .. }) =
        toolmark_scan::into_utf8(lines(path));
    text.lines().filter(|l| !l.is_empty()).map(|l| u64::from(each(l))).sum()
}

fn documents(path: &Path) -> u64 {
    let mut scanner = toolmark_scan::Scanner::new();
    per_line(path, |l| scanner.parse(l).is_ok())
}

fn sonic_checked(path: &Path) -> u64 {
    // A key that is not there: the whole line has to be skipped over.
    per_line(path, |l| sonic_rs::get(l, ["\u{1}none"]).is_err())
}

fn sonic_unchecked(path: &Path) -> u64 {
    // SAFETY: the corpus is valid JSON, one value a line.
    per_line(path, |l| unsafe { sonic_rs::get_unchecked(l, ["\u{1}none"]) }.is_err())
}

fn simd_tape(path: &Path) -> u64 {
    let mut bytes = lines(path);
    let mut buffers = simd_json::Buffers::default();
    let mut count = 0;
    for line in bytes.split_mut(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        count += u64::from(simd_json::to_tape_with_buffers(line, &mut buffers).is_ok());
    }
    count
}

fn serde_ignored(path: &Path) -> u64 {
    per_line(path, |l| serde_json::from_str::<serde::de::IgnoredAny>(l).is_ok())
}

fn serde_value(path: &Path) -> u64 {
    per_line(path, |l| serde_json::from_str::<serde_json::Value>(l).is_ok())
}

fn read_only(path: &Path) -> u64 {
    lines(path).len() as u64
}
