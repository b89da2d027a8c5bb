//! Work on a named thread whose result a frame can ask for. A crash there is a result too, never a crash of the window.

use poll_promise::Promise;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Work under way.
pub struct Background<T: Send + 'static>(Promise<Option<T>>);

impl<T: Send + 'static> std::fmt::Debug for Background<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Background")
    }
}

/// Starts `work` on a thread of this name; the window is drawn again when it is done.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    ctx: &egui::Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    let ctx = ctx.clone();
    Background(Promise::spawn_thread(name, move || {
        let result = catch_unwind(AssertUnwindSafe(work)).ok();
        ctx.request_repaint();
        result
    }))
}

/// Does `work` right away, for those who cannot wait for another frame.
pub(super) fn done<T: Send + 'static>(work: impl FnOnce() -> T) -> Background<T> {
    Background(Promise::from_ready(Some(work())))
}

impl<T: Send + 'static> Background<T> {
    /// The result, or the work itself while it goes on. None if it crashed.
    pub(super) fn take(self) -> Result<Option<T>, Self> {
        self.0.try_take().map_err(Self)
    }
}
