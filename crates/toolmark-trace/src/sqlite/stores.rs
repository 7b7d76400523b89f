//! The supported stores: detection by table names, and the JSON document of a session.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Number, Value, json};

/// Agent that a database belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    OpenCode,
    Goose,
    Crush,
    Cursor,
}

impl StoreKind {
    /// Detects the store by its table names.
    pub(crate) fn of(tables: &[String]) -> Option<Self> {
        let has = |names: &[&str]| names.iter().all(|n| tables.iter().any(|t| t == n));
        if has(&["cursorDiskKV"]) {
            Some(Self::Cursor)
        } else if has(&["session", "message", "part"]) {
            Some(Self::OpenCode)
        } else if has(&["sessions", "messages"]) {
            // Both stores have these tables; only the columns differ.
            Some(Self::Goose)
        } else {
            None
        }
    }

    /// Returns the IDs of all sessions, oldest first.
    pub(crate) fn sessions(&mut self, db: &Connection) -> rusqlite::Result<Vec<String>> {
        if *self == Self::Goose && db.prepare("SELECT content_json FROM messages").is_err() {
            *self = Self::Crush;
        }
        let query = match self {
            Self::OpenCode => "SELECT id FROM session ORDER BY time_created, id",
            Self::Goose | Self::Crush => "SELECT id FROM sessions ORDER BY created_at, id",
            Self::Cursor => {
                "SELECT substr(key, 14) FROM cursorDiskKV
                 WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
                 ORDER BY rowid"
            }
        };
        let mut query = db.prepare(query)?;
        let ids =
            query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
        match self {
            Self::Cursor => with_bubbles(db, ids),
            _ => Ok(ids),
        }
    }

    /// Returns the document of a session.
    pub(crate) fn session(self, db: &Connection, id: &str) -> rusqlite::Result<Value> {
        match self {
            Self::OpenCode => opencode(db, id),
            Self::Goose => goose(db, id),
            Self::Crush => crush(db, id),
            Self::Cursor => cursor(db, id),
        }
    }
}

/// Returns all rows of a query with one parameter. Columns without a value are left
/// out.
fn rows(db: &Connection, query: &str, id: &str) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let mut query = db.prepare(query)?;
    let rows = query.query_map([id], columns)?;
    rows.collect()
}

fn columns(row: &Row<'_>) -> rusqlite::Result<Map<String, Value>> {
    let mut map = Map::new();
    for (n, name) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(n)? {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                Value::from(String::from_utf8_lossy(text).into_owned())
            }
        };
        map.insert(name.to_owned(), value);
    }
    Ok(map)
}

fn one(db: &Connection, query: &str, id: &str) -> rusqlite::Result<Map<String, Value>> {
    Ok(rows(db, query, id)?.into_iter().next().unwrap_or_default())
}

/// Removes a column and parses its JSON; a value that is not JSON is kept as `invalid`.
fn parsed(map: &mut Map<String, Value>, column: &str) -> Value {
    let Some(Value::String(text)) = map.remove(column) else { return Value::Null };
    serde_json::from_str(&text).unwrap_or_else(|_| json!({"invalid": text}))
}

/// Returns an object with the members of `first`, followed by those of `then`.
fn merged(first: Value, then: Value) -> Value {
    match (first, then) {
        (Value::Object(mut all), Value::Object(more)) => {
            for (key, value) in more {
                all.entry(key).or_insert(value);
            }
            Value::Object(all)
        }
        (first, _) => first,
    }
}

/// Builds the document in the format of `opencode export`.
fn opencode(db: &Connection, id: &str) -> rusqlite::Result<Value> {
    let session = one(db, "SELECT * FROM session WHERE id = ?1", id)?;
    let mut info = Map::new();
    for (key, column) in [
        ("id", "id"),
        ("projectID", "project_id"),
        ("parentID", "parent_id"),
        ("directory", "directory"),
        ("title", "title"),
        ("version", "version"),
    ] {
        if let Some(value) = session.get(column) {
            info.insert(key.to_owned(), value.clone());
        }
    }
    let time =
        json!({"created": session.get("time_created"), "updated": session.get("time_updated")});
    info.insert("time".to_owned(), time);
    let messages = rows(
        db,
        "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
        id,
    )?;
    let mut written = Vec::with_capacity(messages.len());
    for mut message in messages {
        let data = parsed(&mut message, "data");
        let message_id = message.remove("id").unwrap_or_default();
        let own = message_id.as_str().unwrap_or_default();
        let parts = rows(db, "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id", own)?;
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|mut part| {
                let data = parsed(&mut part, "data");
                let ids = json!({"id": part.get("id"), "messageID": own, "sessionID": id});
                merged(ids, data)
            })
            .collect();
        let info = merged(json!({"id": own, "sessionID": id}), data);
        written.push(json!({"info": info, "parts": parts}));
    }
    Ok(json!({"info": info, "messages": written}))
}

/// Builds the document in the format of `goose session export`.
fn goose(db: &Connection, id: &str) -> rusqlite::Result<Value> {
    let mut session = one(db, "SELECT * FROM sessions WHERE id = ?1", id)?;
    let messages = rows(db, "SELECT * FROM messages WHERE session_id = ?1 ORDER BY id", id)?;
    let conversation = messages.into_iter().map(|mut message| {
        let (content, metadata) =
            (parsed(&mut message, "content_json"), parsed(&mut message, "metadata_json"));
        let mut written = Map::new();
        for (key, value) in [
            ("id", message.remove("message_id")),
            ("role", message.remove("role")),
            ("created", message.remove("created_timestamp")),
            ("content", Some(content)),
            ("metadata", Some(metadata).filter(|m| !m.is_null())),
        ] {
            if let Some(value) = value {
                written.insert(key.to_owned(), value);
            }
        }
        Value::Object(written)
    });
    let conversation: Vec<Value> = conversation.collect();
    session.insert("conversation".to_owned(), Value::Array(conversation));
    Ok(Value::Object(session))
}

/// Builds the document from the table rows, with the parts of messages as JSON.
fn crush(db: &Connection, id: &str) -> rusqlite::Result<Value> {
    let session = one(db, "SELECT * FROM sessions WHERE id = ?1", id)?;
    let query = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid";
    let messages = rows(db, query, id)?.into_iter().map(|mut message| {
        message.remove("session_id");
        let parts = parsed(&mut message, "parts");
        message.insert("parts".to_owned(), parts);
        Value::Object(message)
    });
    let messages: Vec<Value> = messages.collect();
    Ok(json!({"session": session, "messages": messages}))
}

/// Keeps only the composers that contain messages: the editor keeps an empty one per
/// window.
fn with_bubbles(db: &Connection, ids: Vec<String>) -> rusqlite::Result<Vec<String>> {
    let mut query =
        db.prepare("SELECT 1 FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 LIMIT 1")?;
    let mut found = Vec::new();
    for id in ids {
        if query.exists([format!("bubbleId:{id}:"), format!("bubbleId:{id};")])? {
            found.push(id);
        }
    }
    Ok(found)
}

/// Returns the composer and its bubbles in the order in which it lists them; bubbles
/// that it does not list are also part of the session and are appended. Other tables
/// and keys, which hold settings and tokens, are never read.
fn cursor(db: &Connection, id: &str) -> rusqlite::Result<Value> {
    let key = format!("composerData:{id}");
    let mut row = one(db, "SELECT value FROM cursorDiskKV WHERE key = ?1", &key)?;
    let composer = parsed(&mut row, "value");
    let mut query = db.prepare(
        "SELECT key, value FROM cursorDiskKV
         WHERE key >= ?1 AND key < ?2 AND value IS NOT NULL ORDER BY rowid",
    )?;
    let found = query.query_map([format!("bubbleId:{id}:"), format!("bubbleId:{id};")], columns)?;
    let mut bubbles: Map<String, Value> = Map::new();
    for row in found {
        let mut row = row?;
        let key = row.get("key").and_then(Value::as_str).unwrap_or_default();
        let name = key.rsplit_once(':').map_or(key, |(_, name)| name).to_owned();
        bubbles.insert(name, parsed(&mut row, "value"));
    }
    let listed = composer.get("fullConversationHeadersOnly").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(|h| h.get("bubbleId")?.as_str());
    let mut ordered = Vec::with_capacity(bubbles.len());
    for name in listed {
        if let Some(bubble) = bubbles.get_mut(name).map(Value::take).filter(|b| !b.is_null()) {
            ordered.push(bubble);
        }
    }
    ordered.extend(bubbles.into_iter().map(|(_, bubble)| bubble).filter(|b| !b.is_null()));
    Ok(json!({"composer": composer, "bubbles": ordered}))
}
