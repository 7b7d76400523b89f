//! Ctrl-C: the first one ends the run cleanly, the second one kills running trials.

use toolmark_run::StopSwitch;

/// Returns a switch that is triggered by Ctrl-C and by termination signals.
#[cfg(unix)]
pub fn watch() -> StopSwitch {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let switch = StopSwitch::default();
    let pressed = switch.clone();
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        std::thread::spawn(move || {
            for _ in signals.forever() {
                pressed.press();
            }
        });
    }
    switch
}

#[cfg(not(unix))]
pub fn watch() -> StopSwitch {
    StopSwitch::default()
}
