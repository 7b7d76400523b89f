//! The price file: its location, and the tokens without a price.

use crate::reading::{Continuation, FileReader, Runs};
use crate::select::Selected;
use crate::{ActionEvents, Failure, Stop, Tone, Verbosity, human};
use serde::Serialize;
use std::collections::BTreeMap;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_config::SourceText;
use toolmark_feed::usage::{
    FilePrices, GroupBy, ModelPrice, Prices, SessionUsage, Spend, UsageTable,
};
use toolmark_redact::{Printable, Redactor};

/// Default path of the price file, below the configuration directory.
const FILE: &str = "toolmark/prices.yaml";

/// Maximum number of reasons for missing prices in a note.
const MAX_REASONS: usize = 5;

/// Reads the prices: those of the named or the default file, and the list prices in the binary.
///
/// # Errors
///
/// If the file cannot be read or is invalid.
pub fn open(named: Option<&Path>, events: &mut dyn ActionEvents) -> Result<Prices, Stop> {
    let file = match (named, default_file()) {
        (Some(path), _) => Some(read(path, events)?),
        (None, Some(path)) if path.is_file() => Some(read(&path, events)?),
        _ => None,
    };
    Ok(Prices::new(file))
}

/// Path of the default price file.
pub fn default_file() -> Option<PathBuf> {
    let settings = env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty());
    let settings = settings.map(PathBuf::from);
    settings.or_else(|| Some(env::home_dir()?.join(".config"))).map(|folder| folder.join(FILE))
}

fn read(path: &Path, events: &mut dyn ActionEvents) -> Result<FilePrices, Stop> {
    let source = SourceText::open_named(path)?;
    let (prices, problems) = FilePrices::read(&source);
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

/// The models of the sessions.
#[derive(Debug, Default)]
pub struct SessionModels {
    /// Models with a list price, by name.
    pub listed: Vec<(Printable, ModelPrice)>,
    /// Models without a price, by tokens in descending order.
    pub unpriced: Vec<UnpricedModel>,
    /// Whether something could not be read.
    pub is_unread: bool,
}

/// Returns the models of the sessions, and which of them have no price.
///
/// # Errors
///
/// If an event could not be taken.
pub fn models_of_sessions(
    selected: &Selected,
    reader: FileReader,
    prices: &Prices,
    events: &mut dyn ActionEvents,
) -> Result<SessionModels, Stop> {
    let reader = reader.within(selected.project.clone());
    let work = |runs: &mut Runs<'_>| {
        let sessions: Vec<SessionUsage> = runs.map(|run| SessionUsage::of(&run)).collect();
        (!sessions.is_empty()).then_some(sessions)
    };
    let mut table = UsageTable::new(GroupBy::Model);
    let walked = reader.each(&selected.inputs, events, work, |sessions| {
        sessions.into_iter().flatten().for_each(|one| table.add(one, prices));
        Ok(Continuation::More)
    })?;
    let (groups, _) = table.finish();
    let mut models = SessionModels { is_unread: walked.unread, ..SessionModels::default() };
    let mut found: BTreeMap<Option<Printable>, (Vec<&'static str>, u64)> = BTreeMap::new();
    for group in groups {
        let name = group.name.as_ref().map(|name| name.raw().to_owned());
        let group = group.redact(events.redactor());
        let listed =
            name.filter(|name| prices.file.as_ref().is_none_or(|own| own.of(name).is_none()));
        let price = listed.and_then(|name| prices.public.of(&name));
        models.listed.extend(group.name.clone().zip(price.copied()));
        for (why, tokens) in group.spend.unpriced() {
            let (kinds, sum) = found.entry(group.name.clone()).or_default();
            kinds.extend(why.kind);
            *sum += tokens;
        }
    }
    models.unpriced = found
        .into_iter()
        .map(|(model, (kinds, tokens))| UnpricedModel { model, kinds, tokens })
        .collect();
    models.unpriced.sort_by_key(|one| std::cmp::Reverse(one.tokens));
    models.listed.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(models)
}

/// Prices of a file and the list prices of the models in the sessions, as `toolmark prices` prints
/// them.
#[derive(Debug, Serialize)]
pub struct PriceReport {
    /// Path of the price file.
    pub file: Option<Printable>,
    /// Date of the prices of the file.
    pub date: Option<String>,
    /// Source of the prices of the file.
    pub source: Option<Printable>,
    /// Models of the file.
    pub models: Vec<ModelRates>,
    /// List prices.
    pub list: PriceList,
    /// Models without a price.
    pub unpriced: Vec<UnpricedModel>,
}

/// List prices of the models in the sessions.
#[derive(Debug, Serialize)]
pub struct PriceList {
    /// Date of the prices.
    pub date: &'static str,
    /// Source of the prices.
    pub source: &'static str,
    /// Models of the sessions.
    pub models: Vec<ModelRates>,
}

/// Prices of a model, in US dollars per million tokens.
#[derive(Debug, Serialize)]
pub struct ModelRates {
    /// Name of the model.
    pub model: Printable,
    /// Price of input.
    pub input: Option<f64>,
    /// Price of output.
    pub output: Option<f64>,
    /// Price of input read from a cache.
    pub cache_read: Option<f64>,
    /// Price of input written to a cache.
    pub cache_write: Option<f64>,
    /// Price of input written to a cache for an hour.
    pub cache_write_1h: Option<f64>,
}

impl PriceReport {
    /// Creates the report in printable form.
    #[must_use]
    pub fn new(prices: &Prices, models: SessionModels, redactor: Redactor) -> Self {
        let file = prices.file.as_ref();
        let of_file = file.iter().flat_map(|file| file.models());
        Self {
            file: file.map(|prices| redactor.apply(prices.file.clone())),
            date: file.map(|prices| prices.date.to_string()),
            source: file.and_then(|prices| Some(redactor.apply(prices.source.clone()?))),
            models: of_file
                .map(|(name, price)| ModelRates::new(redactor.apply(name.to_owned()), price))
                .collect(),
            list: PriceList {
                date: prices.public.date,
                source: prices.public.source,
                models: models
                    .listed
                    .into_iter()
                    .map(|(name, price)| ModelRates::new(name, &price))
                    .collect(),
            },
            unpriced: models.unpriced,
        }
    }
}

impl ModelRates {
    fn new(model: Printable, price: &ModelPrice) -> Self {
        let usd = |nano: Option<u64>| nano.map(|nano| nano as f64 / 1e9);
        let rates = price.rates;
        Self {
            model,
            input: usd(rates.input),
            output: usd(rates.output),
            cache_read: usd(rates.cache_read),
            cache_write: usd(rates.cache_write),
            cache_write_1h: usd(rates.cache_write_1h),
        }
    }
}

/// Describes where prices are from.
#[must_use]
pub fn describe(prices: &Prices) -> String {
    let list = format!("list prices of {}", prices.public.date);
    match &prices.file {
        None => list,
        Some(file) => format!("prices of {} in {}; other models at {list}", file.date, file.file),
    }
}

/// Reports where prices are from, which tokens have no cost, and why.
pub fn note_unpriced(
    spend: &Spend,
    prices: &Prices,
    events: &mut dyn ActionEvents,
) -> io::Result<()> {
    let unpriced = spend.unpriced();
    if events.verbosity() <= Verbosity::Quiet {
        return Ok(());
    }
    if spend.known_usd().is_some() {
        let words = format!("note: costs at {}", describe(prices));
        events.note(Tone::Note, events.redactor().apply(words))?;
    }
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
