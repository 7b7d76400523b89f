//! x

pub mod pattern;
