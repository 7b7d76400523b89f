//! Jinja templates over the row of a dataset, which is named `sample`.
//!
//! A template that is a single expression (`{{ sample.calls }}`) returns that value. Any
//! other template is rendered as text, and the text is parsed as JSON or as the Python
//! notation that Jinja uses for lists. Templates cannot access anything outside the row:
//! there are no files to include and no state that outlives a rendering, and a rendering that
//! takes too many steps is aborted.

mod jinja;
mod literal;
mod python;

use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// Maximum number of instructions per rendering.
const FUEL: u64 = 200_000;

/// Maximum recursion depth of macros.
const RECURSION: usize = 32;

/// Maximum length of a template, in bytes.
const LONGEST: usize = 64 * 1024;

/// Name of the template in its environment.
const NAME: &str = "template";

/// An error in a template or in its rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// Message, as a lower-case fragment.
    pub message: String,
    /// Byte range of the error in the template, if known.
    pub range: Option<Range<usize>>,
    /// Line in the template, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.range.is_some() {
            write!(f, " (line {}, column {} of the template)", self.line, self.column)?;
        }
        Ok(())
    }
}

impl std::error::Error for TemplateError {}

/// A template that is parsed once and rendered for many rows.
pub struct Template {
    source: String,
    /// Range of the expression, if the template consists of one expression.
    expression: Option<Range<usize>>,
    environment: Environment<'static>,
}

/// Whether a text contains template syntax.
#[must_use]
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// Renders a template over a row and returns a list or another value.
///
/// # Errors
///
/// Fails if the template is invalid, if the row lacks a field that it uses, or if the result
/// is not a value.
pub fn render(template: &str, row: &Value) -> Result<Value, TemplateError> {
    Template::new(template)?.value(row)
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Fails if the source is not a valid template.
    pub fn new(source: &str) -> Result<Self, TemplateError> {
        if source.len() > LONGEST {
            let message = format!("the template has more than {LONGEST} bytes");
            return Err(TemplateError { message, range: None, line: 1, column: 1 });
        }
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(RECURSION);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_debug(true);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_formatter(python::write_value);
        environment.set_unknown_method_callback(call_method);
        environment.remove_global("debug");
        jinja::extend(&mut environment);
        let source = &*jinja::rewrite(source);
        let whole = sole_expression(source);
        let expression = whole.filter(|range| {
            source.get(range.clone()).is_some_and(|e| environment.compile_expression(e).is_ok())
        });
        if expression.is_none() {
            let added = environment.add_template_owned(NAME, source.to_owned());
            added.map_err(|error| described(&error, source, 0))?;
        }
        Ok(Self { source: source.to_owned(), expression, environment })
    }

    /// Returns the source text of the template.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the external variables of the template, including `sample`.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<String> {
        let found = match &self.expression {
            Some(range) => self
                .source
                .get(range.clone())
                .and_then(|e| self.environment.compile_expression(e).ok())
                .map(|expression| expression.undeclared_variables(false)),
            None => self
                .environment
                .get_template(NAME)
                .ok()
                .map(|template| template.undeclared_variables(false)),
        };
        found.into_iter().flatten().filter(|name| !is_builtin(name)).collect()
    }

    /// Renders the template over a row and returns a value.
    ///
    /// # Errors
    ///
    /// Fails if the row lacks a field that the template uses, or if the result is not a
    /// value.
    pub fn value(&self, row: &Value) -> Result<Value, TemplateError> {
        let Some(range) = &self.expression else {
            return literal::parse(&self.text(row)?).map_err(|error| self.plain(error.to_string()));
        };
        let value = self.evaluated(range, row)?;
        if let Some(text) = value.as_str() {
            return literal::parse(text).map_err(|error| self.plain(error.to_string()));
        }
        serde_json::to_value(&value)
            .map_err(|error| self.plain(format!("the template gives no value: {error}")))
    }

    /// Renders the template over a row and returns text.
    ///
    /// # Errors
    ///
    /// Fails if the row lacks a field that the template uses.
    pub fn text(&self, row: &Value) -> Result<String, TemplateError> {
        match &self.expression {
            Some(range) => Ok(python::text(&self.evaluated(range, row)?)),
            None => {
                let template = self.environment.get_template(NAME);
                template
                    .and_then(|template| template.render(context(row)))
                    .map_err(|error| described(&error, &self.source, 0))
            }
        }
    }

    fn evaluated(
        &self,
        range: &Range<usize>,
        row: &Value,
    ) -> Result<minijinja::Value, TemplateError> {
        let source = self.source.get(range.clone()).unwrap_or_default();
        let value = self
            .environment
            .compile_expression(source)
            .and_then(|expression| expression.eval(context(row)))
            .map_err(|error| described(&error, &self.source, range.start))?;
        if value.is_undefined() {
            let message = format!("the row has no value for `{}`", source.trim());
            return Err(located(message, Some(range.clone()), &self.source));
        }
        Ok(value)
    }

    fn plain(&self, message: String) -> TemplateError {
        located(message, None, &self.source)
    }
}

/// Calls a method that Python's values have.
fn call_method(
    state: &mut State<'_, '_>,
    value: &minijinja::Value,
    method: &str,
    args: &[minijinja::Value],
) -> Result<minijinja::Value, Error> {
    match (method, args) {
        // Nothing changes a value in place, so that it is its own copy.
        ("copy", []) => Ok(value.clone()),
        _ => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn context(row: &Value) -> minijinja::Value {
    minijinja::context! { sample => minijinja::Value::from(minijinja::value::Serde(row)) }
}

fn is_builtin(name: &str) -> bool {
    matches!(name, "range" | "dict" | "loop" | "namespace" | "joiner" | "cycler" | "lipsum")
        || name.starts_with("__")
}

/// Returns the range between the braces if the template is a single pair of them.
fn sole_expression(source: &str) -> Option<Range<usize>> {
    let start = source.find(|c: char| !c.is_whitespace())?;
    let rest = source.get(start..)?.strip_prefix("{{")?;
    let inner = rest.trim_end().strip_suffix("}}")?;
    // White space control has no effect on a value.
    let cut = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    let begin = start + 2 + (inner.len() - cut.len());
    let cut = cut.strip_suffix(['-', '+']).unwrap_or(cut);
    Some(begin..begin + cut.len())
}

/// Converts an error of the template engine, with its position shifted by `offset`.
fn described(error: &Error, source: &str, offset: usize) -> TemplateError {
    let detail = error.detail().unwrap_or("");
    let message = match error.kind() {
        ErrorKind::OutOfFuel => "the template takes too many steps".to_owned(),
        ErrorKind::TemplateNotFound => "a template cannot include other files".to_owned(),
        ErrorKind::UndefinedError if detail.is_empty() => {
            let what = error.range().and_then(|range| {
                source.get(range.start + offset..range.end + offset).map(str::trim)
            });
            match what {
                Some(what) => format!("the row has no value for `{what}`"),
                None => "the row has no such value".to_owned(),
            }
        }
        kind if detail.is_empty() => kind.to_string(),
        _ => detail.to_owned(),
    };
    let range = error.range().map(|range| range.start + offset..range.end + offset);
    located(message, range, source)
}

fn located(message: String, range: Option<Range<usize>>, source: &str) -> TemplateError {
    let range = range.filter(|range| source.get(range.clone()).is_some());
    let before = range.as_ref().and_then(|range| source.get(..range.start)).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let cut = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    TemplateError { message, range, line: cut(line), column: cut(column) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row() -> Value {
        json!({
            "function_calls": ["search", "calculator"],
            "text": "[\"search\", \"lookup\"]",
            "python": "['it\\'s', \"b\", 1, 2.5, True, None, ('x',), {'k': [1]}]",
            "tools": [{"name": "a", "on": true}, {"name": "b", "on": false}],
            "calls": [{"name": "s", "arguments": {"q": "x", "n": 1.0}}],
            "id": 7,
            "flag": true,
            "name": "search",
            "nothing": null,
            "deep": {"a": {"b": ["c"]}},
        })
    }

    #[test]
    fn values() {
        for (template, want) in [
            ("{{ sample.function_calls }}", json!(["search", "calculator"])),
            ("  {{- sample.function_calls -}}\n", json!(["search", "calculator"])),
            ("{{ sample['function_calls'] }}", json!(["search", "calculator"])),
            ("{{ sample.tools | map(attribute='name') | list }}", json!(["a", "b"])),
            ("{{ sample.tools | selectattr('on') | map(attribute='name') | list }}", json!(["a"])),
            ("{{ sample.tools | rejectattr('on') | map(attribute='name') | list }}", json!(["b"])),
            ("{{ sample.function_calls | tojson }}", json!(["search", "calculator"])),
            ("{{ sample.function_calls | reverse | list }}", json!(["calculator", "search"])),
            ("{{ sample.function_calls + ['x'] }}", json!(["search", "calculator", "x"])),
            ("{{ sample.calls }}", json!([{"name": "s", "arguments": {"q": "x", "n": 1.0}}])),
            ("{{ sample.deep.a.b }}", json!(["c"])),
            ("{{ sample.missing | default([]) }}", json!([])),
            ("{{ sample.get('missing', ['d']) }}", json!(["d"])),
            ("{{ sample.function_calls[:1] }}", json!(["search"])),
            ("{{ [sample.name, sample.name | upper] }}", json!(["search", "SEARCH"])),
            ("{{ sample.text }}", json!(["search", "lookup"])),
            ("{{ sample.python }}", json!(["it's", "b", 1, 2.5, true, null, ["x"], {"k": [1]}])),
            ("[\"{{ sample.name }}\", \"x\"]", json!(["search", "x"])),
            (
                "{% if sample.flag %}{{ sample.function_calls }}{% else %}[]{% endif %}",
                json!(["search", "calculator"]),
            ),
            (
                "[{% for t in sample.tools %}\"{{ t.name }}\"{% if not loop.last %}, {% endif %}{% endfor %}]",
                json!(["a", "b"]),
            ),
            ("{# a note #}[\"a\"]", json!(["a"])),
            ("[\"search\", \"calculator\"]", json!(["search", "calculator"])),
            ("{{ {'a': {}} }}", json!({"a": {}})),
            // The environment of AI GO!.
            (
                "{% set l = [] %}{% for t in sample.tools %}{% do l.append(t.name) %}{% endfor %}{{ l | tojson }}",
                json!(["a", "b"]),
            ),
            (
                "{% set ns = namespace(found=[], n=0) %}{% for t in sample.tools %}{% if t.on %}{% do ns.found.append(t.name) %}{% set ns.n = ns.n + 1 %}{% endif %}{% endfor %}{{ ns.found + [ns.n] }}",
                json!(["a", 1]),
            ),
            (
                "{%- set ns = namespace(calls=[]) -%}{%- for t in sample.tools -%}{%- set ns.calls = ns.calls + [t.name] -%}{%- endfor -%}{{ ns.calls | tojson }}",
                json!(["a", "b"]),
            ),
            (
                "[{% for t in sample.tools %}{% if not t.on %}{% break %}{% endif %}\"{{ t.name }}\"{% endfor %}]",
                json!(["a"]),
            ),
            (
                "[{% for t in sample.tools %}{% if t.on %}{% continue %}{% endif %}\"{{ t.name }}\"{% endfor %}]",
                json!(["b"]),
            ),
            ("{{ (sample.text | fromjson) + ['x'] }}", json!(["search", "lookup", "x"])),
            ("{{ {'a': 1, 'b': 2} | merge({'b': 3}) }}", json!({"a": 1, "b": 3})),
            (
                "{% set comma = joiner(', ') %}[{% for t in sample.tools %}{{ comma() }}\"{{ t.name }}\"{% endfor %}]",
                json!(["a", "b"]),
            ),
            (
                "{% set c = cycler('x', 'y') %}{{ [c.next(), c.next(), c.next()] }}",
                json!(["x", "y", "x"]),
            ),
            ("{{ [sample.function_calls | random] }}", json!(["search"])),
            ("{{ [sample.missing is defined, sample.name is defined] }}", json!([false, true])),
            (
                "{{ sample.function_calls if sample.function_calls is defined else [] }}",
                json!(["search", "calculator"]),
            ),
            ("{{ sample.calls[0].arguments.copy() }}", json!({"q": "x", "n": 1.0})),
            ("{{ [lipsum() | length > 0] }}", json!([true])),
        ] {
            assert_eq!(render(template, &row()), Ok(want), "{template}");
        }
    }

    #[test]
    fn texts_are_as_python_prints() {
        for (template, want) in [
            ("{{ sample.flag }}", "True"),
            ("{{ sample.nothing }}", "None"),
            ("is {{ sample.id }}", "is 7"),
            ("{{ sample.function_calls }}", "['search', 'calculator']"),
            ("x {{ sample.calls }}", "x [{'name': 's', 'arguments': {'q': 'x', 'n': 1.0}}]"),
            ("{{ \"it's\" }} {{ [\"it's\"] }}", "it's [\"it's\"]"),
            ("plain", "plain"),
            ("{{ sample.function_calls | join(', ') }}", "search, calculator"),
            ("{{ sample.function_calls | length }}", "2"),
        ] {
            assert_eq!(Template::new(template).unwrap().text(&row()).unwrap(), want, "{template}");
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        // (template, a part of the message, line, column)
        for (template, said, line, column) in [
            ("{{ sample.missing }}", "no value for `sample.missing`", 1, 3),
            ("a\nb {{ sample.missing }}", "undefined", 2, 6),
            ("{{ sample.tools | nosuch }}", "nosuch", 1, 19),
            ("{{ sample.tools \\| list }}", "unexpected", 1, 17),
            ("{% for x in sample.tools %}", "unexpected end of input", 1, 26),
        ] {
            let error = render(template, &row()).unwrap_err();
            assert!(error.message.contains(said), "{template}: {error}");
            assert_eq!((error.line, error.column), (line, column), "{template}: {error}");
        }
        for (template, said) in [
            ("{{ sample.name }}", "not give a list"),
            ("search, calculator", "not give a list"),
            ("[1, 2", "not give a list"),
        ] {
            let error = render(template, &row()).unwrap_err();
            assert!(error.message.contains(said), "{template}: {error}");
        }
    }

    #[test]
    fn hostile_templates_end() {
        for (template, said) in [
            (
                "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
                "too many steps",
            ),
            ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
            ("{% include '/etc/passwd' %}", "cannot include"),
            ("{% import 'x' as y %}", "cannot include"),
            ("{{ 'x' * 99999999999 }}", "too large"),
            ("{{ range(1000000000) | list }}", "range"),
            (
                "{% set ns = namespace(x='aa') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                "too large",
            ),
            (
                "{% set l = [] %}{% for i in range(99) %}{% do l.append(l) %}{% do l.extend(l) %}{% endfor %}",
                "too large",
            ),
        ] {
            let error = render(template, &row()).unwrap_err();
            assert!(error.message.contains(said), "{template}: {error}");
        }
        let deep = format!("{{{{ {}1{} }}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(render(&deep, &row()).is_err());
        assert!(render(&format!("{}{}", "[".repeat(5000), "]".repeat(5000)), &row()).is_err());
        assert!(render(&"x".repeat(LONGEST + 1), &row()).is_err());
    }

    #[test]
    fn what_a_template_needs() {
        for (template, want) in [
            ("{{ sample.a }}", vec!["sample"]),
            ("{{ solver_output.output }} {{ sample.a }}", vec!["sample", "solver_output"]),
            ("{% for x in range(3) %}{{ x }}{% endfor %}", vec![]),
            ("plain", vec![]),
        ] {
            let got: Vec<_> = Template::new(template).unwrap().variables().into_iter().collect();
            assert_eq!(got, want, "{template}");
        }
    }
}
