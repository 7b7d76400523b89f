//! The price file: its location, and the tokens without a price.

use crate::{Events, Failure, Stop, Tone, Verbosity, human};
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_config::Source;
use toolmark_feed::usage::{Prices, Spend};

/// Default path of the price file, below the configuration directory.
const FILE: &str = "toolmark/prices.yaml";

/// Maximum number of reasons for missing prices in a note.
const MAX_REASONS: usize = 5;

/// Reads the prices; `None` if no file is named and the default file does not exist.
///
/// # Errors
///
/// If the file cannot be read or is invalid.
pub fn open(named: Option<&Path>, events: &mut dyn Events) -> Result<Option<Prices>, Stop> {
    match (named, default_file()) {
        (Some(path), _) => read(path, events).map(Some),
        (None, Some(path)) if path.is_file() => read(&path, events).map(Some),
        _ => Ok(None),
    }
}

/// Path of the default price file.
pub fn default_file() -> Option<PathBuf> {
    let settings = env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty());
    let settings = settings.map(PathBuf::from);
    settings.or_else(|| Some(env::home_dir()?.join(".config"))).map(|folder| folder.join(FILE))
}

fn read(path: &Path, events: &mut dyn Events) -> Result<Prices, Stop> {
    let source = Source::open_named(path)?;
    let (prices, problems) = Prices::read(&source);
    events.problems(&source, &problems)?;
    let errors = problems.iter().filter(|problem| problem.is_error()).count() as u64;
    prices.ok_or_else(|| {
        let errors = human::things(errors, "error");
        Failure::usage(format!("{} has {errors}; no cost is known", path.display())).into()
    })
}

/// Reports which tokens have no cost, and why.
pub fn note_unpriced(
    spend: &Spend,
    prices: Option<&Prices>,
    events: &mut dyn Events,
) -> io::Result<()> {
    let Some(prices) = prices.filter(|_| events.verbosity() > Verbosity::Quiet) else {
        return Ok(());
    };
    let words = format!("note: costs at the prices of {} in {}", prices.date, prices.file);
    events.note(Tone::Note, events.redactor().apply(words))?;
    let unpriced = spend.unpriced();
    if unpriced.is_empty() {
        return Ok(());
    }
    let tokens: u64 = unpriced.values().sum();
    let mut reasons: Vec<String> = unpriced
        .iter()
        .take(MAX_REASONS)
        .map(|(why, tokens)| format!("{why} ({})", human::things(*tokens, "token")))
        .collect();
    if unpriced.len() > MAX_REASONS {
        reasons.push(format!("{} more", unpriced.len() - MAX_REASONS));
    }
    let tokens = human::things(tokens, "token");
    let words = format!("note: {tokens} without a cost: {}", reasons.join("; "));
    events.note(Tone::Warning, events.redactor().apply(words))
}
