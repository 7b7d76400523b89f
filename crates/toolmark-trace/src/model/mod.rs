//! The data model into which all formats are read.

mod call;
mod completeness;
mod declared;
mod fidelity;
mod json;
mod name;
mod payload;
mod status;
mod text;
pub mod time;
mod trajectory;
mod usage;

pub use call::{Actor, Call, CallResult};
pub(crate) use completeness::Ending;
pub use completeness::{Completeness, Gap};
pub use declared::{DeclaredOutcome, RunDeclaration};
pub use fidelity::{Fact, Fidelity, RecordedCalls};
pub use name::{Canonical, ToolName};
pub use payload::{Form, Payload};
pub use status::{Status, StatusLevel};
pub(crate) use text::floor;
pub use text::{At, Block, Location, Text};
pub use trajectory::{
    Agent, Event, EventKind, ExpectedCall, Move, Parent, Stated, Step, TaskExpectation,
    ToolDefinition, Trajectory,
};
pub(crate) use trajectory::{MAX_DEPTH, names_call};
pub use usage::{Convention, Cost, Normalised, Usage, UsageTokens};
