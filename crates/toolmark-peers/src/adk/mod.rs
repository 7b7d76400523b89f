//! Google's Agent Development Kit.

pub(crate) mod graders;
