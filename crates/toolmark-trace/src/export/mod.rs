//! Writes a trajectory in the format of another tool.
//!
//! One target is one file here and one line in [`EXPORTERS`]. Every target
//! writes a trajectory as one or more whole lines, so a file of many
//! trajectories is their concatenation. What a target cannot represent
//! is counted in [`Losses`], never dropped silently.

mod agentv;
mod atif;
mod json;
mod losses;
mod openai;
mod otlp;
mod rows;
mod shared;
#[cfg(test)]
pub(crate) mod testing;
mod toolmark;
mod vally;

use crate::model::Trajectory;
use crate::read::{ReadOptions, format_by_id, read};
use serde_json::Value;
use std::io;

pub use losses::{Losses, TrajectoryPart};

/// Description of a target, as printed by `toolmark convert` and the docs.
#[derive(Debug)]
pub struct ExportInfo {
    /// Short name for `--to`, in kebab case.
    pub id: &'static str,
    /// Display name.
    pub title: &'static str,
    /// File name extension, without the dot.
    pub extension: &'static str,
    /// Parts that the target cannot represent. Some are lost only if a trajectory has them, some
    /// only in certain cases: [`Losses`] holds the counts.
    pub lacks: &'static [TrajectoryPart],
}

/// A target of `toolmark convert`.
pub trait Exporter: Sync {
    /// Returns the description of the target.
    fn info(&self) -> &'static ExportInfo;

    /// Writes one trajectory as whole lines, including its sub-agents if the target supports
    /// them. The same trajectory gives the same bytes. Writes are small: pass a buffered writer.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses>;
}

/// All targets, in the order of the help text.
#[rustfmt::skip]
pub const EXPORTERS: &[&dyn Exporter] = &[
    &toolmark::ToolmarkExporter,
    &atif::Atif,
    &vally::VallyExporter,
    &agentv::AgentV,
    &openai::OpenAi,
    &otlp::Otlp,
];

/// Returns the target with this ID.
#[must_use]
pub fn exporter_by_id(id: &str) -> Option<&'static dyn Exporter> {
    EXPORTERS.iter().copied().find(|e| e.info().id == id)
}

/// Converts a trajectory in toolmark's own JSON to another target: returns the values of its
/// lines, or an empty list if it cannot be read back.
#[must_use]
pub fn rewrite(trajectory: &Value, target: &dyn Exporter) -> Vec<Value> {
    let text = io::Cursor::new(trajectory.to_string());
    let options = ReadOptions { force: format_by_id("toolmark"), ..ReadOptions::default() };
    let mut lines = Vec::new();
    for run in read(text, "", &options).into_iter().flatten() {
        // Writing to memory does not fail.
        let _ = target.export(&run, &mut lines);
    }
    serde_json::Deserializer::from_slice(&lines).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::testing::{everything, export, lines};
    use super::*;

    #[test]
    fn the_same_trajectory_gives_the_same_bytes() {
        for exporter in EXPORTERS {
            let (first, _) = export(*exporter, &everything());
            let (second, _) = export(*exporter, &everything());
            assert_eq!(first, second, "{}", exporter.info().id);
            assert!(first.ends_with('\n'));
            assert!(!lines(&first).is_empty());
        }
    }

    /// Checks the fixture that the conversion tests read.
    #[test]
    fn the_fixture_holds_everything() {
        let (text, _) = export(&toolmark::ToolmarkExporter, &everything());
        assert_eq!(text, include_str!("../../tests/fixtures/readers/toolmark.jsonl"));
    }

    #[test]
    fn an_empty_trajectory_is_no_trouble() {
        let mut run = everything();
        run.events.clear();
        run.calls.clear();
        run.steps.clear();
        run.children.clear();
        for exporter in EXPORTERS {
            let (text, _) = export(*exporter, &run);
            lines(&text);
        }
    }

    #[test]
    fn ids_are_unique() {
        for exporter in EXPORTERS {
            let id = exporter.info().id;
            let found = exporter_by_id(id).map(|e| e.info().title);
            assert_eq!(found, Some(exporter.info().title), "{id}");
        }
        assert!(exporter_by_id("nothing").is_none());
    }

    #[test]
    fn what_a_target_lacks_is_counted_only_where_it_was_there() {
        let mut bare = everything();
        bare.events.clear();
        bare.children.clear();
        let (_, losses) = export(&openai::OpenAi, &bare);
        assert_eq!(losses.count(TrajectoryPart::Reasoning), 0);
        let (_, losses) = export(&openai::OpenAi, &everything());
        assert_eq!(losses.count(TrajectoryPart::Reasoning), 1);
        let (_, losses) = export(&toolmark::ToolmarkExporter, &everything());
        assert!(losses.is_empty(), "{losses}");
    }
}
