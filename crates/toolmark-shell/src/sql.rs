//! A small tokenizer for SQL, sufficient to distinguish destructive statements from others despite
//! comments, quotes and names that look like verbs.

use crate::effects::Reversibility;

/// Effect of the worst statement of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SqlEffect {
    /// First words of the statement.
    pub(crate) target: String,
    /// Degree to which the effect can be undone.
    pub(crate) reversibility: Reversibility,
    /// Reason.
    pub(crate) why: &'static str,
}

/// Whether text begins like a database statement.
#[must_use]
pub fn is_statement(text: &str) -> bool {
    let mut text = text.trim_start().trim_start_matches(['(', ';']).trim_start();
    for _ in 0..16 {
        let comment = text.strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
        let line = || text.strip_prefix("--").and_then(|rest| rest.split_once('\n'));
        match comment.or_else(line) {
            Some((_, rest)) => text = rest.trim_start(),
            None => break,
        }
    }
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    let words = [
        "drop", "delete", "truncate", "alter", "update", "insert", "create", "grant", "select",
        "with", "revoke", "replace", "merge", "begin", "set", "use", "vacuum", "flushall",
        "flushdb", "match", "copy", "kill", "call",
    ];
    words.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Returns words and signs in lower case; quoted text becomes `'`.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let flush = |word: &mut String, out: &mut Vec<String>| {
        if !word.is_empty() {
            out.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek() == Some(&'-') => {
                flush(&mut word, &mut out);
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '#' if word.is_empty() => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                flush(&mut word, &mut out);
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '\'' => {
                flush(&mut word, &mut out);
                while chars.next_if(|c| *c != '\'').is_some() {}
                chars.next();
                out.push("'".to_owned());
            }
            '"' | '`' | '[' | ']' => {}
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '\\' | '@') => {
                word.extend(c.to_lowercase())
            }
            c => {
                flush(&mut word, &mut out);
                if !c.is_whitespace() {
                    out.push(c.to_string());
                }
            }
        }
        if out.len() > 20_000 {
            break;
        }
    }
    flush(&mut word, &mut out);
    out
}

/// Whether a name is that of a test or trial object.
pub(crate) fn is_trial(name: &str) -> bool {
    let trials =
        ["test", "tests", "testing", "dev", "development", "scratch", "sandbox", "ci", "e2e"];
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| trials.iter().any(|trial| word.eq_ignore_ascii_case(trial)))
}

/// Whether a name is that of an object that tests make and remove.
pub(crate) fn is_for_tests(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        let names = ["test", "tests", "testing", "ci", "e2e", "scratch"];
        names.iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}

/// Reason for the loss of a database with the name of a trial.
pub(crate) const DROPS_TRIAL: &str = "drops a database for tests";

/// Returns the worst statement of a text, if one is destructive.
pub(crate) fn worst(text: &str) -> Option<SqlEffect> {
    let tokens = tokens(text);
    let mut worst: Option<SqlEffect> = None;
    // Worst finding before the open transaction.
    let mut before: Option<Option<SqlEffect>> = None;
    for statement in tokens.split(|token| token == ";" || token == "\\g") {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["begin" | "start", ..] => before = Some(worst.clone()),
            ["rollback" | "abort"] => {
                if let Some(before) = before.take() {
                    worst = before;
                }
            }
            ["commit" | "end", ..] => before = None,
            _ => {}
        }
        if let Some(finding) = classify(&words)
            && worst.as_ref().is_none_or(|known| known.reversibility < finding.reversibility)
        {
            worst = Some(finding);
        }
    }
    worst
}

fn classify(words: &[&str]) -> Option<SqlEffect> {
    use Reversibility::{R3, R5};
    // A common table expression or `explain` precedes the verb.
    let words = match words {
        ["with", rest @ ..] => {
            let at = rest.iter().position(|word| matches!(*word, "delete" | "update"))?;
            rest.get(at..)?
        }
        ["explain", "analyze", rest @ ..] => rest,
        ["select", ..]
            if words.iter().any(|word| {
                matches!(*word, "pg_terminate_backend" | "pg_drop_replication_slot" | "lo_unlink")
            }) =>
        {
            return Some(SqlEffect {
                target: words.iter().take(4).copied().collect::<Vec<_>>().join(" "),
                reversibility: R3,
                why: "stops what others run",
            });
        }
        ["explain" | "describe" | "show" | "select", ..] => return None,
        other => other,
    };
    let has = |word: &str| words.contains(&word);
    let found = |level, why| {
        Some(SqlEffect {
            target: words.iter().take(4).copied().collect::<Vec<_>>().join(" "),
            reversibility: level,
            why,
        })
    };
    match words {
        ["drop", "schema", name, ..] if is_trial(name) => found(R3, "drops a schema for tests"),
        ["drop", "database" | "schema", "if", "exists", name, ..]
        | ["drop", "database", name, ..]
            if is_trial(name) =>
        {
            Some(SqlEffect { target: (*name).to_owned(), reversibility: R3, why: DROPS_TRIAL })
        }
        [
            "drop",
            "table" | "database" | "schema" | "view" | "materialized" | "user" | "role"
            | "keyspace" | "owned" | "tablespace" | "column" | "stream" | "bucket" | "measurement"
            | "series" | "warehouse" | "stage" | "extension" | "sequence" | "type" | "collection"
            | "publication" | "temporary" | "foreign" | "shard",
            ..,
        ] => found(R5, "drops data"),
        [
            "drop",
            "index" | "constraint" | "trigger" | "function" | "procedure" | "policy" | "event"
            | "rule" | "domain" | "aggregate" | "cast",
            ..,
        ] => found(R3, "drops a definition"),
        ["alter", "table", ..] if has("disable") && has("security") => {
            found(R3, "switches off a protection")
        }
        ["truncate", next, ..] if *next != "-" => found(R5, "empties a table"),
        ["delete", "from", table, ..] | ["delete", table, "from", ..] if !table.is_empty() => {
            if !has("where") || always_true(words) {
                found(R5, "deletes every row")
            } else {
                found(R3, "deletes rows")
            }
        }
        ["update", ..] if has("set") => {
            if !has("where") || always_true(words) {
                found(R5, "changes every row")
            } else {
                found(R3, "changes rows")
            }
        }
        ["alter", "table" | "database" | "schema" | "type", .., _]
            if words.windows(2).any(
                |pair| matches!(pair, ["drop", next] if *next != "default" && *next != "not"),
            ) =>
        {
            found(R5, "drops a column or partition")
        }
        // `ALTER TABLE t DELETE WHERE …` of ClickHouse
        ["alter", "table", _, "delete" | "update", ..] => {
            if !has("where") || always_true(words) {
                found(R5, "deletes every row")
            } else {
                found(R3, "deletes rows")
            }
        }
        ["create", "or", "replace", "table", ..] if never_true(words) => {
            found(R5, "replaces a table by an empty one")
        }
        ["create", "or", "replace", "table", ..] => found(R3, "replaces a table"),
        ["insert", "overwrite", ..] => found(R3, "replaces a table"),
        // Graphs: `MATCH (n) DETACH DELETE n`
        ["match", ..] if has("delete") => match has("where") || has("{") {
            true => found(R3, "deletes nodes"),
            false => found(R5, "deletes every node"),
        },
        ["copy", ..] if has("program") => found(R3, "runs a program"),
        ["kill" | "terminate", ..] if words.len() > 1 => found(R3, "stops what others run"),
        ["grant", ..] if has("all") || has("public") || has("superuser") => {
            found(R3, "gives rights to somebody")
        }
        ["alter", "role" | "user", ..] => found(R3, "changes accounts or their rights"),
        ["revoke", ..] => found(R3, "revokes rights"),
        ["flush" | "purge" | "reset" | "shutdown", ..] if words.len() > 1 => {
            found(R3, "resets a server")
        }
        ["detach" | "vacuum", "full", ..] => None,
        _ => None,
    }
}

/// Whether a condition is always true: `WHERE 1=1`, `WHERE true`.
fn always_true(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| *word == "where") else { return false };
    match words.get(at + 1..).unwrap_or_default() {
        ["true" | "1"] => true,
        ["not", "false"] | ["1", "or", ..] | ["true", "or", ..] => true,
        [.., "or", "true" | "1"] => true,
        [.., "or", a, "=", b] => a == b,
        [a, "=", b] => a == b,
        [_, "is", "not", "null"] => true,
        _ => false,
    }
}

/// Whether a condition is never true: `WHERE FALSE`, `WHERE 1=0`, `LIMIT 0`.
fn never_true(words: &[&str]) -> bool {
    if words.ends_with(&["limit", "0"]) {
        return true;
    }
    let Some(at) = words.iter().position(|word| *word == "where") else { return false };
    match words.get(at + 1..).unwrap_or_default() {
        ["false" | "0", ..] => true,
        [a, "=", b, ..] => a != b && [a, b].iter().all(|word| word.parse::<u64>().is_ok()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        use Reversibility::{R3, R5};
        for (text, expected) in [
            ("DROP TABLE x", Some(R5)),
            ("/* c */ drop database d;", Some(R5)),
            ("select 1; -- drop table x\n", None),
            ("SELECT * FROM dropdown", None),
            ("SELECT 'drop table x'", None),
            ("delete from t where id=1", Some(R3)),
            ("delete from t where 1=1", Some(R5)),
            ("DELETE FROM \"t\"", Some(R5)),
            ("UPDATE t SET a=1", Some(R5)),
            ("update t set a=1 where b=2", Some(R3)),
            ("ALTER TABLE t DROP COLUMN c", Some(R5)),
            ("ALTER TABLE t ALTER c DROP DEFAULT", None),
            ("BEGIN; DROP TABLE x; ROLLBACK;", None),
            ("INSERT INTO t VALUES ('delete from x')", None),
            ("CREATE TABLE t (a int)", None),
            ("truncate t", Some(R5)),
            ("grant select on t to app", None),
            ("grant all on all tables in schema public to public", Some(R3)),
            ("DELETE FROM t WHERE id > 0 OR 1=1", Some(R5)),
            ("delete from t where id is not null", Some(R5)),
            ("create or replace table a as select * from a where false", Some(R5)),
            ("create or replace view v as select 1", None),
            ("alter table t delete where 1", Some(R5)),
            ("match (n) detach delete n", Some(R5)),
            ("match (n) return n", None),
            ("explain delete from t", None),
            ("with a as (select 1) delete from t", Some(R5)),
        ] {
            assert_eq!(worst(text).map(|found| found.reversibility), expected, "{text}");
        }
    }
}
