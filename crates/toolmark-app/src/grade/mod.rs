//! Grading: specs and their errors, case selection, parallel grading, and streamed results.

pub mod action;
pub mod dump;
pub mod options;
pub mod read;
pub mod select;
pub mod spec;
pub mod specs;
pub mod stream;
pub mod types;
