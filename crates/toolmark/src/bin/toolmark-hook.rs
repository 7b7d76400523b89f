//! `toolmark-hook`: `toolmark guard` as agents run it before every call, as a separate program, so
//! that its cost does not depend on the rest of toolmark.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;
use toolmark_guard::hook;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).take(7).collect();
    let Some(asked) = hook::HookArgs::parse(&args) else {
        // The code that hosts take for a block.
        let usage =
            b"usage: toolmark-hook [--host HOST] [--policy FILE] [--log FILE] < payload.json\n";
        let _ = io::stderr().write_all(usage);
        return ExitCode::from(2);
    };
    ExitCode::from(hook::run(asked, None))
}
