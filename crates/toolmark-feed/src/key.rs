//! The key of an issue: the common properties of failures and findings with one cause. It is a pure
//! function of one failed call or one finding, so that it does not depend on order, shards or other
//! data.

use crate::checks;
use crate::class::{Classified, FailedCall, FailureClass, classify};
use crate::role::KeyRole;
use crate::salient::PLAIN;
use crate::template::{Echoes, MessageStyle, mask};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use toolmark_check::fingerprint;
use toolmark_outcome::{Finding, Harmless};

/// Identifying properties of an issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IssueKey {
    /// Calls that failed in the same way.
    Failure {
        /// Role of the tool.
        role: KeyRole,
        /// Class of the failure.
        class: FailureClass,
        /// Message without its values, the language, or empty.
        template: String,
    },
    /// Findings with the same message.
    Finding {
        /// Code of the rule.
        code: &'static str,
        /// Name of the tool.
        tool: String,
        /// Message without its values.
        template: String,
    },
}

impl IssueKey {
    /// Returns the key of a failed call that was classified.
    #[must_use]
    pub fn of_failure(failed: &FailedCall<'_>, classified: &Classified<'_>) -> Self {
        let class = classified.class;
        let line = classified.salient.map_or("", |salient| salient.line);
        let template = match class {
            // The directory of the shell is wrong, not the command.
            FailureClass::MissingPath if checks::is_lost_directory(line) => "cd".to_owned(),
            class if class.is_closed() => String::new(),
            class if class.is_by_language() => classified.language.word().to_owned(),
            _ => template(failed, classified),
        };
        let role = match (class, KeyRole::of(failed.role, failed.tool)) {
            (FailureClass::Cancelled, _) => KeyRole::Any,
            // The same library fails in the same words, whichever tool calls it.
            (FailureClass::Error | FailureClass::BadArguments, KeyRole::Tool(_))
                if !template.is_empty() =>
            {
                KeyRole::Any
            }
            (_, role) => role,
        };
        Self::Failure { role, class, template }
    }

    /// Returns the key of a failed call.
    #[must_use]
    pub fn of_call(failed: &FailedCall<'_>) -> Self {
        Self::of_failure(failed, &classify(failed))
    }

    /// Returns the key of a finding.
    #[must_use]
    pub fn of_finding(finding: &Finding) -> Self {
        Self::Finding {
            code: finding.code,
            tool: finding.tool.raw().to_owned(),
            template: mask(finding.message.raw(), &Echoes::default(), MessageStyle::Finding),
        }
    }

    /// Returns the message without its values.
    #[must_use]
    pub fn template(&self) -> &str {
        match self {
            Self::Failure { template, .. } | Self::Finding { template, .. } => template,
        }
    }

    /// Returns the permanent ID of the issue: a hash of the key.
    #[must_use]
    pub fn id(&self) -> IssueId {
        let hash = match self {
            Self::Failure { role, class, template } => {
                let kind = if matches!(role, KeyRole::Tool(_)) { "tool" } else { "role" };
                fingerprint::of(&["failure", kind, role.word(), class.word(), template])
            }
            Self::Finding { code, tool, template } => {
                fingerprint::of(&["finding", code, tool, template])
            }
        };
        IssueId(u64::from_str_radix(&hash, 16).unwrap_or_default())
    }
}

/// ID of an issue: 64 bits, written as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueId(pub u64);

fn template(failed: &FailedCall<'_>, classified: &Classified<'_>) -> String {
    let is_shell = KeyRole::of(failed.role, failed.tool) == KeyRole::Shell;
    let salient = classified.salient.filter(|salient| !is_shell || salient.weight > PLAIN);
    let echoes = Echoes::new(failed.args, failed.command);
    let masked = salient.map(|salient| mask(salient.line, &echoes, MessageStyle::Error));
    match masked.filter(|masked| masked.contains(char::is_alphanumeric)) {
        Some(masked) => masked,
        // A command without output is identified by its errand.
        None => failed.errand().unwrap_or_default(),
    }
}

impl IssueId {
    /// Parses an ID in this form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_id.then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:016x}", self.0))
    }
}

impl Harmless for IssueId {}

impl Serialize for IssueId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IssueId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| D::Error::custom("expected an id of 16 hexadecimal digits"))
    }
}
