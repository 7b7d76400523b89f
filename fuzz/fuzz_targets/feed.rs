//! A failed call with any text: its key is bounded, the same each time, and masking what is
//! masked changes nothing but its spelling.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_feed::template::{Echoes, MessageStyle, first_value, mask, with_gaps};
use toolmark_feed::{FailedCall, IssueKey};
use toolmark_hosts::toolset::ToolRole;

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (command, text) = input.split_once('\0').unwrap_or(("make test", input));
    let args = serde_json::json!({"command": command});
    for style in [MessageStyle::Error, MessageStyle::Finding] {
        let once = mask(text, &Echoes::new(Some(&args), Some(command)), style);
        assert!(once.split(' ').count() <= 24 && !once.contains('\n'), "{once}");
        assert!(!once.contains("* *"), "{once}");
    }
    let _ = (with_gaps(text), first_value(text));
    for role in [ToolRole::RunsShell, ToolRole::Edits, ToolRole::Reads, ToolRole::Other] {
        let failed = FailedCall {
            role,
            tool: "Tool",
            args: Some(&args),
            command: (role == ToolRole::RunsShell).then_some(command),
            exit_code: None,
            is_denied: false,
            is_interrupted: false,
            text,
        };
        assert_eq!(IssueKey::of_call(&failed).id(), IssueKey::of_call(&failed).id());
    }
});
