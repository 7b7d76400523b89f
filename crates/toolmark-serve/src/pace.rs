//! Requests as they arrive: which connection they are on, and how slowly their bodies may
//! come.

use crate::listen::Connections;
use crate::places::Activity;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::IncomingStream;
use futures_util::{StreamExt, stream};
use std::error::Error;
use std::io;
use std::sync::Arc;
use tokio::time::{Duration, Instant, timeout_at};

/// A body may be slow for this long.
const GRACE: Duration = Duration::from_secs(15);

/// From then on it must have come at this many bytes per second since it began.
const MIN_RATE: u64 = 8 << 10;

/// The connection of a request.
#[derive(Clone)]
pub(crate) struct OnConnection(Arc<Activity>);

impl Connected<IncomingStream<'_, Connections>> for OnConnection {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        Self(Arc::clone(stream.io().activity()))
    }
}

/// Answers a request while its connection counts as busy, and reads its body no longer than
/// it comes at a fair pace.
pub(crate) async fn paced(request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<ConnectInfo<OnConnection>>();
    let _answering = connection.map(|ConnectInfo(OnConnection(activity))| activity.begin());
    let request = request.map(|body| match body.is_end_stream() {
        true => body,
        false => within_pace(body, GRACE),
    });
    next.run(request).await
}

/// A body that breaks off where it comes too slowly.
struct Slow {
    data: BodyDataStream,
    grace: Duration,
    began: Instant,
    read: u64,
}

impl Slow {
    /// When the next part must have come, for the whole not to be too slow.
    fn deadline(&self) -> Instant {
        self.began + self.grace + Duration::from_millis(self.read.saturating_mul(1000) / MIN_RATE)
    }

    async fn next(&mut self) -> Option<Result<Bytes, axum::BoxError>> {
        match timeout_at(self.deadline(), self.data.next()).await {
            Ok(part) => {
                let part = part?.map_err(Into::into);
                self.read += part.as_ref().map_or(0, |data| data.len() as u64);
                Some(part)
            }
            Err(_) => {
                let message = "the body of the request came too slowly";
                Some(Err(io::Error::new(io::ErrorKind::TimedOut, message).into()))
            }
        }
    }
}

fn within_pace(body: Body, grace: Duration) -> Body {
    let slow = Slow { data: body.into_data_stream(), grace, began: Instant::now(), read: 0 };
    // After an error nothing is read any more.
    Body::from_stream(stream::unfold(Some(slow), |slow| async {
        let mut slow = slow?;
        let part = slow.next().await?;
        let rest = part.is_ok().then_some(slow);
        Some((part, rest))
    }))
}

/// Whether reading a body failed because it came too slowly.
pub(crate) fn is_too_slow(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let is_late = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
        if error.downcast_ref::<io::Error>().is_some_and(is_late) {
            return true;
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a body whose parts come so many milliseconds after each other, with 400
    /// milliseconds of grace.
    async fn read(parts: &[(u64, usize)]) -> Result<usize, bool> {
        let parts = stream::iter(parts.to_vec()).then(|(wait, size)| async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            Ok::<_, io::Error>(Bytes::from(vec![0; size]))
        });
        let body = within_pace(Body::from_stream(parts), Duration::from_millis(400));
        let read = axum::body::to_bytes(body, usize::MAX).await;
        read.map(|bytes| bytes.len()).map_err(|error| is_too_slow(&error))
    }

    #[tokio::test]
    async fn a_body_comes_at_a_fair_pace_or_not_at_all() {
        assert_eq!(read(&[(0, 10), (100, 10)]).await, Ok(20));
        assert_eq!(read(&[(0, 10), (2000, 10)]).await, Err(true));
        // A byte now and then does not help, a slow line does not hurt.
        assert_eq!(read(&[(200, 1); 8]).await, Err(true));
        assert_eq!(read(&[(100, 32 << 10); 8]).await, Ok(8 * (32 << 10)));
    }
}
