//! Tests of the hook under failures: killed, concurrent, without disk space, with invalid input. In
//! every case the decision is right and the log is intact, for both hook programs.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::duplicate_mod,
    reason = "a test that cannot go on should say so, and both programs must pass the same tests"
)]

#[path = "."]
mod toolmark_guard {
    const PROGRAM: &[&str] = &[env!("CARGO_BIN_EXE_toolmark"), "guard"];
    #[path = "faults.rs"]
    mod faults;
}

#[path = "."]
mod toolmark_hook {
    const PROGRAM: &[&str] = &[env!("CARGO_BIN_EXE_toolmark-hook")];
    #[path = "faults.rs"]
    mod faults;
}

mod handed_over;
