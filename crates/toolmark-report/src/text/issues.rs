//! The terminal report of issues: description, frequency, first occurrence and fix.

use super::page::TextPage;
use crate::model::{FeedRun, Issue};
use crate::terminal::{StyledLine, human, style};
use crate::{ReportError, ReportOptions, Verbosity};
use anstyle::Style;
use jiff::SignedDuration;
use std::io::Write;
use toolmark_feed::IssueState;
use toolmark_outcome::{Printable, printable};

/// Maximum number of issues, unless all are requested.
const MAX_ISSUES: usize = 20;

pub(super) fn write(
    run: &FeedRun,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    let is_all = page.is(Verbosity::Verbose);
    // An issue of a rule is hidden if an issue of failures has the same calls.
    let is_shown = |one: &&Issue| is_all || (one.state.is_open() && one.same_calls.is_none());
    let open: Vec<&Issue> = run.issues.iter().filter(is_shown).collect();
    let most = if is_all { open.len() } else { MAX_ISSUES };
    for issue in open.iter().take(most) {
        if page.is(Verbosity::Quiet) {
            page.line(head(issue));
        } else {
            write_issue(&mut page, issue, options);
        }
    }
    if !page.is(Verbosity::Quiet) {
        page.gap();
        page.line(StyledLine::of(style::STRONG, summary(run)));
        if open.len() > most {
            let more = human::things((open.len() - most) as u64, "more issue");
            page.line(StyledLine::of(style::DIM, printable!("{}; --verbose shows them", more)));
        }
        for note in &run.notes {
            page.words(0, (style::DIM, "note: "), style::DIM, note);
        }
    }
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

fn summary(run: &FeedRun) -> Printable {
    let issues = human::things(run.issues.len() as u64, "issue");
    let count = run.issues.iter().map(|issue| issue.count).sum();
    let occurrences = human::things(count, "occurrence");
    let sessions = human::things(run.sessions, "session");
    let in_state = |state: IssueState| {
        let n = run.issues.iter().filter(|issue| issue.state == state).count();
        (n > 0).then(|| printable!(", {} {}", n as u64, state.word()))
    };
    let states: Vec<Printable> =
        IssueState::ALL.iter().filter_map(|state| in_state(*state)).collect();
    printable!("{} ({}) in {}{}", issues, occurrences, sessions, Printable::join(&states, ""))
}

fn state_style(state: IssueState) -> Style {
    match state {
        IssueState::Regressed | IssueState::Escalating => style::BAD,
        IssueState::New => style::WARN,
        IssueState::Ongoing => style::PLAIN,
        IssueState::Resolved | IssueState::Ignored => style::DIM,
    }
}

fn head(issue: &Issue) -> StyledLine {
    let id: String = issue.id.to_string();
    let mut line = StyledLine::of(style::USER, Printable::compose(format_args!("{id}")));
    line.push(style::PLAIN, printable!(" {:>5}\u{d7} ", issue.count));
    line.push(style::STRONG, &issue.title);
    line
}

fn write_issue(page: &mut TextPage<'_>, issue: &Issue, options: &ReportOptions) {
    page.gap();
    page.line(head(issue));
    let mut facts = StyledLine::indent(2);
    facts.push(state_style(issue.state), issue.state.word());
    let kind = match issue.code {
        Some(code) => printable!(" \u{b7} {} {}", code, issue.subtype),
        None => printable!(" \u{b7} {} {}", issue.category.word(), issue.subtype),
    };
    facts.push(style::DIM, kind);
    facts.push(style::DIM, printable!(" \u{b7} {}", human::things(issue.sessions, "session")));
    if issue.projects.len() > 1 {
        let projects = human::things(issue.projects.len() as u64, "project");
        facts.push(style::DIM, printable!(" in {}", projects));
    }
    if let (Some(first), Some(last)) = (issue.first_seen, issue.last_seen) {
        let day = |time: jiff::Timestamp| {
            Printable::compose(format_args!("{}", time.strftime("%Y-%m-%d")))
        };
        facts.push(style::DIM, printable!(" \u{b7} {} to {} ", day(first), day(last)));
        facts.push(style::DIM, Printable::compose(format_args!("{}", issue.sparkline())));
    }
    page.line(facts);
    let mut costs = Vec::new();
    if let Some(rate) = issue.recovery.and_then(|recovery| recovery.rate) {
        costs.push(printable!("{:.0} % recovered", rate * 100.0));
    }
    if let Some(tokens) = issue.lost.output_tokens {
        costs.push(printable!("{} tokens written", human::count(tokens)));
    }
    if let Some(ms) = issue.lost.duration_ms {
        let took = SignedDuration::from_millis(ms.try_into().unwrap_or(i64::MAX));
        costs.push(printable!("{} in these calls", human::duration(took)));
    }
    if !costs.is_empty() {
        page.line(StyledLine::indent(2).with(style::DIM, Printable::join(&costs, " \u{b7} ")));
    }
    if let Some(shown) = &issue.representative {
        page.line(StyledLine::indent(2).with(style::DIM, "call  ").with(style::PLAIN, &shown.call));
        page.line(StyledLine::indent(2).with(style::DIM, "said  ").with(style::BAD, &shown.said));
        if let Some(followed) = &shown.followed {
            page.line(
                StyledLine::indent(2).with(style::DIM, "then  ").with(style::PLAIN, followed),
            );
        }
        let at = printable!("{}:{}", &shown.place.file, shown.place.line);
        page.line(StyledLine::indent(2).with(style::DIM, "at    ").with(style::DIM, at));
    }
    if let Some(fix) = &issue.fix {
        let file = fix.file.unwrap_or("set-up");
        page.words(2, (style::GOOD, printable!("fix   {}: ", file)), style::PLAIN, &fix.text);
    }
    for note in &issue.notes {
        page.words(2, (style::DIM, "note  "), style::PLAIN, note);
    }
    if options.verbosity == Verbosity::Verbose && !issue.similar.is_empty() {
        let ids: Vec<String> = issue.similar.iter().map(|one| one.id.to_string()).collect();
        let ids = Printable::compose(format_args!("{}", ids.join(", ")));
        page.line(StyledLine::indent(2).with(style::DIM, printable!("similar {}", ids)));
    }
}
