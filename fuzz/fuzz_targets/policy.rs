//! Any text as a policy: everything wrong with it is reported, and with what is
//! left a decision is made.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_config::{SourceText, RenderStyle, parse, render};
use toolmark_match::call_match::compile_schema;
use toolmark_guard::policy::{Layer, PolicyOrigin, Policy};
use toolmark_guard::Guard;
use toolmark_hosts::detect;

const CALL: &[u8] = br#"{"tool": "Bash", "args": {"command": "rm -rf / && git push --force"}}"#;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = SourceText::new("policy.yaml", text);
    let parsed = parse(&source);
    let Some(node) = parsed.node else { return };
    let mut problems = parsed.problems;
    let layer = Layer::read(&node, PolicyOrigin::default(), compile_schema, &mut problems);
    problems.extend(layer.check());
    problems.truncate(20);
    let _ = render(&source, &problems, RenderStyle::default());
    let guard = Guard::new(Policy::new(Some(layer), None, None), Default::default());
    let host = detect(CALL);
    if let Ok(event) = host.read(CALL) {
        let _ = guard.decide(&event, None);
    }
});
