//! `toolmark trend`: prints how measures of sessions change over time, and when they changed.

use crate::args::{InputArgs, ReportArgs, SessionArgs, format_of, report_of};
use crate::exit::{Exit, Failure};
use crate::human;
use crate::pricing::PriceArgs;
use crate::printer::Printer;
use clap::{Args, ValueEnum};
use std::time::Instant;
use toolmark_app::Stop;
use toolmark_app::reading::Runs;
use toolmark_check::Checker;
use toolmark_feed::trend::{
    MEASURES, PricesUsed, SessionTrend as Sessions, TrendBy, TrendOptions, TrendRun, TrendSession,
    needs_rules,
};
use toolmark_outcome::Printable;

const EXAMPLES: &str = "\
Examples:
  toolmark trend                             the sessions of this machine, by week
  toolmark trend --by version --measure failures
  toolmark trend runs/ --measure latency.p95 --measure cost --prices prices.yaml
  toolmark trend --since 90d --format html > trend.html
  toolmark trend --format csv > trend.csv    a row per measure and week

Measures: faults, failures, selection, arguments, irreversibility, recovery, latency,
tokens, cost, recorded-cost, or any scorecard measure (see `toolmark check --help`). A
change is marked if sessions before and after it differ by more than chance, over all
measures together: if nothing changes, at most 5 reports in 100 mark anything.";

/// Show how measures change over time, and where they change by more than chance
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("traces", SessionArgs::all_by_default), mut_arg("limit", SessionArgs::unlimited))]
#[command(mut_arg("format", format_of::<TrendRun<Printable>>), mut_arg("reports", report_of::<TrendRun<Printable>>))]
pub(crate) struct TrendCommand {
    /// Grouping of the sessions
    #[arg(long, value_enum, value_name = "WHAT", default_value = "week")]
    by: TrendGrouping,
    /// Only this measure, and those below it; may be given several times
    #[arg(long = "measure", value_name = "NAME")]
    measures: Vec<String>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TrendGrouping {
    Week,
    Day,
    Version,
    Model,
}

impl TrendCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let started = Instant::now();
        let prices = self.prices.open(printer)?;
        let mut selected = self.sessions.select_all(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let checker = needs_rules(&self.measures).then(Checker::default);
        let work = |runs: &mut Runs<'_>| {
            let one = |run| TrendSession::of(&run, checker.as_ref(), &prices);
            let sessions: Vec<TrendSession> = runs.map(one).collect();
            (!sessions.is_empty()).then_some(sessions)
        };
        let mut all = Sessions::default();
        let from = (&reader, &self.input.named());
        let (files, walked) = selected.each(from, printer, work, |sessions| {
            sessions.into_iter().for_each(|one| all.add(one));
        })?;
        let mut notes: Vec<String> = walked.note(printer.verbosity).into_iter().collect();
        notes.append(&mut selected.notes);
        if all.repeated > 0 {
            let again = human::things(all.repeated, "session");
            notes.push(format!("{again} met again in other files and counted once"));
        }
        let options = TrendOptions { by: self.by.into(), measures: self.measures.clone() };
        let mut run = all.finish(&options);
        if run.series.is_empty() && !self.measures.is_empty() && !self.input.is_part() {
            return Err(self.nothing_measured(run.sessions).into());
        }
        if run.left_out > 0 {
            let sessions = human::things(run.left_out, "session");
            let what = run.by.word();
            notes.push(format!("{sessions} left out: the trace does not say their {what}"));
        }
        run.files = files;
        let (file, list_date) = (prices.file, prices.public.date.to_owned());
        let (file, date) = file.map(|one| (one.file.into(), one.date.to_string())).unzip();
        run.prices = Some(PricesUsed { file, date, list_date });
        run.notes = notes.into_iter().map(Into::into).collect();
        self.report.write(&run.redact(printer.redactor), started, printer)?;
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }

    fn nothing_measured(&self, sessions: u64) -> Failure {
        let names: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
        let sessions = human::things(sessions, "session");
        let wanted = self.measures.join(", ");
        Failure::usage(format!("{sessions} have no measure {wanted}"))
            .hint(format!("valid measures: {}, or any scorecard measure", names.join(", ")))
    }
}

impl From<TrendGrouping> for TrendBy {
    fn from(by: TrendGrouping) -> Self {
        match by {
            TrendGrouping::Week => Self::Week,
            TrendGrouping::Day => Self::Day,
            TrendGrouping::Version => Self::Version,
            TrendGrouping::Model => Self::Model,
        }
    }
}
