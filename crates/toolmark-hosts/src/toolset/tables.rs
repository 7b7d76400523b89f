//! Generates the tool tables, `<host>/toolset.rs`, from the hand-written
//! `<host>/toolset.yaml`. The tables are checked in, so that no build has to generate them; a
//! test fails if one is out of date.

use super::{ArgumentKeys, Ignored, Tool, Toolset, ToolsetList, ToolsetName, builtin, ids};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Command that updates the tables.
const UPDATE: &str = "UPDATE_TABLES=1 cargo test -p toolmark-hosts tables";

/// Returns the folders that contain a toolset.
fn folders() -> impl Iterator<Item = PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("toolset.yaml").exists())
}

fn written(folder: &Path) -> Toolset {
    let path = folder.join("toolset.yaml");
    let source = toolmark_config::SourceText::new(
        path.display().to_string(),
        fs::read_to_string(&path).unwrap(),
    );
    let parsed = toolmark_config::parse(&source);
    let mut problems = parsed.problems;
    let toolset = parsed.node.and_then(|node| toolmark_config::read(&node, &mut problems));
    assert_eq!(problems, [], "{}", path.display());
    toolset.unwrap()
}

#[test]
fn the_tables_are_what_the_files_say() {
    for folder in folders() {
        let wanted = table(&written(&folder));
        let path = folder.join("toolset.rs");
        if fs::read_to_string(&path).is_ok_and(|found| found == wanted) {
            continue;
        }
        assert!(
            std::env::var_os("UPDATE_TABLES").is_some(),
            "{} is out of date: run {UPDATE}",
            path.display()
        );
        fs::write(&path, wanted).unwrap();
    }
}

/// Formats a toolset as Rust code.
fn table(set: &Toolset) -> String {
    let mut out = format!(
        "//! The table of `toolset.yaml`, written by\n//! `{UPDATE}`.\n\n\
         use crate::toolset::{{ArgumentKeys, Ignored, KeepsDirectory, Tool, ToolRole, ToolSchema, Toolset}};\n\
         use std::borrow::Cow::Borrowed as B;\n\n\
         #[rustfmt::skip]\n\
         pub(crate) static TOOLSET: Toolset = Toolset {{\n    \
         id: {}, title: {},\n    formats: {},\n    agents: {},\n    tools: B(&[\n",
        name(&set.id),
        name(&set.title),
        names(&set.formats),
        names(&set.agents),
    );
    for tool in &*set.tools {
        row(&mut out, tool);
    }
    out.push_str("    ]),\n    confusable: B(&[\n");
    for pair in &*set.confusable {
        let _ = writeln!(out, "        [{}, {}],", name(&pair[0]), name(&pair[1]));
    }
    let _ = write!(
        out,
        "    ]),\n    results: {},\n    keeps_directory: KeepsDirectory::{:?},\n}};\n",
        results(&set.results),
        set.keeps_directory
    );
    for (mark, import) in [("ToolSchema(", "ToolSchema, "), ("Ignored {", "Ignored, ")] {
        if !out.contains(mark) {
            out = out.replacen(import, "", 1);
        }
    }
    out
}

fn row(out: &mut String, tool: &Tool) {
    // A field that is added to the type has to be added here.
    let Tool {
        name: own,
        role,
        aliases,
        optional,
        optional_since,
        selector,
        roles,
        path,
        content,
        old,
        new,
        all,
        count,
        edits,
        patch,
        command,
        directory,
        pattern,
        offset,
        limit,
        range,
        line_marks,
        results: texts,
        ignored,
        schema,
    } = tool;
    let _ = write!(out, "        Tool {{ name: {}, role: ToolRole::{role:?}", name(own));
    let mut field = |key: &str, value: String| {
        let _ = write!(out, ", {key}: {value}");
    };
    if !aliases.is_empty() {
        field("aliases", names(aliases));
    }
    if *optional {
        field("optional", "true".to_owned());
    }
    if let Some(version) = optional_since {
        field("optional_since", format!("Some({})", name(version)));
    }
    if let Some(selector) = selector {
        field("selector", format!("Some({})", name(selector)));
    }
    if !roles.is_empty() {
        let roles =
            roles.iter().map(|(word, role)| format!("({}, ToolRole::{role:?})", name(word)));
        field("roles", format!("B(&[{}])", roles.collect::<Vec<_>>().join(", ")));
    }
    let keys: [(&str, &ArgumentKeys); 14] = [
        ("path", path),
        ("content", content),
        ("old", old),
        ("new", new),
        ("all", all),
        ("count", count),
        ("edits", edits),
        ("patch", patch),
        ("command", command),
        ("directory", directory),
        ("pattern", pattern),
        ("offset", offset),
        ("limit", limit),
        ("range", range),
    ];
    for (key, keys) in keys.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        field(key, format!("ArgumentKeys({})", names(&keys.0)));
    }
    if !line_marks.is_empty() {
        field("line_marks", names(line_marks));
    }
    if !texts.is_empty() {
        field("results", results(texts));
    }
    if !ignored.is_empty() {
        let rule = |Ignored { arguments, unless, has }: &Ignored| {
            let (arguments, unless, has) = (names(arguments), name(unless), name(has));
            format!("Ignored {{ arguments: {arguments}, unless: {unless}, has: {has} }}")
        };
        let rules: Vec<_> = ignored.iter().map(rule).collect();
        field("ignored", format!("B(&[{}])", rules.join(", ")));
    }
    if let Some(schema) = schema {
        field("schema", format!("Some(ToolSchema(B(r#\"{}\"#)))", schema.0));
    }
    out.push_str(", ..Tool::NONE },\n");
}

fn name(name: &ToolsetName) -> String {
    format!("B({name:?})")
}

fn results(all: &ToolsetList<(ToolsetName, ToolsetList<ToolsetName>)>) -> String {
    let one = |(kind, texts): &(ToolsetName, ToolsetList<ToolsetName>)| {
        format!("({}, {})", name(kind), names(texts))
    };
    format!("B(&[{}])", all.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn names(all: &[ToolsetName]) -> String {
    format!("B(&[{}])", all.iter().map(name).collect::<Vec<_>>().join(", "))
}

#[test]
fn every_toolset_is_well_formed() {
    let folders = folders().map(|folder| written(&folder).id);
    let mut folders: Vec<_> = folders.collect();
    let mut known: Vec<_> = ids().collect();
    folders.sort();
    known.sort_unstable();
    assert_eq!(folders, known, "every folder is in the list of hosts");
    for id in ids() {
        let (host, set) = (crate::by_id(id).unwrap(), builtin(id).unwrap());
        assert_eq!((&*set.id, &*set.title), (id, host.title));
        assert!(set.tools.is_sorted_by_key(|tool| &tool.name), "{id}");
        let mut names: Vec<&ToolsetName> =
            set.tools.iter().flat_map(|tool| tool.aliases.iter().chain([&tool.name])).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{id} has a name twice");
        for name in set.confusable.iter().flatten() {
            assert!(set.tool(name).is_some(), "{id} has no {name}");
        }
        for name in ["", "id", "schema", "role", "no-such-tool", "aliases"] {
            assert!(set.tool(name).is_none(), "{id} {name}");
        }
    }
}

#[test]
fn what_a_tool_names_is_in_its_schema() {
    for id in ids() {
        for tool in &*builtin(id).unwrap().tools {
            let Some(schema) = &tool.schema else { continue };
            let schema = schema.parse();
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
                assert!(schema["properties"].get(key).is_some(), "{id} {} {key}", tool.name);
            }
        }
    }
}
