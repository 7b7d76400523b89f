//! Answers of a judge about findings of uncertain rules: counts for every report, and text for
//! people at a terminal.

use crate::model::{PrintableFinding, Refined};
use crate::shown;
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use toolmark_outcome::{Printable, Verdict, printable};

/// Maximum number of answers per rubric that are printed in full.
const OF_A_RUBRIC: usize = 3;
/// Maximum number of quotes per answer.
const QUOTES: usize = 2;

/// Agreement of the judge's answers to one rubric with the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgreementCount {
    pub(crate) rubric: &'static str,
    /// Number of uncertain calls.
    pub(crate) of: u64,
    pub(crate) agrees: u64,
    pub(crate) disagrees: u64,
    /// Calls that only the judge can decide.
    pub(crate) alone: u64,
    /// Calls that the judge cannot decide or was not asked about.
    pub(crate) unknown: u64,
}

impl AgreementCount {
    /// Formats `9 in doubt: 6 agree, 1 disagrees, 2 unknown`.
    pub(crate) fn words(&self) -> Printable {
        let verb = |n: u64, word: &'static str| {
            (n > 0).then(|| printable!("{} {}{}", n, word, if n == 1 { "s" } else { "" }))
        };
        let said = [
            verb(self.agrees, "agree"),
            verb(self.disagrees, "disagree"),
            (self.alone > 0).then(|| printable!("{} told by the judge alone", self.alone)),
            (self.unknown > 0).then(|| printable!("{} unknown", self.unknown)),
        ];
        let said = Printable::join(said.iter().flatten(), ", ");
        printable!("{} in doubt: {}", self.of, said)
    }
}

/// Returns the counts, in the order of the answers.
pub(crate) fn counts(judged: &[Refined]) -> Vec<AgreementCount> {
    let of_rubric = |alike: &[Refined]| {
        let first = alike.first()?;
        let count =
            |is: &dyn Fn(&Refined) -> bool| alike.iter().filter(|one| is(one)).count() as u64;
        Some(AgreementCount {
            rubric: first.rubric,
            of: alike.len() as u64,
            agrees: count(&|one| one.agrees == Some(true)),
            disagrees: count(&|one| one.agrees == Some(false)),
            alone: count(&|one| one.agrees.is_none() && one.is_answered()),
            unknown: count(&|one| !one.is_answered()),
        })
    };
    judged.chunk_by(|a, b| a.rubric == b.rubric).filter_map(of_rubric).collect()
}

/// Returns the noteworthy answers: the judge disagrees with the rules, or sees a fault that they
/// cannot decide about.
pub(crate) fn news(judged: &[Refined]) -> impl Iterator<Item = &Refined> {
    judged.iter().filter(|one| {
        let is_fault = one.rules_say.is_none() && one.verdict == Verdict::Fail;
        one.agrees == Some(false) || is_fault
    })
}

/// Formats `rules 0.5, judge 1`.
pub(crate) fn both(one: &Refined) -> Printable {
    let rules = match one.rules_say {
        Some(score) => printable!("rules {}", shown::score(score)),
        None => "rules cannot tell".into(),
    };
    match one.judged {
        Some(score) => printable!("{}, judge {}", rules, shown::score(score)),
        None => printable!("{}, judge {}", rules, one.verdict.word()),
    }
}

/// Detection of the rules, with the rule that has a finding on the call.
pub(crate) fn why(one: &Refined) -> Printable {
    match one.finding {
        Some(code) => printable!("rules ({}): {}", code, one.why),
        None => printable!("rules: {}", one.why),
    }
}

/// Note beside a finding that the judge does not confirm.
pub(crate) fn objection(finding: &PrintableFinding) -> Option<Printable> {
    let judge = finding.judge.as_ref().filter(|judge| !judge.agrees)?;
    Some(printable!("a judge disagrees: {}", judge.reason))
}

/// Returns the reasons for missing answers to a rubric with their counts, the most frequent first.
pub(crate) fn unanswered(judged: &[Refined], rubric: &str) -> Vec<(Printable, usize)> {
    let mut reasons: Vec<(Printable, usize)> = Vec::new();
    for one in judged.iter().filter(|one| one.rubric == rubric && !one.is_answered()) {
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, times)) => *times += 1,
            None => reasons.push((one.reason.clone(), 1)),
        }
    }
    reasons.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    reasons.truncate(OF_A_RUBRIC);
    reasons
}

/// Formats the section about a judge.
pub(crate) fn lines(judged: &[Refined], all: bool, room: usize) -> Vec<StyledLine> {
    let mut out = vec![StyledLine::new(), StyledLine::of(style::STRONG, "Judge")];
    if judged.is_empty() {
        out.push(StyledLine::of(style::DIM, "  nothing is in doubt"));
    }
    for count in counts(judged) {
        let mut line = StyledLine::of(style::STRONG, printable!("  {}  ", count.rubric));
        let tone = if count.disagrees > 0 { style::WARN } else { style::PLAIN };
        line.push(tone, count.words());
        out.push(line);
        for (reason, times) in unanswered(judged, count.rubric) {
            let words = match times {
                1 => printable!("no answer: {}", reason),
                times => printable!("no answer, {} times: {}", times, reason),
            };
            for part in words.wrap(room.saturating_sub(4)) {
                out.push(StyledLine::of(style::PLAIN, "    ").with(style::WARN, part));
            }
        }
    }
    let news: Vec<&Refined> = news(judged).collect();
    for alike in news.chunk_by(|a, b| a.rubric == b.rubric) {
        let most = if all { alike.len() } else { OF_A_RUBRIC };
        for one in alike.iter().take(most) {
            answer(one, room, &mut out);
        }
        if alike.len() > most {
            let words = printable!("  and {} more; --verbose shows them", alike.len() - most);
            out.push(StyledLine::of(style::DIM, words));
        }
    }
    out
}

fn answer(one: &Refined, room: usize, out: &mut Vec<StyledLine>) {
    let sign = if one.agrees.is_some() { "\u{2260}" } else { "?" };
    let head = printable!("  {} {} {}: ", sign, one.rubric, one.tool.cut(24));
    out.push(StyledLine::of(style::WARN, head).with(style::PLAIN, both(one)));
    let place = shown::in_trace(&one.place).cut_path(room.saturating_sub(4));
    out.push(StyledLine::of(style::PLAIN, "    ").with(style::USER, place));
    for text in [why(one), printable!("judge: {}", one.reason)] {
        for part in text.wrap(room.saturating_sub(4)) {
            out.push(StyledLine::of(style::PLAIN, "    ").with(style::PLAIN, part));
        }
    }
    for evidence in one.evidence.iter().take(QUOTES) {
        let Some(quote) = &evidence.excerpt else { continue };
        let mut line = StyledLine::of(style::PLAIN, "    ");
        if let Some(place) = evidence.location() {
            line.push(style::USER, printable!("line {}  ", place.line));
        }
        out.push(line.with(style::DIM, printable!("\u{201c}{}\u{201d}", quote)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORMATS;
    use crate::ReportOptions;
    use crate::checked::tests::{judged, report, report_of};
    use crate::terminal::text::{is_obeyed, width};

    #[test]
    fn both_answers_and_the_disagreement() {
        let run = judged();
        insta::assert_snapshot!(report_of("text", &run));
    }

    #[test]
    fn every_format_for_people_shows_them() {
        let run = judged();
        for format in ["text", "markdown", "html", "json", "jsonl"] {
            let text = report_of(format, &run);
            for words in ["edit-minimal-scope", "the neighbours are needed"] {
                assert!(text.contains(words), "{format} does not say {words}:\n{text}");
            }
        }
        for format in ["text", "markdown", "html", "junit"] {
            let text = report_of(format, &run);
            assert!(text.contains("a judge disagrees"), "{format}:\n{text}");
        }
        for format in FORMATS.iter().filter(|format| format.has_findings && format.is_text) {
            let text = report_of(format.id, &run);
            let obeyed = text.chars().find(|c| *c != '\n' && is_obeyed(*c));
            assert_eq!(obeyed, None, "{} lets a control character through", format.id);
            let is_markup = ["html", "markdown", "junit"].contains(&format.id);
            assert!(!is_markup || !text.contains("<script>"), "{} obeys a judge", format.id);
        }
        let sarif = report_of("sarif", &run);
        assert!(sarif.contains("\"agrees\": false"), "{sarif}");
    }

    #[test]
    fn what_was_not_asked_is_not_mentioned() {
        for format in ["text", "markdown", "html", "json", "jsonl"] {
            // The script of the page knows judges anyway.
            let text = report(format).replace(crate::page::SCRIPT, "");
            assert!(!text.contains("Judge") && !text.contains("\"judge"), "{format}:\n{text}");
        }
    }

    #[test]
    fn no_line_is_too_wide() {
        for room in [40, 80] {
            let options = ReportOptions { width: room, ..ReportOptions::default() };
            let text = crate::format_by_id("text").unwrap();
            let text = text.to_text(&judged(), &options).unwrap();
            let widest = text.lines().map(width).max().unwrap();
            assert!(widest <= room, "{widest} of {room}:\n{text}");
        }
    }

    #[test]
    fn counts_are_told_apart() {
        let run = judged();
        let counts = counts(run.checked.judged.as_deref().unwrap());
        let words: Vec<Printable> = counts.iter().map(AgreementCount::words).collect();
        assert_eq!(
            words,
            [
                "3 in doubt: 1 agrees, 1 disagrees, 1 unknown",
                "1 in doubt: 1 told by the judge alone"
            ]
        );
    }
}
