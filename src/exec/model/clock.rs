//! The clock that limits are kept by: a thread that wakes whoever waits, many times a second.
//!
//! The runtime has timers too, but they strike on the thread that keeps the connection, and a server that floods it with
//! what HTTP must skip over can hold that thread for seconds.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long after the end of a limit, or the wish to stop, it may be noticed.
const BEAT: Duration = Duration::from_millis(20);

/// Beats until it is dropped.
pub(super) struct Clock(Arc<Notify>);

impl Clock {
    /// Starts the clock.
    pub(super) fn start() -> io::Result<Self> {
        let beat = Arc::new(Notify::new());
        let ours = Arc::clone(&beat);
        let work = move || {
            while Arc::strong_count(&ours) > 1 {
                thread::sleep(BEAT);
                ours.notify_waiters();
            }
        };
        let thread = thread::Builder::new().name("model clock".to_owned());
        thread.spawn(work)?;
        Ok(Self(beat))
    }

    /// Waits until something is so.
    pub(super) async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let beat = self.0.notified();
            if is_so() {
                return;
            }
            beat.await;
        }
    }

    /// Waits so long.
    pub(super) async fn wait(&self, time: Duration) {
        let begun = Instant::now();
        self.until(|| begun.elapsed() >= time).await;
    }

    /// What comes of work, if it comes in time.
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
