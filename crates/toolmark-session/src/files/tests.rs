//! Tests of the state of `/w/a` before the last call of a trace.

use super::{FileKnowledge, FileSnapshot, Occurrences};
use crate::notation;
use crate::session::Session;
use toolmark_hosts::toolset::Toolsets;

fn known(trace: &str) -> FileSnapshot {
    let run = notation::parse(&format!("{trace}\nRead {{\"file_path\":\"/w/a\"}}")).unwrap();
    let toolsets = Toolsets::default();
    let session = Session::new(&run, &toolsets);
    let last = session.calls().last().unwrap();
    session.files().before(&session, last, "/w/a")
}

fn whole(text: &str) -> FileKnowledge {
    FileKnowledge::Whole(text.into())
}

const READ: &str = r#"Read {"file_path":"/w/a"} -> "     1→one\n     2→two\n     3→one""#;

#[test]
fn what_calls_prove() {
    for (trace, want) in [
        ("user: x", FileKnowledge::Nothing),
        (READ, whole("one\ntwo\none\n")),
        (
            r#"Read {"file_path":"a"} -> "1\tone\n2\ttwo\n\n<system-reminder>x</system-reminder>""#,
            whole("one\ntwo\n"),
        ),
        (r#"Read {"file_path":"/w/a"} !> "File does not exist.""#, FileKnowledge::Absent),
        (
            r#"Read {"file_path":"/w/a"} -> "<system-reminder>empty</system-reminder>""#,
            FileKnowledge::Exists,
        ),
        (r#"Write {"file_path":"/w/a","content":"x\r\ny"} -> "ok""#, whole("x\ny")),
        (r#"Write {"file_path":"/w/a","content":"x"} x> "no""#, FileKnowledge::Nothing),
        (r#"Edit {"file_path":"/w/a","old_string":"","new_string":"new"} -> "ok""#, whole("new")),
        (
            r#"Edit {"file_path":"/w/a","old_string":"x","new_string":"y"} -> "ok""#,
            FileKnowledge::Exists,
        ),
        (r#"Bash {"command":"rm /w/a"} -> """#, FileKnowledge::Absent),
        (r#"Bash {"command":"echo x > a"} -> """#, FileKnowledge::Exists),
    ] {
        assert_eq!(known(trace).known, want, "{trace}");
    }
}

#[test]
fn edits_are_followed() {
    for (edit, want) in [
        (
            r#"{"file_path":"/w/a","old_string":"two","new_string":"2\n2"}"#,
            whole("one\n2\n2\none\n"),
        ),
        (
            r#"{"file_path":"/w/a","old_string":"one","new_string":"1","replace_all":true}"#,
            whole("1\ntwo\n1\n"),
        ),
        // The host reports success, so the assumed content was wrong.
        (r#"{"file_path":"/w/a","old_string":"one","new_string":"1"}"#, FileKnowledge::Exists),
        (r#"{"file_path":"/w/a","old_string":"three","new_string":"3"}"#, FileKnowledge::Exists),
    ] {
        assert_eq!(known(&format!("{READ}\nEdit {edit} -> \"ok\"")).known, want, "{edit}");
        assert_eq!(
            known(&format!("{READ}\nEdit {edit} !> \"no\"")).known,
            whole("one\ntwo\none\n")
        );
    }
}

#[test]
fn slices_are_put_beside_each_other() {
    let slice = |from: usize, text: &str| {
        format!(
            r#"Read {{"file_path":"/w/a","offset":{from},"limit":2}} -> "{from}\t{text}\n{}\t{text}""#,
            from + 1
        )
    };
    let trace = format!("{}\n{}", slice(10, "x"), slice(2, "y"));
    let FileKnowledge::Lines(parts) = known(&trace).known else { panic!("{:?}", known(&trace)) };
    let parts: Vec<_> = parts.iter().map(|p| (p.first, &*p.text)).collect();
    assert_eq!(parts, [(2, "y\ny\n"), (10, "x\nx\n")]);
    let snapshot = known(&trace);
    assert_eq!(snapshot.occurrences("y"), Occurrences::AtLeast(2));

    let edit = r#"Edit {"file_path":"/w/a","old_string":"y\ny","new_string":"1\n2\n3"} -> "ok""#;
    let FileKnowledge::Lines(parts) = known(&format!("{trace}\n{edit}")).known else { panic!() };
    assert_eq!((parts[0].text.as_ref(), parts[1].first), ("1\n2\n3\n", 11));
}

#[test]
fn what_may_have_changed_is_stale() {
    for (then, stale) in [
        ("", false),
        (r#"Bash {"command":"git status"} -> "clean""#, false),
        (r#"Grep {"pattern":"x"} -> "a""#, false),
        (r#"Edit {"file_path":"/w/b","old_string":"x","new_string":"y"} -> "ok""#, false),
        (r#"Bash {"command":"cargo fmt"} -> """#, true),
        (r#"Task {"prompt":"x"} -> "done""#, true),
        (r#"mcp__x__y {} -> "done""#, true),
        ("user: I changed it", true),
    ] {
        let snapshot = known(&format!("{READ}\n{then}"));
        assert_eq!(snapshot.stale, stale, "{then}");
        assert_eq!(snapshot.content().is_some(), !stale, "{then}");
        assert_eq!(snapshot.occurrences("one") == Occurrences::Exactly(2), !stale, "{then}");
    }
    // Reading it again makes it fresh; editing it does not.
    let run = r#"Bash {"command":"make"} -> """#;
    let edit = r#"Edit {"file_path":"/w/a","old_string":"two","new_string":"2"} -> "ok""#;
    assert!(known(&format!("{READ}\n{run}\n{edit}")).stale);
    assert!(!known(&format!("{READ}\n{run}\n{READ}\n{edit}")).stale);
}

#[test]
fn patches_are_followed() {
    let add =
        r#"apply_patch "*** Begin Patch\n*** Add File: a\n+one\n+two\n*** End Patch" -> "ok""#;
    let update =
        r#"apply_patch "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch" -> "ok""#;
    let remove = r#"apply_patch "*** Begin Patch\n*** Delete File: /w/a\n*** End Patch" -> "ok""#;
    for (trace, want) in [
        (add.to_owned(), whole("one\ntwo\n")),
        (format!("{add}\n{update}"), whole("one\n2\n")),
        (update.to_owned(), FileKnowledge::Exists),
        (format!("{add}\n{remove}"), FileKnowledge::Absent),
    ] {
        let run = notation::parse(&format!("host: codex\n{trace}\nshell {{\"command\":[\"ls\"]}}"))
            .unwrap();
        let toolsets = Toolsets::default();
        let session = Session::new(&run, &toolsets);
        let last = session.calls().last().unwrap();
        assert_eq!(session.files().before(&session, last, "/w/a").known, want, "{trace}");
    }
}

#[test]
fn memory_is_bounded() {
    let large = "x".repeat(9 << 20);
    let trace = format!(r#"Write {{"file_path":"/w/a","content":"{large}"}} -> "ok""#);
    assert_eq!(known(&trace).known, FileKnowledge::Exists);
}
