//! The toolsets that are part of the program.

use super::{Toolset, yaml};
use std::sync::LazyLock;

macro_rules! toolsets {
    ($($name:ident = $id:literal,)*) => {
        $(static $name: LazyLock<Toolset> = LazyLock::new(|| {
            parse(include_str!(concat!("../../toolsets/", $id, ".yaml"))).unwrap_or_default()
        });)*

        /// The ids of the toolsets of known hosts, in the order they are tried.
        #[must_use]
        pub fn ids() -> &'static [&'static str] {
            &[$($id,)*]
        }

        /// The toolset with this id.
        #[must_use]
        pub fn builtin(id: &str) -> Option<&'static Toolset> {
            match id {
                $($id => Some(&$name),)*
                _ => None,
            }
        }
    };
}

toolsets! {
    CLAUDE_CODE = "claude-code",
    CODEX = "codex",
    COPILOT_CLI = "copilot-cli",
    GEMINI_CLI = "gemini-cli",
    CURSOR = "cursor",
    GENERIC = "generic",
}

/// Tools that many agents and MCP servers have under the same names.
#[must_use]
pub fn generic() -> &'static Toolset {
    &GENERIC
}

fn parse(text: &str) -> Result<Toolset, String> {
    let value = yaml::parse(text)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_well_formed() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/toolsets");
        let mut files = BTreeSet::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let parsed = parse(&std::fs::read_to_string(&path).unwrap());
            let toolset = parsed.unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(toolset.id, id);
            assert!(!toolset.title.is_empty() && !toolset.tools.is_empty(), "{id}");
            for pair in &toolset.confusable {
                for name in pair {
                    assert!(toolset.tool(name).is_some(), "{id} has no {name}");
                }
            }
            let mut names = BTreeSet::new();
            for (name, tool) in &toolset.tools {
                for name in tool.aliases.iter().chain([name]) {
                    assert!(names.insert(name.clone()), "{id} has {name} twice");
                }
                if let Some(schema) = &tool.schema {
                    let built = jsonschema::draft202012::new(schema);
                    assert!(built.is_ok(), "{id} {name}: {built:?}");
                }
            }
            files.insert(id);
        }
        assert_eq!(files, ids().iter().map(|id| (*id).to_owned()).collect());
    }

    #[test]
    fn what_a_tool_names_is_in_its_schema() {
        for id in ids() {
            for (name, tool) in &builtin(id).unwrap().tools {
                let Some(schema) = &tool.schema else { continue };
                let keys = [
                    &tool.path,
                    &tool.content,
                    &tool.old,
                    &tool.new,
                    &tool.all,
                    &tool.count,
                    &tool.edits,
                    &tool.command,
                    &tool.directory,
                    &tool.pattern,
                    &tool.offset,
                    &tool.limit,
                    &tool.range,
                ];
                for key in keys.iter().filter(|_| tool.edits.is_empty()).flat_map(|k| k.names()) {
                    assert!(schema["properties"].get(key).is_some(), "{id} {name} {key}");
                }
            }
        }
    }
}
