//! Parts of Jinja2 that templates of AI GO! use and the template engine lacks: namespaces and
//! lists that change in place, and a few filters and functions.
//!
//! Values that change are bounded in size, so that a loop cannot double one without end.

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum size of a value that is kept in a namespace or a list: its texts in bytes, and 1 for
/// every value in it.
const MAX_SIZE: usize = 64 * 1024;

/// Adds the filters and functions.
pub(super) fn extend(environment: &mut Environment<'static>) {
    environment.add_function("namespace", namespace);
    environment.add_function(LIST, list);
    environment.add_function("joiner", joiner);
    environment.add_function("cycler", cycler);
    environment.add_function("lipsum", || "Words that stand for other words, and say nothing.");
    environment.add_filter("fromjson", from_json);
    environment.add_filter("from_json", from_json);
    environment.add_filter("merge", merge);
    environment.add_filter("combine", merge);
    environment.add_filter("random", choose);
}

/// Name of the function that makes a list which changes in place.
const LIST: &str = "__list";

/// Rewrites what the engine cannot read: `{% set ns.x = … %}` of a namespace, and empty lists in a
/// template that appends to lists.
pub(super) fn rewrite(source: &str) -> String {
    let appends = [".append(", ".extend(", ".insert("].iter().any(|call| source.contains(call));
    if !appends && !source.contains("namespace") {
        return source.to_owned();
    }
    let mut out = String::with_capacity(source.len() + 64);
    let mut rest = source;
    while let Some(start) = find_tag(rest) {
        out.push_str(&rest[..start]);
        let end = end_of_tag(&rest[start..]).map_or(rest.len(), |end| start + end);
        let tag = &rest[start..end];
        let tag = assignment(tag).unwrap_or_else(|| tag.to_owned());
        out.push_str(&if appends { with_lists(&tag) } else { tag });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Returns the start of the next `{{` or `{%`.
fn find_tag(text: &str) -> Option<usize> {
    let at = |mark: &str| text.find(mark);
    at("{{").into_iter().chain(at("{%")).min()
}

/// Returns the position after the end of the tag that starts here, outside of its texts.
fn end_of_tag(tag: &str) -> Option<usize> {
    let close = if tag.starts_with("{{") { "}}" } else { "%}" };
    outside_texts(tag).find(|at| tag[*at..].starts_with(close)).map(|at| at + close.len())
}

/// Iterates over the positions of characters that are not within quotes.
fn outside_texts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let (mut quote, mut is_escaped) = (None, false);
    text.char_indices().filter_map(move |(at, c)| {
        let was = quote;
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if open == c => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => {}
        }
        (was.is_none() && quote.is_none()).then_some(at)
    })
}

/// Returns the call that `{% set ns.x = value %}` stands for.
fn assignment(tag: &str) -> Option<String> {
    let body = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let (open, body) = match body.strip_prefix(['-', '+']) {
        Some(rest) => (&body[..1], rest),
        None => ("", body),
    };
    let (body, close) = match body.strip_suffix(['-', '+']) {
        Some(rest) => (rest, &body[rest.len()..]),
        None => (body, ""),
    };
    let (target, value) = body.trim_start().strip_prefix("set ")?.split_once('=')?;
    let (name, field) = target.trim().split_once('.')?;
    let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    if value.starts_with('=') || !is_name(name) || !is_name(field) {
        return None;
    }
    Some(format!("{{%{open} do {name}.__set('{field}', ({})) {close}%}}", value.trim()))
}

/// Replaces the empty lists of a tag with lists that change.
fn with_lists(tag: &str) -> String {
    let mut out = String::with_capacity(tag.len() + 16);
    let mut copied = 0;
    for at in outside_texts(tag) {
        let before = tag[..at].trim_end().chars().next_back();
        let is_value = before.is_some_and(|c| "=(,:[".contains(c));
        if at >= copied && tag[at..].starts_with("[]") && is_value {
            out.push_str(&tag[copied..at]);
            out.push_str(LIST);
            out.push_str("()");
            copied = at + 2;
        }
    }
    out.push_str(&tag[copied..]);
    out
}

fn refuse(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns the size of a value, at most a little above [`MAX_SIZE`].
fn size(value: &Value) -> usize {
    let (mut sum, mut open) = (0, vec![value.clone()]);
    while let Some(value) = open.pop() {
        sum += 1 + value.as_str().map_or(0, str::len);
        if sum + open.len() > MAX_SIZE {
            return MAX_SIZE + 1;
        }
        if value.as_str().is_none()
            && let Ok(items) = value.try_iter()
        {
            let is_map = value.kind() == ValueKind::Map;
            for item in items {
                open.extend(value.get_item(&item).ok().filter(|_| is_map));
                open.push(item);
                if sum + open.len() > MAX_SIZE {
                    return MAX_SIZE + 1;
                }
            }
        }
    }
    sum
}

/// A copy without lists that change, so that no list can contain itself.
fn frozen(value: &Value) -> Result<Value, Error> {
    if size(value) > MAX_SIZE {
        return Err(refuse("the value of a template is too large"));
    }
    let json = serde_json::to_value(value);
    let json = json.map_err(|_| refuse("such a value cannot be kept"))?;
    Ok(Value::from(Serde(&json)))
}

#[derive(Debug)]
struct Namespace(Mutex<BTreeMap<String, Value>>);

impl Object for Namespace {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        lock(&self.0).get(key.as_str()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(lock(&self.0).keys().map(|key| Value::from(key.as_str())).collect())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let ("__set", [key, value]) = (method, args) else {
            return Err(Error::from(ErrorKind::UnknownMethod));
        };
        let value = kept(value)?;
        lock(&self.0).insert(key.as_str().unwrap_or_default().to_owned(), value);
        Ok(Value::from(()))
    }
}

/// A value as a namespace keeps it: lists that change go on to do so.
fn kept(value: &Value) -> Result<Value, Error> {
    match value.downcast_object_ref::<List>() {
        Some(_) => Ok(value.clone()),
        None => frozen(value),
    }
}

fn namespace(values: Kwargs) -> Result<Value, Error> {
    let mut map = BTreeMap::new();
    for key in values.args() {
        map.insert(key.to_owned(), kept(&values.get::<Value>(key)?)?);
    }
    Ok(Value::from_object(Namespace(Mutex::new(map))))
}

#[derive(Debug)]
struct List(Mutex<Vec<Value>>);

fn list() -> Value {
    Value::from_object(List(Mutex::new(Vec::new())))
}

impl List {
    fn add(&self, at: Option<usize>, values: Vec<Value>) -> Result<Value, Error> {
        let mut items = lock(&self.0).clone();
        let at = at.unwrap_or(items.len()).min(items.len());
        items.splice(at..at, values);
        if items.iter().map(size).sum::<usize>() > MAX_SIZE {
            return Err(refuse("the list of a template is too large"));
        }
        *lock(&self.0) = items;
        Ok(Value::from(()))
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        lock(&self.0).get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(lock(&self.0).clone())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("append", [value]) => self.add(None, vec![frozen(value)?]),
            ("insert", [at, value]) => {
                self.add(Some(at.as_usize().unwrap_or(0)), vec![frozen(value)?])
            }
            ("extend", [values]) => {
                let values: Result<Vec<Value>, Error> =
                    frozen(values)?.try_iter()?.map(|value| frozen(&value)).collect();
                self.add(None, values?)
            }
            ("pop", []) => Ok(lock(&self.0).pop().unwrap_or_default()),
            ("copy", []) => Ok(Value::from(lock(&self.0).clone())),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

#[derive(Debug)]
struct Joiner(Value, AtomicBool);

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Value]) -> Result<Value, Error> {
        let is_used = self.1.swap(true, Ordering::Relaxed);
        Ok(if is_used { self.0.clone() } else { Value::from("") })
    }
}

fn joiner(separator: Option<Value>) -> Value {
    let separator = separator.unwrap_or_else(|| Value::from(", "));
    Value::from_object(Joiner(separator, AtomicBool::new(false)))
}

#[derive(Debug)]
struct Cycler(Vec<Value>, AtomicUsize);

impl Cycler {
    fn current(&self) -> Value {
        let at = self.1.load(Ordering::Relaxed) % self.0.len().max(1);
        self.0.get(at).cloned().unwrap_or_default()
    }
}

impl Object for Cycler {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.current())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        _: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "next" => {
                let value = self.current();
                self.1.fetch_add(1, Ordering::Relaxed);
                Ok(value)
            }
            "reset" => {
                self.1.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

fn cycler(items: Rest<Value>) -> Result<Value, Error> {
    if items.0.is_empty() {
        return Err(refuse("at least one item has to be given"));
    }
    Ok(Value::from_object(Cycler(items.0, AtomicUsize::new(0))))
}

fn from_json(text: &str) -> Result<Value, Error> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|_| refuse("the text is not JSON"))?;
    Ok(Value::from(Serde(&value)))
}

/// Returns a map with the entries of both, those of the second in doubt.
fn merge(first: &Value, second: &Value) -> Result<Value, Error> {
    let mut all: Vec<(Value, Value)> = Vec::new();
    for map in [first, second] {
        if map.kind() != ValueKind::Map {
            return Err(refuse("merge needs two maps"));
        }
        for key in map.try_iter()? {
            let value = map.get_item(&key)?;
            match all.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = value,
                None => all.push((key, value)),
            }
        }
    }
    Ok(Value::from_pairs(all))
}

/// Returns an item of a list, always the same, so that the same input gives the same output.
fn choose(list: &Value) -> Result<Value, Error> {
    Ok(list.try_iter()?.next().unwrap_or_default())
}
