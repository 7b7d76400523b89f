//! Six checks of the files that an agent left: their existence, and their
//! content.
//!
//! `path` is a path in the workspace or a glob pattern; any matching file
//! may decide the result. An unreadable file or a missing workspace
//! makes the verdict unknown unless another file has already decided it.

use crate::vally::graders::workspace::{Allowance, SearchResult, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_pattern::Glob;
use toolmark_pattern::{Pattern, StepLimit};

/// Maximum number of files listed in a piece of evidence.
const LISTED: usize = 20;

/// Files that must or must not exist.
#[derive(Debug, Deserialize, JsonSchema)]
struct Existence {
    /// A path in the workspace, or a pattern such as `src/**/*.ts`.
    path: Spanned<String>,
    /// Inverts the check.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
}

/// Text that a file must contain, or no file may contain.
#[derive(Debug, Deserialize, JsonSchema)]
struct Containing {
    /// A path in the workspace, or a pattern such as `src/**/*.ts`.
    path: Spanned<String>,
    /// Text to search for, case-sensitive.
    value: Spanned<String>,
    /// Inverts the check.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
    /// Whether a matching file must exist. Only used if no file may contain the text; by
    /// default, the check passes without any file.
    #[serde(default)]
    require_file: bool,
}

/// Pattern that a file must match, or no file may match.
#[derive(Debug, Deserialize, JsonSchema)]
struct Matching {
    /// A path in the workspace, or a pattern such as `src/**/*.ts`.
    path: Spanned<String>,
    /// A regular expression, which may match anywhere in the file.
    pattern: Spanned<String>,
    /// Inverts the check.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
    /// Whether a matching file must exist. Only used if no file may match; by default, the
    /// check passes without any file.
    #[serde(default)]
    require_file: bool,
}

enum FileQuestion {
    Exists,
    Contains(String),
    Matches(Pattern),
}

struct FileGrader {
    path: String,
    glob: Glob,
    question: FileQuestion,
    negate: bool,
    require_file: bool,
}

const TAXONOMY: Taxonomy = Taxonomy {
    determinism: Determinism::Environment,
    cost: AnswerCost::Low,
    reference: Reference::Free,
    scope: GradeScope::End,
};

macro_rules! file_grader {
    ($static:ident, $id:literal, $summary:literal, $config:ty, $build:ident, $negate:literal, $example:literal, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: &[],
            origin: "vally",
            summary: $summary,
            docs: concat!(
                $docs,
                "\n\n`path` is a path in the workspace, or a pattern: `*` and `?` within a name, ",
                "`[a-z]`, `{a,b}`, and `**` for any number of directories. Names that begin with a ",
                "dot are names like others. A path that is there just as it is written is not ",
                "taken for a pattern. `..`, absolute paths and links that lead out of the ",
                "workspace are not followed.\n\n",
                "Without a workspace the answer is unknown; so it is where a file that could ",
                "have decided cannot be read, and the reason names it."
            ),
            example: concat!("type: ", $id, "\nconfig:\n  path: src/main.ts", $example),
            taxonomy: TAXONOMY,
            profiles: &[Profile::Vally],
            schema: schema_of::<$config>,
            build: |building| {
                let config = building.read::<$config>()?;
                let grader = $build(config, $negate, building)?;
                Some(Arc::new(grader))
            },
        };
    };
}

file_grader!(
    FILE_EXISTS,
    "file-exists",
    "checks that a file exists",
    Existence,
    existence,
    false,
    "",
    "Passes if a file that `path` names exists. A path without wildcards may name a directory too."
);
file_grader!(
    FILE_NOT_EXISTS,
    "file-not-exists",
    "checks that a file does not exist",
    Existence,
    existence,
    true,
    "",
    "Passes if no file that `path` names exists. A path without wildcards may name a directory too."
);
file_grader!(
    FILE_CONTAINS,
    "file-contains",
    "checks that a file contains a text",
    Containing,
    containing,
    false,
    "\n  value: export function main",
    "Passes if at least one of the files that `path` names contains the text `value`, letter case included. No such file is a failure of its own."
);
file_grader!(
    FILE_NOT_CONTAINS,
    "file-not-contains",
    "checks that no file contains a text",
    Containing,
    containing,
    true,
    "\n  value: console.log",
    "Passes if none of the files that `path` names contains the text `value`, letter case included. No such \
     file at all is a pass with a note, unless `require_file` is set."
);
file_grader!(
    FILE_MATCHES,
    "file-matches",
    "checks that a file matches a pattern",
    Matching,
    matching,
    false,
    "\n  pattern: export (async )?function",
    "Passes if at least one of the files that `path` names matches the regular expression `pattern`. \
     No such file is a failure of its own."
);
file_grader!(
    FILE_NOT_MATCHES,
    "file-not-matches",
    "checks that no file matches a pattern",
    Matching,
    matching,
    true,
    "\n  pattern: console\\.log|debugger",
    "Passes if none of the files that `path` names matches the regular expression `pattern`. No such \
     file at all is a pass with a note, unless `require_file` is set."
);

fn existence(config: Existence, not: bool, building: &mut Building<'_>) -> Option<FileGrader> {
    let glob = glob(&config.path, building);
    let negate = negated(not, config.negate, building)?;
    Some(FileGrader {
        path: config.path.value,
        glob: glob?,
        question: FileQuestion::Exists,
        negate,
        require_file: false,
    })
}

fn containing(config: Containing, not: bool, building: &mut Building<'_>) -> Option<FileGrader> {
    let glob = glob(&config.path, building);
    let negate = negated(not, config.negate, building);
    if config.value.value.is_empty() {
        building.reject(config.value.span, "empty-text", "every file has the empty text");
        return None;
    }
    Some(FileGrader {
        path: config.path.value,
        glob: glob?,
        question: FileQuestion::Contains(config.value.value),
        negate: negate?,
        require_file: config.require_file,
    })
}

fn matching(config: Matching, not: bool, building: &mut Building<'_>) -> Option<FileGrader> {
    let glob = glob(&config.path, building);
    let negate = negated(not, config.negate, building);
    let pattern = building.pattern(&config.pattern)?;
    Some(FileGrader {
        path: config.path.value,
        glob: glob?,
        question: FileQuestion::Matches(pattern),
        negate: negate?,
        require_file: config.require_file,
    })
}

fn glob(path: &Spanned<String>, building: &mut Building<'_>) -> Option<Glob> {
    match Glob::new(&path.value) {
        Ok(glob) => Some(glob),
        Err(why) => {
            building.reject(path.span, "invalid-path", why.to_string());
            None
        }
    }
}

/// Whether the check is inverted. An inverted type already implies this: `negate`
/// may repeat it, but not revoke it.
pub(super) fn negated(
    not: bool,
    negate: Option<Spanned<bool>>,
    building: &mut Building<'_>,
) -> Option<bool> {
    match negate {
        Some(Spanned { value: false, span }) if not => {
            let message = "the type already asks for the opposite: negate cannot be false";
            building.reject(span, "contradiction", message);
            None
        }
        Some(negate) => Some(not || negate.value),
        None => Some(not),
    }
}

impl Grader for FileGrader {
    fn reads_trace(&self) -> bool {
        false
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let workspace = match Workspace::of(subject) {
            Ok(workspace) => workspace,
            Err(untold) => return untold.into(),
        };
        let found = workspace.find(&self.path, &self.glob);
        match &self.question {
            FileQuestion::Exists => self.existence(found),
            _ => self.content(&workspace, found),
        }
    }
}

impl FileGrader {
    fn existence(&self, found: SearchResult) -> Outcome {
        if found.files.is_empty() {
            if let Some(unknown) = unseen(&self.path, &found, &[]) {
                return unknown;
            }
            let outcome = Outcome::binary(self.negate, format!("no files matching {}", self.path));
            let role = if self.negate { EvidenceRole::Context } else { EvidenceRole::Missing };
            return outcome.with_evidence([Evidence::words(role, format!("no {}", self.path))]);
        }
        let role = if self.negate { EvidenceRole::Violation } else { EvidenceRole::Matched };
        let reason = format!("found {}", listed(&found.files));
        Outcome::binary(!self.negate, reason)
            .with_metric("files", found.files.len())
            .with_evidence(found.files.iter().take(LISTED).map(|f| Evidence::words(role, f)))
    }

    fn content(&self, workspace: &Workspace, mut found: SearchResult) -> Outcome {
        let mut allowance = Allowance::default();
        let mut too_hard = Vec::new();
        let mut looked_at = 0_usize;
        for file in &found.files {
            let text = match workspace.text(file, &mut allowance) {
                Ok(text) => text,
                Err(error) => {
                    found.unreadable.push(error.to_string());
                    continue;
                }
            };
            looked_at += 1;
            match self.question.find(&text) {
                Err(_) => too_hard.push(file.clone()),
                Ok(None) => {}
                Ok(Some(at)) => {
                    let role =
                        if self.negate { EvidenceRole::Violation } else { EvidenceRole::Matched };
                    let (line, words) = line_of(&text, at);
                    let reason = format!("{} found in {file}", self.question);
                    let evidence = Evidence::words(role, format!("{file}, line {line}"));
                    return Outcome::binary(!self.negate, reason)
                        .with_evidence([evidence.with_excerpt(words)]);
                }
            }
        }
        if let Some(unknown) = unseen(&self.path, &found, &too_hard) {
            return unknown;
        }
        if found.files.is_empty() {
            let reason = format!("no files matching {}", self.path);
            let holds = self.negate && !self.require_file;
            let outcome = Outcome::binary(holds, reason)
                .with_evidence([Evidence::absence(format!("no {}", self.path))]);
            return match holds {
                true => outcome.with_note("there was no file to look at"),
                false => outcome,
            };
        }
        let role = if self.negate { EvidenceRole::Context } else { EvidenceRole::Missing };
        let reason = format!("{} NOT found in {}", self.question, listed(&found.files));
        Outcome::binary(self.negate, reason)
            .with_metric("files", looked_at)
            .with_evidence(found.files.iter().take(LISTED).map(|f| Evidence::words(role, f)))
    }
}

/// Returns an unknown outcome if something that could have decided was not readable.
fn unseen(path: &str, found: &SearchResult, too_hard: &[String]) -> Option<Outcome> {
    if !found.unreadable.is_empty() {
        let reason = format!("could not be read: {}", listed(&found.unreadable));
        return Some(Outcome::unknown(Cause::MissingEvidence, reason));
    }
    if !too_hard.is_empty() {
        let reason = format!("the pattern took too many steps in {}", listed(too_hard));
        return Some(Outcome::unknown(Cause::Limit, reason));
    }
    let stopped = found.stopped.as_ref()?;
    Some(Outcome::unknown(Cause::Limit, format!("{path} was not looked for everywhere: {stopped}")))
}

/// Formats names as `a, b, c and 5 more`.
pub(super) fn listed(names: &[String]) -> String {
    const NAMED: usize = 5;
    let mut text = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        text.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    text
}

/// Returns the line that contains a byte, from 1, with its text.
pub(super) fn line_of(text: &str, at: usize) -> (usize, &str) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    (line, text.lines().nth(line - 1).unwrap_or_default())
}

impl FileQuestion {
    /// Returns the byte at which the match starts.
    fn find(&self, text: &str) -> Result<Option<usize>, StepLimit> {
        match self {
            Self::Exists => Ok(None),
            Self::Contains(value) => Ok(text.find(value.as_str())),
            Self::Matches(pattern) => Ok(pattern.find(text)?.map(|range| range.start)),
        }
    }
}

impl std::fmt::Display for FileQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exists => f.write_str("a file"),
            Self::Contains(value) => write!(f, "\"{}\"", toolmark_outcome::excerpt(value)),
            Self::Matches(pattern) => write!(f, "/{pattern}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, complaints, grade, runs, vally, vally_with};
    use crate::vally::graders::testing::{Files, grade_in, grade_run, small_run};
    use serde_json::json;
    use toolmark_outcome::TrajectoryView;
    use toolmark_outcome::Verdict;
    use toolmark_outcome::{CaseContext, Environment};

    const UNKNOWN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

    fn files() -> Files {
        Files::new(&[
            ("README.md", "# Title\nSecret inside\n"),
            (".env", "TOKEN=abc"),
            ("src/a.ts", "export const a = 1;\n"),
            ("src/deep/b.ts", "const b = 2;\n// XYZ later\n"),
        ])
    }

    #[test]
    fn verdicts() {
        let files = files();
        for (id, config, verdict, reason) in [
            ("file-exists", json!({"path": "README.md"}), Verdict::Pass, "README.md"),
            ("file-exists", json!({"path": "src/**/*.ts"}), Verdict::Pass, "src/a.ts, src/deep"),
            ("file-exists", json!({"path": "*env"}), Verdict::Pass, ".env"),
            ("file-exists", json!({"path": "src"}), Verdict::Pass, "src"),
            ("file-exists", json!({"path": "nope.md"}), Verdict::Fail, "no files matching nope.md"),
            ("file-exists", json!({"path": "nope", "negate": true}), Verdict::Pass, "no files"),
            ("file-exists", json!({"path": ".env", "negate": true}), Verdict::Fail, "found .env"),
            ("file-not-exists", json!({"path": "*.log"}), Verdict::Pass, "no files matching"),
            ("file-not-exists", json!({"path": "**/*.ts"}), Verdict::Fail, "src/a.ts"),
            (
                "file-not-exists",
                json!({"path": "*.log", "negate": true}),
                Verdict::Pass,
                "no files matching",
            ),
            (
                "file-contains",
                json!({"path": "README.md", "value": "Secret"}),
                Verdict::Pass,
                "\"Secret\" found in README.md",
            ),
            (
                "file-contains",
                json!({"path": "README.md", "value": "secret"}),
                Verdict::Fail,
                "\"secret\" NOT found in README.md",
            ),
            ("file-contains", json!({"path": "**/*", "value": "abc"}), Verdict::Pass, ".env"),
            ("file-contains", json!({"path": "x", "value": "a"}), Verdict::Fail, "no files"),
            (
                "file-not-contains",
                json!({"path": "README.md", "value": "secret"}),
                Verdict::Pass,
                "NOT found",
            ),
            (
                "file-not-contains",
                json!({"path": "**/*.ts", "value": "XYZ"}),
                Verdict::Fail,
                "found in src/deep/b.ts",
            ),
            ("file-not-contains", json!({"path": "x", "value": "a"}), Verdict::Pass, "no files"),
            (
                "file-not-contains",
                json!({"path": "x", "value": "a", "require_file": true}),
                Verdict::Fail,
                "no files matching x",
            ),
            (
                "file-matches",
                json!({"path": "**/*.ts", "pattern": "const b = \\d"}),
                Verdict::Pass,
                "/const b = \\d/ found in src/deep/b.ts",
            ),
            ("file-matches", json!({"path": "**/*.ts", "pattern": "^x"}), Verdict::Fail, "NOT"),
            ("file-not-matches", json!({"path": "*", "pattern": "^x"}), Verdict::Pass, "NOT"),
            (
                "file-not-matches",
                json!({"path": "*.md", "pattern": "Secret"}),
                Verdict::Fail,
                "found in README.md",
            ),
            // A directory has no text.
            ("file-contains", json!({"path": "src", "value": "a"}), UNKNOWN, "src: is no file"),
        ] {
            let outcome = grade_in(id, config.clone(), &files.environment());
            assert_eq!(outcome.verdict, verdict, "{id} {config} {outcome:?}");
            assert!(
                outcome.reason.raw().contains(reason),
                "{id} {config} {}",
                outcome.reason.raw()
            );
            assert_eq!(outcome.score.is_none(), verdict == UNKNOWN, "{id} {config}");
        }
    }

    #[test]
    fn evidence_points_at_the_line() {
        let config = json!({"path": "**/*.ts", "pattern": "XYZ"});
        let outcome = grade_in("file-not-matches", config, &files().environment());
        let evidence = &outcome.evidence[0];
        assert_eq!(evidence.role, EvidenceRole::Violation);
        assert_eq!(evidence.text, "src/deep/b.ts, line 2");
        assert_eq!(evidence.excerpt.as_ref().map(|text| text.raw()), Some("// XYZ later"));
    }

    #[test]
    fn nothing_to_look_at_is_said() {
        let config = json!({"path": "x", "value": "a"});
        let outcome = grade_in("file-not-contains", config, &files().environment());
        assert_eq!(outcome.notes, ["there was no file to look at"]);
    }

    #[test]
    fn the_workspace_of_the_trace_is_used_where_it_is_there() {
        let files = files();
        let trace = |dir: &str| vally_with(&[], json!({"workDir": dir}));
        let exists = |trace: &str| grade("file-exists", json!({"path": ".env"}), trace);
        let here = files.root().display().to_string();
        assert_eq!(exists(&trace(&here)).verdict, Verdict::Pass);
        for (trace, reason) in [
            (trace("/toolmark/not/here"), "/toolmark/not/here is not there"),
            (vally_with(&[], json!({})), "does not say where"),
        ] {
            let outcome = exists(&trace);
            assert_eq!(outcome.verdict, UNKNOWN, "{reason}");
            assert!(outcome.reason.raw().contains(reason), "{}", outcome.reason.raw());
        }
        let gone = Environment { workspace: Some("/toolmark/gone".into()), ..Default::default() };
        let outcome = grade_in("file-not-exists", json!({"path": "x"}), &gone);
        assert_eq!(outcome.verdict, UNKNOWN);
    }

    #[test]
    fn a_remote_workspace_is_not_looked_for_here() {
        let files = files();
        let mut run = small_run();
        run.cwd = Some(files.root().display().to_string().into());
        run.stated.workspace = Some("remote".into());
        let config = json!({"path": "gone"});
        let ask = |environment: &Environment| {
            grade_run("file-not-exists", config.clone(), &run, environment).verdict
        };
        assert_eq!(ask(&Environment::default()), UNKNOWN);
        assert_eq!(ask(&files.environment()), Verdict::Pass);
        run.stated.workspace = Some("materialized".into());
        let outcome = grade_run("file-not-exists", config, &run, &Environment::default());
        assert_eq!(outcome.verdict, Verdict::Pass);
    }

    #[test]
    fn only_the_last_turn_left_the_workspace_as_it_is() {
        let files = files();
        let user = |text: &str| ("user_message", json!({"content": text}));
        let run = &runs(&vally(&[user("a"), user("b")]))[0];
        let grader = build("file-exists", Profile::Vally, &json!({"path": ".env"})).unwrap();
        let (context, environment) = (CaseContext::default(), files.environment());
        for (turn, verdict) in [(0, UNKNOWN), (1, Verdict::Pass)] {
            let view = TrajectoryView::turn(run, turn).unwrap();
            let subject = Subject { view, context: &context, environment: &environment };
            assert_eq!(grader.grade(&subject).verdict, verdict, "{turn}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_workspace_is_not_read() {
        let (files, other) = (files(), Files::new(&[("secret", "abc")]));
        std::os::unix::fs::symlink(other.root().join("secret"), files.root().join("z")).unwrap();
        let ask = |path: &str, value: &str| {
            let config = json!({"path": path, "value": value});
            grade_in("file-not-contains", config, &files.environment())
        };
        let outcome = ask("z", "abc");
        assert_eq!(outcome.verdict, UNKNOWN);
        assert!(outcome.reason.raw().contains("z: leads out"), "{}", outcome.reason.raw());
        // What another file says decides all the same.
        assert_eq!(ask("*", "Secret").verdict, Verdict::Fail);
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("file-exists", json!({}), "path"),
            ("file-exists", json!({"path": "../x"}), "leave the workspace"),
            ("file-exists", json!({"path": "/etc/passwd"}), "relative"),
            ("file-exists", json!({"path": "x", "value": "y"}), "unknown key"),
            ("file-not-exists", json!({"path": "x", "negate": false}), "already asks"),
            ("file-contains", json!({"path": "x"}), "value"),
            ("file-contains", json!({"path": "x", "value": ""}), "empty text"),
            ("file-matches", json!({"path": "x", "pattern": "("}), "regular expression"),
            ("file-matches", json!({"path": "", "pattern": "("}), "names nothing"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
