//! Code shared by all reports of a check.

pub(crate) mod gates;
pub(crate) mod gold;
pub(crate) mod judged;
pub(crate) mod kinds;
pub(crate) mod overview;

use crate::model::{CheckRun, FoundRow, PrintableFinding};
use std::cmp::Reverse;
use std::io;
use std::iter::Peekable;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::{Axis, Printable, Severity, SharedName};

/// Number of findings at the top of a report.
const WORST: usize = 3;

/// Returns the findings at the top of a report: the worst of different rules, then the worst of the
/// rest.
pub(crate) fn worst(run: &CheckRun) -> io::Result<Vec<FoundRow<'_>>> {
    // No other finding of a rule can be among them: the worst come first.
    let mut of_rule: SortedMap<&str, usize> = SortedMap::new();
    let mut findings: Vec<FoundRow<'_>> = Vec::new();
    for finding in run.new_findings()? {
        let finding = finding?;
        let count = of_rule.entry(finding.code).or_default();
        *count += 1;
        if *count <= WORST + 1 {
            findings.push(finding);
        }
    }
    // Of two errors, the one that cannot be undone is worse.
    let rank = |axis: Axis| match axis {
        Axis::Irreversibility => 0,
        Axis::Recovery => 1,
        Axis::Arguments => 2,
        Axis::Selection => 3,
    };
    findings.sort_by_key(|finding| (Reverse(finding.severity), rank(finding.axis)));
    let mut worst = Different::new(WORST, |finding| finding.code);
    findings.into_iter().for_each(|finding| worst.add(finding));
    Ok(worst.finish())
}

/// Collects findings of one rule as examples, from different sessions first.
pub(crate) fn examples<'r>(most: usize) -> Examples<'r> {
    Different::new(most, |finding| (finding.session.clone(), finding.place.file.clone()))
}

/// Findings of one rule with the same severity.
pub(crate) struct Alike<'r> {
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    pub(crate) axis: Axis,
    /// Number of findings.
    pub(crate) count: usize,
    /// Examples.
    pub(crate) examples: Vec<FoundRow<'r>>,
}

/// Returns the next group of similar findings, with at most `most` examples; `None` at the end.
pub(crate) fn alike<'r>(
    findings: &mut Peekable<impl Iterator<Item = io::Result<FoundRow<'r>>>>,
    most: usize,
) -> io::Result<Option<Alike<'r>>> {
    let Some(first) = findings.next().transpose()? else { return Ok(None) };
    let PrintableFinding { code, name, severity, axis, .. } = *first;
    let mut some = examples(most);
    some.add(first);
    let is_alike = |next: &io::Result<FoundRow<'_>>| {
        next.as_ref().map_or(true, |next| (next.code, next.severity) == (code, severity))
    };
    while let Some(next) = findings.next_if(is_alike) {
        some.add(next?);
    }
    let count = some.count;
    Ok(Some(Alike { code, name, severity, axis, count, examples: some.finish() }))
}

/// Examples of one rule, with distinct sessions and files first.
pub(crate) type Examples<'r> = Different<'r, (Option<Printable>, SharedName<Printable>)>;

/// Collects at most `most` findings in order, those with distinct keys first. Findings that cannot
/// be among them are dropped immediately.
pub(crate) struct Different<'r, K> {
    most: usize,
    key: fn(&PrintableFinding) -> K,
    seen: SortedSet<K>,
    /// The first finding of each key, and further findings, up to the limit each; every finding
    /// with its position.
    first: Vec<(usize, FoundRow<'r>)>,
    again: Vec<(usize, FoundRow<'r>)>,
    count: usize,
}

impl<'r, K: Ord> Different<'r, K> {
    fn new(most: usize, key: fn(&PrintableFinding) -> K) -> Self {
        Self { most, key, seen: SortedSet::new(), first: Vec::new(), again: Vec::new(), count: 0 }
    }

    pub(crate) fn add(&mut self, finding: FoundRow<'r>) {
        let at = self.count;
        self.count += 1;
        if self.first.len() == self.most {
            return;
        }
        if self.seen.insert((self.key)(&finding)) {
            self.first.push((at, finding));
        } else if self.again.len() < self.most {
            self.again.push((at, finding));
        }
    }

    pub(crate) fn finish(self) -> Vec<FoundRow<'r>> {
        let mut all: Vec<_> = self.first.into_iter().chain(self.again).take(self.most).collect();
        // Where all of them are shown, they keep their order.
        if self.count <= self.most {
            all.sort_by_key(|(at, _)| *at);
        }
        all.into_iter().map(|(_, finding)| finding).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::model::CheckRun;
    use crate::terminal::text::is_obeyed;
    use crate::{FORMATS, ReportOptions, Verbosity, format_by_id};
    use toolmark_check::Toolsets;
    use toolmark_check::gate::{Cells, Gate};
    use toolmark_check::{Checker, DeclaredRun, DeclaredRuns, OverviewSums, RULES};
    use toolmark_compare::Baseline;
    use toolmark_outcome::judging::{
        CriterionMark, Judge, JudgeAnswer, JudgeQuestion, JudgeRuling, Quote, Vote,
    };
    use toolmark_outcome::{Confidence, Redactor, Severity, Verdict};
    use toolmark_session::notation;
    use toolmark_trace::DeclaredOutcome;

    /// A run with findings, gates and a baseline, with hostile text everywhere.
    pub(crate) fn sample() -> CheckRun {
        let run = notation::parse(
            "mcp__shop__<script>alert(1)</script> {\"a\":\"@octocat [x](https://e.vil)\"} -> \"ok\"\n\
             Read {\"file_path\":\"/w/a\\u001b[2J.rs\"} -> \"1\\tone\\n2\\tone\"\n\
             Read {\"file_path\":\"/w/a\\u001b[2J.rs\"} -> \"1\\tone\\n2\\tone\"\n\
             Edit {\"file_path\":\"/w/b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"} !> \"String to replace not found in file.\"\n\
             mcp__shop__buy {} -> \"ok\"",
        );
        let run = run.unwrap();
        // Rules to come must not change what is written here.
        let codes = ["S101", "A201", "A202"];
        let rules = RULES.iter().copied().filter(|rule| codes.contains(&rule.code)).collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
        let checker = checker.keep_sessions().keep_calls();
        let mut checked = checker.check(&run);
        checked.sort();
        let baseline = serde_json::json!({"findings": [], "trajectories": []}).to_string();
        let changes = Baseline::parse(&baseline).unwrap().mark(&mut checked);
        let cells = Cells::from(&checked.scorecard);
        let gates =
            ["arguments.valid == 1", "selection[Read] >= 0.95", "recovery[Bash.127] >= 0.8"];
        let gates = gates.iter().flat_map(|gate| gate.parse::<Gate>().unwrap().rows(&cells, None));
        let run = toolmark_check::CheckRun {
            gates: gates.collect(),
            sums: OverviewSums::of(&checked.profiles),
            checked,
            files: 1,
            notes: vec!["a note".into()],
            rules: checker.rules().to_vec(),
            fail_on: Some(Severity::Warning),
            changes: Some(changes),
            ..Default::default()
        };
        run.redact(Redactor::new(true))
    }

    /// Returns a report of the sample.
    pub(crate) fn report(id: &str) -> String {
        report_of(id, &sample())
    }

    /// Returns a report of a run.
    pub(crate) fn report_of(id: &str, run: &CheckRun) -> String {
        format_by_id(id).unwrap().to_text(run, &ReportOptions::default()).unwrap()
    }

    /// A judge that answers in turn: right, wrong, no answer, wrong.
    #[derive(Debug)]
    struct InTurn;

    impl Judge for InTurn {
        fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
            let marks = [Some(1.0), Some(0.5), None, Some(0.0)];
            let ruling = |(mark, question): (&Option<f64>, &JudgeQuestion)| {
                let material = question.materials.iter().position(|m| m.is_trace).unwrap();
                let text: String =
                    question.materials[material].pieces[0].text.chars().take(40).collect();
                let quote = Quote { text, material, piece: 0 };
                let reason = "the neighbours are needed \u{1b}[2J<script>".to_owned();
                let mark =
                    CriterionMark { mark: *mark, reason, quotes: vec![quote], discarded: None };
                let answer = JudgeAnswer { marks: vec![mark], ..JudgeAnswer::default() };
                JudgeRuling { votes: vec![Vote { model: "m".into(), answer: Ok(answer) }] }
            };
            marks.iter().cycle().zip(questions).map(ruling).collect()
        }
    }

    /// A run with three wide edits and an unresolved failure, all judged.
    pub(crate) fn judged() -> CheckRun {
        let lines = |word: &str| -> String { (1..=25).map(|n| format!("{word}{n}\\n")).collect() };
        let mut trace = String::from("user: rename the eighth line\n");
        for name in ["a", "b", "c"] {
            let old = lines(name);
            let new = old.replace(&format!("{name}8\\n"), "eight\\n");
            trace.push_str(&format!(
                "Edit {{\"file_path\":\"/w/{name}.rs\",\"old_string\":\"{old}\",\"new_string\":\"{new}\"}} -> \"ok\"\n"
            ));
        }
        trace.push_str(
            "Bash {\"command\":\"frobnicate\"} !2 \"Exit code 2\\nno\"\nassistant: Done.\n",
        );
        let run = notation::parse(&trace).unwrap();
        let codes = ["A203", "R408"];
        let rules = RULES.iter().copied().filter(|rule| codes.contains(&rule.code)).collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default()).with_doubts();
        let mut checked = checker.check(&run);
        checked.sort();
        checked.refine(&InTurn);
        let rules = checker.rules().to_vec();
        let fail_on = Some(Severity::Info);
        let sums = OverviewSums::of(&checked.profiles);
        let run = toolmark_check::CheckRun {
            checked,
            sums,
            files: 1,
            rules,
            fail_on,
            ..Default::default()
        };
        run.redact(Redactor::new(true))
    }

    #[test]
    fn gates_are_in_every_report() {
        // Rows of a table are of one kind.
        let with_gates =
            FORMATS.iter().filter(|f| f.has_findings && !["csv", "parquet"].contains(&f.id));
        for format in with_gates {
            let text = report(format.id);
            // SARIF is about what does not hold.
            assert!(text.contains("Bash.127"), "{} has no gates", format.id);
            let is_markup = ["html", "markdown", "junit"].contains(&format.id);
            assert!(!is_markup || !text.contains("<script>"), "{} obeys a trace", format.id);
        }
    }

    #[test]
    fn what_is_known_does_not_fail() {
        let mut run = sample();
        run.gates.clear();
        assert_eq!(run.verdict(), Verdict::Fail);
        run.checked.findings.iter_mut().for_each(|finding| finding.new = Some(false));
        assert_eq!(run.verdict(), Verdict::Pass);
        for format in ["text", "markdown", "sarif", "junit", "html"] {
            let options = ReportOptions::default();
            let text = format_by_id(format).unwrap().to_text(&run, &options).unwrap();
            assert!(!text.contains("/w/b.rs"), "{format} shows what is known");
        }
    }

    #[test]
    fn a_run_that_failed_by_its_own_record_is_named() {
        let mut run = sample();
        let place = run.checked.findings[0].place.clone();
        run.checked.findings.clear();
        run.gates.clear();
        assert_eq!(run.verdict(), Verdict::Pass);
        let says = "reward 0.0".into();
        let first = Some(DeclaredRun { outcome: DeclaredOutcome::Failed, says, place });
        run.checked.declared = DeclaredRuns { failed: 1, first, ..DeclaredRuns::default() };
        assert_eq!(run.verdict(), Verdict::Fail);
        // Rows of a table are of findings.
        for format in FORMATS.iter().filter(|f| f.has_findings && f.is_text && f.id != "csv") {
            let text = format.to_text(&run, &ReportOptions::default()).unwrap();
            assert!(text.contains("reward 0.0"), "{} does not name it", format.id);
        }
        let text = report_of("text", &run);
        assert!(text.starts_with("\u{2717} fail: run failed: reward 0.0 ("), "{text}");
        assert_eq!(text.matches("reward 0.0").count(), 1, "{text}");
        let options = ReportOptions { verbosity: Verbosity::Quiet, ..ReportOptions::default() };
        let quiet = format_by_id("text").unwrap().to_text(&run, &options).unwrap();
        assert!(quiet.starts_with("run failed: reward 0.0 ("), "{quiet}");
        run.accepts_failed_runs = true;
        assert_eq!(run.verdict(), Verdict::Pass);
    }

    #[test]
    fn what_nobody_could_judge_has_no_score() {
        let checker = Checker::default();
        let checked = checker.check(&notation::parse("ponder {} -> \"ok\"").unwrap());
        let run = toolmark_check::CheckRun {
            checked,
            files: 1,
            rules: checker.rules().to_vec(),
            fail_on: Some(Severity::Warning),
            ..Default::default()
        };
        let run = run.redact(Redactor::new(true));
        let text = report_of("text", &run);
        assert!(text.starts_with("? unknown: not assessed: "), "{text}");
        let rows =
            text.lines().filter(|line| line.starts_with("ponder") || line.starts_with("all"));
        assert!(rows.clone().count() > 0 && rows.clone().all(|row| !row.contains('%')), "{text}");
        let junit = report_of("junit", &run);
        assert!(!junit.contains("<failure"), "{junit}");
        assert_eq!(junit.matches("<skipped").count(), run.rules.len(), "{junit}");
    }

    #[test]
    fn every_report_is_the_same_each_time_and_harmless() {
        for format in FORMATS.iter().filter(|format| format.has_findings && format.is_text) {
            let options = ReportOptions::default();
            let report = format.to_text(&sample(), &options).unwrap();
            assert!(report.ends_with('\n'), "{}", format.id);
            assert_eq!(report, format.to_text(&sample(), &options).unwrap(), "{}", format.id);
            let obeyed = report.chars().find(|c| *c != '\n' && is_obeyed(*c));
            assert_eq!(obeyed, None, "{} lets a control character through", format.id);
            // Tests, results and rows are of rules and gates; the others have the scorecard.
            let has_card = !matches!(format.id, "junit" | "sarif" | "csv");
            for word in ["S101", "A202", "shop/buy"].iter().take(if has_card { 3 } else { 2 }) {
                assert!(report.contains(word), "{} does not say {word}", format.id);
            }
            let empty = format.to_text(&CheckRun::default(), &options).unwrap();
            assert!(empty.ends_with('\n'), "{}", format.id);
        }
    }

    #[test]
    fn no_line_is_too_wide() {
        for width in [40, 80, 120] {
            let options = ReportOptions { width, ..ReportOptions::default() };
            let text = format_by_id("text").unwrap().to_text(&sample(), &options).unwrap();
            let widest = text.lines().map(crate::terminal::text::width).max().unwrap();
            assert!(widest <= width, "{widest} of {width}:\n{text}");
        }
    }

    #[test]
    fn lines_of_findings_and_a_summary() {
        let text = format_by_id("jsonl").unwrap().to_text(&sample(), &ReportOptions::default());
        let text = text.unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["type"], "finding");
        assert_eq!(lines[0]["code"], "A202");
        assert_eq!(lines[0]["place"]["line"], 4);
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "scorecard");
        assert_eq!(last["tools"]["Read"]["selection"]["of"], 2);
        assert_eq!(last["tools"]["Read"]["selection"]["rate"], 0.5);
        assert!(last["tools"]["shop/buy"]["selection"]["rate"].is_null());
    }
}
