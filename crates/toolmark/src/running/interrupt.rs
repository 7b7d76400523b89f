//! Ctrl-C: once ends the run cleanly, twice kills what runs.

use toolmark_run::StopSwitch;

/// A switch that is pressed by Ctrl-C and by whoever asks the process to end.
#[cfg(unix)]
pub(crate) fn watch() -> StopSwitch {
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
pub(crate) fn watch() -> StopSwitch {
    StopSwitch::default()
}
