//! One suite per spec, one test case per trial. A failed trial is a `failure`, an unknown one is an
//! `error`, and only a case that was not run is `skipped`.

use super::{JunitTest, Suite, Trouble, legal, one_line};
use crate::model::{CaseResult, RunResult};
use crate::shown::{self, NamedOutcome};
use crate::terminal::text::sanitize;
use crate::{ReportOptions, targets, text};
use toolmark_outcome::{Printable, Verdict, printable};

/// Width of a failure text, in columns.
const COLUMNS: usize = 100;

pub(super) fn suites(run: &RunResult, options: &ReportOptions) -> Vec<Suite> {
    let mut attributes = vec![("file", one_line(&run.spec))];
    attributes.extend(options.generated_at.map(|time| ("timestamp", time.to_string())));
    let class = class(run);
    vec![Suite {
        name: shown::name(run).to_owned(),
        attributes,
        properties: properties(run),
        tests: NamedOutcome::all(run).iter().map(|shown| test(shown, &class)).collect(),
    }]
}

fn properties(run: &RunResult) -> Vec<(Printable, Printable)> {
    let summary = &run.summary;
    let mut properties: Vec<(Printable, Printable)> = vec![
        ("spec".into(), printable!("{}", run.spec)),
        ("dialect".into(), run.dialect.into()),
        ("verdict".into(), summary.verdict.word().into()),
    ];
    let numbers = [("score", summary.score), ("threshold", summary.threshold)];
    for (name, value) in numbers {
        properties.extend(value.map(|value| (name.into(), shown::score(value))));
    }
    properties.extend(targets::took(run).into_iter().map(|(name, sum, _)| (name.into(), sum)));
    properties.extend(summary.aggregates.entries());
    properties.extend(run.notes.iter().map(|note| ("note".into(), note.clone())));
    properties
}

pub(super) fn test(shown: &NamedOutcome<'_>, class: &str) -> JunitTest {
    let result = shown.result;
    let mut attributes = Vec::new();
    if !result.place.file.is_empty() {
        attributes.push(("file", one_line(&result.place.file)));
        attributes.push(("line", result.place.line.to_string()));
    }
    if let Some(millis) = result.trajectory.as_ref().and_then(|source| source.duration_ms) {
        attributes.push(("time", format!("{:.3}", millis / 1000.0)));
    }
    let trouble = element(result.verdict).map(|tag| Trouble {
        tag,
        message: message(shown),
        kind: (tag != "skipped").then(|| kind(shown)),
        body: if tag == "skipped" { String::new() } else { body(shown) },
    });
    JunitTest { name: shown.title.clone(), class: class.to_owned(), attributes, trouble }
}

/// Name of the element for a case that is not a pass.
pub(super) fn element(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Pass => None,
        Verdict::Fail => Some("failure"),
        _ if shown::is_not_run(verdict) => Some("skipped"),
        Verdict::Unknown(_) => Some("error"),
    }
}

/// The reason of the case, with that of its first failing or unknown grader.
fn message(shown: &NamedOutcome<'_>) -> Printable {
    let (reason, first) = (&shown.result.reason, shown.first_reason());
    if reason == first { reason.clone() } else { printable!("{}: {}", reason, first) }
}

/// Type of a failure: the type of the first failing grader, or the cause of an unknown verdict.
fn kind(shown: &NamedOutcome<'_>) -> String {
    match shown.result.verdict.cause() {
        Some(cause) => cause.word().to_owned(),
        None => shown.graders("fail").next().map_or("score", |g| &*g.type_word).to_owned(),
    }
}

fn body(shown: &NamedOutcome<'_>) -> String {
    let result: &CaseResult = shown.result;
    let mut body = format!("\n{}\n", sanitize(&result.reason));
    if let Some(source) = &result.trajectory {
        body.push_str(&format!("trace {}\n", sanitize(&source.source)));
    }
    body.extend(shown::in_spec(&result.place).map(|at| format!("spec {}\n", sanitize(&at))));
    body.push_str(&text::details(shown, COLUMNS));
    legal(&body)
}

/// The dialect and the spec without its extensions: systems that interpret class names as packages
/// (`package.class`) show both.
pub(super) fn class(run: &RunResult) -> String {
    let (folder, file) = match run.spec.rfind(['/', '\\']) {
        Some(at) => run.spec.split_at(at + 1),
        None => ("", &*run.spec),
    };
    let stem = match file.find('.') {
        Some(at) if at > 0 => &file[..at],
        _ => file,
    };
    let name = format!("{folder}{stem}").replace('.', "_");
    one_line(&format!("{}.{name}", run.dialect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use quick_xml::Reader;
    use quick_xml::events::Event;

    /// Name and attributes of an element.
    type Element = (String, Vec<(String, String)>);

    /// Parses XML into its elements and all text.
    fn parsed(xml: &str) -> (Vec<Element>, String) {
        let mut reader = Reader::from_str(xml);
        let (mut elements, mut words) = (Vec::new(), String::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(e) | Event::Empty(e) => {
                    let name = e.name().as_ref().to_owned();
                    let attributes = e
                        .attributes()
                        .map(|a| {
                            let a = a.unwrap();
                            let key = a.key.as_ref().to_owned();
                            (key, a.value.to_string())
                        })
                        .collect();
                    elements.push((name, attributes));
                }
                Event::Text(text) => words.push_str(&text),
                Event::Eof => return (elements, words),
                _ => {}
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_elements() {
        let report = testing::report("junit");
        let (elements, words) = parsed(&report);
        let count = |tag: &str| elements.iter().filter(|(name, _)| name == tag).count().to_string();
        let suite = &elements.iter().find(|(name, _)| name == "testsuite").unwrap().1;
        let attribute = |name: &str| suite.iter().find(|(key, _)| key == name).unwrap().1.clone();
        assert_eq!(attribute("tests"), count("testcase"));
        assert_eq!(attribute("failures"), count("failure"));
        assert_eq!(attribute("errors"), count("error"));
        assert_eq!(attribute("skipped"), count("skipped"));
        assert_eq!((count("failure").as_str(), count("skipped").as_str()), ("2", "1"));
        assert!(!report.contains("<script>"), "the payload is an element");
        assert!(words.contains("first divergence, traces/refund run.jsonl:14"), "{words}");
    }

    #[test]
    fn the_whole() {
        let mut run = testing::sample();
        run.outcomes.retain(|outcome| outcome.case != testing::HOSTILE);
        insta::assert_snapshot!(testing::report_of("junit", &run));
    }

    #[test]
    fn classes_have_one_dot() {
        for (spec, want) in [
            ("evals/refund.eval.yaml", "vally.evals/refund"),
            ("./a.b/c.yaml", "vally._/a_b/c"),
            (".vally.yaml", "vally._vally_yaml"),
            ("C:\\x\\y.json", "vally.C:\\x\\y"),
        ] {
            let mut run = testing::empty();
            run.spec = spec.into();
            assert_eq!(class(&run), want);
        }
    }
}
