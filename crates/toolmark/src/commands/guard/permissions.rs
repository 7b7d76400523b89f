//! `toolmark guard permissions`: converts Claude Code's permission rules to a policy, and reports
//! the rules that can never match.

use crate::Stop;
use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use toolmark_base::{ReadFileError, ReadFileErrorKind};
use toolmark_guard::files::settings;
use toolmark_guard::permissions::{FindingLevel, PermissionFinding, PermissionRules as Rules};
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard permissions                              the settings used here
  toolmark guard permissions .claude/settings.json        one file
  toolmark guard permissions --format json                for programs

The rules are printed as a `guard:` part for a toolmark.yaml; warnings
about them go to stderr. `import: [claude-code]` makes a policy use them directly.

Exit codes:
  0  every rule can match
  1  a rule can never match
  2  the command line is invalid
  3  a file could not be read";

/// Turn Claude Code's permission rules into a policy, and report those that never match
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PermissionsCommand {
    /// Settings files [default: the user's and those of this directory]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

/// The JSON output.
#[derive(Serialize)]
struct PermissionsOutput<'a> {
    files: Vec<String>,
    rules: usize,
    guard: Value,
    findings: &'a [PermissionFinding],
}

impl PermissionsCommand {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let mut rules = Rules::default();
        let files = self.read(&mut rules)?;
        let findings = rules.findings();
        let guard = rules.translated();
        match self.format {
            TextFormat::Json => {
                let files = files.iter().map(|file| file.display().to_string()).collect();
                let answer =
                    PermissionsOutput { files, rules: rules.written(), guard, findings: &findings };
                let answer = serde_json::to_value(answer).map_err(io::Error::other)?;
                printer.json(&printer.redactor.json(answer.into()))?;
            }
            TextFormat::Text => {
                for finding in &findings {
                    print_finding(finding, printer)?;
                }
                if printer.verbosity > Verbosity::Quiet {
                    let never = findings.iter().filter(|f| f.level == FindingLevel::Never).count();
                    let words = printable!(
                        "{} in {}, {} of them can never match",
                        human::things(rules.written() as u64, "rule"),
                        human::things(files.len() as u64, "file"),
                        never,
                    );
                    printer.notice(&StyledLine::of(style::DIM, words))?;
                }
                printer.raw(&printer.redact(yaml(&guard)))?;
            }
        }
        let never = findings.iter().any(|finding| finding.level == FindingLevel::Never);
        Ok(if never { Exit::Failed } else { Exit::Ok })
    }

    /// Reads the files; named files must exist.
    fn read(&self, rules: &mut Rules) -> Result<Vec<PathBuf>, Failure> {
        let usual = || settings::all(std::env::current_dir().ok().as_deref());
        let files = if self.files.is_empty() { usual() } else { self.files.clone() };
        let mut found = Vec::new();
        for path in files {
            match settings::read(&path)? {
                Some(text) => {
                    rules.add(&text, &settings::located(&path)).map_err(|why| {
                        Failure::unread(format!("failed to read {}: {why}", path.display()))
                    })?;
                    found.push(path);
                }
                None if self.files.is_empty() => {}
                None => return Err(ReadFileError::new(&path, ReadFileErrorKind::Missing).into()),
            }
        }
        match found.is_empty() {
            false => Ok(found),
            true => Err(Failure::unread("found no settings of Claude Code")
                .hint("give a file: toolmark guard permissions .claude/settings.json")),
        }
    }
}

fn print_finding(finding: &PermissionFinding, printer: &mut Printer) -> io::Result<()> {
    let (word, tone) = match finding.level {
        FindingLevel::Never => ("never", style::BAD.bold()),
        FindingLevel::Warning => ("warning", style::WARN.bold()),
        FindingLevel::Note => ("note", style::DIM),
    };
    if finding.level != FindingLevel::Never && printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let place = format!("{} {}: {}", finding.file, finding.list, finding.rule);
    let mut line = StyledLine::of(tone, word)
        .with(style::PLAIN, ": ")
        .with(style::STRONG, printer.redact(place))
        .with(style::PLAIN, ": ")
        .with(style::PLAIN, printer.redact(&finding.message));
    if let Some(help) = &finding.help {
        line.push(style::DIM, printable!(" ({})", printer.redact(help)));
    }
    printer.notice(&line)
}

/// Formats the policy section as YAML: one line for each key of a rule, strings as in JSON.
fn yaml(guard: &Value) -> String {
    let mut out = String::from("guard:\n");
    let Some(keys) = guard.as_object().filter(|keys| !keys.is_empty()) else {
        return "# no rule could be translated\n".to_owned();
    };
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("rules", Value::Array(rules)) => {
                out.push_str("  rules:\n");
                for rule in rules.iter().filter_map(Value::as_object) {
                    for (n, (key, value)) in rule.iter().enumerate() {
                        let mark = if n == 0 { "- " } else { "  " };
                        out.push_str(&format!("    {mark}{key}: {value}\n"));
                    }
                }
            }
            (_, Value::Array(items)) => {
                out.push_str(&format!("  {key}:\n"));
                items.iter().for_each(|item| out.push_str(&format!("    - {item}\n")));
            }
            (_, value) => out.push_str(&format!("  {key}: {value}\n")),
        }
    }
    out
}
