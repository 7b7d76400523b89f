//! JUnit XML for CI systems.

mod checked;
mod graded;

use crate::model::{CaseResult, RunResult};
use crate::shown::{self, NamedOutcome};
use crate::terminal::text::{sanitize, squeezed};
use crate::{Outcomes, Report, ReportError, ReportOptions};
use quick_xml::Writer;
use quick_xml::escape::escape;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};
use toolmark_base::SortedMap;
use toolmark_outcome::Printable;

/// A test suite.
struct Suite {
    name: String,
    attributes: Vec<(&'static str, String)>,
    properties: Vec<(Printable, Printable)>,
    tests: Vec<JunitTest>,
}

struct JunitTest {
    name: Printable,
    class: String,
    attributes: Vec<(&'static str, String)>,
    trouble: Option<Trouble>,
}

/// A failure, error or skip of a test.
struct Trouble {
    /// `failure`, `error` or `skipped`.
    tag: &'static str,
    message: Printable,
    kind: Option<String>,
    /// Details; empty if the message is complete.
    body: String,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.map(|run| graded::suites(run, options)).unwrap_or_default();
    let checked = report.checked.map(|run| checked::suites(run, options)).transpose()?;
    // The page of one spec has its name; all of a check is one page too.
    let name = match (graded.first(), &checked) {
        (Some(suite), None) => suite.name.clone(),
        (None, Some(_)) => "toolmark check".to_owned(),
        _ => "toolmark".to_owned(),
    };
    let suites: Vec<Suite> = graded.into_iter().chain(checked.into_iter().flatten()).collect();
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = TestCounts::of(suites.iter().flat_map(|suite| &suite.tests));
    xml.write_event(Event::Start(head("testsuites", &name, &all, options)))?;
    for suite in &suites {
        write_head(suite, &TestCounts::of(&suite.tests), options, &mut xml)?;
        suite.tests.iter().try_for_each(|test| write_test(test, &mut xml))?;
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    xml.get_mut().write_all(b"\n")?;
    Ok(())
}

/// Writes the start of a suite, with its properties.
fn write_head<W: Write>(
    suite: &Suite,
    counts: &TestCounts,
    options: &ReportOptions,
    xml: &mut Writer<W>,
) -> io::Result<()> {
    let mut start = head("testsuite", &suite.name, counts, options);
    for (name, value) in &suite.attributes {
        start.push_attribute((*name, value.as_str()));
    }
    xml.write_event(Event::Start(start))?;
    write_properties(&suite.properties, xml)
}

/// Number of tests, and of tests that are not a pass.
#[derive(Default)]
struct TestCounts {
    tests: usize,
    troubles: SortedMap<&'static str, usize>,
}

impl TestCounts {
    fn of<'t>(tests: impl IntoIterator<Item = &'t JunitTest>) -> Self {
        let mut counts = Self::default();
        for test in tests {
            counts.add(test.trouble.as_ref().map(|trouble| trouble.tag));
        }
        counts
    }

    fn add(&mut self, trouble: Option<&'static str>) {
        self.tests += 1;
        if let Some(tag) = trouble {
            *self.troubles.entry(tag).or_default() += 1;
        }
    }
}

/// Start of a chunk: the name and the class of a test are inserted later.
const NAMELESS: &[u8] = b"\n    <testcase name=\"\" classname=\"\"";

/// Writes the test of an outcome without its name and class.
pub(crate) fn piece(outcome: &CaseResult, out: &mut Vec<u8>) -> Result<usize, ReportError> {
    let test = graded::test(&NamedOutcome { result: outcome, title: Printable::default() }, "");
    let mut bytes = Vec::new();
    let mut xml = Writer::new_with_indent(&mut bytes, b' ', 2);
    xml.write_event(Event::Start(BytesStart::new("testsuites")))?;
    xml.write_event(Event::Start(BytesStart::new("testsuite")))?;
    let start = xml.get_ref().len();
    write_test(&test, &mut xml)?;
    out.extend_from_slice(bytes.get(start + NAMELESS.len()..).unwrap_or_default());
    Ok(0)
}

/// Writes the document of one spec from the chunks of its outcomes.
pub(crate) fn write_pieces(
    run: &RunResult,
    outcomes: &mut dyn Outcomes,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut counts = TestCounts::default();
    (0..outcomes.count()).for_each(|at| counts.add(graded::element(outcomes.verdict(at))));
    let mut suites = graded::suites(run, options);
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.write_event(Event::Start(head("testsuites", shown::name(run), &counts, options)))?;
    let class = escape(graded::class(run)).into_owned();
    for suite in &mut suites {
        write_head(suite, &counts, options, &mut xml)?;
        let mut piece = Vec::new();
        for at in 0..outcomes.count() {
            outcomes.read(at, &mut piece)?;
            let name = one_line(&outcomes.row(at).title());
            let out = xml.get_mut();
            write!(out, "\n    <testcase name=\"{}\" classname=\"{class}\"", escape(&*name))?;
            out.write_all(&piece)?;
        }
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    xml.get_mut().write_all(b"\n")?;
    Ok(())
}

fn head(
    tag: &'static str,
    name: &str,
    counts: &TestCounts,
    options: &ReportOptions,
) -> BytesStart<'static> {
    let count = |tag: &str| counts.troubles.get(tag).copied().unwrap_or_default().to_string();
    let mut start = BytesStart::new(tag);
    start.push_attribute(("name", one_line(name).as_str()));
    start.push_attribute(("tests", counts.tests.to_string().as_str()));
    start.push_attribute(("failures", count("failure").as_str()));
    start.push_attribute(("errors", count("error").as_str()));
    start.push_attribute(("skipped", count("skipped").as_str()));
    if let Some(elapsed) = options.elapsed {
        start.push_attribute(("time", format!("{:.3}", elapsed.as_secs_f64()).as_str()));
    }
    start
}

fn write_properties<W: Write>(
    properties: &[(Printable, Printable)],
    xml: &mut Writer<W>,
) -> io::Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    xml.write_event(Event::Start(BytesStart::new("properties")))?;
    for (name, value) in properties {
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", one_line(name).as_str()));
        property.push_attribute(("value", one_line(value).as_str()));
        xml.write_event(Event::Empty(property))?;
    }
    xml.write_event(Event::End(BytesEnd::new("properties")))
}

fn write_test<W: Write>(test: &JunitTest, xml: &mut Writer<W>) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("name", one_line(&test.name).as_str()));
    start.push_attribute(("classname", test.class.as_str()));
    for (name, value) in &test.attributes {
        start.push_attribute((*name, value.as_str()));
    }
    let Some(trouble) = &test.trouble else {
        return xml.write_event(Event::Empty(start));
    };
    xml.write_event(Event::Start(start))?;
    let mut element = BytesStart::new(trouble.tag);
    element.push_attribute(("message", one_line(&trouble.message).as_str()));
    if let Some(kind) = &trouble.kind {
        element.push_attribute(("type", one_line(kind).as_str()));
    }
    if trouble.body.is_empty() {
        xml.write_event(Event::Empty(element))?;
    } else {
        xml.write_event(Event::Start(element))?;
        xml.write_event(Event::Text(BytesText::new(&legal(&trouble.body))))?;
        xml.write_event(Event::End(BytesEnd::new(trouble.tag)))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

/// Text on one line without characters that are illegal in XML.
fn one_line(text: &str) -> String {
    legal(&sanitize(&squeezed(text)))
}

/// Removes the two characters that XML cannot represent and that are not control characters.
fn legal(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "")
}
