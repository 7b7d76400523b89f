//! JUnit XML: a suite of the rules that were asked, a test case each, and a
//! suite of the gates. A finding below the severity that fails is no failure;
//! a gate that cannot be told is an error.

use super::{gates, judged};
use crate::junit::{legal, one_line};
use crate::model::{CheckRun, Finding};
use crate::shown;
use crate::{Options, ReportError};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::fmt::Write as _;
use std::io::{self, Write};
use toolmark_outcome::{Printable, Verdict, printable};

/// So many findings of a rule are spelled out.
const OF_A_RULE: usize = 100;

/// One test case, and why it is no pass: the element, a line, the whole.
struct Test {
    name: Printable,
    class: &'static str,
    trouble: Option<(&'static str, Printable, String)>,
}

pub(crate) fn write(
    run: &CheckRun,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let (rules, gates) = (of_rules(run), of_gates(run));
    let time = options.elapsed.map(|elapsed| format!("{:.3}", elapsed.as_secs_f64()));
    let head = |tag: &'static str, name: &'static str, tests: &[&Test]| {
        let count = |element: &str| {
            let is = |test: &&&Test| test.trouble.as_ref().is_some_and(|t| t.0 == element);
            tests.iter().filter(is).count().to_string()
        };
        let mut start = BytesStart::new(tag);
        start.push_attribute(("name", name));
        start.push_attribute(("tests", tests.len().to_string().as_str()));
        start.push_attribute(("failures", count("failure").as_str()));
        start.push_attribute(("errors", count("error").as_str()));
        if let Some(time) = &time {
            start.push_attribute(("time", time.as_str()));
        }
        start
    };
    let all: Vec<&Test> = rules.iter().chain(&gates).collect();
    xml.write_event(Event::Start(head("testsuites", "toolmark check", &all)))?;
    for (name, tests) in [("rules", &rules), ("gates", &gates)] {
        if tests.is_empty() {
            continue;
        }
        let tests: Vec<&Test> = tests.iter().collect();
        xml.write_event(Event::Start(head("testsuite", name, &tests)))?;
        for test in tests {
            case(test, &mut xml)?;
        }
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    xml.get_mut().write_all(b"\n")?;
    Ok(())
}

fn case<W: Write>(test: &Test, xml: &mut Writer<W>) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("name", one_line(&test.name).as_str()));
    start.push_attribute(("classname", test.class));
    let Some((tag, message, body)) = &test.trouble else {
        return xml.write_event(Event::Empty(start));
    };
    xml.write_event(Event::Start(start))?;
    let mut trouble = BytesStart::new(*tag);
    trouble.push_attribute(("message", one_line(message).as_str()));
    xml.write_event(Event::Start(trouble))?;
    xml.write_event(Event::Text(BytesText::new(&legal(body))))?;
    xml.write_event(Event::End(BytesEnd::new(*tag)))?;
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn of_rules(run: &CheckRun) -> Vec<Test> {
    let test = |rule: &&toolmark_check::Rule| {
        let failing: Vec<&Finding> = run
            .checked
            .findings
            .iter()
            .filter(|finding| finding.code == rule.code && run.fails(finding))
            .collect();
        let trouble = failing.first().map(|first| {
            let more = match failing.len() {
                1 => Printable::default(),
                n => printable!(" and {} more", n - 1),
            };
            let mut body = String::from("\n");
            failing.iter().take(OF_A_RULE).for_each(|finding| spell(finding, &mut body));
            if failing.len() > OF_A_RULE {
                let _ = writeln!(body, "and {} more", failing.len() - OF_A_RULE);
            }
            ("failure", printable!("{}{}", first.message, more), body)
        });
        Test { name: printable!("{} {}", rule.code, rule.name), class: "toolmark.rules", trouble }
    };
    run.rules.iter().map(test).collect()
}

fn spell(finding: &Finding, body: &mut String) {
    let place = shown::in_trace(&finding.place);
    let _ = writeln!(body, "{place}: {} {}", finding.severity, finding.message);
    for evidence in finding.evidence.iter().skip(1) {
        let at = evidence.location().map(|place| format!("line {}: ", place.line));
        let _ = writeln!(body, "  {}{}", at.unwrap_or_default(), evidence.summary());
    }
    if let Some(objection) = judged::objection(finding) {
        let _ = writeln!(body, "  {objection}");
    }
    let _ = writeln!(body, "  to do: {}", finding.remedy);
}

fn of_gates(run: &CheckRun) -> Vec<Test> {
    let rows = run.gates.iter().map(|row| {
        let element = match row.verdict {
            Verdict::Pass => None,
            Verdict::Fail => Some("failure"),
            Verdict::Unknown(_) => Some("error"),
        };
        let message = printable!("{}, {}", gates::value(row), row.reason);
        let body = format!("\n{message}\n");
        Test {
            name: printable!("{} {} {}", row.subject(), row.op, row.threshold),
            class: "toolmark.gates",
            trouble: element.map(|element| (element, message, body)),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;

    #[test]
    fn the_gates() {
        let text = report("junit");
        let gates = text.split("<testsuite name=\"gates\"").nth(1).unwrap();
        assert!(gates.contains("tests=\"3\"") && gates.contains("errors=\"1\""), "{gates}");
        assert!(text.contains("<failure message="), "{text}");
        insta::assert_snapshot!(gates);
    }
}
