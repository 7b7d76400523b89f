//! The toolsets that are part of the program.

use super::{Tool, Toolset, yaml};
use crate::{HOSTS, by_id, generic as generic_host};

/// The ids of the toolsets of known hosts, in the order they are tried.
pub fn ids() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().filter(|host| host.toolset.is_some()).map(|host| host.id)
}

/// The toolset with this id.
#[must_use]
pub fn builtin(id: &str) -> Option<&'static Toolset> {
    by_id(id)?.toolset.map(|(_, toolset)| &**toolset)
}

/// Tools that many agents and MCP servers have under the same names.
#[must_use]
pub fn generic() -> &'static Toolset {
    &generic_host::TOOLSET
}

/// One tool of the toolset with this id, by its name or an alias. The others are
/// not parsed: a hook has no time for them.
#[must_use]
pub fn builtin_tool(id: &str, name: &str) -> Option<Tool> {
    let (_, tools) = by_id(id)?.toolset?.0.split_once("\ntools:\n")?;
    let block = blocks(tools).find(|block| is_about(block, name))?;
    let mut set = parse(&format!("tools:\n{block}")).ok()?;
    set.tools.pop_first().map(|(_, tool)| tool)
}

/// The parts of a list of tools: each begins with a name that is two deep.
fn blocks(tools: &str) -> impl Iterator<Item = &str> {
    let is_head = |line: &str| line.starts_with("  ") && !line[2..].starts_with([' ', '#']);
    let mut rest = tools;
    std::iter::from_fn(move || {
        let mut end = 0;
        for (at, line) in rest.split_inclusive('\n').enumerate() {
            if at > 0 && is_head(line) {
                break;
            }
            end += line.len();
        }
        let (block, after) = rest.split_at(end);
        rest = after;
        (!block.is_empty()).then_some(block)
    })
}

fn is_about(block: &str, name: &str) -> bool {
    let key = block.trim_start().split(':').next().unwrap_or_default();
    let aliases = block.split_once("aliases: [").and_then(|(_, rest)| rest.split(']').next());
    let mut aliases = aliases.unwrap_or_default().split(',').map(str::trim);
    !name.is_empty() && (key == name || aliases.any(|alias| alias == name))
}

/// Reads a toolset.
pub(crate) fn parse(text: &str) -> Result<Toolset, String> {
    let value = yaml::parse(text)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_toolset_is_well_formed() {
        for host in HOSTS {
            let Some((text, _)) = host.toolset else { continue };
            let id = host.id;
            let toolset = parse(text).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!((toolset.id.as_str(), toolset.title.as_str()), (id, host.title));
            assert!(!toolset.tools.is_empty(), "{id}");
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
            }
        }
    }

    #[test]
    fn a_tool_alone_is_the_tool_of_its_set() {
        for id in ids() {
            let set = builtin(id).unwrap();
            for (name, tool) in &set.tools {
                for name in tool.aliases.iter().chain([name]) {
                    let alone = builtin_tool(id, name).unwrap_or_else(|| panic!("{id} {name}"));
                    assert_eq!(format!("{alone:?}"), format!("{tool:?}"), "{id} {name}");
                }
            }
            for name in ["", "id", "schema", "role", "nobody", "aliases"] {
                let whole = set.tool(name).map(|tool| format!("{tool:?}"));
                assert_eq!(builtin_tool(id, name).map(|tool| format!("{tool:?}")), whole, "{name}");
            }
        }
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
