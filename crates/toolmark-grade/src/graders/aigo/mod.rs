//! Graders that LatticeFlow AI GO! calls scorers.

mod coverage_report;
pub(in crate::graders) mod elsewhere;
pub(in crate::graders) mod function_call_coverage;
pub(in crate::graders) mod function_call_disallowed;
pub(in crate::graders) mod function_call_output;
mod required;
pub(in crate::graders) mod string_equals;
#[cfg(test)]
mod testing;
