//! Every grader a spec may name: those of the other systems, toolmark's own, and those
//! that ask what a check or a feed would: [`FINDING`], [`FAILURE`] and [`TOOL_POLICY`].

mod failure;
mod finding;
mod tool_policy;

pub use failure::FAILURE;
pub use finding::FINDING;
pub use tool_policy::TOOL_POLICY;

use toolmark_grade::{GraderInfo, Graders};

/// Graders below this crate.
const BELOW: &[&GraderInfo] = toolmark_peers::GRADERS;
/// Index of the first grader of this crate in the reference: they follow `expect`.
const FIRST: usize = 6;
const OWN: [&GraderInfo; 3] = [&FAILURE, &FINDING, &TOOL_POLICY];

const fn spliced() -> [&'static GraderInfo; BELOW.len() + OWN.len()] {
    let mut all = [OWN[0]; BELOW.len() + OWN.len()];
    let mut n = 0;
    while n < all.len() {
        all[n] = match n {
            n if n < FIRST => BELOW[n],
            n if n < FIRST + OWN.len() => OWN[n - FIRST],
            n => BELOW[n - OWN.len()],
        };
        n += 1;
    }
    all
}

/// Every grader, in the order the reference lists them.
pub const GRADERS: &[&GraderInfo] = &spliced();

/// Every grader, to look them up.
pub const ALL: Graders = Graders(GRADERS);

/// Returns the grader with this type, or with this as one of its other names.
#[must_use]
pub fn grader_by_id(id: &str) -> Option<&'static GraderInfo> {
    ALL.by_id(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_base::SortedSet;

    /// First words of summaries.
    const VERBS: [&str; 8] =
        ["checks", "combines", "evaluates", "fails", "removed", "runs", "scores", "stands"];

    #[test]
    fn words_are_unique_and_everything_is_documented() {
        let mut words = SortedSet::new();
        for info in GRADERS {
            for word in std::iter::once(&info.id).chain(info.aliases) {
                assert!(words.insert(*word), "two graders are called {word}");
            }
            assert!(!info.summary.ends_with('.'), "{}: a summary is a fragment", info.id);
            let verb = info.summary.split(' ').next().unwrap_or_default();
            assert!(VERBS.contains(&verb), "{}: a summary starts with a verb", info.id);
            assert!(info.docs.len() > 80, "{} has no page", info.id);
            assert!(info.example.contains("type:"), "{} has no example", info.id);
        }
    }
}

#[cfg(test)]
mod taxonomy_tests {
    use super::*;

    /// Checks for the wording of Vally's pages for tool-calls and the five budgets.
    #[test]
    fn the_words_are_those_of_the_pages() {
        for (id, cost) in [
            ("tool-calls", "low"),
            ("token-budget", "free"),
            ("tool-call-count", "free"),
            ("turn-count", "free"),
            ("error-count", "free"),
            ("wall-time", "free"),
        ] {
            let words = grader_by_id(id).unwrap().taxonomy.words();
            let rows: Vec<&str> = words.rows().map(|(_, word)| word).collect();
            let page =
                ["static", cost, "t1-universal", "reference-free", "trajectory-level", "code"];
            assert_eq!(rows, page, "{id}");
        }
    }
}
