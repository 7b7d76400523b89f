//! `--dry-run`: the trials that would be started.

use super::OpenSpec;
use super::action::PreparedRun;
use super::assemble::runner;
use crate::human;
use std::path::Path;
use toolmark_grade::run_plan::{CommandLine, Home, Runner, TrialPermissions};
use toolmark_hosts::launch::{Allowed, LaunchRequest, SessionTrace};
use toolmark_redact::{Redactor, printable};
use toolmark_report::terminal::{StyledLine, style};
use toolmark_run::store::{RUNS, RunStore};
use toolmark_run::{Environ, MatrixCell, Ready, RunMatrix, RunTarget, Used, VariableLookup};

/// Returns the plan of a run in lines.
#[must_use]
pub fn lines(prepared: &PreparedRun, redactor: Redactor) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let PreparedRun { matrix, ready, spec, .. } = prepared;
    let lookup: VariableLookup<'_> = &|name| prepared.lookup(name);
    let work = prepared.work();
    let trials = human::things(matrix.trials().len() as u64, "trial");
    let cells = human::things(matrix.cells.len() as u64, "case");
    let name = redactor.apply(spec.path.to_string_lossy());
    let jobs = matrix.jobs;
    let head = printable!("{}: {} of {}, {} at once", name, trials, cells, jobs);
    lines.push(StyledLine::of(style::STRONG, head));
    for (at, target) in matrix.targets.iter().enumerate() {
        lines.push(StyledLine::new());
        let kind = redactor.apply(runner(&target.target.runner));
        let version = ready.versions.get(at).filter(|version| !version.is_empty());
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let version = redactor.apply(version);
        let name = redactor.apply(target.name.as_str());
        let line = StyledLine::of(style::STRONG, printable!("target {}", name));
        lines.push(line.with(style::PLAIN, printable!("  {}{}", kind, version)));
        let field = |name: &'static str, words: String| {
            let line = StyledLine::of(style::DIM, printable!("  {:<12}", name));
            line.with(style::PLAIN, redactor.apply(words))
        };
        let line = argv(target, ready, at).join(" ");
        for (number, line) in line.trim_end().lines().enumerate() {
            lines.push(field(if number == 0 { "argv" } else { "" }, line.to_owned()));
        }
        let names = variables(target, lookup);
        lines.push(field("variables", names.join(" ")));
        lines.push(field("workspaces", work.to_string_lossy().into_owned()));
        if let Some(launch) = target.host.and_then(|host| host.launch) {
            let trace = match launch.session {
                SessionTrace::File { folder, .. } => format!("session file in ~/{folder}"),
                SessionTrace::Stream => "what it prints".to_owned(),
            };
            lines.push(field("trace", trace));
        }
        for cell in matrix.cells.iter().filter(|cell| cell.target == at) {
            let trials = human::things(u64::from(cell.trials), "trial");
            let rule = cell.rule.to_string();
            let line =
                format!("{}: {trials}, pass: {rule}, isolate: {}", cell.case, cell.isolate.word());
            lines.push(field("case", line));
        }
    }
    lines.extend(costs(matrix, spec, redactor));
    lines
}

/// Returns the known bounds of the cost: the limits, the budget, and the cost of the trials of the
/// previous run.
fn costs(matrix: &RunMatrix, spec: &OpenSpec, redactor: Redactor) -> Vec<StyledLine> {
    let mut words = Vec::new();
    let trials = |cell: &MatrixCell| u64::from(cell.trials);
    let limits: Option<f64> =
        matrix.cells.iter().map(|cell| Some(cell.limits.usd? * trials(cell) as f64)).sum();
    words.extend(limits.map(|usd| printable!("at most {} by limits.usd", human::usd(usd))));
    words.extend(matrix.budget.usd.map(|usd| printable!("at most {} by budget", human::usd(usd))));
    let wanted = std::path::absolute(&spec.path).unwrap_or_default();
    let last = RunStore::newest(Path::new(RUNS), |info| info.spec_absolute == wanted);
    let records = last.as_ref().map(RunStore::records).unwrap_or_default();
    let of_target = |name: &str| -> Vec<&Used> {
        records.iter().filter(|record| record.target == name).map(|record| &record.used).collect()
    };
    for (at, target) in matrix.targets.iter().enumerate() {
        let cells = matrix.cells.iter().filter(|cell| cell.target == at);
        let planned: u64 = cells.map(trials).sum();
        let used = of_target(&target.name);
        let mean = |total: Option<f64>| total.map(|total| total / used.len().max(1) as f64);
        let usd = mean(used.iter().map(|used| used.usd).sum());
        let tokens = mean(used.iter().map(|used| used.tokens.map(|n| n as f64)).sum());
        let about = match (usd, tokens) {
            _ if used.is_empty() => continue,
            (Some(usd), _) => human::usd(usd * planned as f64),
            (None, Some(tokens)) => {
                printable!("{} tokens", human::count((tokens * planned as f64) as u64))
            }
            (None, None) => continue,
        };
        let (name, trials) =
            (redactor.apply(target.name.as_str()), human::things(planned, "trial"));
        words.push(printable!("about {} for {} of {}, as in the last run", about, trials, name));
    }
    if words.is_empty() {
        words.push("not known: no limits.usd, no budget, no earlier run with costs".into());
    }
    let mut lines = vec![StyledLine::new()];
    for (number, line) in words.into_iter().enumerate() {
        let lead = if number == 0 { "costs" } else { "" };
        let lead = StyledLine::of(style::DIM, printable!("  {:<12}", lead));
        lines.push(lead.with(style::PLAIN, line));
    }
    lines
}

/// The command line of a target, with placeholders for values that differ by trial.
fn argv(target: &RunTarget, ready: &Ready, at: usize) -> Vec<String> {
    match &target.target.runner {
        Runner::Agent { args, .. } => {
            let Some(launch) = target.host.and_then(|host| host.launch) else { return Vec::new() };
            let home = Path::new("{home}");
            let request = LaunchRequest {
                model: target.model.as_deref(),
                permissions: match target.target.permissions {
                    TrialPermissions::Read => Allowed::Read,
                    TrialPermissions::Workspace => Allowed::Workspace,
                    TrialPermissions::Full => Allowed::Full,
                },
                home: (target.target.home == Home::Fresh).then_some(home),
                session: "{session_id}",
                resume: None,
                turns: None,
                usd: None,
            };
            let program = ready.programs.get(at).cloned().flatten();
            let program = program.map_or_else(
                || launch.program.to_owned(),
                |path| path.to_string_lossy().into_owned(),
            );
            let own = (launch.args)(&request);
            let own = own.iter().map(|arg| arg.to_string_lossy().into_owned());
            std::iter::once(program).chain(own).chain(args.iter().cloned()).collect()
        }
        Runner::Command {
            line: CommandLine::Words(words) | CommandLine::DoubleBraces(words),
            ..
        } => words.clone(),
        Runner::Command {
            line: CommandLine::Shell(line) | CommandLine::Capitals(line), ..
        } => vec![line.clone()],
        Runner::Replay(recordings) => vec![recordings.path.to_string_lossy().into_owned()],
        Runner::Unsupported(what) => vec![what.clone()],
    }
}

/// The names of the environment variables of a target.
fn variables(target: &RunTarget, lookup: VariableLookup<'_>) -> Vec<String> {
    let mut environ = Environ::base(lookup);
    if let Some(launch) = target.host.and_then(|host| host.launch) {
        environ.pass_host(launch, lookup);
    }
    environ.add(&target.target.env, lookup);
    environ.names().map(str::to_owned).collect()
}
