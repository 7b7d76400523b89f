//! `toolmark judge calibrate`: measures how reliable a judge is.

use crate::args::{TextFormat, ValueError, share};
use crate::cli::ReadingArgs;
use crate::diagnostics::print_file;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeArgs;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use toolmark_app::ProgressStatus;
use toolmark_app::Stop;
use toolmark_app::judge::rubric::{self, RubricOverrides};
use toolmark_app::judge::samples::{self, Labelled, SampleGroup};
use toolmark_app::judge::{JudgeRequest, OpenJudge};
use toolmark_grade::UsualJudge;
use toolmark_judge::calibration::{
    Calibration, Calibrator, LabelProblem, ProbeKind, Setup, VERSION, write_file,
};
use toolmark_judge::config::Floor;
use toolmark_outcome::judging::{Judge, Scale};
use toolmark_redact::printable;
use toolmark_report::calibration;

const EXAMPLES: &str = "\
Examples:
  toolmark judge calibrate labels.jsonl --rubric tool-selection
  toolmark judge calibrate labels.csv --rubric rubric.yaml --scale 1-5 --threshold 0.75
  toolmark judge calibrate labels.jsonl --rubric error-recovery --floor kappa=0.6
  toolmark judge calibrate labels.jsonl --output calibration.json

A row has an id, a label (pass, fail, or a mark), and a trace with a call, or inputs:
  {\"id\": \"a\", \"label\": \"pass\", \"trace\": \"runs/a.jsonl\", \"call\": 3}
  {\"id\": \"b\", \"label\": 0.5, \"rubric\": \"tool-selection\", \"inputs\": {\"tool_name\": \"Bash\", \u{2026}}}

Exit codes:
  0  the judge was measured, and reaches the floor if there is one
  1  it does not reach the floor
  2  the command line or the rubric is invalid, or no judge is configured
  3  labels or traces could not be read, or the judge answered nothing";

/// Maximum number of listed unusable rows without --verbose.
const MAX_ROWS_SHOWN: usize = 5;

/// Measure how well a judge agrees with human labels
///
/// Each sample is judged several times as it is, and again with changes that
/// should not matter: in another order, with filler text, and with instructions
/// to the judge inside the recording, also under a forged label of the user.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Calibrate {
    /// Labels: JSONL, JSON, CSV or Parquet
    #[arg(value_name = "LABELS")]
    labels: PathBuf,
    /// Built-in rubric or file, for rows without a rubric
    #[arg(long, value_name = "NAME|FILE")]
    rubric: Option<String>,
    /// Scale of marks: 0/1, 0/0.5/1, 0-1, 1-5, 1-10 or 0-10 [default: the rubric's]
    #[arg(long, value_name = "SCALE", value_parser = scale)]
    scale: Option<Scale>,
    /// Share that passes, from 0 to 1 [default: the rubric's]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    threshold: Option<f64>,
    /// Number of times to ask each question
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Only these probes: position, verbosity, injection
    #[arg(long = "probe", value_enum, value_name = "KIND", value_delimiter = ',')]
    #[arg(hide_possible_values = true)]
    probes: Vec<CalibrationProbe>,
    /// Run no probes
    #[arg(long, conflicts_with = "probes")]
    no_probes: bool,
    /// Minimum to reach: accuracy, kappa, labels, consistency; for steering, the maximum
    #[arg(long, value_name = "NAME=MIN", value_delimiter = ',', value_parser = floor)]
    floor: Vec<(FloorKind, f64)>,
    /// Write to this file, which keeps one calibration per model and rubric
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
    #[command(flatten)]
    judging: JudgeArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CalibrationProbe {
    Position,
    Verbosity,
    Injection,
}

impl CalibrationProbe {
    fn kind(self) -> ProbeKind {
        match self {
            Self::Position => ProbeKind::Position,
            Self::Verbosity => ProbeKind::Verbosity,
            Self::Injection => ProbeKind::Injection,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FloorKind {
    Accuracy,
    Kappa,
    Labels,
    Consistency,
    Steering,
}

fn scale(text: &str) -> Result<Scale, ValueError> {
    let words: Vec<&str> = Scale::ALL.iter().map(|scale| scale.word()).collect();
    Scale::from_word(text).ok_or_else(|| ValueError::Scale(words.join(", ")))
}

fn floor(text: &str) -> Result<(FloorKind, f64), ValueError> {
    let (name, least) =
        text.split_once('=').ok_or(ValueError::Syntax("write NAME=MIN, such as kappa=0.6"))?;
    let number = |low: f64, high: f64| {
        let number = least.parse::<f64>().ok().filter(|n| (low..=high).contains(n));
        number.ok_or_else(|| ValueError::Range(name.to_owned(), low, high))
    };
    match name {
        "accuracy" => Ok((FloorKind::Accuracy, number(0.0, 1.0)?)),
        "kappa" => Ok((FloorKind::Kappa, number(-1.0, 1.0)?)),
        "consistency" => Ok((FloorKind::Consistency, number(0.0, 1.0)?)),
        "steering" => Ok((FloorKind::Steering, number(0.0, 1.0)?)),
        "labels" => {
            let whole = least.parse::<u32>();
            let whole = whole.map_err(|_| ValueError::Syntax("labels is a whole number"))?;
            Ok((FloorKind::Labels, f64::from(whole)))
        }
        _ => Err(ValueError::Syntax(
            "the names are accuracy, kappa, labels, consistency and steering",
        )),
    }
}

/// The JSON output.
#[derive(Serialize)]
struct CalibrateOutput<'r> {
    version: u32,
    calibrations: &'r [Calibration],
    /// For each calibration, why it does not reach the floor.
    below: &'r [Option<String>],
    skipped: Vec<Skipped<'r>>,
}

#[derive(Serialize)]
struct Skipped<'r> {
    line: u64,
    reason: &'r str,
}

impl Calibrate {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let wanted = RubricOverrides { scale: self.scale, threshold: self.threshold };
        let usual = match &self.rubric {
            Some(word) => Some(rubric::open(word, wanted, printer)?),
            None => None,
        };
        // Labels come first: mistakes in them should cost nothing.
        let reader = self.reading.reader(printer);
        let labelled = samples::read(&self.labels, usual.as_ref(), wanted, &reader)?;
        self.print_skipped(&labelled, printer)?;
        let (judge, setup) = self.judge(printer)?;
        let status = &judge.status;
        let found = self.measure(&labelled.groups, &*judge.client, (&setup, status), printer)?;
        if self.judging.finish(&judge, printer)? {
            return Ok(Exit::Ok);
        }
        self.report(&found, &labelled.skipped, printer)
    }

    /// Returns the judge and its setup.
    fn judge(&self, printer: &mut Printer) -> Result<(OpenJudge, Setup), Stop> {
        // A judge needs no earlier calibration to be calibrated.
        let request = JudgeRequest {
            part_of: None,
            usual: &UsualJudge::default(),
            may_run: true,
            gates: false,
        };
        let opened = self.judging.open_some(&request, printer)?;
        match &opened.usual {
            Some(model) => {
                let setup = Setup::of(model);
                Ok((opened, setup))
            }
            None => Err(Failure::usage("no default judge model is configured")
                .hint("--judge-model chooses the model to measure")
                .into()),
        }
    }

    /// Prints the rows that cannot be used.
    fn print_skipped(&self, labelled: &Labelled, printer: &mut Printer) -> io::Result<()> {
        let all = printer.verbosity == Verbosity::Verbose;
        let shown = if all { labelled.skipped.len() } else { MAX_ROWS_SHOWN };
        for problem in labelled.skipped.iter().take(shown) {
            let words = samples::place(&self.labels, problem);
            let line = StyledLine::of(style::WARN.bold(), "skipped").with(style::PLAIN, ": ");
            printer.notice(&line.with(style::PLAIN, printer.redact(words)))?;
        }
        if labelled.skipped.len() > shown {
            let more = labelled.skipped.len() - shown;
            let words = printable!("\u{2026} and {} more; --verbose shows them", more);
            printer.notice(&StyledLine::of(style::DIM, words))?;
        }
        labelled.unread.iter().try_for_each(|findings| print_file(printer, findings))
    }

    fn measure(
        &self,
        groups: &[SampleGroup],
        judge: &dyn Judge,
        (setup, status): (&Setup, &ProgressStatus),
        printer: &mut Printer,
    ) -> Result<Vec<Calibration>, Stop> {
        let probes = match (self.no_probes, self.probes.as_slice()) {
            (true, _) => Vec::new(),
            (false, []) => ProbeKind::ALL.to_vec(),
            (false, some) => some.iter().map(|probe| probe.kind()).collect(),
        };
        let calibrator = Calibrator { judge, setup: setup.clone(), repeats: self.repeats, probes };
        let found = samples::measure(&calibrator, groups, status, printer)?;
        Ok(found)
    }

    /// The floor of the command line; `None` if it sets none.
    fn floor(&self) -> Option<Floor> {
        let mut floor = Floor::default();
        for (kind, least) in &self.floor {
            match kind {
                FloorKind::Accuracy => floor.accuracy = Some(*least),
                FloorKind::Kappa => floor.kappa = Some(*least),
                FloorKind::Labels => floor.labels = Some(*least as u64),
                FloorKind::Consistency => floor.consistency = Some(*least),
                FloorKind::Steering => floor.steering = Some(*least),
            }
        }
        (!self.floor.is_empty()).then_some(floor)
    }

    fn report(
        &self,
        found: &[Calibration],
        skipped: &[LabelProblem],
        printer: &mut Printer,
    ) -> Result<Exit, Stop> {
        // What was paid for is kept before anything else can go wrong. A judge
        // that was not there leaves what is known of it alone.
        let is_measured = |one: &Calibration| one.verdicts.answered() > 0;
        let measured: Vec<Calibration> =
            found.iter().filter(|one| is_measured(one)).cloned().collect();
        let out = self.output.as_ref().filter(|_| !measured.is_empty());
        if let Some(path) = out {
            write_file(path, &measured).map_err(|error| Failure::unread(error.to_string()))?;
        }
        let floor = self.floor();
        let below: Vec<Option<String>> =
            found.iter().map(|one| one.below(floor.as_ref()?)).collect();
        match self.format {
            TextFormat::Json => {
                let report = CalibrateOutput {
                    version: VERSION,
                    calibrations: found,
                    below: &below,
                    skipped: skipped
                        .iter()
                        .map(|problem| Skipped { line: problem.line, reason: &problem.message })
                        .collect(),
                };
                let report = serde_json::to_value(&report).map_err(io::Error::other)?;
                printer.json(&printer.redactor.json(report.into()))?;
            }
            TextFormat::Text => {
                for (at, (one, below)) in found.iter().zip(&below).enumerate() {
                    if at > 0 {
                        printer.line(&StyledLine::new())?;
                    }
                    let reached = floor.map(|_| below.as_deref());
                    for line in calibration::lines(one, reached, printer.redactor, printer.width())
                    {
                        printer.line(&line)?;
                    }
                }
            }
        }
        if let Some(path) = out.filter(|_| printer.verbosity > Verbosity::Quiet) {
            let words = printer.redact(format!("written to {}", path.display()));
            printer.notice(&StyledLine::of(style::DIM, words))?;
        }
        Ok(match below.iter().any(Option::is_some) {
            true => Exit::Failed,
            false if !skipped.is_empty() || measured.len() < found.len() => Exit::Unread,
            false => Exit::Ok,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printer::Color;
    use clap::Parser;
    use toolmark_judge::calibration::read_file;
    use toolmark_outcome::Cause;
    use toolmark_outcome::judging::{
        CriterionMark, JudgeAnswer, JudgeQuestion, JudgeRuling, Unanswered, Vote,
    };
    use toolmark_redact::Redactor;

    #[derive(Debug, Parser)]
    struct CalibrationLine {
        #[command(flatten)]
        calibrate: Calibrate,
    }

    /// Gives full marks to every text that mentions a fix.
    #[derive(Debug)]
    struct Fixed;

    impl Judge for Fixed {
        fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
            let answer = |question: &JudgeQuestion| {
                let pieces = question.materials.iter().flat_map(|material| &material.pieces);
                if pieces.clone().any(|piece| piece.text.contains("gone")) {
                    return Err(Unanswered { cause: Cause::Judge, reason: "gone".to_owned() });
                }
                let mark = f64::from(u8::from(pieces.into_iter().any(|p| p.text.contains("fix"))));
                let marks = vec![CriterionMark { mark: Some(mark), ..CriterionMark::default() }];
                Ok(JudgeAnswer { marks, ..JudgeAnswer::default() })
            };
            let vote =
                |question: &JudgeQuestion| Vote { model: "m".to_owned(), answer: answer(question) };
            let rule = |question: &JudgeQuestion| JudgeRuling {
                votes: (0..question.panel.votes).map(|_| vote(question)).collect(),
            };
            questions.iter().map(rule).collect()
        }
    }

    /// Runs the command with a given judge.
    fn run(labels: &str, args: &[&str]) -> (Exit, Vec<Calibration>) {
        let dir = tempfile::tempdir().unwrap();
        let (file, out) = (dir.path().join("l.jsonl"), dir.path().join("c.json"));
        std::fs::write(&file, labels).unwrap();
        let fixed = ["x", file.to_str().unwrap(), "--output", out.to_str().unwrap(), "--rubric"];
        let all = [&fixed[..], &["tool-selection", "--format", "json"], args].concat();
        let command = CalibrationLine::try_parse_from(all).unwrap().calibrate;
        let mut printer = Printer::new(Color::Never, Verbosity::Quiet, Redactor::new(true));
        let wanted = RubricOverrides { scale: command.scale, threshold: command.threshold };
        let rubric = command.rubric.as_deref().unwrap();
        let usual = rubric::open(rubric, wanted, &mut printer).unwrap();
        let reader = command.reading.reader(&printer);
        let labelled = samples::read(&command.labels, Some(&usual), wanted, &reader).unwrap();
        command.print_skipped(&labelled, &mut printer).unwrap();
        let groups = &labelled.groups;
        let setup = Setup { model: "m".to_owned(), ..Setup::default() };
        let found = command
            .measure(groups, &Fixed, (&setup, &ProgressStatus::default()), &mut printer)
            .unwrap();
        let exit = command.report(&found, &labelled.skipped, &mut printer).unwrap();
        let answered = found.iter().any(|one| one.verdicts.answered() > 0);
        assert_eq!(read_file(&out).ok(), answered.then(|| found.clone()));
        (exit, found)
    }

    fn row(id: &str, label: &str, request: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"label\":\"{label}\",\"inputs\":{{\"user_request\":\"{request}\",\
             \"tool_name\":\"Edit\",\"tool_input\":\"{{}}\",\"previous_calls\":\"none\"}}}}\n"
        )
    }

    #[test]
    fn floors_and_rows_decide_how_it_ends() {
        let right = row("a", "pass", "fix it") + &row("b", "fail", "look at it");
        let wrong = right.clone() + &row("c", "fail", "fix that");
        let broken = right.clone() + "{\"id\":\"d\"}\n";
        for (labels, args, exit) in [
            (&right, &[][..], Exit::Ok),
            (&right, &["--floor", "kappa=0.6,accuracy=1"], Exit::Ok),
            (&right, &["--floor", "labels=3"], Exit::Failed),
            (&wrong, &["--floor", "accuracy=0.6"], Exit::Ok),
            (&wrong, &["--floor", "accuracy=0.7"], Exit::Failed),
            (&broken, &[], Exit::Unread),
            (&row("a", "pass", "gone"), &[], Exit::Unread),
            (&row("a", "pass", "gone"), &["--floor", "accuracy=0"], Exit::Failed),
            (&broken, &["--floor", "labels=3"], Exit::Failed),
        ] {
            let (ended, found) = run(labels, args);
            assert_eq!(ended, exit, "{args:?} {labels}");
            assert_eq!((found.len(), found[0].model.as_str()), (1, "m"));
        }
    }

    #[test]
    fn probes_and_repeats_are_as_asked() {
        let labels = row("a", "pass", "fix it") + &row("b", "fail", "look at it");
        let changes = |args: &[&str]| -> Vec<&str> {
            let (_, found) = run(&labels, args);
            found[0].probes.iter().map(|probed| probed.change.word()).collect()
        };
        assert_eq!(changes(&[]).len(), 7);
        assert_eq!(changes(&["--no-probes"]), [""; 0]);
        assert_eq!(changes(&["--probe", "verbosity"]), ["filler"]);
        assert_eq!(changes(&["--probe", "injection,position"]).len(), 6);
        let (_, found) = run(&labels, &["--repeats", "5"]);
        assert_eq!(found[0].consistency.as_ref().map(|c| c.repeats), Some(5));
        let (_, found) = run(&labels, &["--repeats", "1"]);
        assert!(found[0].consistency.is_none());
    }

    #[test]
    fn invalid_options() {
        for args in [
            &["--floor", "kappa"][..],
            &["--floor", "kappa=2"],
            &["--floor", "labels=-1"],
            &["--floor", "speed=1"],
            &["--threshold", "1.5"],
            &["--scale", "1-7"],
            &["--repeats", "0"],
            &["--probe", "mood"],
            &["--no-probes", "--probe", "position"],
        ] {
            assert!(
                CalibrationLine::try_parse_from([&["x", "l"], args].concat()).is_err(),
                "{args:?}"
            );
        }
    }
}
