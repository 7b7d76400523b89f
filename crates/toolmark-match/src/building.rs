//! The configuration that matchers and graders are built from, and the problems found in it.

use crate::call_match::SchemaCompiler;
use std::path::Path;
use toolmark_config::{Node, NodeSpan, Problem, Spanned};
use toolmark_outcome::Profile;
use toolmark_pattern::Pattern;

/// Input for building a grader.
pub struct Building<'a> {
    /// Its configuration as the spec has it.
    pub config: &'a Node,
    /// Whose reading it follows.
    pub profile: Profile,
    /// Another reading to compare the answer with, and to mention where it differs.
    pub contrast: Option<Profile>,
    /// The directory of the spec.
    pub directory: &'a Path,
    /// Compiles the JSON Schemas of conditions.
    pub schemas: SchemaCompiler,
    /// Problems of the configuration.
    pub problems: &'a mut Vec<Problem>,
}

impl Building<'_> {
    /// The configuration as a type; what is wrong with it goes to `problems`.
    pub fn read<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        toolmark_config::read(self.config, self.problems)
    }

    /// Something is wrong at this place of the configuration.
    pub fn reject(&mut self, span: NodeSpan, code: &'static str, message: impl Into<String>) {
        self.problems.push(Problem::error(code, message).at(span));
    }

    /// A regular expression of the configuration.
    pub fn pattern(&mut self, source: &Spanned<String>) -> Option<Pattern> {
        match Pattern::new(&source.value) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let message = format!("not a regular expression: {}", error.message);
                let problem = Problem::error("invalid-pattern", message).at(source.span);
                self.problems.push(match error.hint {
                    Some(hint) => problem.help(hint),
                    None => problem,
                });
                None
            }
        }
    }

    /// Regular expressions of the configuration; `None` where one is wrong.
    pub fn patterns(&mut self, sources: &[Spanned<String>]) -> Option<Vec<Pattern>> {
        // All of them are looked at, so that all mistakes are reported.
        let patterns: Vec<_> = sources.iter().map(|source| self.pattern(source)).collect();
        patterns.into_iter().collect()
    }
}
