//! A clock for time limits: a thread that wakes all waiting futures several times a second.
//!
//! The runtime's own timers run on the thread of the connection. A server that floods the connection with content that
//! HTTP skips can block that thread for seconds.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Longest delay after a limit or a cancellation. Chosen: a person does not notice 20 ms. Shorter ticks would only wake
/// the processor more often for the whole length of a request.
const TICK: Duration = Duration::from_millis(20);

/// A clock that ticks until it is dropped.
pub(super) struct Clock(Arc<Notify>);

impl Clock {
    /// Starts the clock.
    pub(super) fn start() -> io::Result<Self> {
        let tick = Arc::new(Notify::new());
        let ours = Arc::clone(&tick);
        let work = move || {
            while Arc::strong_count(&ours) > 1 {
                thread::sleep(TICK);
                ours.notify_waiters();
            }
        };
        let thread = thread::Builder::new().name("model clock".to_owned());
        thread.spawn(work)?;
        Ok(Self(tick))
    }

    /// Waits until a condition is true.
    pub(super) async fn until(&self, condition: impl Fn() -> bool) {
        loop {
            let tick = self.0.notified();
            if condition() {
                return;
            }
            tick.await;
        }
    }

    /// Waits for a duration.
    pub(super) async fn wait(&self, time: Duration) {
        let begun = Instant::now();
        self.until(|| begun.elapsed() >= time).await;
    }

    /// Returns the result of work, or `None` if it exceeds the limit.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            result = work => Some(result),
            () = self.wait(limit) => None,
        }
    }
}
