//! The JSON of every command has a version, and matches its schema in both directions. Recorded
//! outputs of earlier releases still match.

mod coverage;
mod exceptions;
mod stage;

use crate::docs::reference::commands;
use crate::{root, stdout};
use coverage::{SeenMembers, closed, members, part, undescribed};
use exceptions::{ANYTHING, ELSEWHERE, OTHER_SCHEMA, RARE};
use serde_json::Value;
use stage::{OUTPUTS, RECORDED, Stage};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn read(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn schema(name: &str) -> Value {
    read(&format!("schemas/toolmark.{name}.v1.schema.json"))
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

fn assert_valid(schema: &Value, value: &Value, what: &str) {
    let errors: Vec<String> = validator(schema)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what} is not as its schema says:\n{}", errors.join("\n"));
}

/// The outputs of the commands, by the name of the schema.
fn outputs() -> Vec<(&'static str, String, Value)> {
    let stage = Stage::new();
    let all = OUTPUTS.iter().flat_map(|(name, commands)| commands.iter().map(move |c| (*name, *c)));
    all.map(|(name, args)| (name, args.join(" "), stage.json(args))).collect()
}

#[test]
fn outputs_and_schemas_name_the_same_members() {
    let mut left = outputs();
    let schemas: BTreeMap<&str, Value> = OUTPUTS
        .iter()
        .map(|(name, _)| *name)
        .chain(["trajectory"])
        .map(|n| (n, schema(n)))
        .collect();
    let mut seen: BTreeMap<&str, SeenMembers<'_>> =
        schemas.iter().map(|(name, schema)| (*name, SeenMembers::new(schema))).collect();
    while let Some((name, what, value)) = left.pop() {
        // A name with a pointer is a part of a schema.
        let (name, pointer) = name.split_once('#').unwrap_or((name, ""));
        let whole = part(&schemas[name], pointer);
        assert_valid(&whole, &value, &what);
        assert_valid(&closed(&whole), &value, &what);
        let mut found = Vec::new();
        seen.get_mut(name).unwrap().walk(pointer, &value, &mut |member, inner| {
            let other = OTHER_SCHEMA.iter().find(|(of, place, _)| *of == name && *place == member);
            found.extend(
                other.map(|(_, _, other)| (*other, format!("{what}: {member}"), inner.clone())),
            );
        });
        left.extend(found);
    }

    let mut unused: BTreeSet<(&str, &str)> =
        RARE.iter().map(|(of, place, _)| (*of, *place)).collect();
    let mut never = Vec::new();
    for (name, seen) in &seen {
        for member in members(&schemas[name]).difference(&seen.members) {
            match RARE.iter().find(|(of, place, _)| of == name && member.starts_with(place)) {
                Some((of, place, _)) => drop(unused.remove(&(of, place))),
                // Another test has all of it (toolmark-trace).
                None if *name == "trajectory" => {}
                None => never.push(format!("{name} {member}")),
            }
        }
    }
    assert!(never.is_empty(), "no output has these members:\n{}", never.join("\n"));
    assert!(unused.is_empty(), "these are not rare: {unused:?}");
}

#[test]
fn a_schema_describes_everything() {
    for entry in fs::read_dir(root().join("schemas")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_prefix("toolmark.").and_then(|f| f.strip_suffix(".v1.schema.json"));
        let name = name.unwrap();
        for place in undescribed(&schema(name)) {
            let described_elsewhere =
                OTHER_SCHEMA.iter().any(|(of, at, _)| *of == name && at.starts_with(&place));
            let reason = ANYTHING.iter().find(|(of, at, _)| *of == name && *at == place);
            assert!(described_elsewhere || reason.is_some(), "{name} does not describe {place}");
        }
    }
}

/// Recorded outputs are never recorded again for the same version: they represent outputs that
/// users have stored.
#[test]
fn what_was_recorded_fits_for_as_long_as_the_version_is_1() {
    for (name, _) in OUTPUTS {
        let path = format!("{RECORDED}/{name}.json");
        assert_valid(&schema(name), &read(&path), &path);
    }
}

#[test]
fn a_schema_refuses_what_lacks_a_member_or_has_another_version() {
    for (name, _) in OUTPUTS {
        let whole = read(&format!("{RECORDED}/{name}.json"));
        let validator = validator(&schema(name));
        let mut object = whole.pointer("/0").unwrap_or(&whole).clone();
        let fits = |object: &Value| match whole.is_array() {
            true => validator.is_valid(&Value::from(vec![object.clone()])),
            false => validator.is_valid(object),
        };
        assert!(fits(&object), "{name}");
        object["schema_version"] = 2.into();
        assert!(!fits(&object), "{name} takes another version");
        object.as_object_mut().unwrap().remove("schema_version");
        assert!(!fits(&object), "{name} takes none");
    }
}

#[test]
fn every_command_with_json_has_a_schema() {
    let covered = |path: &[&str]| {
        let args = OUTPUTS.iter().flat_map(|(_, commands)| commands.iter().copied());
        args.chain(ELSEWHERE.iter().copied()).any(|args| {
            args.strip_prefix(&[stage::LOG_WITH_COPIES]).unwrap_or(args).starts_with(path)
        })
    };
    let mut left: Vec<Vec<String>> = commands().into_iter().map(|name| vec![name]).collect();
    let mut with_json = 0;
    while let Some(path) = left.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let help = stdout(&[&words[..], &["--help"]].concat());
        if help.contains("--format <FORMAT>") && help.contains("json") {
            with_json += 1;
            assert!(covered(&words), "{words:?} has no schema");
        }
        let below = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        let below = below.split("\n\n").next().unwrap_or_default().lines();
        let names = below.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        left.extend(
            names
                .filter(|name| !name.is_empty() && *name != "help")
                .map(|name| path.iter().cloned().chain([name.to_owned()]).collect()),
        );
    }
    assert!(with_json > 15, "{with_json}");
}

/// The table of the page names every schema, and every schema has a command.
#[test]
fn the_page_lists_every_schema() {
    let page = fs::read_to_string(root().join("docs/stability.md")).unwrap();
    let mut names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
    names.extend(["trajectory", "calibrate"]);
    for entry in fs::read_dir(root().join("schemas")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_prefix("toolmark.").and_then(|f| f.strip_suffix(".v1.schema.json"));
        assert!(name.is_some_and(|name| names.contains(&name)), "{file} is of no output");
        assert!(page.contains(&format!("/schemas/{file})")), "{file} is not on the page");
    }
}
