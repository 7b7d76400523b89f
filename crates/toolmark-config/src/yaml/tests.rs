//! Tests of YAML values, their positions, and hostile YAML.

use super::*;
use serde_json::{Value, json};

fn read(text: &str) -> (Option<Node>, Vec<Problem>) {
    let mut problems = Vec::new();
    let node = parse(&SourceText::new("x.yaml", text), &mut problems);
    (node, problems)
}

fn value(text: &str) -> Value {
    let (node, problems) = read(text);
    assert_eq!(problems, [], "{text}");
    node.unwrap().to_json()
}

/// Returns the code and the underlined text of each problem.
fn codes(text: &str) -> Vec<(&'static str, String)> {
    let source = SourceText::new("x.yaml", text);
    let mut problems = Vec::new();
    parse(&source, &mut problems);
    let at = |p: &Problem| p.span.map(|span| source.slice(span).to_owned()).unwrap_or_default();
    problems.iter().map(|p| (p.code, at(p))).collect()
}

/// Returns every key and value with the text at its position, one per line.
fn places(text: &str) -> String {
    fn walk(source: &SourceText, node: &Node, indent: usize, out: &mut String) {
        let pad = "  ".repeat(indent);
        *out += &format!("{pad}{} {:?}\n", node.word(), source.slice(node.span));
        for item in node.items() {
            walk(source, item, indent + 1, out);
        }
        for entry in node.entries() {
            *out += &format!("{pad}  key {:?}\n", source.slice(entry.key_span));
            walk(source, &entry.value, indent + 2, out);
        }
    }
    let source = SourceText::new("x.yaml", text);
    let mut problems = Vec::new();
    let node = parse(&source, &mut problems).unwrap();
    assert_eq!(problems, [], "{text}");
    let mut out = String::new();
    walk(&source, &node, 0, &mut out);
    out
}

#[test]
fn documents_mean_what_people_expect() {
    for (text, want) in [
        ("", json!(null)),
        ("# only a comment\n", json!(null)),
        ("---\n", json!(null)),
        ("---\n---\na: 1\n", json!({"a": 1})),
        ("---\na: 1\n...\n---\n# nothing\n", json!({"a": 1})),
        ("a: yes\nb: no\nc: true\nd: on", json!({"a": "yes", "b": "no", "c": true, "d": "on"})),
        ("a: '1'\nb: \"true\"\nc: 'null'", json!({"a": "1", "b": "true", "c": "null"})),
        ("a: |\n  1\nb: >\n  2\n", json!({"a": "1\n", "b": "2\n"})),
        ("1: a\ntrue: b\n~: c\n1.5: d", json!({"1": "a", "true": "b", "~": "c", "1.5": "d"})),
        ("? a\n: b\n? c\n", json!({"a": "b", "c": null})),
        ("a: [1, 'x', {b: 2}, c: 3]", json!({"a": [1, "x", {"b": 2}, {"c": 3}]})),
        ("- - 1\n  - 2\n- \n- x", json!([[1, 2], null, "x"])),
        ("a:\n- 1\n- 2\nb: 3", json!({"a": [1, 2], "b": 3})),
        ("{\"a\": 1, /b: 2, }", json!({"a": 1, "/b": 2})),
        ("a: !!str 12\nb: !!float 3\nc: ! 5", json!({"a": "12", "b": 3.0, "c": "5"})),
        ("a: !!str\nb: !!map {}", json!({"a": "", "b": {}})),
        ("a: &x 5\nb: *x", json!({"a": 5, "b": 5})),
        ("a: &x {k: [1]}\nb: *x", json!({"a": {"k": [1]}, "b": {"k": [1]}})),
        ("a: &x k\n*x : v", json!({"a": "k", "k": "v"})),
        ("a: &x 7\n*x : v", json!({"a": 7, "7": "v"})),
        ("a: &x 1\nb: &x 2\nc: *x", json!({"a": 1, "b": 2, "c": 2})),
        ("\"\\u00e9\\x41\\n\\/\": 1", json!({"éA\n/": 1})),
        ("a: 'it''s'", json!({"a": "it's"})),
        ("a: x # comment\nb: x#y", json!({"a": "x", "b": "x#y"})),
        ("a: http://x:80/y", json!({"a": "http://x:80/y"})),
        ("a: 1\r\nb: 2\r\n", json!({"a": 1, "b": 2})),
    ] {
        assert_eq!(value(text), want, "{text}");
    }
}

#[test]
fn merge_keys_fill_what_is_not_set() {
    let base = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n";
    for (text, want) in [
        ("x: {<<: *base, b: 9}", json!({"a": 1, "b": 9})),
        ("x: {b: 9, <<: *base}", json!({"b": 9, "a": 1})),
        (
            "x:\n  z: 0\n  <<: [*base, *more]\n  y: 1",
            json!({"z": 0, "a": 1, "b": 2, "c": 4, "y": 1}),
        ),
        ("x: {<<: {d: 5}}", json!({"d": 5})),
        ("x: {'<<': 1}", json!({"<<": 1})),
        ("x: {<<: []}", json!({})),
    ] {
        let got = value(&format!("{base}{text}"));
        assert_eq!(serde_json::to_string(&got["x"]).unwrap(), want.to_string(), "{text}");
    }
    assert_eq!(codes("a: {<<: 3}"), [("bad-merge", "3".into())]);
    assert_eq!(codes("a: &a {x: 1}\nb: {<<: *a, <<: *a}"), [("duplicate-key", "<<".into())]);
}

#[test]
fn places_are_exact() {
    let text = concat!(
        "# é\n",
        "näme: \"日\\\"本\" # \"x\"\n",
        "'it''s' : 'a''b' # 'c'\n",
        "list:\n",
        "  - one two  \n",
        "  - &a 'x'\n",
        "  -\n",
        "  - {k: v, \"ü\": [1, 2]}\n",
        "empty:\n",
        "text: |\n",
        "  a\n",
        "\n",
        "  b\n",
        "\n",
        "map: &m !!map\n",
        "  x: *a\n",
        "  y: a\n",
        "    b\n",
        "last: {}\n",
    );
    insta::assert_snapshot!(places(text), @r#"
    a map "näme: \"日\\\"本\" # \"x\"\n'it''s' : 'a''b' # 'c'\nlist:\n  - one two  \n  - &a 'x'\n  -\n  - {k: v, \"ü\": [1, 2]}\nempty:\ntext: |\n  a\n\n  b\n\nmap: &m !!map\n  x: *a\n  y: a\n    b\nlast: {}"
      key "näme"
        text "\"日\\\"本\""
      key "'it''s'"
        text "'a''b'"
      key "list"
        a list "- one two  \n  - &a 'x'\n  -\n  - {k: v, \"ü\": [1, 2]}"
          text "one two"
          text "'x'"
          nothing ""
          a map "{k: v, \"ü\": [1, 2]}"
            key "k"
              text "v"
            key "\"ü\""
              a list "[1, 2]"
                a number "1"
                a number "2"
      key "empty"
        nothing ""
      key "text"
        text "a\n\n  b"
      key "map"
        a map "x: *a\n  y: a\n    b"
          key "x"
            text "*a"
          key "y"
            text "a\n    b"
      key "last"
        a map "{}"
    "#);
}

#[test]
fn crlf_and_multibyte_do_not_shift_places() {
    let text = "é: 1\r\n\"日\": [α, 'β']\r\nz:\r\n  - ω\r\n";
    insta::assert_snapshot!(places(text), @r#"
    a map "é: 1\r\n\"日\": [α, 'β']\r\nz:\r\n  - ω"
      key "é"
        a number "1"
      key "\"日\""
        a list "[α, 'β']"
          text "α"
          text "'β'"
      key "z"
        a list "- ω"
          text "ω"
    "#);
}

#[test]
fn long_texts_keep_their_places() {
    let mut text = String::new();
    for n in 0..500 {
        text += &format!("ключ{n}: значение{n}\n");
    }
    let source = SourceText::new("x", text);
    let node = parse(&source, &mut Vec::new()).unwrap();
    for (n, entry) in node.entries().enumerate() {
        assert_eq!(source.slice(entry.key_span), format!("ключ{n}"));
        assert_eq!(source.slice(entry.value.span), format!("значение{n}"));
        assert_eq!(source.place(entry.key_span.start).line, n + 1);
    }
}

#[test]
fn duplicate_keys_name_both_places() {
    let source = SourceText::new("x", "a: 1\nb: {c: 1, c: 2}\na: 3\n'a': 4\n");
    let mut problems = Vec::new();
    let node = parse(&source, &mut problems).unwrap();
    assert_eq!(node.to_json(), json!({"a": 1, "b": {"c": 1}}));
    let seen: Vec<_> = problems
        .iter()
        .map(|p| (source.place(p.span.unwrap().start).line, source.place(p.notes[0].0.start).line))
        .collect();
    assert_eq!(seen, [(2, 2), (3, 1), (4, 1)]);
}

#[test]
fn what_is_wrong_is_named_and_placed() {
    for (text, code, at) in [
        ("a: 1\n---\nb: 2", "many-documents", "b: 2"),
        ("a: &x [*x]", "bad-alias", "*x"),
        ("a: *nowhere", "syntax", "*"),
        ("[a]: 1", "complex-key", "[a]"),
        ("a: {{ b }}", "complex-key", "{ b }"),
        ("a: !!int x", "wrong-tag", "x"),
        ("a: !custom x", "unknown-tag", "x"),
        ("a: b: c", "syntax", ":"),
        ("a:\n\t- 1", "syntax", "\t"),
        ("a:\n  b: 1\n\tc: 2", "syntax", "\t"),
        ("a: \"x\\d\"", "syntax", "\\"),
        ("a: \"\\\\\\x4\"", "syntax", "\\"),
        ("a: [1, 2", "syntax", ""),
        ("a: {b: 1", "syntax", ""),
        ("a: @x", "syntax", "@"),
        ("a: 1\n  b: 2", "syntax", ":"),
        ("- a\nb: 1", "syntax", "b"),
        ("a: ]", "syntax", "]"),
    ] {
        assert_eq!(codes(text), [(code, at.to_owned())], "{text}");
    }
    let escape = &read("a: \"é\\\\\\u00e9\\d\"").1[0];
    assert_eq!(escape.span, Some(NodeSpan::new(14, 15)));
    for text in ["a: 'x", "a: \"x", "'", "a: 'x\nb: 1\n"] {
        let (node, problems) = read(text);
        assert!(node.is_none());
        assert_eq!(problems[0].message, "unclosed quote", "{text}");
    }
    let (_, problems) = read("a: {{ b }}");
    assert_eq!(problems[0].help.as_deref(), Some("quote the template: \"{{ … }}\""));
}

#[test]
fn alias_bombs_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let refs = vec![format!("*a{}", n - 1); 10].join(", ");
        text += &format!("a{n}: &a{n} [{refs}]\n");
    }
    assert_eq!(codes(&text)[0].0, "alias-bomb");
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(1000));
    assert_eq!(codes(&long), [("alias-bomb", "*a".into())]);
    let merges = (1..200).fold(String::from("m0: &m0 {k0: 1}\n"), |text, n| {
        let before = n - 1;
        format!("{text}m{n}: &m{n} {{<<: [*m{before}, *m{before}], k{n}: 1}}\n")
    });
    assert_eq!(value(&merges)["m199"].as_object().unwrap().len(), 200);
}

#[test]
fn depth_is_bounded_also_through_aliases() {
    let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    assert!(read(&nested(MAX_DEPTH)).0.is_some());
    assert_eq!(codes(&nested(MAX_DEPTH + 1))[0].0, "too-deep");
    assert_eq!(codes(&"[".repeat(100_000))[0].0, "too-deep");
    assert_eq!(codes(&"- ".repeat(100_000))[0].0, "too-deep");
    assert_eq!(codes(&"{a: ".repeat(100_000))[0].0, "too-deep");
    let block: String = (0..1000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert_eq!(codes(&block)[0].0, "too-deep");
    let text = format!("a: &a {}\nb: &b [[[[[[[[[[*a]]]]]]]]]]\nc: [*b]", nested(53));
    assert_eq!(codes(&text), [("too-deep", "*b".into())]);
}

#[test]
fn hostile_texts_end_in_problems_not_panics() {
    for text in [
        "\0",
        "a: \0b",
        "a: \"\\u12\"",
        "a: \"\\ud800\"",
        "a: \"\\UFFFFFFFF\"",
        "%YAML 9999999999999999.1\n---\n",
        "%TAG ! x\n%TAG ! y\n---\n",
        "!<",
        "&",
        "*",
        "&a &b c",
        "? ? ? ?",
        "- : : :",
        ":",
        "a: |9\n x",
        "a: >-+\n x",
        "\u{feff}\u{feff}a: 1",
        "a\u{2028}b: 1",
        "---\n...\n...\n---",
        "{",
        "}",
        ",",
        "- [a, {b: ]}",
        "a:\n b\n  c:\n d",
        "\"\\",
        "'''",
        "<<: *",
        "<<:",
        "a: !!binary ====",
        "\t\ta: b",
    ] {
        // What comes of it differs; that something comes of it does not.
        let (node, problems) = read(text);
        assert!(node.is_some() || problems.iter().any(Problem::is_error), "{text:?}");
        for problem in problems {
            assert!(problem.span.is_none_or(|span| span.end as usize <= text.len() + 1));
        }
    }
}

#[test]
fn huge_keys_and_many_duplicates_stay_small() {
    let key = "k".repeat(1 << 20);
    let (_, problems) = read(&format!("\"{key}\": 1\n\"{key}\": 2\n"));
    assert!(problems.iter().all(|p| p.message.len() < 300), "{}", problems[0].message.len());
    let (_, problems) = read(&"a: 1\n".repeat(5000));
    assert_eq!(problems.len(), MAX_PROBLEMS + 1);
}

#[test]
fn time_is_linear() {
    let started = toolmark_testing::CpuWatch::start();
    for text in [
        "a: ".repeat(50_000),
        format!("[{}]", "[],".repeat(100_000)),
        format!("[{}]", "*a,".repeat(100_000)),
        "- \n".repeat(100_000),
        "- &a\n".repeat(100_000),
        format!("? {}", "x\n".repeat(100_000)),
        "a:\n".repeat(50_000),
        "'\n".repeat(100_000),
        format!("é{}", "- x\n".repeat(100_000)),
        "#\n".repeat(200_000),
    ] {
        let _ = read(&text);
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
