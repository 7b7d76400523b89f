//! OpenTelemetry: requests over HTTP and gRPC become records in the store, and the records of one
//! session become a trajectory.

pub(crate) mod grpc;
pub(crate) mod http;
mod receive;
pub(crate) mod records;
mod split;
#[cfg(test)]
mod tests;
pub(crate) mod units;

pub(crate) use receive::{Receiver, Refused, Room};

/// Signal of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Logs,
    Metrics,
}

/// Size limits.
#[derive(Debug, Clone, Copy)]
pub struct OtlpLimits {
    /// Bytes of a request, both compressed and decompressed.
    pub body: usize,
    /// All requests that are being read, decoded or written at once. A larger one is taken
    /// while others hold less than a quarter of it.
    pub in_flight: usize,
    /// Number of spans or log records of a request.
    pub records: usize,
    /// Bytes of one text of a record; longer texts are cut.
    pub attribute: usize,
}

impl Default for OtlpLimits {
    fn default() -> Self {
        Self { body: 32 << 20, in_flight: 16 << 20, records: 50_000, attribute: 1 << 20 }
    }
}
