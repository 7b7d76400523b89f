//! A switch that stops a run: the first press ends it cleanly, the second one immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A shared switch.
#[derive(Debug, Clone, Default)]
pub struct StopSwitch(Arc<AtomicUsize>);

impl StopSwitch {
    /// Requests the end of the run; the second time, an immediate end.
    pub fn press(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Number of presses.
    #[must_use]
    pub fn pressed(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps until the time is over or the switch is pressed. Returns whether the time is over.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while self.pressed() == 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        false
    }
}
