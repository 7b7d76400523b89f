//! The stream of changes.

use super::App;
use crate::live::ChangeCounts;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use futures_util::stream::{self, Stream};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Interval of keep-alive messages: proxies close connections that are silent for longer.
const PING: Duration = Duration::from_secs(15);

/// Minimum interval between two messages.
const PAUSE: Duration = Duration::from_millis(200);

/// Streams changes until the server stops.
pub(super) async fn events(
    State(app): State<Arc<App>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = app.hub.subscribe();
    let seen = *changes.borrow();
    let stopping = app.stopping.clone();
    let next = |(mut changes, seen, mut stopping): (
        tokio::sync::watch::Receiver<ChangeCounts>,
        ChangeCounts,
        tokio::sync::watch::Receiver<bool>,
    )| async move {
        if *stopping.borrow() {
            return None;
        }
        let told = tokio::select! {
            told = timeout(PING, changes.changed()) => told,
            _ = stopping.changed() => return None,
        };
        match told {
            Err(_) => {
                let ping = Event::default().event("ping").data("{}");
                Some((Ok(ping), (changes, seen, stopping)))
            }
            Ok(Err(_)) => None,
            Ok(Ok(())) => {
                sleep(PAUSE).await;
                let now = *changes.borrow_and_update();
                let data = json!({
                    "sessions": now.sessions - seen.sessions,
                    "issues": now.issues - seen.issues,
                    "runs": now.runs - seen.runs,
                    "guard": now.guard - seen.guard,
                    "seq": now.seq,
                });
                let change = Event::default().event("change").data(data.to_string());
                Some((Ok(change), (changes, now, stopping)))
            }
        }
    };
    Sse::new(stream::unfold((changes, seen, stopping), next))
}
