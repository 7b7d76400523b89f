//! Lints the `guard:` section of a spec for `toolmark lint`.

use std::path::Path;
use toolmark_config::{Problem, SourceText, parse};
use toolmark_guard::files::{home, is_user_file, user_layer};
use toolmark_guard::policy::{Base, Layer, Policy, PolicyOrigin, Whose};
use toolmark_match::call_match::compile_schema;

/// Lints the section. A file other than the user's is treated as a project's policy and compared
/// with the user's.
pub fn lint(path: &Path, source: &SourceText) -> Vec<Problem> {
    let parsed = parse(source);
    let part = parsed.node.as_ref().and_then(|root| root.get("guard"));
    // Invalid YAML, and a section that is not a map, are already reported.
    let Some(part) = part.filter(|part| part.as_map().is_some() || part.is_null()) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let policy = match is_user_file(path) {
        true => {
            let base = Base { directory: None, home: home() };
            let origin = PolicyOrigin { whose: Whose::User, file: source.name.to_string(), base };
            Policy::new(Some(Layer::read(part, origin, compile_schema, &mut problems)), None, None)
        }
        false => {
            let base = Base { directory: directory(path), home: home() };
            let origin =
                PolicyOrigin { whose: Whose::Project, file: source.name.to_string(), base };
            let layer = Layer::read(part, origin, compile_schema, &mut problems);
            Policy::new(user_layer(compile_schema), Some(layer), None)
        }
    };
    let checked = policy.check_all();
    problems.extend(if is_user_file(path) { checked.user } else { checked.project });
    problems.extend(policy.loosened());
    problems.sort_by_key(|problem| problem.span);
    problems
}

/// The directory that a project's file applies to.
fn directory(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let directory = path.parent()?;
    let directory = match directory.ends_with(".toolmark") {
        true => directory.parent()?,
        false => directory,
    };
    Some(directory.to_string_lossy().into_owned())
}
