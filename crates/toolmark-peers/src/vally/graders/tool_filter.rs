//! The `tools` option of several graders, which filters calls.

use toolmark_config::Spanned;
use toolmark_match::Building;
use toolmark_outcome::Missing;
use toolmark_pattern::Pattern;

/// Filter for calls of tools whose name matches one of the patterns; without patterns, all tools
/// match.
#[derive(Debug, Clone)]
pub(super) struct ToolFilter(Vec<Pattern>);

impl ToolFilter {
    /// Filter that accepts every tool.
    pub(super) const ALL: Self = Self(Vec::new());

    /// Builds the filter of a configuration; an empty list is an error, because it would match
    /// nothing.
    pub(super) fn build(
        tools: Option<&Spanned<Vec<Spanned<String>>>>,
        building: &mut Building<'_>,
    ) -> Option<Self> {
        let Some(tools) = tools else { return Some(Self::ALL) };
        if tools.value.is_empty() {
            building.reject(tools.span, "empty-list", "an empty list of tools would count nothing");
            return None;
        }
        building.patterns(&tools.value).map(Self)
    }

    /// Whether every tool is accepted.
    pub(super) fn takes_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether calls of this tool are accepted.
    pub(super) fn takes(&self, name: &str) -> Result<bool, Missing> {
        for pattern in &self.0 {
            match pattern.is_match(name) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(_) => {
                    return Err(Missing(format!("/{pattern}/ took too many steps on {name}")));
                }
            }
        }
        Ok(self.takes_all())
    }
}
