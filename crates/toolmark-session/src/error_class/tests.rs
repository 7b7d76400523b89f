//! Tests with one trace per class and host.

use super::*;
use crate::notation;
use crate::session::Session;
use toolmark_hosts::toolset::Toolsets;

#[test]
fn classes_by_host() {
    for (trace, want) in [
        (
            r#"Read {"file_path":"/a"} !> "<tool_use_error>File does not exist.</tool_use_error>""#,
            Some("missing"),
        ),
        (
            r#"Read {"file_path":"/a"} !> "File content (9 tokens) exceeds maximum allowed tokens (8).""#,
            Some("too-large"),
        ),
        (
            r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "String to replace not found in file.""#,
            Some("no-match"),
        ),
        (
            r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "Found 3 matches of the string to replace, but replace_all is false.""#,
            Some("ambiguous"),
        ),
        (
            r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "File has not been read yet.""#,
            Some("stale"),
        ),
        (r#"Bash {"command":"nope"} !127 "Exit code 127\nnope: command not found""#, Some("127")),
        (r#"Bash {"command":"make"} !2 "Exit code 2\nNo such file or directory""#, Some("build")),
        (r#"Bash {"command":"make"} !> "Command timed out after 2m 0.0s""#, Some("timeout")),
        (r#"Bash {"command":"make"} x> "The user doesn't want to proceed""#, Some("denied")),
        (
            r#"Bash {"command":"frob a"} !2 "Exit code 2\ncat: a: No such file or directory""#,
            Some("missing"),
        ),
        (r#"Bash {"command":"frob a"} !1 "Exit code 1\nboom""#, Some("exit")),
        (
            r#"Bash {"command":"cd x && npm test 2>&1 | tail"} !1 "Exit code 1\n1 failed""#,
            Some("tests"),
        ),
        (
            r#"Bash {"command":"python -m pytest a"} !1 "No module named pytest""#,
            Some("dependency"),
        ),
        (r#"Bash {"command":"grep -rn x ."} !1 "Exit code 1""#, Some("none-found")),
        (
            r#"Bash {"command":"rg x nodir"} !2 "rg: nodir: No such file or directory""#,
            Some("missing"),
        ),
        (
            r#"Bash {"command":"git pull"} !1 "error: Your local changes to the following files would be overwritten by merge:""#,
            Some("conflict"),
        ),
        (r#"Bash {"command":"curl x"} !6 "curl: (6) Could not resolve host: x""#, Some("network")),
        (
            r#"Bash {"command":"git gc --x"} !129 "error: unknown option `x'""#,
            Some("bad-arguments"),
        ),
        (r#"Bash {"command":"./a"} !126 "Permission denied""#, Some("126")),
        (
            r#"Bash {"command":"mkdir /app"} !1 "mkdir: /app: Permission denied""#,
            Some("permission"),
        ),
        (
            r#"Bash {"command":"x"} !> "<tool_use_error>Sibling tool call errored</tool_use_error>""#,
            Some("cancelled"),
        ),
        (r#"Bash {"command":"x"} !> "PreToolUse:Bash hook error: no""#, Some("denied")),
        (
            r#"Read {"file_path":"/a"} !> "EISDIR: illegal operation on a directory""#,
            Some("binary"),
        ),
        (
            r#"Write {"file_path":"/a","content":"x"} !> "EACCES: permission denied, mkdir '/app'""#,
            Some("permission"),
        ),
        (r#"mcp__x__y {} !> "Error: balance is not enough""#, Some("error")),
        (r#"mcp__x__y {} !> "InputValidationError: y failed""#, Some("bad-arguments")),
        (
            r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} ?> "ERROR:\nNo replacement was performed""#,
            Some("no-match"),
        ),
        (r#"Read {"file_path":"/a"} ?> "1\tError: x""#, None),
        (
            "host: codex\nexec_command {\"cmd\":\"x\"} !1 \"Wall time: 1\\nProcess exited with code 1\\nOutput:\\nboom\"",
            Some("exit"),
        ),
        (
            "host: codex\nshell {\"command\":[\"bash\",\"-lc\",\"npm test\"]} !124 \"command timed out after 9 milliseconds\"",
            Some("timeout"),
        ),
        (
            "host: codex\napply_patch \"*** Begin Patch\" !> \"apply_patch verification failed: Failed to find expected lines in a\"",
            Some("no-match"),
        ),
        (
            "host: codex\nshell {\"command\":[\"x\"]} !> \"exec command rejected by user\"",
            Some("denied"),
        ),
        (
            "host: codex\nshell {\"cmd\":1} !> \"failed to parse function arguments: missing field `command`\"",
            Some("bad-arguments"),
        ),
        (
            "host: copilot-cli\nedit {\"path\":\"/a\",\"old_str\":\"x\",\"new_str\":\"y\"} !> \"No match found\"",
            Some("no-match"),
        ),
        ("host: copilot-cli\nview {\"path\":\"/a\"} !> \"Path does not exist\"", Some("missing")),
        (
            "host: copilot-cli\nbash {\"command\":\"frob\"} !> \"frob: command not found\\n<exited with exit code 127>\"",
            Some("127"),
        ),
        (
            "host: gemini-cli\nreplace {\"file_path\":\"/a\",\"old_string\":\"x\",\"new_string\":\"y\"} !> \"Failed to edit. Expected 1 occurrence but found 3\"",
            Some("ambiguous"),
        ),
        (
            "host: gemini-cli\nrun_shell_command {\"command\":\"x\"} !> \"Command was automatically cancelled because it exceeded the timeout of 5 minutes\"",
            Some("timeout"),
        ),
        (
            "host: gemini-cli\nread_file {\"absolute_path\":\"/a\"} !> \"File not found: /a\"",
            Some("missing"),
        ),
        (r#"Bash {"command":"curl -s localhost:3000"} !7 "Exit code 7""#, Some("network")),
        (r#"Bash {"command":"make"} -> "File does not exist""#, None),
    ] {
        let run = notation::parse(trace).unwrap();
        let toolsets = Toolsets::default();
        let session = Session::new(&run, &toolsets);
        let found = session.calls().first().and_then(classify).map(ErrorClass::word);
        assert_eq!(found, want, "{trace}");
    }
}

#[test]
fn every_word_is_found_in_its_list() {
    assert!(LISTS.iter().map(|list| list.len()).sum::<usize>() <= 64 * FoundWords::default().len());
    let all = [
        ErrorWordList::Edit,
        ErrorWordList::File,
        ErrorWordList::Host,
        ErrorWordList::System,
        ErrorWordList::Git,
        ErrorWordList::Dependency,
        ErrorWordList::Usage,
        ErrorWordList::Missing,
        ErrorWordList::Runner,
    ];
    assert_eq!(all.len(), LISTS.len());
    for (list, name) in LISTS.iter().zip(all) {
        for (words, _) in *list {
            let long = format!("{words}{}{words}", "x".repeat(3 * MAX_EXAMINED));
            for text in [words, long.as_str()] {
                let text = TextEnds::new(text);
                // An earlier phrase of the list may be a substring.
                let want = list.iter().find(|(other, _)| words.contains(other)).map(|(_, c)| *c);
                assert_eq!(text.said(name), want, "{words}");
            }
            assert_eq!(TextEnds::new("nothing to see here").said(name), None);
        }
    }
}
