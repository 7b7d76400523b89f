//! Resolves targets for a run: follows references to other targets and looks up variables.

use crate::matrix::MatrixError;
use crate::variables::VariableLookup;
use std::path::PathBuf;
use toolmark_grade::run_plan::{
    AgentTarget, CommandLine, Recordings, Runner, WorkspacePlan, inherited,
};

/// Maximum length of a chain of references.
const MAX_LINKS: usize = 10;

/// Resolves a target under its own name.
pub(crate) fn target(
    written: &AgentTarget,
    known: &[AgentTarget],
    lookup: VariableLookup<'_>,
) -> Result<AgentTarget, MatrixError> {
    let name = &written.name;
    let mut values = TargetValues { target: written, lookup, missing: None };
    let mut found = written.clone();
    let mut links = 0;
    while let Some(other) = found.stands_for.take() {
        let other = values.value(other);
        values.finish()?;
        links += 1;
        if links > MAX_LINKS {
            let message = format!("target {name}: more than {MAX_LINKS} targets for one another");
            return Err(MatrixError::new(message, None));
        }
        let Some(next) = known.iter().find(|target| target.name == other) else {
            let message = format!("target {name} stands for {other}, which does not exist");
            return Err(MatrixError::new(message, None));
        };
        // What is said of the outer one adds to the inner one.
        found = AgentTarget {
            name: name.clone(),
            workspace: match (found.workspace, &next.workspace) {
                (Some(own), Some(other)) => Some(own.with(other)),
                (own, other) => own.or_else(|| other.clone()),
            },
            problems: [found.problems, next.problems.clone()].concat(),
            notes: [found.notes, next.notes.clone()].concat(),
            timeout: found.timeout.or(next.timeout),
            jobs: found.jobs.or(next.jobs),
            batches: found.batches || next.batches,
            ..next.clone()
        };
    }
    found.models = found.models.into_iter().map(|model| values.value(model)).collect();
    found.directory = found.directory.map(|path| values.path(path));
    found.runner = match found.runner {
        Runner::Agent { id, executable, args } => Runner::Agent {
            id,
            executable: executable.map(|program| values.value(program)),
            args: args.into_iter().map(|word| values.value(word)).collect(),
        },
        Runner::Command { line, trace, needs_success } => {
            let line = match line {
                CommandLine::Capitals(line) => CommandLine::Capitals(values.value(line)),
                line => line,
            };
            Runner::Command { line, trace, needs_success }
        }
        Runner::Replay(recordings) => Runner::Replay(Recordings {
            path: values.path(recordings.path),
            agent: recordings.agent.map(|agent| values.value(agent)),
            ..recordings
        }),
        other => other,
    };
    found.workspace = found
        .workspace
        .map(|plan| WorkspacePlan { from: plan.from.map(|path| values.path(path)), ..plan });
    values.finish()?;
    Ok(found)
}

/// Looks up the values of one target.
struct TargetValues<'a> {
    target: &'a AgentTarget,
    lookup: VariableLookup<'a>,
    missing: Option<String>,
}

impl TargetValues<'_> {
    /// Returns a value or the variable that it names. Only a whole value can name a variable.
    fn value(&mut self, written: String) -> String {
        let Some(name) = inherited(&written) else { return written };
        match (self.lookup)(name) {
            Some(value) => value.to_string_lossy().into_owned(),
            None => {
                self.missing.get_or_insert_with(|| name.to_owned());
                written
            }
        }
    }

    /// Like `value`, for a path whose last component may name a variable.
    fn path(&mut self, written: PathBuf) -> PathBuf {
        let last = written.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match inherited(&last) {
            Some(_) => written.with_file_name("").join(self.value(last)),
            None => written,
        }
    }

    fn finish(&self) -> Result<(), MatrixError> {
        let Some(name) = &self.missing else { return Ok(()) };
        let place = &self.target.place;
        let message = format!(
            "{}:{}: target {}: the variable {name} is not set",
            place.file.raw(),
            place.line,
            self.target.name
        );
        Err(MatrixError::new(message, "set it, or write it into .env".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn agent(name: &str, model: &str) -> AgentTarget {
        let runner = Runner::Agent { id: "codex".into(), executable: None, args: Vec::new() };
        AgentTarget { models: vec![model.into()], ..AgentTarget::new(name, runner) }
    }

    fn alias(name: &str, of: &str) -> AgentTarget {
        let runner = Runner::Unsupported(String::new());
        AgentTarget { stands_for: Some(of.into()), ..AgentTarget::new(name, runner) }
    }

    fn lookup(name: &str) -> Option<OsString> {
        match name {
            "AGENT" => Some("real".into()),
            "MODEL" => Some("m-1".into()),
            _ => None,
        }
    }

    #[test]
    fn aliases_and_variables() {
        let known = [
            alias("default", "${{ AGENT }}"),
            alias("loop", "loop"),
            alias("lost", "nobody"),
            agent("real", "${{ MODEL }}"),
            agent("unset", "${{ NOT_SET }}"),
            agent("inside", "x-${{ MODEL }}"),
        ];
        for (name, expected) in [
            ("default", Ok("m-1")),
            ("real", Ok("m-1")),
            ("inside", Ok("x-${{ MODEL }}")),
            ("loop", Err("more than 10 targets")),
            ("lost", Err("stands for nobody, which does not exist")),
            ("unset", Err("the variable NOT_SET is not set")),
        ] {
            let written = known.iter().find(|target| target.name == name).unwrap();
            match (target(written, &known, &lookup), expected) {
                (Ok(found), Ok(model)) => {
                    assert_eq!((found.name.as_str(), found.models[0].as_str()), (name, model));
                }
                (Err(error), Err(why)) => assert!(error.message.contains(why), "{error}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }
}
