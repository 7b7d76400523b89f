//! LangChain's agentevals.

pub(crate) mod graders;
