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
pub use declared::{Declared, DeclaredOutcome};
pub use fidelity::{Fact, Fidelity, Recorded};
pub use name::{Canonical, ToolName};
pub use payload::{Form, Payload};
pub use status::{Level, Status};
pub(crate) use text::floor;
pub use text::{At, Block, Location, Text};
pub use trajectory::{
    Agent, Event, EventKind, Expected, ExpectedCall, Move, Parent, Stated, Step, ToolDefinition,
    Trajectory,
};
pub(crate) use trajectory::{MAX_DEPTH, names_call};
pub use usage::{Convention, Cost, Normalised, Tokens, Usage};
