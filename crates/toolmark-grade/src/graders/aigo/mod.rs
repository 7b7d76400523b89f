//! Graders that LatticeFlow AI GO! calls scorers.

mod coverage_report;
pub(in crate::graders) mod function_call_coverage;
mod required;
#[cfg(test)]
mod testing;
