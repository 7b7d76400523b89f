//! Tests of `toolmark help` and `toolmark man`.

use crate::{run, stdout};
use serde_json::Value;

#[test]
fn the_help_of_commands_is_what_they_print_themselves() {
    for command in [&["check"][..], &["feed", "fix"], &["guard", "install"], &["help"]] {
        let asked = stdout(&[&["help"], command].concat());
        let own = stdout(&[command, &["--help"]].concat());
        assert!(asked.starts_with(&own), "{command:?}\n{asked}");
    }
}

#[test]
fn commands_below_others_have_help_too() {
    for (asked, own) in [
        (&["feed", "help"][..], &["feed", "--help"][..]),
        (&["feed", "help", "fix"], &["feed", "fix", "--help"]),
        (&["guard", "help", "test"], &["guard", "test", "--help"]),
        (&["judge", "help", "cache"], &["judge", "cache", "--help"]),
        (&["judge", "cache", "help", "clear"], &["judge", "cache", "clear", "--help"]),
    ] {
        let (asked, own) = (stdout(asked), stdout(own));
        assert!(asked.starts_with(&own), "{own}\n{asked}");
    }
}

#[test]
fn the_list() {
    let list = stdout(&["help"]);
    let help = stdout(&["--help"]);
    assert!(list.starts_with(&help), "{list}");
    let pages = list.split_once("\nPages:\n").unwrap().1;
    insta::assert_snapshot!(pages);
}

#[test]
fn a_page() {
    insta::assert_snapshot!(run(&["help", "exit-codes"]));
    assert_eq!(run(&["help", "exit-codes.md"]), run(&["help", "exit-codes"]));
    assert_eq!(run(&["help", "guard", "hosts"]), run(&["help", "guard-hosts"]));
}

#[test]
fn every_page_rule_grader_and_format_is_a_topic() {
    let list = stdout(&["help"]);
    let pages = list.split_once("\nPages:\n").unwrap().1.lines();
    let pages = pages.filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let mut topics: Vec<String> = pages.map(|(name, _)| format!("{name}.md")).collect();
    assert!(topics.len() > 40, "{topics:?}");
    for (list, key) in [("rules", "code"), ("graders", "type"), ("formats", "id")] {
        let all: Vec<Value> = serde_json::from_str(&stdout(&[list, "--format", "json"])).unwrap();
        topics.extend(all.iter().map(|one| one[key].as_str().unwrap().to_owned()));
    }
    for topic in topics {
        assert!(!stdout(&["help", &topic]).is_empty(), "{topic}");
    }
}

#[test]
fn a_word_with_several_meanings_names_the_others() {
    let text = stdout(&["help", "judge"]);
    let others = text.split_once("\nSee also:\n").unwrap().1;
    insta::assert_snapshot!(others, @r"
      toolmark help judge.md
      toolmark help commands/judge.md
      toolmark graders judge
    ");
}

#[test]
fn rules_and_graders_are_explained_alike() {
    assert_eq!(run(&["help", "S106"]), run(&["rules", "S106"]));
    assert_eq!(run(&["help", "idle-sub-agent"]), run(&["rules", "S106"]));
    assert_eq!(run(&["check", "--explain", "S106"]), run(&["rules", "S106"]));
    assert_eq!(run(&["help", "latency"]), run(&["graders", "latency"]));
    insta::assert_snapshot!(run(&["help", "latency"]));
}

#[test]
fn unknown_topics() {
    let words: Vec<String> =
        ["tutrial", "helpUri", "zzzz", "feed nothing"].iter().map(|w| run(&["help", w])).collect();
    insta::assert_snapshot!(words.join("\n"));
}

#[test]
fn man_pages_of_all_commands() {
    let dir = tempfile::tempdir().unwrap();
    let man = dir.path().join("man/man1");
    let said = stdout(&["man", man.to_str().unwrap()]);
    let mut names: Vec<String> = std::fs::read_dir(&man)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(said.starts_with(&format!("wrote {} pages", names.len())), "{said} {names:?}");
    for name in ["toolmark.1", "toolmark-check.1", "toolmark-feed-fix.1", "toolmark-guard-test.1"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    for name in &names {
        let page = std::fs::read_to_string(man.join(name)).unwrap();
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(page.contains(part), "{name} has no {part}");
        }
    }
    assert!(!names.iter().any(|name| name.ends_with("-help-fix.1")), "{names:?}");
    let check = std::fs::read_to_string(man.join("toolmark-check.1")).unwrap();
    assert!(check.contains("\n.SH EXAMPLES\n.nf\n  toolmark check "), "{check}");
    assert!(check.contains(concat!("toolmark ", env!("CARGO_PKG_VERSION"))), "{check}");
    assert!(check.contains("min\\-confidence"), "options are there");
}
