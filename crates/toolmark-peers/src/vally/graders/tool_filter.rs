//! The `tools` of several graders: which calls are looked at.

use toolmark_config::Spanned;
use toolmark_match::Building;
use toolmark_outcome::Missing;
use toolmark_pattern::Pattern;

/// Calls of tools whose name matches one of these; of every tool where there are none.
#[derive(Debug, Clone)]
pub(super) struct ToolFilter(Vec<Pattern>);

impl ToolFilter {
    /// Every tool.
    pub(super) const ALL: Self = Self(Vec::new());

    /// The filter of a configuration; an empty one would look at nothing.
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

    /// Is there no restriction?
    pub(super) fn takes_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Are calls of this tool looked at?
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
