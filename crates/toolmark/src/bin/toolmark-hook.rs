//! `toolmark-hook`: `toolmark guard` as agents run it before every call, alone in
//! a program, so that what it costs does not depend on the rest of toolmark.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;
use toolmark_guard::hook;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).take(3).collect();
    let host = match args.as_slice() {
        [] => None,
        [flag, host] if flag == "--host" => Some(host.to_string_lossy()),
        _ => {
            // The code that hosts take for a block.
            let _ = io::stderr().write_all(b"usage: toolmark-hook [--host HOST] < payload.json\n");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(hook::run(host.as_deref(), None))
}
