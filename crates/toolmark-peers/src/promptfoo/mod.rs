//! promptfoo. Its trajectory assertions are those of AgentV, which adopted them.

pub(crate) mod graders;
