//! The policy: the `guard:` part of `toolmark.yaml`.
//!
//! A [`Layer`] is the content of one file. A [`Policy`] combines the user's file with the
//! project's; of all their decisions about a call the strictest counts, so that a project can only
//! make things stricter. [`Policy::default`] has no file and decides exactly as `toolmark check`.

mod bounds;
mod call;
mod conditions;
mod decide;
mod examples;
mod kept;
mod layer;
mod layers;
mod limits;
mod places;
mod rule;
mod strict;
mod suggest;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_rules;
mod tools;
mod words;

pub use call::{PolicySubject, Touched};
pub(crate) use conditions::by_instruction;
pub use layer::{Import, Layer, PolicyOrigin, Whose, schema};
pub use layers::LayerProblems;
pub use limits::{CallRate, LogLocation, McpLimits, RateError};
pub use places::{Base, Paths};
pub(crate) use rule::words_fit;
pub use words::Preset;

use toolmark_shell::{Decision, Protection};

/// Default time limit of the guard.
const TIMEOUT_MS: u64 = 1000;

/// Rules by which the guard decides.
#[derive(Debug, Default)]
pub struct Policy {
    user: Layer,
    project: Option<Layer>,
    raised: Option<Preset>,
    /// Files protected on this machine in addition to the default ones.
    protected: Vec<(String, Protection)>,
}

/// Settings of a policy about the environment in which calls run.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Directories that may be written to besides the work tree.
    pub writable: Vec<String>,
    /// Directories for temporary files.
    pub temp: Vec<String>,
    /// Programs that only run the command given as their arguments.
    pub wrappers: Vec<String>,
}

impl Policy {
    /// Combines the user's file and a project's, which may only make it stricter. A preset from the
    /// environment may only raise the one of the files.
    #[must_use]
    pub fn new(user: Option<Layer>, project: Option<Layer>, raised: Option<Preset>) -> Self {
        Self { user: user.unwrap_or_default(), project, raised, protected: Vec::new() }
    }

    /// Adds files that must not be changed without approval on this machine: moved settings of
    /// hosts, the policy and the log themselves.
    #[must_use]
    pub fn protecting(mut self, files: Vec<String>, because: Protection) -> Self {
        let files = self.user.origin.base.both_ways(files);
        self.protected.extend(files.into_iter().map(|file| (file, because)));
        self
    }

    /// Returns the layer of the user's file.
    #[must_use]
    pub fn user(&self) -> &Layer {
        &self.user
    }

    /// Returns the layer of the project's file.
    #[must_use]
    pub fn project(&self) -> Option<&Layer> {
        self.project.as_ref()
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.user).chain(&self.project)
    }

    /// Whether a decision may depend on any argument of a call.
    #[must_use]
    pub(crate) fn looks_at_arguments(&self) -> bool {
        let by_files =
            self.layers().any(|layer| !layer.rules.is_empty() || !layer.imports.is_empty());
        by_files || self.preset() == Preset::Strict
    }

    /// Returns the strictest preset of the files and the environment.
    #[must_use]
    pub fn preset(&self) -> Preset {
        let user = self.user.preset.unwrap_or_default();
        let project = self.project.as_ref().and_then(|project| project.preset);
        [project, self.raised].into_iter().flatten().fold(user, Preset::max)
    }

    /// Returns the decision for an internal failure of the guard.
    #[must_use]
    pub fn on_error(&self) -> Decision {
        let user = self.user.on_error.unwrap_or(Decision::Ask);
        let project = self.project.as_ref().and_then(|project| project.on_error);
        project.map_or(user, |project| project.max(user))
    }

    /// Whether hosts are instructed to proceed without asking.
    #[must_use]
    pub fn approve(&self) -> bool {
        let refused = self.project.as_ref().is_some_and(|project| project.approve == Some(false));
        self.user.approve.unwrap_or(false) && !refused
    }

    /// Whether a copy of what a call deletes or overwrites is kept before it runs.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.user.keep.unwrap_or(true)
    }

    /// Returns the time limit of the guard, in milliseconds.
    #[must_use]
    pub fn timeout_ms(&self) -> u64 {
        let user = self.user.timeout_ms.unwrap_or(TIMEOUT_MS);
        let project = self.project.as_ref().and_then(|project| project.timeout_ms);
        project.map_or(user, |project| project.min(user))
    }

    /// Returns the limits for tool servers.
    #[must_use]
    pub fn mcp(&self) -> McpLimits {
        let user = self.user.mcp.clone();
        match &self.project {
            Some(project) => user.tightened(&project.mcp),
            None => user,
        }
    }

    /// Returns the log settings of the user's policy only, with the path relative to the directory
    /// of the user's file.
    #[must_use]
    pub fn log(&self) -> LogLocation {
        let path = self.user.log.path.as_ref();
        let directory = self.user.origin.file.rsplit_once('/').map(|(directory, _)| directory);
        let path = path.map(|path| self.user.origin.base.resolve(path, directory));
        LogLocation { path, ..self.user.log.clone() }
    }

    /// Returns the environment of a session's calls, from the user's policy only.
    #[must_use]
    pub fn surroundings(&self, cwd: Option<&str>) -> Surroundings {
        let base = &self.user.origin.base;
        Surroundings {
            writable: base.both_ways(self.user.writable.all(base, cwd)),
            temp: base.both_ways(self.user.temp.all(base, cwd)),
            wrappers: self.user.wrappers.clone(),
        }
    }
}
