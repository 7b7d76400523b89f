//! Graders for the scorers of LatticeFlow AI GO!.

mod coverage_report;
pub(crate) mod elsewhere;
pub(crate) mod function_call_coverage;
pub(crate) mod function_call_disallowed;
pub(crate) mod function_call_output;
mod required;
pub(crate) mod string_equals;
#[cfg(test)]
mod testing;
