//! What is allowed: the `guard:` part of `toolmark.yaml`.
//!
//! A [`Layer`] is what one file says. A [`Policy`] is the user's file and the
//! project's on top of it; of all that they say about a call the strictest
//! counts, so that a project can make things stricter and nothing else.
//! [`Policy::default`] has no file and decides exactly as `toolmark check`.

mod bounds;
mod call;
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

pub use call::{Call, Touched};
pub use layer::{Import, Layer, Origin, Whose, schema};
pub use layers::Checked;
pub use limits::{Log, Mcp, Rate};
pub use places::{Base, Paths};
pub(crate) use rule::words_fit;
pub use words::Preset;

use toolmark_shell::{Decision, Protection};

/// How long the guard may think where nothing is said about it.
const TIMEOUT_MS: u64 = 1000;

/// What the guard decides by.
#[derive(Debug, Default)]
pub struct Policy {
    user: Layer,
    project: Option<Layer>,
    raised: Option<Preset>,
    /// What is protected on this machine beside what always is.
    protected: Vec<(String, Protection)>,
}

/// What a policy says about the place calls run in.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Directories that may be written to besides the work tree.
    pub writable: Vec<String>,
    /// Directories for temporary files.
    pub temp: Vec<String>,
    /// Programs that only run the command behind them.
    pub wrappers: Vec<String>,
}

impl Policy {
    /// The user's file, and a project's that may only make it stricter. A
    /// preset from the environment may only raise the one of the files.
    #[must_use]
    pub fn new(user: Option<Layer>, project: Option<Layer>, raised: Option<Preset>) -> Self {
        Self { user: user.unwrap_or_default(), project, raised, protected: Vec::new() }
    }

    /// With files that must not be changed unseen on this machine: settings of hosts
    /// that were moved, the policy and the log themselves.
    #[must_use]
    pub fn protecting(mut self, files: Vec<String>, because: Protection) -> Self {
        let files = self.user.origin.base.both_ways(files);
        self.protected.extend(files.into_iter().map(|file| (file, because)));
        self
    }

    /// What the user's file says.
    #[must_use]
    pub fn user(&self) -> &Layer {
        &self.user
    }

    /// What the project's file says.
    #[must_use]
    pub fn project(&self) -> Option<&Layer> {
        self.project.as_ref()
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.user).chain(&self.project)
    }

    /// May a decision hang on any argument of a call?
    #[must_use]
    pub(crate) fn looks_at_arguments(&self) -> bool {
        let by_files =
            self.layers().any(|layer| !layer.rules.is_empty() || !layer.imports.is_empty());
        by_files || self.preset() == Preset::Strict
    }

    /// How much is asked of a call.
    #[must_use]
    pub fn preset(&self) -> Preset {
        let user = self.user.preset.unwrap_or_default();
        let project = self.project.as_ref().and_then(|project| project.preset);
        [project, self.raised].into_iter().flatten().fold(user, Preset::max)
    }

    /// What to decide when the guard itself fails.
    #[must_use]
    pub fn on_error(&self) -> Decision {
        let user = self.user.on_error.unwrap_or(Decision::Ask);
        let project = self.project.as_ref().and_then(|project| project.on_error);
        project.map_or(user, |project| project.max(user))
    }

    /// Should hosts be told to go ahead without asking?
    #[must_use]
    pub fn approve(&self) -> bool {
        let refused = self.project.as_ref().is_some_and(|project| project.approve == Some(false));
        self.user.approve.unwrap_or(false) && !refused
    }

    /// How long the guard may think, in milliseconds.
    #[must_use]
    pub fn timeout_ms(&self) -> u64 {
        let user = self.user.timeout_ms.unwrap_or(TIMEOUT_MS);
        let project = self.project.as_ref().and_then(|project| project.timeout_ms);
        project.map_or(user, |project| project.min(user))
    }

    /// What may be asked of servers of tools.
    #[must_use]
    pub fn mcp(&self) -> Mcp {
        let user = self.user.mcp.clone();
        match &self.project {
            Some(project) => user.tightened(&project.mcp),
            None => user,
        }
    }

    /// Where decisions are written down: the user's word alone, its path seen
    /// from the directory of the user's file.
    #[must_use]
    pub fn log(&self) -> Log {
        let path = self.user.log.path.as_ref();
        let directory = self.user.origin.file.rsplit_once('/').map(|(directory, _)| directory);
        let path = path.map(|path| self.user.origin.base.resolve(path, directory));
        Log { path, ..self.user.log.clone() }
    }

    /// The place calls of a session run in: the user's word alone.
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
