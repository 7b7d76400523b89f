//! Any text as a command line: the analysis ends, and a command that is harmless
//! alone does not make a destructive one behind it harmless.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_shell::{ShellContext, Decision, analyze};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let context = ShellContext { cwd: Some("/home/u/project"), home: Some("/home/u"), ..ShellContext::default() };
    let alone = analyze(text, &context);
    // Twice the same question has twice the same answer.
    assert_eq!(format!("{alone:?}"), format!("{:?}", analyze(text, &context)));
    let before = analyze(&format!("rm -rf / ; {text}"), &context);
    assert_eq!(before.decision, Decision::Deny, "{text}");
});
