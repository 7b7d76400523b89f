//! promptfoo. Its trajectory assertions are those of AgentV, which took them over.

pub(crate) mod graders;
