//! Scanners that go over text once: secrets and addresses.

pub mod secrets;
pub mod urls;
