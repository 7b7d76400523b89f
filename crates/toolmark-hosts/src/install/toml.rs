//! Hooks of Codex in `config.toml`, for users who keep them there. The file is edited as a
//! TOML document: comments and order are preserved.

use super::SettingsFault;
use super::file;
use super::hooks::{HookState, Hooks, is_ours};
use serde_json::Value as Json;
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Key of the state that Codex stores about hooks, in the same table as the hooks.
const STATE: &str = "state";

/// Whether the file contains hooks of any event.
pub(crate) fn holds_hooks(path: &Path) -> bool {
    let text = file::read(path).ok().flatten().unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else { return false };
    let hooks = document.get("hooks").and_then(Item::as_table_like);
    hooks.is_some_and(|hooks| hooks.iter().any(|(event, _)| event != STATE))
}

pub(super) fn found(hooks: &Hooks<'_>, text: &str) -> Result<HookState, SettingsFault> {
    let document = parsed(text)?;
    let mut all = true;
    let mut any = Vec::new();
    for entry in hooks.entries {
        let event = document.get("hooks").and_then(|hooks| hooks.get(entry.event));
        let mut ours = Vec::new();
        for group in event.into_iter().flat_map(elements) {
            let inner = group.get("hooks").into_iter().flat_map(elements);
            let commands = inner.chain([group]).filter_map(|hook| hook.get("command")?.as_str());
            ours.extend(commands.filter(|command| is_ours(command, hooks.host)).map(str::to_owned));
        }
        all &= ours.contains(&entry.command);
        any.extend(ours);
    }
    any.sort();
    any.dedup();
    Ok(match (all, any.is_empty()) {
        (true, _) => HookState::All,
        (false, true) => HookState::None,
        (false, false) => HookState::Others(any),
    })
}

pub(super) fn installed(hooks: &Hooks<'_>, text: Option<&str>) -> Result<String, SettingsFault> {
    let text = text.unwrap_or_default();
    let mut document = parsed(text)?;
    for entry in hooks.entries {
        let table = document.entry("hooks").or_insert_with(implicit);
        let Some(table) = table.as_table_like_mut() else {
            return Err(SettingsFault::at(text, 0, "`hooks` is not a table"));
        };
        let event = table.entry(entry.event).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let mut present = false;
        each_hook(event, &mut |hook| {
            let command = hook.get("command").and_then(Item::as_str);
            if command.is_some_and(|command| is_ours(command, hooks.host)) {
                present = true;
                if command != Some(&entry.command)
                    && let Some(Item::Value(value)) = hook.get_mut("command")
                {
                    let decor = value.decor().clone();
                    *value = Value::from(entry.command.as_str());
                    *value.decor_mut() = decor;
                }
            }
        });
        if present {
            continue;
        }
        match event {
            Item::ArrayOfTables(tables) => tables.push(table_of(&entry.item)),
            Item::Value(Value::Array(array)) => array.push(inline_of(&entry.item)),
            _ => {
                let why = format!("`hooks.{}` is not an array", entry.event);
                return Err(SettingsFault::at(text, 0, &why));
            }
        }
    }
    Ok(document.to_string())
}

pub(super) fn uninstalled(hooks: &Hooks<'_>, text: &str) -> Result<String, SettingsFault> {
    let mut document = parsed(text)?;
    let Some(table) = document.get_mut("hooks").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let mut empty = Vec::new();
    for (event, item) in table.iter_mut() {
        let before = length(item);
        retain(item, &mut |group| {
            let ours = |hook: &dyn TableLike| {
                let command = hook.get("command").and_then(Item::as_str);
                command.is_some_and(|command| is_ours(command, hooks.host))
            };
            if ours(group) {
                return false;
            }
            let Some(inner) = group.get_mut("hooks") else { return true };
            let all = length(inner);
            retain(inner, &mut |hook| !ours(hook));
            all == 0 || length(inner) > 0
        });
        if before > 0 && length(item) == 0 {
            empty.push(event.get().to_owned());
        }
    }
    for event in &empty {
        table.remove(event);
    }
    if table.is_empty() && !empty.is_empty() {
        document.remove("hooks");
    }
    Ok(document.to_string())
}

fn parsed(text: &str) -> Result<DocumentMut, SettingsFault> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        SettingsFault::at(text, at, error.message())
    })
}

/// Creates a table without its own header.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Returns the tables of an array in either notation.
fn elements(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(array)) => {
            let tables = array.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

fn length(item: &Item) -> usize {
    match item {
        Item::ArrayOfTables(tables) => tables.len(),
        Item::Value(Value::Array(array)) => array.len(),
        _ => 0,
    }
}

/// Visits every group and every hook in it.
fn each_hook(item: &mut Item, look: &mut dyn FnMut(&mut dyn TableLike)) {
    retain(item, &mut |group| {
        look(group);
        if let Some(inner) = group.get_mut("hooks") {
            retain(inner, &mut |hook| {
                look(hook);
                true
            });
        }
        true
    });
}

/// Keeps the tables of an array for which `keep` returns true.
fn retain(item: &mut Item, keep: &mut dyn FnMut(&mut dyn TableLike) -> bool) {
    match item {
        Item::ArrayOfTables(tables) => {
            for index in (0..tables.len()).rev() {
                if tables.get_mut(index).is_some_and(|table| !keep(table)) {
                    tables.remove(index);
                }
            }
        }
        Item::Value(Value::Array(array)) => {
            for index in (0..array.len()).rev() {
                let table = array.get_mut(index).and_then(Value::as_inline_table_mut);
                if table.is_some_and(|table| !keep(table)) {
                    array.remove(index);
                }
            }
        }
        _ => {}
    }
}

/// Converts a JSON object to a table, with arrays of objects as arrays of tables.
fn table_of(value: &Json) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let item = match value {
            Json::Array(items) => Item::ArrayOfTables(items.iter().map(table_of).collect()),
            value => Item::Value(value_of(value)),
        };
        table.insert(key, item);
    }
    table
}

/// Converts a JSON object to an inline table.
fn inline_of(value: &Json) -> InlineTable {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.as_str(), value_of(value))).collect()
}

fn value_of(value: &Json) -> Value {
    match value {
        Json::Bool(bool) => Value::from(*bool),
        Json::Number(number) => Value::from(number.as_i64().unwrap_or_default()),
        Json::Array(items) => Value::Array(items.iter().map(value_of).collect::<Array>()),
        Json::Object(_) => Value::InlineTable(inline_of(value)),
        Json::String(text) => Value::from(text.as_str()),
        Json::Null => Value::from(""),
    }
}
