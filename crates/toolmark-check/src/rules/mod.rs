//! List of all rules. A rule is one file in this module, its `mod` line and its line in
//! [`RULES`].

mod a201_invalid_arguments;
mod a202_edit_target;
pub(crate) mod a203_wide_edit;
mod a204_read_outside_file;
mod a205_guessed_path;
mod a206_patch_context;
mod a207_value_from_nowhere;
mod a208_edit_before_read;
mod a209_no_op_edit;
mod a210_mangled_command;
mod a211_dead_search;
mod a212_no_tests_run;
mod a213_escaped_content;
mod a214_rejected_call;
mod a215_lost_variable;
mod a216_guessed_name;
mod a220_lost_directory;
mod a221_expected_action;
mod a222_status_conflict;
mod a223_tool_policy;
pub(crate) mod i301_blind_destructive;
mod i302_out_of_tree_write;
mod i303_secret_read;
mod i304_exfiltration;
mod i305_untrusted_execution;
mod i306_secret_in_call;
mod i307_guard_bypass;
mod i308_code_injection;
mod i309_malicious_url;
mod i310_broad_kill;
mod i311_foreign_changes;
mod i312_unasked_publication;
mod i313_unseen_loss;
mod i314_published_history;
mod i315_unwanted_files;
mod i316_final_twice;
mod i317_unconfirmed_call;
mod i318_foreign_instruction;
mod provenance;
mod r401_blind_repeat;
mod r402_masked_failure;
mod r403_evasion;
pub(crate) mod r404_claimed_success;
mod r405_overwrite_after_failed_edit;
mod r406_guessing_paths;
mod r407_loop;
mod r408_unrecovered;
mod r409_escalation;
mod r410_explained_away;
mod r411_went_on;
mod r412_uncommitted_push;
mod r413_dismissed_diagnostics;
mod r414_same_error;
mod r415_claimed_action;
mod r416_absent_after_failure;
mod s101_repeated_read;
mod s102_shell_stand_in;
mod s103_read_to_search;
pub(crate) mod s104_edit_as_write;
mod s105_tool_not_offered;
mod s106_idle_sub_agent;
mod s107_repeated_call;
mod s108_flooded_context;

use crate::rule::Rule;

/// All rules, by code.
pub static RULES: &[&Rule] = &[
    &s101_repeated_read::RULE,
    &s102_shell_stand_in::RULE,
    &s103_read_to_search::RULE,
    &s104_edit_as_write::RULE,
    &s105_tool_not_offered::RULE,
    &s106_idle_sub_agent::RULE,
    &s107_repeated_call::RULE,
    &s108_flooded_context::RULE,
    &a201_invalid_arguments::RULE,
    &a202_edit_target::RULE,
    &a203_wide_edit::RULE,
    &a204_read_outside_file::RULE,
    &a205_guessed_path::RULE,
    &a206_patch_context::RULE,
    &a207_value_from_nowhere::RULE,
    &a208_edit_before_read::RULE,
    &a209_no_op_edit::RULE,
    &a210_mangled_command::RULE,
    &a211_dead_search::RULE,
    &a212_no_tests_run::RULE,
    &a213_escaped_content::RULE,
    &a214_rejected_call::RULE,
    &a215_lost_variable::RULE,
    &a216_guessed_name::RULE,
    &a220_lost_directory::RULE,
    &a221_expected_action::RULE,
    &a222_status_conflict::RULE,
    &a223_tool_policy::RULE,
    &i301_blind_destructive::RULE,
    &i302_out_of_tree_write::RULE,
    &i303_secret_read::RULE,
    &i304_exfiltration::RULE,
    &i305_untrusted_execution::RULE,
    &i306_secret_in_call::RULE,
    &i307_guard_bypass::RULE,
    &i308_code_injection::RULE,
    &i309_malicious_url::RULE,
    &i310_broad_kill::RULE,
    &i311_foreign_changes::RULE,
    &i312_unasked_publication::RULE,
    &i313_unseen_loss::RULE,
    &i314_published_history::RULE,
    &i315_unwanted_files::RULE,
    &i316_final_twice::RULE,
    &i317_unconfirmed_call::RULE,
    &i318_foreign_instruction::RULE,
    &r401_blind_repeat::RULE,
    &r402_masked_failure::RULE,
    &r403_evasion::RULE,
    &r404_claimed_success::RULE,
    &r405_overwrite_after_failed_edit::RULE,
    &r406_guessing_paths::RULE,
    &r407_loop::RULE,
    &r408_unrecovered::RULE,
    &r409_escalation::RULE,
    &r410_explained_away::RULE,
    &r411_went_on::RULE,
    &r412_uncommitted_push::RULE,
    &r413_dismissed_diagnostics::RULE,
    &r414_same_error::RULE,
    &r415_claimed_action::RULE,
    &r416_absent_after_failure::RULE,
];

/// Codes of rules whose accuracy on real sessions has not been shown yet. They run only if
/// they are selected by their code or name.
static PREVIEW: &[&str] = &[
    "A215", "A216", "A222", "I311", "I312", "I313", "I314", "I315", "I316", "I318", "R415", "R416",
];

/// Returns the rules that run without an explicit selection.
pub fn default_rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().filter(|rule| !rule.is_preview())
}

/// Codes of rules that find nothing without the `tools:` section.
static BY_POLICY: &[&str] = &["A223", "I317"];

impl Rule {
    /// Whether the rule finds nothing without the `tools:` section of `toolmark.yaml`.
    #[must_use]
    pub fn needs_policy(&self) -> bool {
        BY_POLICY.contains(&self.code)
    }

    /// Whether the rule runs only if it is selected by its code or name.
    #[must_use]
    pub fn is_preview(&self) -> bool {
        PREVIEW.contains(&self.code)
    }
}

/// Returns the rule with this code or name.
#[must_use]
pub fn rule_by_code(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code) || rule.name == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Checker;
    use crate::rule::Expectation;
    use toolmark_base::SortedSet;
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::Confidence;
    use toolmark_session::notation;

    #[test]
    fn every_rule_is_well_described() {
        let mut words = SortedSet::new();
        for rule in RULES {
            let code = rule.code;
            assert!(words.insert(code) && words.insert(rule.name), "{code} stands twice");
            let start: String = [rule.axis.letter(), rule.axis.digit()].iter().collect();
            assert!(code.starts_with(&start) && code.len() == 4, "{code} is on axis {}", rule.axis);
            assert!(rule.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{code}");
            for text in [rule.summary, rule.remedy] {
                assert!(
                    !text.is_empty() && !text.ends_with('.'),
                    "{code}: a fragment has no full stop"
                );
            }
            let page = rule.page();
            let headings: Vec<_> = page.lines().filter(|line| line.starts_with("# ")).collect();
            let wanted = ["# What it does", "# Why", "# What to do", "# Examples"];
            assert_eq!(headings, wanted, "{code}");
        }
    }

    #[test]
    fn codes_stand_in_the_order_of_axes() {
        let order: Vec<_> = RULES.iter().map(|rule| (rule.axis, rule.code)).collect();
        assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn examples_do_what_they_say() {
        for rule in RULES {
            let examples = rule.examples();
            for wanted in [Expectation::Fires, Expectation::Quiet] {
                let count = examples.iter().filter(|e| e.expectation == wanted).count();
                assert!(count >= 3, "{} has {count} examples that are {wanted:?}", rule.code);
            }
            for example in examples {
                let (code, trace) = (rule.code, &example.trace);
                let run =
                    notation::parse(trace).unwrap_or_else(|why| panic!("{code}: {why}\n{trace}"));
                // The page describes the findings that are shown by default.
                let toolsets = Toolsets::default().with_policy(notation::policy(trace));
                let checker = Checker::new(vec![rule], Confidence::Medium, toolsets);
                let found = checker.check(&run).findings;
                let said: Vec<_> = found.iter().map(|f| f.message.raw()).collect();
                match example.expectation {
                    Expectation::Fires => assert!(!found.is_empty(), "{code} is quiet:\n{trace}"),
                    Expectation::Quiet => {
                        assert!(found.is_empty(), "{code} fires: {said:?}\n{trace}")
                    }
                }
                for finding in found {
                    let first = finding.evidence.first().and_then(|e| e.call.as_ref());
                    assert!(
                        first.is_some_and(|call| call.place.is_some()),
                        "{code} proves nothing"
                    );
                    assert!(finding.message.raw().lines().count() == 1, "{code}: one line");
                }
            }
        }
    }

    #[test]
    fn previews_are_rules_that_do_not_run_by_themselves() {
        for code in PREVIEW {
            assert!(rule_by_code(code).is_some_and(Rule::is_preview), "{code}");
        }
        assert_eq!(default_rules().count() + PREVIEW.len(), RULES.len());
    }

    #[test]
    fn rules_are_found_by_code_and_name() {
        assert_eq!(rule_by_code("s101").unwrap().code, "S101");
        assert_eq!(rule_by_code("repeated-read").unwrap().code, "S101");
        assert!(rule_by_code("S999").is_none());
    }
}
