//! A switch with which a run is stopped: once it ends cleanly, twice at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The switch.
#[derive(Debug, Clone, Default)]
pub struct StopSwitch(Arc<AtomicUsize>);

impl StopSwitch {
    /// Asks for the end; a second time, at once.
    pub fn press(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// How often it was pressed.
    #[must_use]
    pub fn pressed(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps, unless the end is asked for meanwhile. Whether it slept through.
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
