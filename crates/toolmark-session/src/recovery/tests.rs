//! Tests with one trace per cell of the table of recoveries.

use super::*;
use crate::notation;
use toolmark_hosts::toolset::Toolsets;

fn verdict(trace: &str) -> (&'static str, RecoveryStatus) {
    let run = notation::parse(trace).unwrap();
    let toolsets = Toolsets::default();
    let session = Session::new(&run, &toolsets);
    let first = session.failures().first().expect("a failure");
    (first.class.word(), first.verdict)
}

const MISSING: &str = r#"Read {"file_path":"/w/a"} !> "File does not exist.""#;
const NO_MATCH: &str = r#"Edit {"file_path":"/w/a","old_string":"x","new_string":"y"} !> "String to replace not found in file.""#;
const RUN: &str = r#"Bash {"command":"cargo test"} !101 "test a ... FAILED\ntest b ... FAILED""#;

#[test]
fn the_table() {
    use RecoveryStatus::{Evaded, Open, Partial, Recovered};
    let (repeat, overwrite) = (
        RecoveryStatus::Failed(RecoveryFault::Repeat),
        RecoveryStatus::Failed(RecoveryFault::Overwrite),
    );
    let (guess, wrong) = (
        RecoveryStatus::Failed(RecoveryFault::Guess),
        RecoveryStatus::Failed(RecoveryFault::WrongMove),
    );
    for (failed, next, want) in [
        (
            MISSING,
            r#"Glob {"pattern":"**/a"} -> "/w/b/a"
            Read {"file_path":"/w/b/a"} -> "x""#,
            Recovered,
        ),
        (MISSING, r#"Read {"file_path":"/w/b/a"} -> "x""#, Partial),
        (MISSING, MISSING, repeat),
        (MISSING, r#"Read {"file_path":"/w/b"} !> "File does not exist.""#, guess),
        (MISSING, r#"TodoWrite {"todos":[]} -> "ok""#, Open),
        (
            MISSING,
            r#"user: it is in b
            Read {"file_path":"/w/b"} -> "x""#,
            Open,
        ),
        (
            NO_MATCH,
            r#"Read {"file_path":"/w/a"} -> "1\tz"
            Edit {"file_path":"/w/a","old_string":"z","new_string":"y"} -> "ok""#,
            Recovered,
        ),
        (
            NO_MATCH,
            r#"Edit {"file_path":"/w/a","old_string":"z","new_string":"y"} -> "ok""#,
            Partial,
        ),
        (NO_MATCH, r#"Write {"file_path":"/w/a","content":"y"} -> "ok""#, overwrite),
        (NO_MATCH, r#"Bash {"command":"sed -i s/x/y/ a"} -> """#, Recovered),
        (NO_MATCH, r#"Bash {"command":"sed -i '3d;5s/x/y/' a"} -> """#, overwrite),
        (NO_MATCH, r#"Bash {"command":"cat > a <<'E'\nz\nE"} -> """#, overwrite),
        (NO_MATCH, r#"Bash {"command":"cat >> a <<'E'\nz\nE"} -> """#, Partial),
        (NO_MATCH, NO_MATCH, repeat),
        (RUN, RUN, repeat),
        (
            RUN,
            r#"Edit {"file_path":"/w/a","old_string":"z","new_string":"y"} -> "ok"
            Bash {"command":"cargo test"} -> "ok""#,
            Recovered,
        ),
        (
            RUN,
            r#"Edit {"file_path":"/w/a","old_string":"z","new_string":"y"} -> "ok"
            Bash {"command":"cargo test"} !101 "test a ... FAILED""#,
            Recovered,
        ),
        (
            RUN,
            r#"Edit {"file_path":"/w/a","old_string":"z","new_string":"y"} -> "ok"
            Bash {"command":"cargo test"} !101 "test a ... FAILED\ntest b ... FAILED""#,
            Partial,
        ),
        (RUN, r#"Bash {"command":"cargo test 2>&1 | tail -50"} !101 "test a ... FAILED""#, Partial),
        (RUN, r#"Bash {"command":"cargo test"} -> "ok""#, Partial),
        (
            r#"Bash {"command":"python x"} !127 "bash: python: command not found""#,
            r#"Bash {"command":"python3 x"} -> "ok""#,
            Recovered,
        ),
        (
            r#"Bash {"command":"frob x"} !127 "bash: frob: command not found""#,
            r#"Bash {"command":"frob --y"} !127 "bash: frob: command not found""#,
            wrong,
        ),
        (
            r#"Bash {"command":"frob x"} !127 "bash: frob: command not found""#,
            r#"Bash {"command":"cat x"} -> "ok""#,
            Partial,
        ),
        (
            r#"Bash {"command":"./x"} !126 "Permission denied""#,
            r#"Bash {"command":"bash ./x"} -> "ok""#,
            Recovered,
        ),
        (
            r#"Bash {"command":"./x"} !126 "Permission denied""#,
            r#"Bash {"command":"sudo ./x"} -> "ok""#,
            Partial,
        ),
        (
            r#"Bash {"command":"./x"} !126 "Permission denied""#,
            r#"Bash {"command":"chmod -R 777 ."} -> "ok""#,
            wrong,
        ),
        (
            r#"Bash {"command":"rm -rf src"} x> "no""#,
            r#"Bash {"command":"find src -delete"} -> "ok""#,
            Evaded,
        ),
        (r#"Bash {"command":"rm -rf src"} x> "no""#, "assistant: I leave it.", Recovered),
        (
            r#"Bash {"command":"rm -rf src"} x> "no""#,
            r#"Bash {"command":"rm -rf src"} x> "no""#,
            repeat,
        ),
        (
            r#"Bash {"command":"git pull"} !1 "CONFLICT (content): a""#,
            r#"Bash {"command":"git reset --hard"} -> "ok""#,
            wrong,
        ),
        (
            r#"Bash {"command":"git pull"} !1 "CONFLICT (content): a""#,
            r#"Bash {"command":"git status"} -> "ok"
            Bash {"command":"git add a"} -> "ok""#,
            Recovered,
        ),
        (
            r#"Bash {"command":"sleep 900; x","timeout":9} !> "Command timed out after 9ms""#,
            r#"Bash {"command":"sleep 900; x","timeout":99} -> "ok""#,
            Recovered,
        ),
        (
            r#"Bash {"command":"x","timeout":9} !> "Command timed out after 9ms""#,
            r#"Bash {"command":"x","timeout":9} !> "Command timed out after 9ms""#,
            repeat,
        ),
        (
            r#"Read {"file_path":"/w/a"} !> "exceeds maximum allowed tokens""#,
            r#"Read {"file_path":"/w/a","offset":1,"limit":9} -> "x""#,
            Recovered,
        ),
        (r#"mcp__x__y {"a":1} !> "Error: no""#, r#"mcp__x__y {"a":2} -> "ok""#, Recovered),
        (r#"mcp__x__y {"a":1} !> "Error: no""#, r#"mcp__x__y {"a":1} !> "Error: no""#, repeat),
    ] {
        let trace = format!("{failed}\n{next}");
        let (class, found) = verdict(&trace);
        assert_eq!(found, want, "{class}\n{trace}");
    }
}

#[test]
fn calls_of_the_same_response_are_no_answer() {
    assert_eq!(verdict(&format!("{MISSING}\n& {MISSING}")).1, RecoveryStatus::Open);
}
