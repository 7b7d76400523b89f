//! Outcomes, predicates, the matching engine and the graders of toolmark.
#![forbid(unsafe_code)]

pub mod config;
