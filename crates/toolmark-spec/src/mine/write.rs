//! Writes the spec with one line per expectation and its support.

use crate::mine::item::{ExpectationFamily, MinedItem, SpecPart};
use crate::mine::mined::MinedCase;
use crate::mine::settle::{ExpectationDoubt, ExpectationStatus};
use serde_json::Value;
use toolmark_base::SortedSet;
use toolmark_redact::is_obeyed;

/// Writes the graders of a case, indented by `indent` spaces.
pub(crate) fn write_graders(case: &MinedCase, indent: usize, out: &mut String) {
    let mut writer = SpecWriter { case, out };
    let mut counts = writer.separate_counts();
    let shown = |at: &usize| !case.judged[*at].is_dropped() && !writer.is_in_sequence(*at);
    let all: Vec<usize> = (0..case.items.len()).filter(shown).collect();
    let is_telling = |at: &usize| case.judged[*at].rejected > 0;
    let is_budget = |at: &usize| matches!(case.items[*at].part, SpecPart::Budget(_));
    let of = |telling: bool| {
        let expected = all.iter().copied().filter(|at| is_telling(at) == telling && !is_budget(at));
        expected.filter(|at| !counts.contains(at)).collect::<Vec<_>>()
    };
    let (telling, others) = (of(true), of(false));
    let mut budgets: Vec<usize> = all.iter().copied().filter(is_budget).collect();
    budgets.sort_by_key(|at| usize::MAX - case.judged[*at].rejected);
    counts.retain(|at| all.contains(at));
    let counts: Vec<usize> = counts.into_iter().collect();
    if !telling.is_empty() {
        writer.comment(indent, "What tells the runs that passed from those that failed.");
        writer.expect(indent, "separates", &telling);
    }
    if !others.is_empty() {
        writer.expect(indent, "holds", &others);
    }
    if !counts.is_empty() {
        writer.expect(indent, "counts", &counts);
    }
    for at in budgets {
        writer.budget(indent, at);
    }
}

struct SpecWriter<'c, 'o> {
    case: &'c MinedCase,
    out: &'o mut String,
}

/// Returns the entry of a section if a part belongs to it.
type EntryOf = fn(&SpecPart) -> Option<&Value>;

/// A line and its trailing comment.
struct SpecLine {
    indent: usize,
    text: String,
    note: Option<String>,
}

impl SpecLine {
    fn new(indent: usize, text: impl Into<String>) -> Self {
        Self { indent, text: text.into(), note: None }
    }
}

impl SpecWriter<'_, '_> {
    fn comment(&mut self, indent: usize, words: &str) {
        self.line(&SpecLine::new(indent, format!("# {words}")), None);
    }

    /// Writes a line; a commented line starts at the indentation of the whole comment.
    fn line(&mut self, line: &SpecLine, comment: Option<usize>) {
        let start = comment.unwrap_or(line.indent);
        self.out.push_str(&" ".repeat(start));
        if comment.is_some() {
            self.out.push_str("# ");
            self.out.push_str(&" ".repeat(line.indent - start));
        }
        self.out.push_str(&line.text);
        if let Some(note) = &line.note {
            self.out.push_str("  # ");
            self.out.push_str(note);
        }
        self.out.push('\n');
    }

    fn is_expected(&self, at: usize) -> bool {
        self.case.judged[at].is_expected()
    }

    /// Whether the item is written as a part of the sequence.
    fn is_in_sequence(&self, at: usize) -> bool {
        let sequences = self.case.items.iter().zip(&self.case.judged);
        let mut expected = sequences.filter(|(_, judged)| judged.is_expected());
        expected.any(|(item, _)| match &item.part {
            SpecPart::Sequence(layers) => layers.iter().flatten().any(|one| *one == at),
            _ => false,
        })
    }

    /// Returns the counts that need an expectation of their own: every entry of `calls` claims
    /// separate calls, and these counts cover calls that other entries claim.
    fn separate_counts(&self) -> SortedSet<usize> {
        let items = &self.case.items;
        let is_line = |at: usize| {
            matches!(items[at].part, SpecPart::Call(_))
                && !self.case.judged[at].is_dropped()
                && !self.is_in_sequence(at)
        };
        let lines: SortedSet<&String> =
            (0..items.len()).filter(|at| is_line(*at)).flat_map(|at| &items[at].tools).collect();
        let is_apart = |at: &usize| match &items[*at].part {
            SpecPart::Count { tool, .. } => lines.contains(tool),
            _ => false,
        };
        (0..items.len()).filter(is_apart).collect()
    }

    fn expect(&mut self, indent: usize, name: &str, places: &[usize]) {
        let is_expected = places.iter().any(|at| self.is_expected(*at));
        let comment = (!is_expected).then_some(indent);
        for (deeper, text) in
            [(0, "- type: expect".to_owned()), (2, format!("name: {name}")), (2, "config:".into())]
        {
            self.line(&SpecLine::new(indent + deeper, text), comment);
        }
        let inner = indent + 4;
        for at in places {
            match &self.case.items[*at].part {
                SpecPart::Sequence(layers) => self.sequence(inner, *at, layers, comment),
                SpecPart::NoCalls => {
                    let line = self.noted(SpecLine::new(inner, "none: true"), *at);
                    self.line(&line, comment.or(self.comment_at(*at, inner)));
                }
                _ => {}
            }
        }
        let sections: [(&str, EntryOf); 3] = [
            ("calls", |part| match part {
                SpecPart::Call(entry) | SpecPart::Count { entry, .. } => Some(entry),
                _ => None,
            }),
            ("forbidden", |part| match part {
                SpecPart::Forbidden(entry) => Some(entry),
                _ => None,
            }),
            ("never", |part| match part {
                SpecPart::Never(entry) => Some(entry),
                _ => None,
            }),
        ];
        for (key, entry_of) in sections {
            self.section(inner, key, places, entry_of, comment);
        }
    }

    fn section(
        &mut self,
        indent: usize,
        key: &str,
        places: &[usize],
        entry_of: EntryOf,
        comment: Option<usize>,
    ) {
        let entry = |at: usize| entry_of(&self.case.items[at].part);
        let mut own: Vec<usize> =
            places.iter().copied().filter(|at| entry(*at).is_some()).collect();
        if own.is_empty() {
            return;
        }
        // What is expected comes first, and of that what rejects most.
        own.sort_by_key(|at| (!self.is_expected(*at), usize::MAX - self.case.judged[*at].rejected));
        let is_expected = own.iter().any(|at| self.is_expected(*at));
        let comment = comment.or((!is_expected).then_some(indent));
        self.line(&SpecLine::new(indent, format!("{key}:")), comment);
        for at in own {
            let Some(entry) = entry_of(&self.case.items[at].part) else { continue };
            let line = self.noted(SpecLine::new(indent + 2, format!("- {}", flow(entry))), at);
            self.line(&line, comment.or(self.comment_at(at, indent + 2)));
        }
    }

    fn sequence(
        &mut self,
        indent: usize,
        at: usize,
        layers: &[Vec<usize>],
        comment: Option<usize>,
    ) {
        let comment = comment.or(self.comment_at(at, indent));
        let line = self.noted(SpecLine::new(indent, "sequence:"), at);
        self.line(&line, comment);
        for layer in layers {
            let deeper = match layer.as_slice() {
                [_] => indent + 2,
                _ => {
                    self.line(&SpecLine::new(indent + 2, "- any_order:"), comment);
                    indent + 6
                }
            };
            for call in layer {
                let SpecPart::Call(entry) = &self.case.items[*call].part else { continue };
                let line = SpecLine::new(deeper, format!("- {}", flow(entry)));
                // Calls of a sequence that is a comment are entries of `calls` too.
                let line = if comment.is_some() { line } else { self.noted(line, *call) };
                self.line(&line, comment);
            }
        }
    }

    fn budget(&mut self, indent: usize, at: usize) {
        let item = &self.case.items[at];
        let SpecPart::Budget(name) = item.part else { return };
        let text =
            format!("- {{type: {}, name: {name}, config: {}}}", item.grader, flow(&item.config));
        let line = self.noted(SpecLine::new(indent, text), at);
        self.line(&line, self.comment_at(at, indent));
    }

    fn comment_at(&self, at: usize, indent: usize) -> Option<usize> {
        (!self.is_expected(at)).then_some(indent)
    }

    fn noted(&self, line: SpecLine, at: usize) -> SpecLine {
        SpecLine { note: Some(self.note(at)), ..line }
    }

    /// Returns the number of supporting runs and further remarks.
    fn note(&self, at: usize) -> String {
        let (item, judged) = (&self.case.items[at], &self.case.judged[at]);
        let passing = judged.held + judged.failed + judged.undecided;
        let mut parts = vec![match item.relevant {
            Some(callers) => format!("in all {callers} runs that call it"),
            None if passing == 1 => "the only run".to_owned(),
            None => format!("{} of {passing} runs", judged.held),
        }];
        if judged.undecided > 0 && item.relevant.is_none() {
            let verb = if judged.undecided == 1 { "does" } else { "do" };
            parts.push(format!("{} {verb} not tell", judged.undecided));
        }
        parts.extend(item.remark.clone());
        if judged.rejected > 0 {
            let failing = self.case.failing;
            parts.push(format!("rejects {} of {failing} failing runs", judged.rejected));
        }
        parts.extend(doubt(item, judged.state));
        parts.join("; ")
    }
}

/// Describes why an item is only a comment.
fn doubt(item: &MinedItem, state: ExpectationStatus) -> Option<String> {
    let ExpectationStatus::Comment(doubt) = state else { return None };
    match doubt {
        ExpectationDoubt::Weak => None,
        ExpectationDoubt::FewRuns => Some(match item.family {
            ExpectationFamily::Never => format!("fewer than {} runs", item.least),
            _ => "too few runs to tell".to_owned(),
        }),
        ExpectationDoubt::HeldOut(held, of) => {
            Some(format!("held {held} of {of} times on held-out runs"))
        }
        ExpectationDoubt::Kind(held, of) => {
            Some(format!("{} held {held} of {of} times on held-out runs", item.family))
        }
    }
}

/// Writes a value on one line of YAML.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Words that some YAML version does not parse as text.
const KEYWORDS: &[&str] =
    &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

/// Writes a text as YAML: plain if it cannot be parsed as anything else, otherwise quoted.
pub(crate) fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && !KEYWORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let is_shown = |c: char| !is_obeyed(c) && !matches!(c, '\u{feff}' | '\u{85}' | '\u{a0}');
    if text.chars().all(is_shown) && text.contains('\\') {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_shown(c) => out.push(c),
            c if c <= '\u{ffff}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_config::{SourceText, parse};

    fn read(text: &str) -> Value {
        let parsed = parse(&SourceText::new("x.yaml", format!("a: {text}\n")));
        assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
        parsed.node.unwrap().get("a").unwrap().to_json()
    }

    #[test]
    fn texts_come_back_as_they_were() {
        for text in [
            "Read",
            "mcp__a__b",
            "a/b.rs",
            "",
            " ",
            "true",
            "No",
            "1",
            "1.5",
            "-",
            "~",
            "a: b",
            "a #b",
            "it's",
            "\"quoted\"",
            "(^|/)a\\.rs$",
            "it's \\d",
            "new\nline",
            "\u{1b}[31mred",
            "\u{202e}",
            "\u{2028}",
            "\u{feff}x",
            "\u{7f}",
            "日本",
            "😀\u{e0001}",
            "{a: b}",
            "- x",
            "!tag",
            "&a *a",
            "%x",
            "@x",
            "`x`",
            "null",
            "\\",
            "'",
            "\u{0}",
        ] {
            assert_eq!(read(&scalar(text)), json!(text), "{text:?} {}", scalar(text));
            assert!(!scalar(text).contains(['\n', '\u{1b}', '\u{202e}']), "{text:?}");
        }
        let value = json!({"a b": [1, true, null, {"x": "y: z"}], "c": -1.5, "d": {}});
        assert_eq!(read(&flow(&value)), value);
    }
}
