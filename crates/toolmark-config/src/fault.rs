//! The reason why one attempt to read a value failed. Serde's errors contain what was
//! expected but not where; each level they pass on their way out adds its node.

use super::words::{listed, plain, quoted, remedy, suggestion};
use super::{Node, NodeEntry, NodeSpan, Problem};
use serde::de::{Error, Expected, Unexpected};
use std::fmt;

/// The identity of a node while its tree is borrowed.
pub(super) type NodeId = usize;

pub(super) fn id(node: &Node) -> NodeId {
    std::ptr::from_ref(node).addr()
}

/// Kind of fault.
#[derive(Debug)]
pub(super) enum ConfigFaultKind {
    /// The value has the wrong kind.
    Type { expected: String, found: String },
    /// The value has the right kind but is not accepted.
    Value { expected: String, found: String },
    /// A list is too short or too long.
    Length { expected: String, found: usize },
    /// A name that is not one of the allowed names.
    Variant { found: String, allowed: &'static [&'static str] },
    /// A key that is not one of the allowed keys.
    Key { found: String, allowed: &'static [&'static str] },
    /// A required key that is missing.
    Missing(&'static str),
    /// A key that is given twice, under two names.
    Twice(&'static str),
    /// An error message of the type itself.
    Custom(String),
}

/// One failed attempt.
#[derive(Debug)]
pub(super) struct AttemptFault(Box<FaultState>);

#[derive(Debug)]
struct FaultState {
    what: ConfigFaultKind,
    /// Problem to report, once its position is known.
    problem: Option<Problem>,
    /// The offending node and the nodes around it, innermost first.
    path: Vec<NodeId>,
    /// Whether this fault only follows from a problem that was already reported.
    echo: bool,
}

impl From<ConfigFaultKind> for AttemptFault {
    fn from(what: ConfigFaultKind) -> Self {
        Self(Box::new(FaultState { what, problem: None, path: Vec::new(), echo: false }))
    }
}

impl AttemptFault {
    /// Records that the fault passed through `node`; the innermost node is at fault.
    pub(super) fn at(mut self, node: &Node) -> Self {
        if self.0.path.is_empty() {
            self.0.problem = Some(self.0.what.problem(node.span, Some(node)));
        }
        if self.0.path.last() != Some(&id(node)) {
            self.0.path.push(id(node));
        }
        self
    }

    /// Makes the key the part at fault.
    pub(super) fn at_key(mut self, entry: &NodeEntry) -> Self {
        if self.0.path.is_empty() {
            self.0.problem = Some(self.0.what.problem(entry.key_span, None));
            self.0.path.push(id(&entry.value));
        }
        self
    }

    /// Marks the fault as caused by the substitute for the node with this ID.
    pub(super) fn echo(mut self, of: NodeId) -> Self {
        self.0.echo = true;
        if self.0.path.is_empty() {
            self.0.path.push(of);
        }
        self
    }

    pub(super) fn what(&self) -> &ConfigFaultKind {
        &self.0.what
    }

    pub(super) fn is_echo(&self) -> bool {
        self.0.echo
    }

    pub(super) fn path(&self) -> &[NodeId] {
        &self.0.path
    }

    pub(super) fn into_problem(self) -> Option<Problem> {
        self.0.problem
    }
}

impl ConfigFaultKind {
    /// Returns the problem at `span`; `node` is the value at that position, unless the
    /// position is that of a key.
    pub(super) fn problem(&self, span: NodeSpan, node: Option<&Node>) -> Problem {
        let problem = match self {
            Self::Type { expected, .. } | Self::Value { expected, .. } => {
                let mut problem = Problem::error(self.code(), self.to_string());
                problem.help = node.and_then(|node| remedy(expected, node));
                problem.label(format!("expected {expected}"))
            }
            Self::Variant { found, allowed } => Problem::error(self.code(), self.to_string())
                .help(suggestion(found, allowed, "nothing is allowed here", "expected one of")),
            Self::Key { found, allowed } => {
                let none = "no keys are allowed here";
                let help = suggestion(found, allowed, none, "known keys");
                Problem::error(self.code(), self.to_string()).help(help)
            }
            _ => Problem::error(self.code(), self.to_string()),
        };
        problem.at(span)
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Type { .. } => "wrong-type",
            Self::Variant { .. } => "unknown-value",
            Self::Key { .. } => "unknown-key",
            Self::Missing(_) => "missing-key",
            Self::Twice(_) => "duplicate-key",
            Self::Value { .. } | Self::Length { .. } | Self::Custom(_) => "invalid-value",
        }
    }
}

impl fmt::Display for ConfigFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { expected, found } | Self::Value { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Self::Length { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Variant { found, .. } => write!(f, "unknown value {}", quoted(found)),
            Self::Key { found, .. } => write!(f, "unknown key {}", quoted(found)),
            Self::Missing(name) => write!(f, "missing key {}", quoted(name)),
            Self::Twice(name) => write!(f, "{} is set twice, under two names", quoted(name)),
            Self::Custom(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for AttemptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.what.fmt(f)
    }
}

impl std::error::Error for AttemptFault {}

impl Error for AttemptFault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ConfigFaultKind::Custom(message.to_string()).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        ConfigFaultKind::Type { expected: plain(&expected.to_string()), found: kind_word(found) }
            .into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        ConfigFaultKind::Value { expected: plain(&expected.to_string()), found: value_word(found) }
            .into()
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        ConfigFaultKind::Length { expected: plain(&expected.to_string()), found }.into()
    }

    fn unknown_variant(found: &str, allowed: &'static [&'static str]) -> Self {
        ConfigFaultKind::Variant { found: found.to_owned(), allowed }.into()
    }

    fn unknown_field(found: &str, allowed: &'static [&'static str]) -> Self {
        ConfigFaultKind::Key { found: found.to_owned(), allowed }.into()
    }

    fn missing_field(name: &'static str) -> Self {
        ConfigFaultKind::Missing(name).into()
    }

    fn duplicate_field(name: &'static str) -> Self {
        ConfigFaultKind::Twice(name).into()
    }
}

/// Maps serde's kind of value to the words of [`Node::word`].
fn kind_word(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number".into(),
        Unexpected::Char(_) | Unexpected::Str(_) => "text".into(),
        Unexpected::Unit | Unexpected::Option => "nothing".into(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map | Unexpected::StructVariant => "a map".into(),
        other => other.to_string(),
    }
}

fn value_word(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Str(text) => quoted(text),
        other => kind_word(other),
    }
}

/// Returns the "expected" text of an enum, for a user who wrote an unknown name.
pub(super) fn one_of(allowed: &[&str]) -> String {
    format!("one of {}", listed(allowed))
}
