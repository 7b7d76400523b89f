//! OpenTelemetry: requests over HTTP and gRPC become records in the store, and records of
//! one session a trajectory.

pub(crate) mod grpc;
pub(crate) mod http;
mod receive;
pub(crate) mod records;
mod split;
#[cfg(test)]
mod tests;
pub(crate) mod units;

pub(crate) use receive::{Receiver, Refused, Room};

/// What a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Logs,
    Metrics,
}

/// How large things may be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A request, as it arrives and when it is decompressed.
    pub body: usize,
    /// All requests that are being read, decoded or written at once. A larger one is taken
    /// when it is alone.
    pub in_flight: usize,
    /// Spans or log records of a request.
    pub records: usize,
    /// One text of a record; the rest is cut off.
    pub attribute: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 32 << 20, in_flight: 16 << 20, records: 50_000, attribute: 1 << 20 }
    }
}
