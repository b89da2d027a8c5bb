//! The request for another frame.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Requests another frame of the window, from any thread.
#[derive(Clone)]
pub struct Repaint(Arc<dyn Fn(Duration) + Send + Sync>);

impl Repaint {
    /// Creates a request that calls `draw` with the time to wait.
    pub fn new(draw: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self(Arc::new(draw))
    }

    /// Creates a request without effect, for work without a window.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Requests a frame now.
    pub fn now(&self) {
        self.after(Duration::ZERO);
    }

    /// Requests a frame after some time, unless one comes sooner.
    pub fn after(&self, wait: Duration) {
        (self.0)(wait);
    }
}

impl fmt::Debug for Repaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Repaint")
    }
}
