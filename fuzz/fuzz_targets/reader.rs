//! One reader on any bytes: `TOOLMARK_FORMAT=claude-code cargo fuzz run reader`.
//! Without the variable, detection chooses. `fuzz/run` goes through all formats.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use std::sync::LazyLock;
use toolmark_trace::{Format, ReadLimits, ReadOptions, FileSummary, format_by_id, read};

static FORMAT: LazyLock<Option<&'static dyn Format>> = LazyLock::new(|| {
    let id = std::env::var("TOOLMARK_FORMAT").ok()?;
    Some(format_by_id(&id).unwrap_or_else(|| panic!("no format {id}")))
});

fuzz_target!(|data: &[u8]| {
    let limits = ReadLimits { record: 8 << 20, expansion_floor: 8 << 20, ..ReadLimits::default() };
    let options = ReadOptions { force: *FORMAT, limits };
    let Ok(mut runs) = read(Cursor::new(data.to_vec()), "fuzz", &options) else { return };
    let mut summary = FileSummary::default();
    for run in runs.by_ref() {
        summary.add(&run);
        for run in run.flatten() {
            for call in &run.calls {
                let _ = call.name.canonical();
                let _ = call.at.location();
                let _ = call.args.as_ref().map(|a| a.to_value());
                let payload = call.result.as_ref().and_then(|r| r.payload.as_ref());
                let _ = payload.map(|p| p.plain().len());
            }
            for event in &run.events {
                let _ = event.at.location();
            }
        }
    }
    let answered = summary.tool_results - summary.orphans;
    assert_eq!(summary.tool_calls, answered + summary.unanswered);
});
