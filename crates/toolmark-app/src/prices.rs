//! The price file: its location, and the tokens without a price.

use crate::reading::{Next, Reader, Runs};
use crate::select::Selected;
use crate::{Events, Failure, Stop, Tone, Verbosity, human};
use serde::Serialize;
use std::collections::BTreeMap;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_config::Source;
use toolmark_feed::usage::{GroupBy, Prices, SessionUsage, Spend, UsageTable};
use toolmark_redact::Printable;

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

/// A model of the sessions without a price.
#[derive(Debug, Serialize)]
pub struct UnpricedModel {
    /// Model name; `None` if the trace does not record it.
    pub model: Option<Printable>,
    /// Kinds of tokens without a price; empty if the model has no price at all.
    pub kinds: Vec<&'static str>,
    /// Number of tokens.
    pub tokens: u64,
}

/// Returns the models of the sessions that have no price, by tokens in descending order, and whether
/// something could not be read.
///
/// # Errors
///
/// If an event could not be taken.
pub fn unpriced_models(
    selected: &Selected,
    reader: Reader,
    prices: Option<&Prices>,
    events: &mut dyn Events,
) -> Result<(Vec<UnpricedModel>, bool), Stop> {
    let reader = reader.within(selected.project.clone());
    let work = |runs: &mut Runs<'_>| {
        let sessions: Vec<SessionUsage> = runs.map(|run| SessionUsage::of(&run)).collect();
        (!sessions.is_empty()).then_some(sessions)
    };
    let mut table = UsageTable::new(GroupBy::Model);
    let walked = reader.each(&selected.inputs, events, work, |sessions| {
        sessions.into_iter().flatten().for_each(|one| table.add(one, prices));
        Ok(Next::More)
    })?;
    let (groups, _) = table.finish();
    let mut found: BTreeMap<Option<Printable>, (Vec<&'static str>, u64)> = BTreeMap::new();
    for group in groups.into_iter().map(|group| group.redact(events.redactor())) {
        let tokens = group.tokens.map_or(0, |tokens| tokens.total);
        if prices.is_none() && tokens > 0 {
            found.entry(group.name.clone()).or_default().1 += tokens;
        }
        for (why, tokens) in group.spend.unpriced() {
            let (kinds, sum) = found.entry(group.name.clone()).or_default();
            kinds.extend(why.kind);
            *sum += tokens;
        }
    }
    let mut unpriced: Vec<UnpricedModel> = found
        .into_iter()
        .map(|(model, (kinds, tokens))| UnpricedModel { model, kinds, tokens })
        .collect();
    unpriced.sort_by_key(|one| std::cmp::Reverse(one.tokens));
    Ok((unpriced, walked.unread))
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
