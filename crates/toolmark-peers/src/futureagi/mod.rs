//! Future AGI: its evaluations of function calls.

pub(crate) mod graders;
