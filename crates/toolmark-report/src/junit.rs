//! JUnit XML, as CI systems read it.
//!
//! One suite per spec, one test case per trial. A failure is a `failure`, what
//! cannot be told is an `error`, and only a case nobody ran is `skipped`.

use crate::model::{CaseResult, RunResult};
use crate::shown::{self, Shown};
use crate::terminal::text::{sanitize, squeezed};
use crate::{Options, ReportError, text};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};
use toolmark_outcome::{Printable, Verdict, printable};

/// How wide the text of a failure is.
const COLUMNS: usize = 100;

pub(crate) fn write(
    run: &RunResult,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let outcomes = Shown::all(run);
    let count = |word: fn(&Shown<'_>) -> bool| {
        outcomes.iter().filter(|shown| word(shown)).count().to_string()
    };
    let name = one_line(shown::name(run));
    let tests = outcomes.len().to_string();
    let failures = count(|shown| element(shown) == Some("failure"));
    let errors = count(|shown| element(shown) == Some("error"));
    let skipped = count(|shown| element(shown) == Some("skipped"));
    let time = options.elapsed.map(|elapsed| format!("{:.3}", elapsed.as_secs_f64()));
    let timestamp = options.generated_at.map(|time| time.to_string());
    let head = |tag: &'static str| {
        let mut start = BytesStart::new(tag);
        start.push_attribute(("name", name.as_str()));
        start.push_attribute(("tests", tests.as_str()));
        start.push_attribute(("failures", failures.as_str()));
        start.push_attribute(("errors", errors.as_str()));
        start.push_attribute(("skipped", skipped.as_str()));
        if let Some(time) = &time {
            start.push_attribute(("time", time.as_str()));
        }
        start
    };
    xml.write_event(Event::Start(head("testsuites")))?;
    let mut suite = head("testsuite");
    let file = one_line(&run.spec);
    suite.push_attribute(("file", file.as_str()));
    if let Some(timestamp) = &timestamp {
        suite.push_attribute(("timestamp", timestamp.as_str()));
    }
    xml.write_event(Event::Start(suite))?;
    properties(run, &mut xml)?;
    let class = class(run);
    for shown in &outcomes {
        case(shown, &class, &mut xml)?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    xml.get_mut().write_all(b"\n")?;
    Ok(())
}

fn properties<W: Write>(run: &RunResult, xml: &mut Writer<W>) -> io::Result<()> {
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
    properties.extend(summary.aggregates.entries());
    properties.extend(run.notes.iter().map(|note| ("note".into(), note.clone())));
    xml.write_event(Event::Start(BytesStart::new("properties")))?;
    for (name, value) in properties {
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", one_line(&name).as_str()));
        property.push_attribute(("value", one_line(&value).as_str()));
        xml.write_event(Event::Empty(property))?;
    }
    xml.write_event(Event::End(BytesEnd::new("properties")))
}

fn case<W: Write>(shown: &Shown<'_>, class: &str, xml: &mut Writer<W>) -> io::Result<()> {
    let result = shown.result;
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("name", one_line(&shown.title).as_str()));
    start.push_attribute(("classname", class));
    if !result.place.file.is_empty() {
        start.push_attribute(("file", one_line(&result.place.file).as_str()));
        start.push_attribute(("line", result.place.line.to_string().as_str()));
    }
    if let Some(millis) = result.trajectory.as_ref().and_then(|source| source.duration_ms) {
        start.push_attribute(("time", format!("{:.3}", millis / 1000.0).as_str()));
    }
    let Some(tag) = element(shown) else {
        return xml.write_event(Event::Empty(start));
    };
    xml.write_event(Event::Start(start))?;
    let mut trouble = BytesStart::new(tag);
    trouble.push_attribute(("message", one_line(&message(shown)).as_str()));
    if tag == "skipped" {
        xml.write_event(Event::Empty(trouble))?;
    } else {
        trouble.push_attribute(("type", one_line(&kind(shown)).as_str()));
        xml.write_event(Event::Start(trouble))?;
        xml.write_event(Event::Text(BytesText::new(&body(shown))))?;
        xml.write_event(Event::End(BytesEnd::new(tag)))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

/// The element that says why a case is no pass.
fn element(shown: &Shown<'_>) -> Option<&'static str> {
    match shown.result.verdict {
        Verdict::Pass => None,
        Verdict::Fail => Some("failure"),
        Verdict::Unknown(_) if shown.is_not_run() => Some("skipped"),
        Verdict::Unknown(_) => Some("error"),
    }
}

/// The case's own reason, and what its first trouble says.
fn message(shown: &Shown<'_>) -> Printable {
    let (reason, first) = (&shown.result.reason, shown.first_reason());
    if reason == first { reason.clone() } else { printable!("{}: {}", reason, first) }
}

/// What kind of trouble: the type of the first failing grader, or why it is
/// unknown.
fn kind(shown: &Shown<'_>) -> String {
    match shown.result.verdict.cause() {
        Some(cause) => cause.word().to_owned(),
        None => shown.graders("fail").next().map_or("score", |g| &*g.type_word).to_owned(),
    }
}

fn body(shown: &Shown<'_>) -> String {
    let result: &CaseResult = shown.result;
    let mut body = format!("\n{}\n", sanitize(&result.reason));
    if let Some(source) = &result.trajectory {
        body.push_str(&format!("trace {}\n", sanitize(&source.source)));
    }
    body.extend(shown::in_spec(&result.place).map(|at| format!("spec {}\n", sanitize(&at))));
    body.push_str(&text::details(shown, COLUMNS));
    legal(&body)
}

/// The dialect and the spec without its endings: systems that read class names
/// as packages (`package.class`) show both.
fn class(run: &RunResult) -> String {
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

/// Text on one line that XML can hold.
pub(crate) fn one_line(text: &str) -> String {
    legal(&sanitize(&squeezed(text)))
}

/// Text without the two characters that XML has no way to write and that are no
/// control characters.
pub(crate) fn legal(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use quick_xml::Reader;

    /// An element's name and its attributes.
    type Element = (String, Vec<(String, String)>);

    /// Every element, and all text.
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
        let mut out = Vec::new();
        write(&run, &Options::default(), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
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
