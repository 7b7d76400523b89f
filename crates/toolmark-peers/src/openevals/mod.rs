//! LangChain's openevals.

pub(crate) mod graders;
