//! Work on a named thread whose result a frame can poll. A panic in the work is a result, and never ends the window.

use crate::app::state::model::background::repaint::Repaint;
use poll_promise::Promise;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Niceness of background work above that of the frames (on Linux).
#[cfg(target_os = "linux")]
const NICER_BY: i32 = 9;

/// Niceness of the lowest priority.
#[cfg(target_os = "linux")]
const MAX_NICENESS: i32 = 19;

/// Priority of background work: 25 of 99, where 50 is the default.
#[cfg(not(target_os = "linux"))]
const LOW_PRIORITY: u8 = 25;

/// Work in progress.
pub struct Background<T: Send + 'static>(Promise<Option<T>>);

impl<T: Send + 'static> std::fmt::Debug for Background<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Background")
    }
}

/// Starts `work` on a thread with this name at a lower priority than the frames. Redraws the window when it is done.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    repaint: &Repaint,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    configure_thread_pool();
    spawn(name, repaint, || {
        lower_priority();
        work()
    })
}

/// Starts work that you wait for. It runs at normal priority on its own threads, and so do the programs it starts.
pub(crate) fn start_awaited<T: Send + 'static>(
    name: &str,
    repaint: &Repaint,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    spawn(name, repaint, || match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    })
}

fn spawn<T: Send + 'static>(
    name: &str,
    repaint: &Repaint,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    let repaint = repaint.clone();
    Background(Promise::spawn_thread(name, move || {
        let result = catch_unwind(AssertUnwindSafe(work)).ok();
        repaint.now();
        result
    }))
}

/// Limits the shared thread pool to all cores but one, at low priority.
fn configure_thread_pool() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(cores.saturating_sub(1).max(1))
            .start_handler(|_| lower_priority());
        // The pool may exist already. Its threads then compete with frames.
        let _ = pool.build_global();
    });
}

/// Lowers the priority of this thread below that of the frames. Has no effect on a system that does not allow it.
#[cfg(target_os = "linux")]
pub(crate) fn lower_priority() {
    use rustix::process::{getpid, getpriority_process, setpriority_process};
    // The main thread draws the frames. Its niceness is not 0 if the program was started with `nice`.
    if let Ok(frames) = getpriority_process(Some(getpid())) {
        let _ = setpriority_process(None, (frames + NICER_BY).min(MAX_NICENESS));
    }
}

/// Lowers the priority of this thread below that of the frames. Has no effect on a system that does not allow it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_priority() {
    if let Ok(low) = thread_priority::ThreadPriorityValue::try_from(LOW_PRIORITY) {
        let low = thread_priority::ThreadPriority::Crossplatform(low);
        let _ = thread_priority::set_current_thread_priority(low);
    }
}

/// Runs `work` at once, for callers that cannot wait for another frame.
pub(crate) fn run_now<T: Send + 'static>(work: impl FnOnce() -> T) -> Background<T> {
    Background(Promise::from_ready(Some(work())))
}

/// Drops a large value on another thread: dropping 100,000 entries takes milliseconds.
pub(crate) fn drop_in_background<T: Send + 'static>(spent: T) {
    configure_thread_pool();
    rayon::spawn(move || drop(spent));
}

impl<T: Send + 'static> Background<T> {
    /// Returns the result, or the work itself while it is running. The result is `None` if the work panicked.
    pub(crate) fn take(self) -> Result<Option<T>, Self> {
        self.0.try_take().map_err(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    fn becomes_true(condition: impl Fn() -> bool) -> bool {
        (0..2_000).any(|_| {
            thread::sleep(Duration::from_millis(5));
            condition()
        })
    }

    /// Returns the niceness of this thread; 0 is the default.
    #[cfg(target_os = "linux")]
    fn niceness() -> Option<i32> {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(16)?.parse().ok()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn background_work_has_low_priority_unless_awaited() {
        let here = niceness().unwrap();
        let repaint = Repaint::none();
        let in_time = |mut work: Background<Option<i32>>| {
            for _ in 0..2_000 {
                match work.take() {
                    Ok(done) => return done.flatten(),
                    Err(running) => work = running,
                }
                thread::sleep(Duration::from_millis(5));
            }
            None
        };
        let beside = in_time(start("beside", &repaint, niceness)).unwrap();
        assert_eq!(beside, (here + NICER_BY).min(MAX_NICENESS));
        let awaited = start_awaited("awaited", &repaint, || rayon::join(niceness, || ()).0);
        assert_eq!(in_time(awaited), Some(here));
    }

    #[test]
    fn dropped_values_are_freed() {
        let spent = Arc::new([0_u8; 64]);
        let left = Arc::downgrade(&spent);
        drop_in_background(spent);
        assert!(becomes_true(|| left.strong_count() == 0));
    }
}
