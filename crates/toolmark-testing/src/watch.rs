//! A stopwatch that is not affected by the load of the machine.

use std::time::{Duration, Instant};

/// Processor time of this thread since [`CpuWatch::start`]; wall time if the system does not report
/// it.
pub struct CpuWatch(Instant, Option<Duration>);

impl CpuWatch {
    /// Starts a watch.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now(), Self::on_processor())
    }

    fn on_processor() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match (self.1, Self::on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.0.elapsed(),
        }
    }
}
