//! Scanners that go over text once: secrets, the mask over them, addresses.

pub mod redact;
pub mod secrets;
mod shapes;
pub mod urls;
