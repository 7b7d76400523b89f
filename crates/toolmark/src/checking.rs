//! What `toolmark check` reads and keeps: which sessions, which rules, file by
//! file, without secrets.

pub(crate) mod config;
pub(crate) mod promote;

use crate::diagnostics::Findings;
use crate::exit::Failure;
use crate::inputs::Input;
use crate::printer::Verbosity;
use crate::redact::Veil;
use crate::sessions;
use jiff::{Span, SpanRelativeTo, Unit};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use toolmark_check::config::chooses;
use toolmark_check::{Checked, Checker, RULES, Rule};
use toolmark_config::did_you_mean;
use toolmark_outcome::Evidence;
use toolmark_trace::{Diagnostic, Options, ReadError, Trajectory};

/// So many sessions are checked where nobody says how many.
const BY_DEFAULT: usize = 50;

/// Which sessions to check.
pub(crate) struct Sessions {
    pub(crate) since: Option<Duration>,
    pub(crate) limit: Option<NonZeroUsize>,
    pub(crate) project: Option<PathBuf>,
}

impl Sessions {
    /// The sessions of this machine, the newest first, and what to say about them.
    pub(crate) fn found(&self) -> Result<(Vec<Input>, Vec<String>), Failure> {
        let mut all = sessions::find();
        all.retain(|session| self.is_recent(session.modified));
        if all.is_empty() {
            let failure = Failure::unread("found no sessions");
            return Err(failure.hint(format!(
                "looked in {}; toolmark check FILE checks any trace",
                sessions::looked_in()
            )));
        }
        let mut notes = Vec::new();
        // With a project, how many there are is known only when they are read.
        if let Some(most) = self.most(true).filter(|_| self.project.is_none())
            && all.len() as u64 > most
        {
            let words = format!("the newest {most} of {} sessions; --limit takes more", all.len());
            notes.push(words);
            all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        Ok((all.iter().map(|session| Input::named(&session.path)).collect(), notes))
    }

    /// The inputs that were written to recently.
    pub(crate) fn recent(&self, mut inputs: Vec<Input>) -> Vec<Input> {
        if self.since.is_some() {
            inputs.retain(|input| {
                let modified = input.path().and_then(|path| path.metadata().ok()?.modified().ok());
                modified.is_none_or(|time| self.is_recent(time))
            });
        }
        inputs
    }

    /// How many files to check at most.
    pub(crate) fn most(&self, by_default: bool) -> Option<u64> {
        let asked = self.limit.map(|limit| limit.get());
        let most = asked.or((by_default && self.since.is_none()).then_some(BY_DEFAULT));
        most.map(|most| most as u64)
    }

    fn is_recent(&self, time: SystemTime) -> bool {
        // A file from the future is recent.
        let age = time.elapsed().unwrap_or_default();
        self.since.is_none_or(|since| age <= since)
    }

    fn takes(&self, run: &Trajectory) -> bool {
        let Some(project) = &self.project else { return true };
        run.cwd.as_ref().is_some_and(|cwd| Path::new(&*cwd.get()).starts_with(project))
    }
}

/// A time such as `7d`.
pub(crate) fn since(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| "write a time such as 12h, 7d or 2w".to_owned())?;
    let seconds = span
        .total((Unit::Second, SpanRelativeTo::days_are_24_hours()))
        .map_err(|_| "months and years are not all alike; write days".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a time must be more than zero".to_owned())
}

/// A directory, as sessions would name it.
pub(crate) fn project(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let Some(named) = named else { return Ok(None) };
    // The sessions may be of a directory that is no longer there.
    std::path::absolute(named)
        .map(|path| Some(path.canonicalize().unwrap_or(path)))
        .map_err(|error| Failure::usage(format!("--project {}: {error}", named.display())))
}

/// The rules that are left by `--select` and `--ignore`.
pub(crate) fn chosen(select: &[String], ignore: &[String]) -> Result<Vec<&'static Rule>, Failure> {
    for word in select.iter().chain(ignore) {
        if !RULES.iter().any(|rule| chooses(word, rule)) {
            return Err(unknown(word));
        }
    }
    let any = |words: &[String], rule: &Rule| words.iter().any(|word| chooses(word, rule));
    let left = RULES
        .iter()
        .copied()
        .filter(|rule| (select.is_empty() || any(select, rule)) && !any(ignore, rule));
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        return Err(Failure::usage("no rule is left by --select and --ignore"));
    }
    Ok(left)
}

/// There is no rule with this code or name.
pub(crate) fn unknown(word: &str) -> Failure {
    let failure = Failure::usage(format!("there is no rule {word}"));
    match did_you_mean(word, RULES.iter().flat_map(|rule| [rule.code, rule.name])) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("toolmark rules lists them"),
    }
}

/// What one file gave.
#[derive(Default)]
pub(crate) struct File {
    pub(crate) checked: Checked,
    /// How many records could not be read, or 1 where the file could not.
    pub(crate) skipped: u64,
    /// A file of a directory that is not a trace.
    pub(crate) is_foreign: bool,
    /// Was there a session in it that was asked for?
    pub(crate) is_checked: bool,
    pub(crate) diagnostics: Findings,
}

/// Checks every trajectory of a file.
pub(crate) fn check(
    input: &Input,
    checker: &Checker,
    sessions: &Sessions,
    options: &Options,
    verbosity: Verbosity,
) -> File {
    let mut file = File::default();
    let mut runs = match input.read(options) {
        Ok(runs) => runs,
        // Not everything in a directory is a trace.
        Err(ReadError::UnknownFormat { .. }) if !input.is_named => {
            file.is_foreign = true;
            return file;
        }
        Err(error) => {
            file.diagnostics = Findings::error(Diagnostic::from_error(&error));
            file.skipped = 1;
            return file;
        }
    };
    let mut diagnostics = Vec::new();
    while let Some(mut run) = runs.next() {
        if !sessions.takes(&run) {
            continue;
        }
        let joined = input.join(&mut run, &runs, options);
        file.skipped += joined.skipped;
        diagnostics.extend(joined.diagnostics);
        file.checked.merge(checker.check(&run));
        file.is_checked = true;
    }
    file.skipped += runs.skipped();
    diagnostics.extend_from_slice(runs.diagnostics());
    file.diagnostics = Findings::of(&diagnostics, file.skipped, verbosity);
    file
}

/// Masks every text that comes from a trace.
pub(crate) fn redact(checked: &mut Checked, veil: Veil) {
    let hide = |text: &mut String| {
        if let Cow::Owned(shown) = veil.shown(text) {
            *text = shown;
        }
    };
    for stop in &mut checked.decisions.stops {
        hide(&mut stop.reason);
        stop.call.args.iter_mut().for_each(hide);
    }
    let hide_all = |evidence: &mut [Evidence]| {
        for evidence in evidence {
            hide(&mut evidence.text);
            evidence.excerpt.iter_mut().for_each(hide);
            evidence.call.iter_mut().flat_map(|call| &mut call.args).for_each(hide);
        }
    };
    for finding in &mut checked.findings {
        hide(&mut finding.message);
        hide(&mut finding.remedy);
        finding.judge.iter_mut().for_each(|judge| hide(&mut judge.reason));
        hide_all(&mut finding.evidence);
    }
    for refined in checked.judged.iter_mut().flatten() {
        hide(&mut refined.why);
        hide(&mut refined.reason);
        refined.call.args.iter_mut().for_each(hide);
        refined.notes.iter_mut().for_each(hide);
        hide_all(&mut refined.evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::judging::{Answer, Judge, Mark, Question, Quote, Ruling, Vote};

    #[test]
    fn times() {
        for (text, hours) in [("12h", 12), ("7d", 168), ("2w", 336), ("1d 1h", 25)] {
            assert_eq!(since(text), Ok(Duration::from_secs(hours * 3600)), "{text}");
        }
        for text in ["", "7", "soon", "-1d", "1mo"] {
            assert!(since(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_a_judge_says_is_masked_too() {
        const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

        #[derive(Debug)]
        struct Talkative;

        impl Judge for Talkative {
            fn judge(&self, questions: &[Question]) -> Vec<Ruling> {
                let mark = || Mark {
                    mark: Some(1.0),
                    reason: format!("it shows {KEY}"),
                    quotes: vec![Quote { text: KEY.into(), material: 0, piece: 0 }],
                    discarded: None,
                };
                let answer = || Answer { marks: vec![mark()], ..Answer::default() };
                let vote = || Vote { model: "m".into(), answer: Ok(answer()) };
                questions.iter().map(|_| Ruling { votes: vec![vote()] }).collect()
            }
        }

        let run = toolmark_check::notation::parse(&format!(
            "user: ship it with {KEY}\n\
             Bash {{\"command\":\"git push --force https://x:{KEY}@github.com/a/b main\"}} -> \"ok\"\n\
             assistant: I force-pushed the branch to main."
        ));
        let mut checked = Checker::default().with_doubts().check(&run.unwrap());
        checked.refine(&Talkative);
        let text = |checked: &Checked| format!("{:?}{:?}", checked.judged, checked.findings);
        assert!(text(&checked).contains(KEY));
        redact(&mut checked, Veil::new(true));
        assert!(!checked.judged.as_ref().unwrap().is_empty());
        assert!(!text(&checked).contains(KEY), "{}", text(&checked));
    }

    #[test]
    fn rules_by_code_name_and_prefix() {
        let codes = |select: &[&str], ignore: &[&str]| -> Option<Vec<&str>> {
            let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
            let rules = chosen(&owned(select), &owned(ignore)).ok()?;
            Some(rules.iter().map(|rule| rule.code).collect())
        };
        assert_eq!(codes(&["s101"], &[]).unwrap(), ["S101"]);
        assert!(codes(&["A"], &[]).unwrap().iter().all(|code| code.starts_with('A')));
        assert!(!codes(&[], &["repeated-read"]).unwrap().contains(&"S101"));
        assert_eq!(codes(&["S101"], &["S"]), None);
        assert_eq!(codes(&["Q1"], &[]), None);
    }
}
