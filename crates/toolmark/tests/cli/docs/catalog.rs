//! The pages of rules and graders: one page each, an index with a table, and their entries in the
//! navigation of the book.

use super::reference::{NOTE, cell, json, word, words};
use super::{keep, keep_all, page};
use serde_json::Value;
use std::collections::BTreeMap;

/// The axes of rules, with their questions.
const AXES: [(&str, &str); 4] = [
    ("selection", "Was it the right tool, and was the call needed?"),
    ("arguments", "Were the arguments right?"),
    ("irreversibility", "Was anything destroyed, leaked or run without a request?"),
    ("recovery", "What did the agent do when something failed?"),
];

/// The systems graders come from.
const ORIGINS: [(&str, &str, &str); 5] = [
    ("toolmark", "toolmark's own", "specs/toolmark.md"),
    ("vally", "Microsoft Vally", "specs/vally.md"),
    ("agentv", "AgentV", "specs/agentv.md"),
    ("aigo", "LatticeFlow AI GO!", "specs/aigo.md"),
    ("futureagi", "Future AGI", "specs/futureagi.md"),
];

/// First words of grader pages that begin with a summary.
const STATEMENTS: [&str; 5] = ["Checks ", "Passes if ", "Fails if ", "Scores ", "Evaluates "];

/// Explanation of the notation in rule examples, for readers of the book.
const NOTATION: &str = r#"
## How to read the examples

```text
host: claude-code
cwd: /w
user: please fix the build
assistant: I'll look first.
Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
& Read {"file_path":"/w/b.rs"} !> "File does not exist."
Bash {"command":"make"} !2 "Exit code 2"
```

A call is a tool, its arguments and its result, with a sign in between:

| sign | the call |
|---|---|
| `->` | succeeded |
| `!>` | failed; `!2` with exit code 2 |
| `x>` | was denied |
| `?>` | ended in an unknown way |
| none | was not answered |

`&` before a call means that the model made it together with the one above. `user:` and
`assistant:` are messages, `context:` is what the host added. Lines after `>` are the calls of a
sub-agent. Without `host:` the host is Claude Code.
"#;

/// An entry of the catalogue: its page, and its title in the navigation.
struct Entry {
    file: String,
    title: String,
}

#[test]
fn the_rules() {
    let rules = json(&["rules"]);
    let mut index = format!(
        "# Rules\n\n{NOTE}\n\
         What [`toolmark check`](commands/check.md) looks for: {} rules, by axis. Each has a page;\n\
         `toolmark rules CODE` and `toolmark help CODE` print the same. Rules marked *preview* run only\n\
         where they are selected by code or name.\n",
        rules.len()
    );
    let mut pages = BTreeMap::new();
    for (axis, question) in AXES {
        index.push_str(&format!(
            "\n## {axis}\n\n{question}\n\n| rule | severity | confidence | what it finds |\n|---|---|---|---|\n"
        ));
        for rule in rules.iter().filter(|rule| word(rule, "axis") == axis) {
            let (code, name) = (word(rule, "code"), word(rule, "name"));
            let preview = if rule["preview"] == true { " (*preview*)" } else { "" };
            index.push_str(&format!(
                "| [{code} {name}](rules/{code}.md) | {} | {} | {}{preview} |\n",
                word(rule, "severity"),
                word(rule, "confidence"),
                cell(word(rule, "summary")),
            ));
            pages.insert(format!("{code}.md"), rule_page(rule));
        }
    }
    assert_eq!(pages.len(), rules.len(), "a rule of no axis");
    index.push_str(NOTATION);
    keep("docs/rules.md", &index);
    keep_all("docs/rules", &pages);
}

#[test]
fn the_programs_of_the_guard() {
    let families = json(&["guard", "programs"]);
    let names: usize = families.iter().map(|family| strings(&family["names"]).len()).sum();
    let mut text = format!(
        "# Programs\n\n{NOTE}\n\
         What the [guard](commands/guard.md) knows about programs: {names} names in {} families.\n\
         `toolmark guard programs --explain 'git reset'` prints the same about one of them. A program\n\
         that is not listed is judged by the words that destroy in any program that has them. The\n\
         examples are executed as tests, without a policy and in the root of a work tree.\n",
        families.len()
    );
    for family in &families {
        text.push_str(&format!("\n## {}\n\n{}\n", word(family, "family"), word(family, "summary")));
        let names = strings(&family["names"]);
        if !names.is_empty() {
            text.push_str(&format!("\nPrograms: {}.\n", inline(&names)));
        }
        for command in family["commands"].as_array().unwrap() {
            let options = strings(&command["options"]);
            let extent =
                if command["complete"] == true { "options" } else { "options among others" };
            let list = if options.is_empty() { "none".to_owned() } else { inline(&options) };
            let (name, parser) = (word(command, "name"), word(command, "parser"));
            text.push_str(&format!("\n- `{name}` ({parser}); {extent}: {list}\n"));
            for effect in command["effects"].as_array().unwrap() {
                let (when, what) = (word(effect, "when"), word(effect, "effect"));
                text.push_str(&format!("  - {when}: {what}\n"));
            }
        }
        for (decision, title) in [("deny", "Denied"), ("ask", "Asked"), ("allow", "Allowed")] {
            let examples = family["examples"].as_array().unwrap().iter();
            let examples = examples.filter(|example| word(example, "decision") == decision);
            let lines: Vec<&str> = examples.map(|example| word(example, "command")).collect();
            if !lines.is_empty() {
                text.push_str(&format!("\n{title}:\n\n```text\n{}\n```\n", lines.join("\n")));
            }
        }
    }
    keep("docs/guard-programs.md", &text);
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn inline(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn rule_page(rule: &Value) -> String {
    let (code, name) = (word(rule, "code"), word(rule, "name"));
    let preview = match rule["preview"] == true {
        true => {
            "\n\nThis rule is in preview: it runs only where it is selected by its code or name."
        }
        false => "",
    };
    let body = demoted(word(rule, "page"), 2)
        .replace("```fires", "Reported:\n\n```text")
        .replace("```quiet", "Not reported:\n\n```text");
    format!(
        "# {code} {name}\n\n{NOTE}\n{}.\n\n\
         | axis | severity | confidence |\n|---|---|---|\n| {} | {} | {} |{preview}\n\n{body}\n\
         [How to read the examples](../rules.md#how-to-read-the-examples) · [All rules](../rules.md) ·\n\
         [`toolmark check`](../commands/check.md)\n",
        capital(word(rule, "summary")),
        word(rule, "axis"),
        word(rule, "severity"),
        word(rule, "confidence"),
    )
}

#[test]
fn the_graders() {
    let graders = json(&["graders"]);
    let mut index = format!(
        "# Graders\n\n{NOTE}\n\
         {} graders, by the system they come from. Each has a page; `toolmark graders TYPE` and\n\
         `toolmark help TYPE` print the same. [Grading](grading.md) explains specs, verdicts and\n\
         profiles; `toolmark schema toolmark` prints the configuration of all of them for editors.\n",
        graders.len()
    );
    let mut pages = BTreeMap::new();
    for (origin, title, spec) in ORIGINS {
        index.push_str(&format!(
            "\n## {title}\n\nSpecs: [{spec}]({spec})\n\n| grader | what it does |\n|---|---|\n"
        ));
        for grader in graders.iter().filter(|grader| word(grader, "origin") == origin) {
            let (id, file) = (word(grader, "type"), grader_file(grader));
            let summary = sentence(word(grader, "summary"));
            index.push_str(&format!("| [{id}](graders/{file}) | {} |\n", cell(&summary)));
            let other = pages.insert(file, grader_page(grader, title));
            assert!(other.is_none(), "two graders have the page of {id}");
        }
    }
    assert_eq!(pages.len(), graders.len(), "a grader of no origin");
    keep("docs/graders.md", &index);
    keep_all("docs/graders", &pages);
}

/// File name of a grader's page, valid on every file system.
fn grader_file(grader: &Value) -> String {
    format!("{}.md", word(grader, "type").replace(':', "-"))
}

fn grader_page(grader: &Value, origin: &str) -> String {
    let code = |words: Vec<&str>| match words.is_empty() {
        true => "–".to_owned(),
        false => format!("`{}`", words.join("`, `")),
    };
    let docs = demoted(word(grader, "docs"), 2);
    // Most pages begin with a summary of their own.
    let summary = match STATEMENTS.iter().any(|verb| docs.starts_with(verb)) {
        true => String::new(),
        false => sentence(word(grader, "summary")) + "\n\n",
    };
    let mut facts = vec![
        ("from".to_owned(), origin.to_owned()),
        ("also called".to_owned(), code(words(grader, "aliases"))),
        ("profiles".to_owned(), code(words(grader, "profiles"))),
    ];
    let taxonomy = grader["taxonomy"].as_object().unwrap().iter();
    facts.extend(
        taxonomy
            .map(|(name, word)| (name.replace('_', " "), word.as_str().unwrap_or("–").to_owned())),
    );
    let facts: String = facts.iter().map(|(name, fact)| format!("| {name} | {fact} |\n")).collect();
    format!(
        "# {}\n\n{NOTE}\n{summary}{docs}\n## Example\n\n```yaml\n{}\n```\n{}\n\
         ## Facts\n\n| | |\n|---|---|\n{facts}\n\
         [All graders](../graders.md) · [Grading](../grading.md)\n",
        word(grader, "type"),
        word(grader, "example").trim_end(),
        configuration(&grader["schema"]),
    )
}

/// The keys of a grader's configuration, from its JSON Schema.
fn configuration(schema: &Value) -> String {
    let schema = resolved(schema, schema);
    let about = |key: &Value| key["description"].as_str().map(str::to_owned);
    let keys: Vec<(&String, String)> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key, about(value)?)))
        .collect();
    if keys.is_empty() {
        return String::new();
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut text = String::from("\n## Configuration\n\n| key | | what it says |\n|---|---|---|\n");
    for (key, words) in keys {
        let need = if required.contains(&key.as_str()) { "required" } else { "" };
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("| `{key}` | {need} | {} |\n", cell(&words)));
    }
    text
}

/// Resolves a reference in a schema.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    match schema["$ref"].as_str().and_then(|to| to.strip_prefix('#')) {
        Some(to) => root.pointer(to).unwrap_or_else(|| panic!("{to} is not in {root}")),
        None => schema,
    }
}

/// Shifts the headings of Markdown so that the highest one has this level.
fn demoted(text: &str, level: usize) -> String {
    let text = text.trim();
    let depth = |line: &str| {
        let signs = line.len() - line.trim_start_matches('#').len();
        (signs > 0 && line[signs..].starts_with(' ')).then_some(signs)
    };
    let mut is_code = false;
    let headings: Vec<Option<usize>> = text
        .lines()
        .map(|line| {
            is_code ^= line.starts_with("```");
            depth(line).filter(|_| !is_code)
        })
        .collect();
    let highest = headings.iter().flatten().min().copied().unwrap_or(level);
    let lines = text.lines().zip(&headings).map(|(line, depth)| match depth {
        Some(depth) => "#".repeat(depth + level - highest) + &line[*depth..],
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Formats a summary as a sentence.
fn sentence(summary: &str) -> String {
    capital(summary) + "."
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Rules, graders and formats are listed below their index in the navigation of the book.
#[test]
fn the_navigation() {
    let rules = json(&["rules"]);
    let rules = AXES.iter().map(|(axis, _)| {
        let of_axis = rules.iter().filter(|rule| word(rule, "axis") == *axis);
        let entry = |rule: &Value| Entry {
            file: format!("rules/{}.md", word(rule, "code")),
            title: format!("{} {}", word(rule, "code"), word(rule, "name")),
        };
        (*axis, of_axis.map(entry).collect())
    });
    let graders = json(&["graders"]);
    let graders = ORIGINS.iter().map(|(origin, title, _)| {
        let of_origin = graders.iter().filter(|grader| word(grader, "origin") == *origin);
        let entry = |grader: &Value| Entry {
            file: format!("graders/{}", grader_file(grader)),
            title: word(grader, "type").to_owned(),
        };
        (*title, of_origin.map(entry).collect())
    });
    let formats = json(&["formats"]);
    let formats = formats.iter().map(|format| Entry {
        file: format!("formats/{}.md", word(format, "id")),
        title: word(format, "id").to_owned(),
    });
    let text = page("docs/SUMMARY.md");
    let text = with_entries(&text, "rules.md", &rules.collect::<Vec<_>>());
    let text = with_entries(&text, "graders.md", &graders.collect::<Vec<_>>());
    keep(
        "docs/SUMMARY.md",
        &with_entries(&text, "formats.md", &[("all of them", formats.collect())]),
    );
}

/// Returns the navigation with these groups of entries below an index. A group is a chapter without
/// a page.
fn with_entries(text: &str, index: &str, groups: &[(&str, Vec<Entry>)]) -> String {
    let folder = format!("]({}/", index.trim_end_matches(".md"));
    let is_group =
        |line: &str| groups.iter().any(|(title, _)| line.ends_with(&format!("- [{title}]()")));
    let mut out = String::new();
    let mut is_there = false;
    for line in text.lines().filter(|line| !line.contains(&folder) && !is_group(line)) {
        out.push_str(&format!("{line}\n"));
        if line.contains(&format!("]({index})")) {
            is_there = true;
            let indent = line.len() - line.trim_start().len() + 2;
            for (title, entries) in groups {
                out.push_str(&format!("{:indent$}- [{title}]()\n", ""));
                for Entry { file, title } in entries {
                    out.push_str(&format!("{:indent$}  - [{title}]({file})\n", ""));
                }
            }
        }
    }
    assert!(is_there, "{index} is not in the navigation");
    out
}
