//! Compares one call with its expectation.
//!
//! A [`CallPattern`] is a predicate on a call: its tool, arguments, result,
//! status, duration and position. The answer is three-valued ([`Truth`]): facts that
//! the trace does not record make it unknown, never false. A [`CallTable`]
//! holds the calls of a view, and [`fits()`] compares many patterns with all of
//! them at once. The configuration of a call is [`config::CallConfig`].

mod args;
mod condition;
pub mod config;
mod expected;
mod facts;
mod fits;
mod name;
mod path;
mod schema;
mod slashes;
mod table;
#[cfg(test)]
mod tests;
mod truth;

pub use args::{ArgsMatch, Difference, shown};
pub use condition::{Condition, ConditionConfig, Conditions, Needle, Operators, Values};
pub use expected::ExpectedArgs;
pub use expected::KeySpans;
pub use facts::{FactSource, Facts};
pub use fits::{Fits, fits};
pub use name::{Fitting, NamePattern, Prefixes, ToolNames};
pub use path::{KeyPath, KeyStep as PathStep, written as written_path};
pub use schema::{CompiledSchema, SchemaCompiler, SchemaError, compile_schema};
pub use slashes::TextReading;
use table::End;
pub use table::{Agents, CallTable, Parallel, TableCall, has_batches};
pub use truth::{Lack, Truth};

use args::ArgsComparison;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use toolmark_config::CompactString;
use toolmark_hosts::toolset::{ArgClass, ToolClass};
use toolmark_outcome::{NumberRules, equal};
use toolmark_pattern::Pattern;
use toolmark_shell::results::ResultKind;
use toolmark_trace::{Call, Fact, Status};

/// Rule for the arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct ArgsRule {
    /// Expected values, if any.
    pub expected: Option<ExpectedArgs>,
    /// Comparison mode for arguments.
    pub how: ArgsMatch,
    /// Paths that are not compared.
    pub ignore: Vec<KeyPath>,
}

/// Rule for the result of a call.
#[derive(Debug, Clone)]
pub struct ResultRule {
    /// Pattern that must match anywhere in its text.
    pub regex: Option<Pattern>,
    /// Text that it must contain.
    pub needle: Option<Needle>,
    /// Conditions on values in the result.
    pub conditions: Vec<(KeyPath, Condition)>,
}

/// Required position of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPosition {
    /// In this step.
    AtStep(u32),
    /// Before this step.
    BeforeStep(u32),
    /// Before all others.
    First,
    /// After all others.
    Last,
}

/// Expectation for one call.
#[derive(Debug, Clone)]
pub struct CallPattern {
    name: NamePattern,
    args: ArgsRule,
    /// Rules that most patterns do not have.
    more: Option<Box<MoreRules>>,
}

/// Conditions on arguments by what they are, whatever the tool calls them.
pub type TypedConditions = Vec<(ArgClass, Condition)>;

/// Rules for a call in addition to its name and the values of its arguments.
#[derive(Debug, Clone, Default)]
struct MoreRules {
    conditions: Vec<(KeyPath, Condition)>,
    result: Option<ResultRule>,
    status: Option<Vec<Status>>,
    max_millis: Option<f64>,
    positions: Vec<CallPosition>,
    /// Class of the tool.
    class: Option<ToolClass>,
    typed: TypedConditions,
    exit_code: Option<Condition>,
    kinds: Vec<ResultKind>,
    /// Description of what is asked about other calls.
    relations: String,
}

impl MoreRules {
    /// Appends what is asked about the arguments, the exit code, the result and other calls.
    fn add_facts(&self, out: &mut String) {
        for (class, condition) in &self.typed {
            let _ = write!(out, ", {class} {condition}");
        }
        if let Some(condition) = &self.exit_code {
            let _ = write!(out, ", exit code {condition}");
        }
        if !self.kinds.is_empty() {
            let words: Vec<&str> = self.kinds.iter().map(|kind| kind.word()).collect();
            let _ = write!(out, ", result {}", words.join(" or "));
        }
        out.push_str(&self.relations);
    }

    fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.relations.is_empty() && self.asks_only_args()
    }

    fn asks_only_args(&self) -> bool {
        self.result.is_none()
            && self.status.is_none()
            && self.max_millis.is_none()
            && self.positions.is_empty()
            && self.class.is_none()
            && self.typed.is_empty()
            && self.exit_code.is_none()
            && self.kinds.is_empty()
    }
}

impl CallPattern {
    /// Creates a pattern with all rules; `status` is `None` if unspecified.
    #[must_use]
    pub fn new(
        name: NamePattern,
        args: ArgsRule,
        conditions: Vec<(KeyPath, Condition)>,
        result: Option<ResultRule>,
        status: Option<Vec<Status>>,
        max_millis: Option<f64>,
        positions: Vec<CallPosition>,
    ) -> Self {
        let class = match name {
            NamePattern::Class(class) => Some(class),
            _ => None,
        };
        let rest = MoreRules::default();
        let more = MoreRules { conditions, result, status, max_millis, positions, class, ..rest };
        let more = (!more.is_empty()).then(|| Box::new(more));
        Self { name, args, more }
    }

    /// Adds conditions on arguments by what they are.
    #[must_use]
    pub fn with_typed(mut self, typed: TypedConditions) -> Self {
        if !typed.is_empty() {
            self.more.get_or_insert_default().typed.extend(typed);
        }
        self
    }

    /// Adds a condition on the exit code.
    #[must_use]
    pub fn with_exit_code(mut self, condition: Condition) -> Self {
        self.more.get_or_insert_default().exit_code = Some(condition);
        self
    }

    /// Adds the accepted meanings of the result.
    #[must_use]
    pub fn with_kinds(mut self, kinds: Vec<ResultKind>) -> Self {
        if !kinds.is_empty() {
            self.more.get_or_insert_default().kinds = kinds;
        }
        self
    }

    /// Adds the description of what is asked about other calls, which the pattern itself does
    /// not know.
    #[must_use]
    pub fn with_relations(mut self, words: &str) -> Self {
        self.more.get_or_insert_default().relations.push_str(words);
        self
    }

    /// Returns the description of what is asked about other calls.
    #[must_use]
    pub fn relations(&self) -> &str {
        self.more.as_ref().map_or("", |more| &more.relations)
    }

    /// Whether the tool of a call may be of the class that the pattern asks for.
    #[must_use]
    pub fn is_for(&self, table: &CallTable<'_>, call: usize) -> bool {
        table.calls().get(call).is_some_and(|made| self.class_of(table, made) != Truth::No)
    }

    /// Returns the names of bound values that the pattern asks about.
    #[must_use]
    pub fn references(&self) -> Vec<CompactString> {
        let mut names = Vec::new();
        let Some(more) = &self.more else { return names };
        more.conditions.iter().for_each(|(_, condition)| condition.references(&mut names));
        more.typed.iter().for_each(|(_, condition)| condition.references(&mut names));
        if let Some(rule) = &more.result {
            if let Some(Needle::Bound(name)) = &rule.needle {
                names.push(name.clone());
            }
            rule.conditions.iter().for_each(|(_, condition)| condition.references(&mut names));
        }
        names
    }

    /// Whether the pattern asks about a value that a call binds to a name.
    #[must_use]
    pub fn refers(&self) -> bool {
        self.more.is_some() && !self.references().is_empty()
    }

    /// Returns the pattern with values in place of the names to which they are bound.
    #[must_use]
    pub fn with_values(&self, values: &Values) -> Self {
        let mut own = self.clone();
        let Some(more) = &mut own.more else { return own };
        let result = more.result.iter_mut().flat_map(|rule| &mut rule.conditions);
        let typed = more.typed.iter_mut().map(|(_, condition)| condition);
        let rest = more.conditions.iter_mut().chain(result).map(|(_, condition)| condition);
        typed.chain(rest).for_each(|condition| *condition = condition.with(values));
        if let Some(ResultRule { needle: Some(needle), .. }) = &mut more.result {
            *needle = needle.with(values);
        }
        own
    }

    /// Only the name and values of arguments are asked about.
    pub fn with_args(name: NamePattern, args: ArgsRule) -> Self {
        Self { name, args, more: None }
    }

    fn conditions(&self) -> &[(KeyPath, Condition)] {
        self.more.as_ref().map_or(&[], |more| &more.conditions)
    }

    fn result(&self) -> Option<&ResultRule> {
        self.more.as_ref().and_then(|more| more.result.as_ref())
    }

    fn status(&self) -> Option<&[Status]> {
        self.more.as_ref().and_then(|more| more.status.as_deref())
    }

    fn max_millis(&self) -> Option<f64> {
        self.more.as_ref().and_then(|more| more.max_millis)
    }

    fn positions(&self) -> &[CallPosition] {
        self.more.as_ref().map_or(&[], |more| &more.positions)
    }

    /// Creates a pattern for the name.
    #[must_use]
    pub fn named(name: NamePattern) -> Self {
        Self::new(name, ArgsRule::default(), Vec::new(), None, None, None, Vec::new())
    }

    /// Returns the pattern of the tool name.
    #[must_use]
    pub fn name(&self) -> &NamePattern {
        &self.name
    }

    /// Whether the pattern has its own rule for the status.
    #[must_use]
    pub fn names_status(&self) -> bool {
        self.status().is_some()
    }

    /// Whether only the name is checked.
    #[must_use]
    pub fn is_name_only(&self) -> bool {
        !self.compares_args() && self.conditions().is_empty() && self.asks_only_args()
    }

    /// Whether only the name and the arguments are checked.
    fn asks_only_args(&self) -> bool {
        self.more.as_ref().is_none_or(|more| more.asks_only_args())
    }

    fn compares_args(&self) -> bool {
        self.args.expected.is_some() && self.args.how != ArgsMatch::Ignore
    }

    /// Returns an argument with a required plain value, which distinguishes calls
    /// before anything else is compared.
    fn key(&self) -> Option<(&str, &Value)> {
        let sorts = matches!(self.args.how, ArgsMatch::Contains | ArgsMatch::Exact);
        let Some(Value::Object(fields)) = self.args.expected.as_ref().map(ExpectedArgs::value)
        else {
            return None;
        };
        if !sorts || !self.args.ignore.is_empty() {
            return None;
        }
        let mut plain = fields.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
        plain.next().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether the call meets all rules except the one for the name.
    #[must_use]
    pub fn fits(&self, table: &CallTable<'_>, call: usize) -> Truth {
        let Some(made) = table.calls().get(call) else { return Truth::No };
        if self.asks_only_args() {
            return self.args_of(table, made);
        }
        // What is cheap comes first.
        let questions: [&dyn Fn() -> Truth; 9] = [
            &|| self.status_of(made),
            &|| self.class_of(table, made),
            &|| Truth::all(self.positions().iter().map(|p| p.holds(table, call))),
            &|| self.duration_of(made),
            &|| self.args_of(table, made),
            &|| self.typed_of(table, made),
            &|| self.exit_code_of(table, made),
            &|| self.result_of(made),
            &|| self.kind_of(table, made),
        ];
        Truth::all(questions.into_iter().map(|question| question()))
    }

    fn class_of(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Truth {
        let class = self.more.as_ref().and_then(|more| more.class);
        class.map_or(Truth::Yes, |class| table.is_of_class(made, class))
    }

    fn typed_of(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Truth {
        let typed = self.more.iter().flat_map(|more| &more.typed);
        Truth::all(typed.map(|(class, condition)| {
            let Some(things) = table.values_of(made, *class) else {
                return Truth::Unknown(Lack::Arguments);
            };
            match things.is_empty() {
                true => condition.holds(None),
                false => Truth::any(things.iter().map(|thing| condition.holds_for(thing))),
            }
        }))
    }

    fn exit_code_of(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Truth {
        let Some(condition) = self.more.as_ref().and_then(|more| more.exit_code.as_ref()) else {
            return Truth::Yes;
        };
        match table.exit_code_of(made) {
            Some(code) => condition.holds(Some(&code.into())),
            None => Truth::Unknown(Lack::ExitCode),
        }
    }

    fn kind_of(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Truth {
        let Some(kinds) = self.more.as_ref().map(|more| &more.kinds).filter(|k| !k.is_empty())
        else {
            return Truth::Yes;
        };
        match table.result_kind_of(made) {
            kind if kinds.contains(&kind) => Truth::Yes,
            ResultKind::Unknown => Truth::Unknown(Lack::ResultKind),
            _ => Truth::No,
        }
    }

    fn status_of(&self, made: &TableCall<'_>) -> Truth {
        let Some(wanted) = self.status() else { return Truth::Yes };
        let status = made.seen.call.status;
        if wanted.contains(&status) {
            return Truth::Yes;
        }
        match status {
            Status::Unknown => Truth::Unknown(Lack::Status),
            Status::Unanswered if made.fidelity.lacks(Fact::Results) => {
                Truth::Unknown(Lack::Results)
            }
            _ => Truth::No,
        }
    }

    fn duration_of(&self, made: &TableCall<'_>) -> Truth {
        match (self.max_millis(), made.seen.call.duration) {
            (None, _) => Truth::Yes,
            (Some(_), None) => Truth::Unknown(Lack::Duration),
            (Some(max), Some(duration)) => Truth::of(duration.as_secs_f64() * 1000.0 <= max),
        }
    }

    fn args_of(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Truth {
        let conditions = self.conditions();
        if !self.compares_args() && conditions.is_empty() {
            return Truth::Yes;
        }
        if conditions.is_empty()
            && self.args.ignore.is_empty()
            && let Some(expected) = &self.args.expected
            && let Some(is_met) = table.is_met(expected, self.args.how, made)
        {
            return Truth::of(is_met);
        }
        let Some(found) = arguments(made) else { return Truth::Unknown(Lack::Arguments) };
        self.accepts(&found)
    }

    /// Whether arguments match, for a call that is not in a table because it has not been made
    /// yet.
    #[must_use]
    pub fn accepts(&self, args: &Value) -> Truth {
        if let Some(expected) = &self.args.expected
            && !self.comparison().holds(expected.value(), args)
        {
            return Truth::No;
        }
        Truth::all(self.conditions().iter().map(|(path, c)| c.holds(path.get(args))))
    }

    fn comparison(&self) -> ArgsComparison<'_> {
        ArgsComparison { how: self.args.how, ignore: &self.args.ignore }
    }

    fn result_of(&self, made: &TableCall<'_>) -> Truth {
        let Some(rule) = self.result() else { return Truth::Yes };
        let Some(result) = &made.seen.call.result else {
            return match made.fidelity.lacks(Fact::Results) {
                true => Truth::Unknown(Lack::Results),
                false => Truth::No,
            };
        };
        let Some(payload) = &result.payload else { return Truth::Unknown(Lack::Results) };
        let regex = match &rule.regex {
            None => Truth::Yes,
            Some(regex) => condition::found(regex, &payload.plain()),
        };
        let regex = match &rule.needle {
            None => regex,
            Some(needle) => regex.and(Truth::of(needle.is_in(&payload.plain()))),
        };
        if rule.conditions.is_empty() || regex == Truth::No {
            return regex;
        }
        let value = payload.parsed().map_or_else(|| Cow::Owned(payload.to_value()), Cow::Borrowed);
        let conditions = rule.conditions.iter().map(|(path, c)| c.holds(path.get(&value)));
        regex.and(Truth::all(conditions))
    }

    /// Returns the differences between the call and the expectation, except for the name.
    #[must_use]
    pub fn differences(&self, table: &CallTable<'_>, call: usize) -> Vec<Difference> {
        let Some(made) = table.calls().get(call) else { return Vec::new() };
        let mut all = Vec::new();
        if let (Some(found), true) = (arguments(made), self.compares_args()) {
            let expected = self.args.expected.as_ref();
            let differences = |e: &ExpectedArgs| self.comparison().differences(e.value(), &found);
            all.extend(expected.into_iter().flat_map(differences));
        }
        if let Some(found) = arguments(made) {
            all.extend(unmet(self.conditions(), &found, "argument"));
        }
        if self.result_of(made) == Truth::No {
            all.extend(self.result_differences(made.seen.call));
        }
        if self.status_of(made) == Truth::No {
            let words = self.status().into_iter().flatten().map(|status| status.word());
            all.push(Difference {
                what: "status".into(),
                expected: Some(words.collect::<Vec<_>>().join(" or ")),
                found: Some(made.seen.call.status.word().into()),
            });
        }
        if let (Truth::No, Some(max)) = (self.duration_of(made), self.max_millis()) {
            let found = made.seen.call.duration.map(|d| format!("{} ms", d.as_millis()));
            let expected = Some(format!("at most {max} ms"));
            all.push(Difference { what: "duration".into(), expected, found });
        }
        all.extend(self.fact_differences(table, made));
        for position in self.positions() {
            if position.holds(table, call) == Truth::No {
                let found = match position {
                    CallPosition::First | CallPosition::Last => "other calls".to_owned(),
                    _ => made
                        .seen
                        .call
                        .step
                        .map_or("none".into(), |step| format!("step {}", step + 1)),
                };
                let expected = Some(position.to_string());
                all.push(Difference { what: "position".into(), expected, found: Some(found) });
            }
        }
        all
    }

    /// Returns the differences in what follows from the tool and the result of the call.
    fn fact_differences(&self, table: &CallTable<'_>, made: &TableCall<'_>) -> Vec<Difference> {
        let Some(more) = &self.more else { return Vec::new() };
        let mut all = Vec::new();
        for (class, condition) in &more.typed {
            let things = table.values_of(made, *class).unwrap_or_default();
            let is_met = |thing: &Vec<Value>| condition.holds_for(thing) != Truth::No;
            if things.iter().any(is_met) || things.is_empty() && condition.holds(None) != Truth::No
            {
                continue;
            }
            all.push(Difference {
                what: class.word().into(),
                expected: Some(condition.to_string()),
                found: things.first().and_then(|thing| thing.first()).map(shown),
            });
        }
        if let (Truth::No, Some(condition)) = (self.exit_code_of(table, made), &more.exit_code) {
            let found = table.exit_code_of(made).map(|code| code.to_string());
            let expected = Some(condition.to_string());
            all.push(Difference { what: "exit code".into(), expected, found });
        }
        if self.kind_of(table, made) == Truth::No {
            let words: Vec<&str> = more.kinds.iter().map(|kind| kind.word()).collect();
            all.push(Difference {
                what: "result kind".into(),
                expected: Some(words.join(" or ")),
                found: Some(table.result_kind_of(made).word().into()),
            });
        }
        all
    }

    fn result_differences(&self, call: &Call) -> Vec<Difference> {
        let Some(rule) = self.result() else { return Vec::new() };
        let payload = call.result.as_ref().and_then(|result| result.payload.as_ref());
        let Some(payload) = payload else {
            let expected = Some("a result".to_owned());
            return vec![Difference { what: "the result".into(), expected, found: None }];
        };
        let text = payload.plain();
        let mut all = Vec::new();
        if let Some(regex) = &rule.regex
            && condition::found(regex, &text) == Truth::No
        {
            all.push(Difference {
                what: "the result".into(),
                expected: Some(format!("matching /{regex}/")),
                found: Some(shown(&Value::String(toolmark_outcome::excerpt(&text)))),
            });
        }
        if let Some(needle) = rule.needle.as_ref().filter(|needle| !needle.is_in(&text)) {
            all.push(Difference {
                what: "the result".into(),
                expected: Some(needle.to_string()),
                found: Some(shown(&Value::String(toolmark_outcome::excerpt(&text)))),
            });
        }
        all.extend(unmet(&rule.conditions, &payload.to_value(), "result"));
        all
    }

    /// Whether both patterns are the same.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let conditions = |a: &[(KeyPath, Condition)], b: &[(KeyPath, Condition)]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.is(&b.1))
        };
        let results = match (self.result(), other.result()) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                a.regex.as_ref().map(Pattern::source) == b.regex.as_ref().map(Pattern::source)
                    && a.needle == b.needle
                    && conditions(&a.conditions, &b.conditions)
            }
            _ => false,
        };
        let args = match (self.compares_args(), other.compares_args()) {
            (false, false) => true,
            (true, true) => {
                let none = Value::Null;
                let mine = self.args.expected.as_ref().map_or(&none, ExpectedArgs::value);
                let theirs = other.args.expected.as_ref().map_or(&none, ExpectedArgs::value);
                self.args.how == other.args.how
                    && self.args.ignore == other.args.ignore
                    && equal(mine, theirs, NumberRules::Json)
            }
            _ => false,
        };
        self.name.is(&other.name)
            && args
            && results
            && conditions(self.conditions(), other.conditions())
            && self.status() == other.status()
            && self.max_millis() == other.max_millis()
            && self.positions() == other.positions()
            && self.has_same_facts(other)
    }

    /// Whether both ask the same about what follows from the tool, the result and other calls.
    fn has_same_facts(&self, other: &Self) -> bool {
        match (&self.more, &other.more) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let typed = a.typed.iter().zip(&b.typed).all(|(a, b)| a.0 == b.0 && a.1.is(&b.1));
                let codes = match (&a.exit_code, &b.exit_code) {
                    (None, None) => true,
                    (Some(a), Some(b)) => a.is(b),
                    _ => false,
                };
                a.typed.len() == b.typed.len()
                    && typed
                    && codes
                    && a.kinds == b.kinds
                    && a.relations == b.relations
            }
            (Some(one), None) | (None, Some(one)) => {
                one.typed.is_empty()
                    && one.exit_code.is_none()
                    && one.kinds.is_empty()
                    && one.relations.is_empty()
            }
        }
    }

    /// Returns the tool and the checked parts, without values.
    #[must_use]
    pub fn title(&self) -> String {
        let mut out = String::with_capacity(64);
        self.add_title(&mut out);
        out
    }

    /// Appends the title to a text.
    pub fn add_title(&self, out: &mut String) {
        self.name.add_to(out);
        let Some(expected) = self.args.expected.as_ref().filter(|_| self.compares_args()) else {
            return;
        };
        let mut keys = 0_usize;
        expected.each_key(&mut |key| {
            if keys < 4 {
                out.push_str(if keys == 0 { " with " } else { ", " });
                out.push_str(key);
            }
            keys += 1;
        });
        if keys > 4 {
            let _ = write!(out, " and {} more arguments", keys - 4);
        }
    }

    fn described(&self) -> String {
        let mut out = String::with_capacity(128);
        self.name.add_to(&mut out);
        let mut joint = " with ";
        let mut add = |parts: &[&str]| {
            out.push_str(std::mem::replace(&mut joint, " and "));
            parts.iter().for_each(|part| out.push_str(part));
        };
        match self.args.expected.as_ref().map(ExpectedArgs::value) {
            Some(Value::Object(fields)) if self.compares_args() => {
                for (key, value) in fields.iter().take(4) {
                    add(&[key, " = ", &shown(value)]);
                }
                if fields.len() > 4 {
                    add(&[&(fields.len() - 4).to_string(), " more arguments"]);
                }
            }
            Some(value) if self.compares_args() => add(&["args = ", &shown(value)]),
            _ => {}
        }
        for (path, condition) in self.conditions() {
            add(&[&path.to_string(), " ", &condition.to_string()]);
        }
        if let Some(rule) = self.result() {
            let regex = rule.regex.as_ref().map(|regex| format!("matching /{regex}/"));
            let inner = rule.conditions.iter().map(|(path, c)| format!("{path} {c}"));
            let needle = rule.needle.as_ref().map(ToString::to_string);
            let all: Vec<String> = regex.into_iter().chain(needle).chain(inner).collect();
            let _ = write!(out, " and a result {}", all.join(" and "));
        }
        if let Some(status) = self.status().filter(|all| all.len() < Status::ALL.len()) {
            let words: Vec<&str> = status.iter().map(|status| status.word()).collect();
            let _ = write!(out, " that {}", words.join(" or "));
        }
        if let Some(max) = self.max_millis() {
            let _ = write!(out, " within {max} ms");
        }
        for position in self.positions() {
            let _ = write!(out, " {position}");
        }
        if let Some(more) = &self.more {
            more.add_facts(&mut out);
        }
        out
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described())
    }
}

impl CallPosition {
    fn holds(self, table: &CallTable<'_>, call: usize) -> Truth {
        let step = table
            .calls()
            .get(call)
            .and_then(|made| made.seen.call.step.filter(|_| !made.fidelity.lacks(Fact::Steps)));
        let by_step = |holds: &dyn Fn(u32) -> bool| match step {
            Some(step) => Truth::of(holds(step)),
            None => Truth::Unknown(Lack::Step),
        };
        match self {
            Self::AtStep(wanted) => by_step(&|step| step == wanted),
            Self::BeforeStep(wanted) => by_step(&|step| step < wanted),
            Self::First => Truth::of(table.is_at_end(call, End::First)),
            Self::Last => Truth::of(table.is_at_end(call, End::Last)),
        }
    }
}

impl fmt::Display for CallPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Specs count steps from 0, texts from 1.
            Self::AtStep(step) => write!(f, "at step {} (at_step: {step})", step + 1),
            Self::BeforeStep(step) => write!(f, "before step {} (before_step: {step})", step + 1),
            Self::First => f.write_str("before all other calls"),
            Self::Last => f.write_str("after all other calls"),
        }
    }
}

/// Returns the arguments of a call; `None` if the trace does not record them. A call
/// without arguments in a trace that records them has empty arguments.
#[must_use]
pub fn arguments<'a>(made: &TableCall<'a>) -> Option<Cow<'a, Value>> {
    match &made.seen.call.args {
        Some(args) => {
            Some(args.parsed().map_or_else(|| Cow::Owned(args.to_value()), Cow::Borrowed))
        }
        None if made.fidelity.lacks(Fact::Arguments) => None,
        None => Some(Cow::Owned(Value::Object(serde_json::Map::new()))),
    }
}

/// Returns the conditions that do not hold.
fn unmet<'a>(
    conditions: &'a [(KeyPath, Condition)],
    found: &'a Value,
    what: &'a str,
) -> impl Iterator<Item = Difference> + 'a {
    let unmet = conditions.iter().filter(|(path, c)| c.holds(path.get(found)) == Truth::No);
    unmet.map(move |(path, condition)| Difference {
        what: format!("{what} {path}"),
        expected: Some(condition.to_string()),
        found: path.get(found).map(shown),
    })
}
