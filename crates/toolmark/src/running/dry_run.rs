//! `--dry-run`: prints what would be started.

use crate::human;
use crate::printer::{Line, Printer, style};
use std::path::Path;
use toolmark_app::Stop;
use toolmark_app::run::OpenSpec;
use toolmark_app::run::action::PreparedRun;
use toolmark_app::run::assemble::runner;
use toolmark_grade::run_plan::{CommandLine, Home, Permissions, Runner};
use toolmark_hosts::launch::{Allowed, LaunchRequest, SessionTrace};
use toolmark_redact::printable;
use toolmark_run::store::{RUNS, Store};
use toolmark_run::{Cell, Environ, Lookup, Matrix, Ready, RunTarget, Used};

/// Prints the plan of a run.
pub(crate) fn print(prepared: &PreparedRun, printer: &mut Printer) -> Result<(), Stop> {
    let PreparedRun { matrix, ready, spec, .. } = prepared;
    let lookup: Lookup<'_> = &|name| prepared.lookup(name);
    let work = prepared.work();
    let trials = human::things(matrix.trials().len() as u64, "trial");
    let cells = human::things(matrix.cells.len() as u64, "case");
    let name = printer.redact(spec.path.to_string_lossy());
    let jobs = matrix.jobs;
    let head = printable!("{}: {} of {}, {} at once", name, trials, cells, jobs);
    printer.line(&Line::of(style::STRONG, head))?;
    for (at, target) in matrix.targets.iter().enumerate() {
        printer.line(&Line::new())?;
        let kind = printer.redact(runner(&target.target.runner));
        let version = ready.versions.get(at).filter(|version| !version.is_empty());
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let version = printer.redact(version);
        let name = printer.redact(target.name.as_str());
        let line = Line::of(style::STRONG, printable!("target {}", name));
        printer.line(&line.with(style::PLAIN, printable!("  {}{}", kind, version)))?;
        let field = |name: &'static str, words: String, printer: &mut Printer| {
            let words = printer.redact(words);
            let line = Line::of(style::DIM, printable!("  {:<12}", name));
            printer.line(&line.with(style::PLAIN, words))
        };
        let line = argv(target, ready, at).join(" ");
        for (number, line) in line.trim_end().lines().enumerate() {
            field(if number == 0 { "argv" } else { "" }, line.to_owned(), printer)?;
        }
        let names = variables(target, lookup);
        field("variables", names.join(" "), printer)?;
        field("workspaces", work.to_string_lossy().into_owned(), printer)?;
        if let Some(launch) = target.host.and_then(|host| host.launch) {
            let trace = match launch.session {
                SessionTrace::File { folder, .. } => format!("session file in ~/{folder}"),
                SessionTrace::Stream => "what it prints".to_owned(),
            };
            field("trace", trace, printer)?;
        }
        for cell in matrix.cells.iter().filter(|cell| cell.target == at) {
            let trials = human::things(u64::from(cell.trials), "trial");
            let rule = cell.rule.to_string();
            let line =
                format!("{}: {trials}, pass: {rule}, isolate: {}", cell.case, cell.isolate.word());
            field("case", line, printer)?;
        }
    }
    costs(matrix, spec, printer)
}

/// Prints the known bounds of the cost: the limits, the budget, and the cost of the trials of the
/// previous run.
fn costs(matrix: &Matrix, spec: &OpenSpec, printer: &mut Printer) -> Result<(), Stop> {
    let mut lines = Vec::new();
    let trials = |cell: &Cell| u64::from(cell.trials);
    let limits: Option<f64> =
        matrix.cells.iter().map(|cell| Some(cell.limits.usd? * trials(cell) as f64)).sum();
    lines.extend(limits.map(|usd| printable!("at most {} by limits.usd", human::usd(usd))));
    lines.extend(matrix.budget.usd.map(|usd| printable!("at most {} by budget", human::usd(usd))));
    let wanted = std::path::absolute(&spec.path).unwrap_or_default();
    let last = Store::newest(Path::new(RUNS), |info| info.spec_absolute == wanted);
    let records = last.as_ref().map(Store::records).unwrap_or_default();
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
            (printer.redact(target.name.as_str()), human::things(planned, "trial"));
        lines.push(printable!("about {} for {} of {}, as in the last run", about, trials, name));
    }
    if lines.is_empty() {
        lines.push("not known: no limits.usd, no budget, no earlier run with costs".into());
    }
    printer.line(&Line::new())?;
    for (number, line) in lines.into_iter().enumerate() {
        let lead = if number == 0 { "costs" } else { "" };
        let lead = Line::of(style::DIM, printable!("  {:<12}", lead));
        printer.line(&lead.with(style::PLAIN, line))?;
    }
    Ok(())
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
                    Permissions::Read => Allowed::Read,
                    Permissions::Workspace => Allowed::Workspace,
                    Permissions::Full => Allowed::Full,
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
fn variables(target: &RunTarget, lookup: Lookup<'_>) -> Vec<String> {
    let mut environ = Environ::base(lookup);
    if let Some(launch) = target.host.and_then(|host| host.launch) {
        environ.pass_host(launch, lookup);
    }
    environ.add(&target.target.env, lookup);
    environ.names().map(str::to_owned).collect()
}
