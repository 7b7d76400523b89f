use super::*;
use proptest::prelude::*;
use std::time::Duration;
use toolmark_testing::CpuWatch;

fn pattern(source: &str) -> Pattern {
    Pattern::new(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[test]
fn leading_flags_apply_to_the_whole_pattern() {
    let table = [
        ("(?i)bash", "BASH", true),
        ("(?i)^(bash|shell)$", "Shell", true),
        ("(?s)a.b", "a\nb", true),
        ("a.b", "a\nb", false),
        ("(?m)^b$", "a\nb\nc", true),
        ("(?ms)^b.c$", "a\nb\nc", true),
        ("(?im)^B$", "a\nb\nc", true),
        ("(?is)A.B", "a\nb", true),
        ("(?i)", "anything", true),
        ("(?-i:a)b", "ab", true),
        // Modifiers hold inside their group only.
        ("(?i:a)b", "Ab", true),
        ("(?i:a)b", "AB", false),
        ("(?i)a(?-i:b)c", "AbC", true),
        ("(?i)a(?-i:b)c", "ABC", false),
        ("(?s:a.)b.", "a\nb\n", false),
        ("(?m-i:^b)", "a\nb", true),
        ("(?i)x(?s-i:.y)z", "X\nyZ", true),
    ];
    for (source, text, expected) in table {
        assert_eq!(pattern(source).is_match(text), Ok(expected), "{source} on {text:?}");
    }
}

#[test]
fn no_match_lies_inside_a_character() {
    let table = [
        (r"(é|\B)", "aé1", true),
        (r"\B", "aé1", false),
        (r"\B", "éé", true),
        (r"\Bé", "aé", false),
        (r"(?:\B|€)1", "a€1", true),
    ];
    for (source, text, expected) in table {
        assert_eq!(pattern(source).is_match(text), Ok(expected), "{source} on {text:?}");
        assert_eq!(pattern(source).find(text).unwrap().is_some(), expected, "{source} on {text:?}");
    }
}

#[test]
fn flags_as_an_argument() {
    let is = |source, flags, text| Pattern::with_flags(source, flags).unwrap().is_match(text);
    assert_eq!(is("A.b", "is", "a\nB"), Ok(true));
    assert_eq!(is("(?s)A.b", "i", "a\nB"), Ok(true));
    assert_eq!(is("b", "gud", "ab"), Ok(true));
    // Sticky: at the start or not at all, on every engine.
    for source in ["b", "[b]", "(?=b)b"] {
        assert_eq!(is(source, "y", "ab"), Ok(false), "{source}");
        assert_eq!(is(source, "y", "ba"), Ok(true), "{source}");
    }
    assert_eq!(Pattern::with_flags("b", "x").unwrap_err().message, "unknown flag `x`");
    assert_eq!(Pattern::with_flags("b", "ii").unwrap_err().message, "flag `i` is given twice");
}

#[test]
fn errors_say_where_and_what_to_do() {
    let table = [
        ("a(?i)b", 1, "flags inside a pattern", Some("(?i) at the very start")),
        ("(?i)(?s)b", 4, "flags inside a pattern", Some("(?s)")),
        ("^(?im)b", 1, "flags inside a pattern", Some("(?im:…)")),
        ("(?P<n>a)", 2, "unknown kind of group", Some("(?<name>…)")),
        ("(?>a)", 2, "unknown kind of group", Some("atomic")),
        ("(?x)a", 2, "unknown kind of group", Some("free-spacing")),
        ("a(?", 3, "unknown kind of group", None),
        ("(?-:a)", 3, "unknown kind of group", None),
        ("(?ii:a)", 3, "unknown kind of group", None),
        ("(?i-i:a)", 4, "unknown kind of group", None),
        ("(a", 0, "group is not closed", None),
        ("é(a", 2, "group is not closed", None),
        ("a)", 1, "unmatched `)`", None),
        ("[a", 0, "class is not closed", None),
        ("a[z-a]", 2, "range of a class is out of order", None),
        ("*a", 0, "nothing to repeat", None),
        ("a|?", 2, "nothing to repeat", None),
        ("{2}", 0, "nothing to repeat", None),
        ("a{2}{3}", 4, "nothing to repeat", None),
        ("a*+", 2, "nothing to repeat", Some("possessive")),
        ("^*", 1, "nothing to repeat", Some("`^` is a condition")),
        (r"\b+", 2, "nothing to repeat", None),
        ("(?<=a)*", 6, "nothing to repeat", None),
        ("a{2,1}", 1, "numbers of a quantifier are out of order", None),
        ("a\\", 1, "pattern ends with a backslash", None),
        ("(?<1>a)", 3, "group has no proper name", None),
        ("(?<n", 3, "group has no proper name", None),
        ("(?<n>a)(?<n>b)", 10, "two groups are named `n`", None),
        (r"(?<n>a)\k<m>", 7, "no group is named `m`", None),
        (r"(?<n>a)\k", 7, "reference has no group name", None),
        (r"\p{Greek}", 0, "no Unicode property `Greek`", Some(r"\p{Script=Greek}")),
        (r"x\p{Nope}", 1, "no Unicode property `Nope`", None),
        (r"\p{age=V6_0}", 0, "no Unicode property `age=V6_0`", None),
        (r"\p{L", 0, "Unicode property is not closed", None),
        (r"\u{110000}", 0, "no such Unicode code point", None),
    ];
    for (source, offset, message, hint) in table {
        let error = Pattern::new(source).map(|_| source).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{source}");
        if let Some(hint) = hint {
            let given = error.hint.unwrap_or_default().replace('`', "");
            assert!(given.contains(&hint.replace('`', "")), "{source}: {given}");
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let deep = |depth| format!("{}a{}", "(?:".repeat(depth), ")".repeat(depth));
    assert_eq!(pattern(&deep(200)).is_match("a"), Ok(true));
    let refused = [
        deep(201),
        deep(60_000),
        "(".repeat(200_000),
        "((((a{10}b){10}){10}){10}){1000}".to_owned(),
        "(?:ab){4294967295}".to_owned(),
        "(?=(?:ab){1000000})".to_owned(),
        r"[\p{L}]".repeat(30_000),
        format!("(?i){}", r"[\u0100-\uffff]".repeat(15_000)),
        "a".repeat(300_000),
    ];
    for source in refused {
        let start = CpuWatch::start();
        assert!(Pattern::new(&source).is_err(), "{source:.40}");
        assert!(start.elapsed() < Duration::from_secs(5), "{source:.40}");
    }
    // Large source, but a small program.
    let allowed = [
        "a{1,100000}b",
        "a{100000}",
        "(?=a{1000000})",
        "(a{1000}){100}",
        "a{4294967295}",
        "a{99999999999}",
        "a{0,99999999999}b",
    ];
    for source in allowed {
        assert_eq!(pattern(source).is_match("aaaa"), Ok(false), "{source}");
    }
    for source in ["{".repeat(200_000), "(?<".repeat(80_000), r"\k<".repeat(80_000)] {
        let start = CpuWatch::start();
        let _ = Pattern::new(&source);
        assert!(start.elapsed() < Duration::from_secs(5), "{source:.40}");
    }
}

/// A search without a quick result ends and reports that the result is unknown.
#[test]
fn hostile_patterns_reach_the_limit() {
    let text = "a".repeat(40);
    for source in [r"(a+)+\1b", r"^(?=a)(a|aa|\1a)*$(?!)", r"(?=(a*)*b)", r"(x?a*)*\1!"] {
        let start = CpuWatch::start();
        let found = pattern(source).is_match(&text);
        assert!(found.is_err(), "{source}: {found:?}");
        assert!(start.elapsed() < Duration::from_secs(10), "{source}");
    }
    let message = pattern(r"(a+)+\1b").is_match(&text).unwrap_err().to_string();
    assert_eq!(message, "pattern was given up after 4001280 steps of backtracking");
}

/// An otherwise endless search ends if failures can be recorded.
#[test]
fn remembered_failures_give_the_answer() {
    let short = format!("{}!", "a".repeat(40));
    let long = "ab ".repeat(20_000);
    let table = [
        ("(?=a)(a+)+$", &short, false),
        ("(?=a)(a+)+!$", &short, true),
        ("(?=a)(a|aa)*$", &short, false),
        ("^(?!b)(a|a)*?$", &short, false),
        ("(?<=^|x)(?:a+?)+?$", &short, false),
        ("(?!c)(?:a{1,3}){1,9}(?:a|b?a)+$", &short, false),
        ("(?=.).*.*.*=", &long, false),
        ("(?=.).*?.*?x", &long, false),
        ("(?=.).*.*.*b $", &long, true),
    ];
    for (source, text, expected) in table {
        assert_eq!(pattern(source).is_match(text), Ok(expected), "{source}");
    }
}

/// Texts on which the automaton would see different lines or words.
#[test]
fn regular_patterns_change_engines_by_text() {
    let lines = pattern("(?m)^b$");
    assert!(!lines.is_linear());
    for text in ["a\nb\nc", "a\r\nb\r\nc", "a\rb\rc", "a\u{2028}b\u{2029}c"] {
        assert_eq!(lines.is_match(text), Ok(true), "{text:?}");
    }
    assert_eq!(lines.is_match("a\u{85}b\u{85}c"), Ok(false));
    assert_eq!(pattern("(?m)^\\n").is_match("a\r\nb"), Ok(true));
    assert_eq!(pattern(r"(?i)\bb").is_match("ſb"), Ok(false));
    assert_eq!(pattern(r"\bb").is_match("ſb"), Ok(true));
    let many_lines = "(a+)+ \r\n".repeat(10_000);
    assert_eq!(pattern("(?m)^(\\w+)+$").is_match(&many_lines), Ok(false));
}

#[test]
fn what_runs_in_linear_time() {
    for source in ["bash", "^bash$", "a+b|c", "(?i)x", "(a*)*", r"\bx\b"] {
        assert!(pattern(source).is_linear(), "{source}");
    }
    for source in ["(?=a)", r"(a)\1", "(?<!a)b", "a{1,1000000}"] {
        assert!(!pattern(source).is_linear(), "{source}");
    }
}

#[test]
fn what_matches_the_empty_text() {
    for source in ["", "a*", "^$", "a|", ".*", "(?!a)", "(?i)", r"(a)?\1", "[^]*", "(?:)"] {
        assert!(pattern(source).matches_empty(), "{source}");
    }
    for source in ["a", "a+", ".", r"\b", "(?=a)", "[]", "[^]", "^a?$b"] {
        assert!(!pattern(source).matches_empty(), "{source}");
    }
}

#[test]
fn what_matches_everything() {
    for source in ["", "a*", "a|", ".*", "^.*$", "^", "$", "(?i)", "[^]*", "(a|b)?", r"\s*"] {
        assert!(pattern(source).matches_everything(), "{source}");
    }
    for source in
        ["^$", "^(?!.*foo).*$", "^[a-z]*$", "^a?$", "^$|a", "^.{0,5}$", "^[^x]*$", "a+", "(?!a)b|"]
    {
        assert!(!pattern(source).matches_everything(), "{source}");
    }
}

#[test]
fn literals_are_found_where_they_are() {
    let table = [
        ("bash", "a bash b", Some(2..6)),
        ("^bash", "bash b", Some(0..4)),
        ("^bash", "a bash", None),
        ("bash$", "bash bash", Some(5..9)),
        ("^bash$", "bash", Some(0..4)),
        ("^bash$", "bash ", None),
        ("", "abc", Some(0..0)),
        ("$", "abc", Some(3..3)),
        ("^", "abc", Some(0..0)),
        ("^$", "", Some(0..0)),
        ("^$", "a", None),
        (r"a\.b\/c", "xa.b/c", Some(1..6)),
        ("é", "aé", Some(1..3)),
    ];
    for (source, text, expected) in table {
        let pattern = pattern(source);
        assert!(pattern.0.literal.is_some(), "{source} is a literal");
        assert_eq!(pattern.find(text), Ok(expected.clone()), "{source}");
        let groups = expected.map(|span| vec![Some(span)]);
        assert_eq!(pattern.captures(text), Ok(groups), "{source}");
    }
}

#[test]
fn it_prints_as_it_was_written() {
    let pattern = Pattern::with_flags("(?i)a/b", "m").unwrap();
    assert_eq!(pattern.to_string(), "(?i)a/b");
    assert_eq!(format!("{pattern:?}"), "/(?i)a/b/m");
    let error = Pattern::new("(a").unwrap_err();
    assert_eq!(error.to_string(), "invalid pattern at byte 0: group is not closed");
}

/// Generates regular patterns over a small alphabet.
fn regular() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abé]",
        1 => Just(".".to_owned()),
        1 => "\\[[abé]{1,2}\\]",
        1 => "\\[\\^[abé]{0,2}\\]",
        1 => prop::sample::select(vec![r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", "^", "$", ""])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let quantifiers = vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| items.concat()),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|b| format!("({})", b.join("|"))),
            (inner, prop::sample::select(quantifiers))
                .prop_map(|(body, quantifier)| format!("(?:{body}){quantifier}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_engines_agree(
        source in regular(),
        flags in prop::sample::select(vec!["", "i", "m", "s", "y", "im"]),
        text in "[abAé1 \n]{0,8}",
    ) {
        let pattern = Pattern::with_flags(&source, flags).unwrap();
        let inner = &*pattern.0;
        let automaton = inner.automaton_for(&text).expect("a small regular pattern");
        let begin = if inner.sticky { Begin::At(0) } else { Begin::Anywhere };
        let found = backtrack::search(inner.program(), &text, begin).unwrap();
        prop_assert_eq!(pattern.is_match(&text), Ok(found.is_some()));
        let Some(slots) = found else { return Ok(()) };
        let linear = automaton.find(inner.input(&text)).map(|m| m.range()).unwrap();
        let whole = span(&slots, 0).unwrap();
        prop_assert_eq!(linear.start, whole.start);
        if inner.facts.same_span {
            prop_assert_eq!(linear, whole);
        }
        if inner.facts.same_groups {
            let mut caps = automaton.create_captures();
            automaton.search_captures(&inner.input(&text), &mut caps);
            for group in 0..=inner.groups {
                prop_assert_eq!(caps.get_group(group).map(|s| s.range()), span(&slots, group));
            }
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(source in r"[ab()\[\]{}?*+|^$\\.,:=!<>\-1-3kudpPxci]{0,24}", text in "[ab12]{0,8}") {
        if let Ok(pattern) = Pattern::new(&source) {
            let groups = pattern.captures(&text);
            let found = pattern.find(&text);
            prop_assert_eq!(pattern.is_match(&text).ok(), found.clone().ok().map(|f| f.is_some()));
            if let (Ok(Some(groups)), Ok(found)) = (groups, found) {
                prop_assert_eq!(groups.first().cloned().flatten(), found);
            }
        }
    }
}
