//! The `tools:` and `order:` sections of `toolmark.yaml`: effects of named tools, and the
//! conditions under which they may be called.
//!
//! ```yaml
//! tools:
//!   exchange_delivered_order_items:
//!     effect: final
//!     confirm: true
//!     once: per order_id
//!     needs: {get_order_details.status: delivered}
//!     from:
//!       item_ids: get_order_details.items[].item_id
//!       payment_method_id: [get_user_details.payment_methods, user]
//! order: [authenticate, modify_address, modify_items]
//! ```

mod read;
mod result_path;

pub use read::{order_schema, schema};
pub use result_path::{PathStep, ResultPath, scalar};

use crate::tool_effect::ToolEffect;
use serde_json::Value;
use toolmark_pattern::is_wildcard_match;

/// Conditions on calls of named tools.
#[derive(Debug, Clone, Default)]
pub struct ToolPolicy {
    /// Tools, in the order of the file.
    pub tools: Vec<ToolTerms>,
    /// Tools that are called in this order.
    pub order: Vec<String>,
}

/// Effect of a tool, and conditions on its calls.
#[derive(Debug, Clone, Default)]
pub struct ToolTerms {
    /// Name or glob of the tool.
    pub name: String,
    /// Declared effect.
    pub effect: Option<ToolEffect>,
    /// Whether the user must agree first.
    pub confirm: bool,
    /// Whether a second call is a mistake.
    pub once: Option<Once>,
    /// Values that earlier results must have.
    pub needs: Vec<Need>,
    /// Sources of the arguments.
    pub from: Vec<Origins>,
    /// Tools that must have been called before.
    pub after: Vec<String>,
    /// Tools that must not have been called before.
    pub not_with: Vec<String>,
    /// Maximum number of calls.
    pub limit: Option<u64>,
}

/// Calls of which only one may succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    /// Calls with the same arguments.
    PerArguments,
    /// Calls with the same values of these arguments.
    Per(Vec<String>),
}

/// A value that an earlier result must have.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// Tool, and the path in its results.
    pub at: ResultPath,
    /// Required value.
    pub wanted: Wanted,
}

/// Values that satisfy a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Any value: the tool was called, and its result has the path.
    Any,
    /// One of these values.
    OneOf(Vec<Value>),
    /// None of these values.
    NoneOf(Vec<Value>),
}

/// Sources of the values of an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Origins {
    /// Argument.
    pub argument: String,
    /// Whether the user may have written the value.
    pub user: bool,
    /// Results that may contain the value.
    pub results: Vec<ResultPath>,
}

impl ToolPolicy {
    /// Whether the policy has no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.order.is_empty()
    }

    /// Returns the entries for a tool.
    pub fn of<'p>(&'p self, tool: &str) -> impl Iterator<Item = &'p ToolTerms> {
        self.tools.iter().filter(move |terms| is_named(&terms.name, tool))
    }

    /// Whether a condition applies to calls of a tool.
    #[must_use]
    pub fn concerns(&self, tool: &str) -> bool {
        self.of(tool).any(ToolTerms::has_conditions)
            || self.order.iter().any(|name| is_named(name, tool))
    }

    /// Returns the declared effect of a tool; the first entry counts.
    #[must_use]
    pub fn effect(&self, tool: &str) -> Option<ToolEffect> {
        self.of(tool).find_map(|terms| terms.effect)
    }
}

impl ToolTerms {
    /// Whether there is more than a declared effect.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        let lists = [self.after.is_empty(), self.not_with.is_empty()];
        self.confirm
            || self.once.is_some()
            || self.limit.is_some()
            || !self.needs.is_empty()
            || !self.from.is_empty()
            || lists.contains(&false)
    }
}

/// Whether a name or glob of the policy means this tool. The server may be omitted:
/// `cancel_order` also means `mcp__shop__cancel_order`.
#[must_use]
pub fn is_named(pattern: &str, tool: &str) -> bool {
    let without_prefix = tool.strip_prefix("mcp__").unwrap_or(tool);
    let own = without_prefix.rsplit_once("__").map_or(without_prefix, |(_, own)| own);
    let own = own.rsplit(['/', '.']).next().unwrap_or(own);
    [tool, without_prefix, own].iter().any(|name| is_wildcard_match(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_globs() {
        for (pattern, tool, want) in [
            ("cancel_order", "cancel_order", true),
            ("cancel_order", "mcp__shop__cancel_order", true),
            ("cancel_order", "shop__cancel_order", true),
            ("cancel_order", "shop/cancel_order", true),
            ("shop__cancel_order", "mcp__shop__cancel_order", true),
            ("cancel_*", "cancel_order", true),
            ("cancel_order", "cancel_order_items", false),
            ("cancel", "cancel_order", false),
            ("mcp__bank__*", "mcp__shop__cancel_order", false),
        ] {
            assert_eq!(is_named(pattern, tool), want, "{pattern} {tool}");
        }
    }
}
