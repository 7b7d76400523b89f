//! Compares patterns with JavaScript: a table of facts and, where `node` is installed, the
//! same table and thousands of generated patterns.

#![allow(clippy::unwrap_used)]

mod generate;
mod node;
mod table;

use toolmark_pattern::Pattern;

/// Formats the spans of a match and its groups as in the table.
fn spans(pattern: &Pattern, text: &str) -> String {
    let Ok(groups) = pattern.captures(text) else { return "limit".to_owned() };
    let found = pattern.find(text).unwrap();
    assert_eq!(pattern.is_match(text), Ok(found.is_some()), "{pattern} on {text:?}");
    let Some(groups) = groups else {
        assert_eq!(found, None, "{pattern} on {text:?}");
        return "none".to_owned();
    };
    assert_eq!(groups[0], found, "{pattern} on {text:?}");
    let span = |group: &Option<std::ops::Range<usize>>| match group {
        Some(span) => format!("{}..{}", span.start, span.end),
        None => "-".to_owned(),
    };
    groups.iter().map(span).collect::<Vec<_>>().join(" ")
}

fn ours(source: &str, flags: &str, text: &str) -> String {
    match Pattern::with_flags(source, flags) {
        Ok(pattern) => spans(&pattern, text),
        Err(error) => format!("error: {error}"),
    }
}

fn report(wrong: &[String], total: usize) {
    assert!(wrong.is_empty(), "{} of {total} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_holds() {
    let mut wrong = Vec::new();
    for (source, flags, text, expected) in table::TABLE {
        let ours = ours(source, flags, text);
        if ours != *expected {
            wrong.push(format!("/{source}/{flags} on {text:?}: {ours}, not {expected}"));
        }
    }
    report(&wrong, table::TABLE.len());
}

#[test]
fn node_says_the_same() {
    let mut cases: Vec<node::Case> = table::TABLE
        .iter()
        .map(|(source, flags, text, _)| node::Case::new(*source, *flags, *text))
        .collect();
    cases.extend(generate::cases(4000));
    let Some(answers) = node::ask(&cases) else {
        return toolmark_testing::skip("`node` is not on the PATH, patterns were not asked again");
    };
    assert_eq!(answers.len(), cases.len());
    let mut wrong = Vec::new();
    for ((_, _, _, expected), answer) in table::TABLE.iter().zip(&answers) {
        assert_eq!(expected, answer);
    }
    let mut matched = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        let node::Case { source, flags, text } = case;
        let ours = ours(source, flags, text);
        // Node may try a match in the middle of a character.
        if answer == "split" {
            continue;
        }
        let refused = answer == "error" && ours.starts_with("error");
        matched += usize::from(answer.contains(".."));
        if !refused && ours != *answer {
            wrong.push(format!("/{source}/{flags} on {text:?}: {ours}, not {answer}"));
        }
    }
    report(&wrong, cases.len());
    assert!(matched > cases.len() / 4, "only {matched} of {} match at all", cases.len());
}
