//! Conditions of a [`ToolPolicy`] on a call, checked against the calls and messages before it.
//!
//! `toolmark check` asks about recorded calls, the guard and the MCP proxy about calls that are
//! about to run. All of them describe the past as a [`Past`].

mod approval;
mod foreign;
mod past;

pub use approval::{Approval, is_agreement};
pub use foreign::{Foreign, foreign_instruction};
pub use past::{LiveCall, LivePast, SessionPast};

use serde_json::Value;
use std::borrow::Cow;
use toolmark_hosts::tool_policy::{
    Need, Once, Origins, ResultPath, ToolPolicy, ToolTerms, Wanted, is_named, scalar,
};

/// Maximum number of values of an argument to look up.
const MAX_VALUES: usize = 64;
/// Maximum length of a result to parse, in bytes.
const MAX_RESULT: usize = 1 << 20;

/// Calls and messages before a call. Calls are numbered from 0, the earliest first.
pub trait Past {
    /// Number of earlier calls.
    fn calls(&self) -> usize;
    /// Full name of the tool of a call.
    fn tool(&self, at: usize) -> Cow<'_, str>;
    /// Arguments of a call.
    fn args(&self, at: usize) -> Option<&Value>;
    /// Result of a call, if it was known when the new call was made.
    fn result(&self, at: usize) -> Option<Cow<'_, str>>;
    /// Whether a call failed.
    fn has_failed(&self, at: usize) -> bool;
    /// Whether a text occurs in a message of the user; `None` if no message is recorded.
    fn user_wrote(&self, text: &str) -> Option<bool>;
    /// Whether a text, in lower case, occurs in what the host gave the model.
    fn was_given(&self, _text: &str) -> bool {
        false
    }
    /// Whether the user agreed in the last message.
    fn approval(&self) -> Approval;
}

/// Condition of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// A value that an earlier result must have.
    Needs,
    /// The source of an argument.
    From,
    /// The agreement of the user.
    Confirm,
    /// Only one call may succeed.
    Once,
    /// A call that must come before.
    After,
    /// The order of calls.
    Order,
    /// A call that excludes this one.
    NotWith,
    /// Maximum number of calls.
    Limit,
}

impl Condition {
    /// Name of the condition in the policy.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Needs => "needs",
            Self::From => "from",
            Self::Confirm => "confirm",
            Self::Once => "once",
            Self::After => "after",
            Self::Order => "order",
            Self::NotWith => "not_with",
            Self::Limit => "limit",
        }
    }
}

/// A condition that a call does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The condition.
    pub condition: Condition,
    /// Description without the name of the tool: `needs status of get_order …`.
    pub words: String,
    /// Earlier call that shows it.
    pub earlier: Option<usize>,
    /// Whether the past shows the breach. Otherwise something is missing to decide.
    pub is_shown: bool,
}

impl Breach {
    fn shown(condition: Condition, words: String, earlier: Option<usize>) -> Self {
        Self { condition, words, earlier, is_shown: true }
    }

    fn unknown(condition: Condition, words: String, earlier: Option<usize>) -> Self {
        Self { condition, words, earlier, is_shown: false }
    }
}

/// Returns the conditions that a call does not meet.
pub fn breaches(
    policy: &ToolPolicy,
    tool: &str,
    args: Option<&Value>,
    past: &dyn Past,
) -> Vec<Breach> {
    let mut found = Vec::new();
    let new = NewCall { tool, args, past };
    for terms in policy.of(tool) {
        found.extend(terms.needs.iter().filter_map(|need| new.need(need)));
        found.extend(terms.from.iter().filter_map(|origins| new.origins(origins)));
        found.extend(new.once(terms));
        found.extend(terms.after.iter().filter_map(|name| new.after(name)));
        found.extend(terms.not_with.iter().filter_map(|name| new.not_with(name)));
        found.extend(new.limit(terms));
        found.extend(terms.confirm.then(|| new.confirmed()).flatten());
    }
    found.extend(new.order(&policy.order));
    found
}

/// The call that is asked about.
struct NewCall<'n> {
    tool: &'n str,
    args: Option<&'n Value>,
    past: &'n dyn Past,
}

impl NewCall<'_> {
    /// Returns earlier calls of a tool that did not fail, latest first.
    fn of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = usize> + 's {
        let all = (0..self.past.calls()).rev();
        all.filter(move |at| is_named(name, &self.past.tool(*at)) && !self.past.has_failed(*at))
    }

    /// Whether an earlier call is about the same thing: arguments of the same name have the same
    /// value.
    fn is_about_same(&self, at: usize) -> bool {
        let (one, two) = (self.past.args(at), self.args);
        let (Some(Value::Object(one)), Some(Value::Object(two))) = (one, two) else { return true };
        one.iter().all(|(key, value)| {
            let other = two.get(key).filter(|other| !other.is_null());
            other.is_none_or(|other| is_same(value, other))
        })
    }

    /// Names the arguments that a call shares with calls of a tool: ` for order_id W1`.
    fn thing(&self, name: &str) -> String {
        let mut all = (0..self.past.calls()).filter(|at| is_named(name, &self.past.tool(*at)));
        let keys = all.next().and_then(|at| self.past.args(at)?.as_object());
        let mut keys = keys.into_iter().flat_map(|map| map.keys());
        let shared = keys.find_map(|key| Some((key, scalar(self.args?.get(key)?)?)));
        shared.map(|(key, value)| format!(" for {key} {value}")).unwrap_or_default()
    }

    fn json(&self, at: usize) -> Option<Value> {
        let text = self.past.result(at).filter(|text| text.len() <= MAX_RESULT)?;
        serde_json::from_str(&text).ok()
    }

    fn need(&self, need: &Need) -> Option<Breach> {
        let (tool, path) = (&need.at.tool, need.at.words());
        let visible = |at: &usize| self.is_about_same(*at) && self.past.result(*at).is_some();
        let Some(at) = self.of(tool).find(visible) else {
            let thing = self.thing(tool);
            let words = format!("needs a result of {tool}{thing}, and there is none before it");
            return Some(Breach::shown(Condition::Needs, words, None));
        };
        if need.wanted == Wanted::Any && need.at.steps.is_empty() {
            return None;
        }
        let result = self.json(at);
        let values = result.as_ref().map(|result| need.at.values(result)).unwrap_or_default();
        if values.is_empty() {
            let words = format!("needs {path} in the result of {tool}, which does not show it");
            return Some(Breach::unknown(Condition::Needs, words, Some(at)));
        }
        let listed = |list: &[Value], value: &Value| list.iter().any(|one| is_same(one, value));
        let (bad, wanted) = match &need.wanted {
            Wanted::Any => return None,
            Wanted::OneOf(list) => {
                (values.into_iter().find(|value| !listed(list, value))?, either(list))
            }
            Wanted::NoneOf(list) => (
                values.into_iter().find(|value| listed(list, value))?,
                format!("not {}", either(list)),
            ),
        };
        let is = scalar(bad).unwrap_or_else(|| bad.to_string());
        let words = format!("needs {path} of {tool} to be {wanted}, and it is {is}");
        Some(Breach::shown(Condition::Needs, words, Some(at)))
    }

    fn origins(&self, origins: &Origins) -> Option<Breach> {
        let value = self.args?.get(&origins.argument)?;
        let values: Vec<String> = match value {
            Value::Array(items) => items.iter().take(MAX_VALUES).filter_map(scalar).collect(),
            value => scalar(value).into_iter().collect(),
        };
        values.iter().find_map(|value| self.origin(origins, value))
    }

    fn origin(&self, origins: &Origins, value: &str) -> Option<Breach> {
        let mut is_unknown = false;
        if origins.user {
            match self.past.user_wrote(value) {
                Some(true) => return None,
                Some(false) => {}
                None => is_unknown = true,
            }
        }
        let mut nearest = None;
        for path in &origins.results {
            for at in self.of(&path.tool).filter(|at| self.is_about_same(*at)) {
                match self.past.result(at) {
                    None => is_unknown = true,
                    Some(text) if self.contains(path, at, &text, value) => return None,
                    Some(_) => nearest = nearest.or(Some(at)),
                }
            }
        }
        let argument = &origins.argument;
        let sources: Vec<String> = origins.results.iter().map(source).collect();
        let user = origins.user.then(|| "the words of the user".to_owned());
        let sources = sources.into_iter().chain(user).collect::<Vec<_>>().join(" or ");
        let words = format!("has {argument} {value}, which is not in {sources}");
        Some(match is_unknown {
            true => Breach::unknown(Condition::From, words, nearest),
            false => Breach::shown(Condition::From, words, nearest),
        })
    }

    /// Whether a result has a value at a path. In a result that is not JSON, any place counts.
    fn contains(&self, path: &ResultPath, at: usize, text: &str, value: &str) -> bool {
        match self.json(at) {
            Some(json) => path.contains(&json, value),
            None => text.contains(value),
        }
    }

    fn once(&self, terms: &ToolTerms) -> Option<Breach> {
        let once = terms.once.as_ref()?;
        let is_same_call = |at: &usize| match once {
            Once::PerArguments => self.past.args(*at) == self.args,
            Once::Per(names) => names.iter().all(|name| {
                let values = (self.past.args(*at).and_then(|a| a.get(name)), self.arg(name));
                matches!(values, (Some(one), Some(two)) if is_same(one, two))
            }),
        };
        let at = self.of(self.tool).find(is_same_call)?;
        let per = match once {
            Once::PerArguments => "with the same arguments".to_owned(),
            Once::Per(names) => {
                let value = |name: &String| self.arg(name).and_then(scalar).unwrap_or_default();
                let pairs: Vec<_> = names.iter().map(|n| format!("{n} {}", value(n))).collect();
                format!("for {}", pairs.join(", "))
            }
        };
        let words = format!("was already called {per}");
        Some(Breach::shown(Condition::Once, words, Some(at)))
    }

    fn arg(&self, name: &str) -> Option<&Value> {
        self.args?.get(name)
    }

    fn after(&self, name: &str) -> Option<Breach> {
        if self.of(name).next().is_some() {
            return None;
        }
        let words = format!("needs a call of {name} before it");
        Some(Breach::shown(Condition::After, words, None))
    }

    fn not_with(&self, name: &str) -> Option<Breach> {
        let at = self.of(name).find(|at| self.is_about_same(*at))?;
        let words = format!("is excluded by the earlier call of {}", self.past.tool(at));
        Some(Breach::shown(Condition::NotWith, words, Some(at)))
    }

    fn limit(&self, terms: &ToolTerms) -> Option<Breach> {
        let limit = terms.limit?;
        let count = self.of(&terms.name).count() as u64;
        (count >= limit).then(|| {
            let words = format!("exceeds the limit of {limit} per session");
            Breach::shown(Condition::Limit, words, self.of(&terms.name).next())
        })
    }

    fn order(&self, order: &[String]) -> Option<Breach> {
        let own = order.iter().position(|name| is_named(name, self.tool))?;
        let later = order.get(own + 1..).unwrap_or_default();
        let at = later.iter().find_map(|name| self.of(name).next())?;
        let words = format!("comes before {} in the order of the policy", self.past.tool(at));
        Some(Breach::shown(Condition::Order, words, Some(at)))
    }

    fn confirmed(&self) -> Option<Breach> {
        match self.past.approval() {
            Approval::Given => None,
            Approval::NotGiven => {
                let words = "needs a yes of the user, and the last message has none".to_owned();
                Some(Breach::shown(Condition::Confirm, words, None))
            }
            Approval::Unknown => {
                let words = "needs a yes of the user, and no message is recorded".to_owned();
                Some(Breach::unknown(Condition::Confirm, words, None))
            }
        }
    }
}

/// Whether two values are the same; a number and its text are.
fn is_same(one: &Value, two: &Value) -> bool {
    one == two || scalar(one).is_some_and(|text| scalar(two).is_some_and(|other| text == other))
}

fn either(values: &[Value]) -> String {
    let texts = values.iter().map(|value| scalar(value).unwrap_or_else(|| value.to_string()));
    texts.collect::<Vec<_>>().join(" or ")
}

fn source(path: &ResultPath) -> String {
    match path.steps.is_empty() {
        true => format!("a result of {}", path.tool),
        false => format!("{} of {}", path.words(), path.tool),
    }
}

#[cfg(test)]
mod tests;
