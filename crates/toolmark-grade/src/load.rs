//! Loads the text of a spec into a plan.

use crate::dialect::Dialect;
use crate::grader::Graders;
use crate::loading::{Included, LoadOptions, Loading};
use crate::plan::Plan;
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, NodeEntry, Problem, SourceText, did_you_mean, parse, quoted};

/// Dialects in detection order: specific dialects before general ones.
pub type Dialects = &'static [&'static dyn Dialect];

/// A loaded spec.
pub struct LoadedSpec {
    /// Text of the spec.
    pub source: SourceText,
    /// Detected dialect, if any.
    pub dialect: Option<&'static dyn Dialect>,
    /// Plan of the spec; only if there are no errors.
    pub plan: Option<Plan>,
    /// Problems of the spec.
    pub problems: Vec<Problem>,
    /// Included files, with the problems of each.
    pub includes: Vec<Included>,
}

impl LoadedSpec {
    /// Whether an error prevents the spec from being used.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        let included = self.includes.iter().flat_map(|included| &included.problems);
        self.problems.iter().chain(included).any(Problem::is_error)
    }
}

/// Detects the dialect of a spec and builds a plan.
#[must_use]
pub fn load_source(
    source: SourceText,
    directory: &Path,
    options: &LoadOptions,
    dialects: Dialects,
    graders: Graders,
) -> LoadedSpec {
    let parsed = parse(&source);
    let mut problems = parsed.problems;
    let Some(root) = parsed.node else {
        return LoadedSpec { source, dialect: None, plan: None, problems, includes: Vec::new() };
    };
    let Some(dialect) = dialect_of(&root, dialects, &mut problems) else {
        return LoadedSpec { source, dialect: None, plan: None, problems, includes: Vec::new() };
    };
    let mut loading =
        Loading::new(Arc::clone(&source.name), source.text(), directory, options, graders);
    let plan = dialect.load(&root, &mut loading);
    let (found, includes) = loading.finish();
    problems.extend(found);
    let mut loaded = LoadedSpec { source, dialect: Some(dialect), plan, problems, includes };
    if loaded.has_errors() {
        loaded.plan = None;
    }
    loaded
}

/// Returns the dialect with the highest confidence for the file.
fn dialect_of(
    root: &Node,
    dialects: Dialects,
    problems: &mut Vec<Problem>,
) -> Option<&'static dyn Dialect> {
    // The first of the surest: the list has the special before the general.
    let mut best: Option<(u8, &'static dyn Dialect)> = None;
    for &dialect in dialects {
        let confidence = dialect.detect(root);
        if confidence > best.map_or(0, |(most, _)| most) {
            best = Some((confidence, dialect));
        }
    }
    if best.is_none() {
        let looks: Vec<String> = dialects
            .iter()
            .map(|dialect| format!("{} ({})", dialect.info().id, dialect.info().looks_for))
            .collect();
        let problem = Problem::error("unknown-dialect", "unrecognized spec");
        let keys = || dialects.iter().flat_map(|dialect| dialect.info().keys).copied();
        let near = |entry: &NodeEntry| {
            let near = did_you_mean(&entry.key, keys()).filter(|near| *near != entry.key)?;
            Some((entry.key_span, near))
        };
        problems.push(match root.entries().find_map(near) {
            Some((span, near)) => problem.at(span).help(format!("did you mean {}?", quoted(near))),
            None => problem.at(root.span).help(format!("known specs: {}", looks.join("; "))),
        });
    }
    best.map(|(_, dialect)| dialect)
}
