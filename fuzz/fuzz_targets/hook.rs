//! Any bytes as the payload of a hook, for every host: it is read or refused, a
//! decision is made, and the answer is one the host can read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_guard::Guard;
use toolmark_hosts::{HOSTS, GuardAnswer, detect};

fuzz_target!(|data: &[u8]| {
    let guard = Guard::default();
    for host in HOSTS.iter().copied().chain([detect(data)]) {
        let Ok(event) = host.read(data) else { continue };
        let verdict: GuardAnswer = guard.decide(&event, None);
        let answer = host.answer(Some(&event), &verdict);
        if answer.exit == 0 && !answer.stdout.trim().is_empty() {
            let parsed = serde_json::from_str::<serde_json::Value>(&answer.stdout);
            assert!(parsed.is_ok(), "{}: {}", host.id, answer.stdout);
        }
    }
});
