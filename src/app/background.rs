//! Work on a named thread whose result a frame can ask for. A crash there is a result too, never a crash of the window.

use poll_promise::Promise;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// The priority of work beside the frames, of 99, where 50 is usual; on Linux that is a niceness of 9.
const BESIDE: u8 = 25;

/// Work under way.
pub struct Background<T: Send + 'static>(Promise<Option<T>>);

impl<T: Send + 'static> std::fmt::Debug for Background<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Background")
    }
}

/// Starts `work` on a thread of this name, which leaves frames the first place at a core; the window is drawn again when it
/// is done.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    ctx: &egui::Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    share_threads();
    spawn(name, ctx, || {
        give_way();
        work()
    })
}

/// The same for what a person waits for: it takes its full share of the cores, on threads of its own. So do programs that it
/// starts.
pub(super) fn start_awaited<T: Send + 'static>(
    name: &str,
    ctx: &egui::Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Background<T> {
    spawn(name, ctx, || {
        match rayon::ThreadPoolBuilder::new().build() {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        }
    })
}

fn spawn<T: Send + 'static>(
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

/// The threads that work is shared out to give way as well, whoever asks for them first, and leave a core free.
fn share_threads() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(cores.saturating_sub(1).max(1))
            .start_handler(|_| give_way());
        // They may be there already: then they compete with frames, as before.
        let _ = pool.build_global();
    });
}

/// Leaves frames the first place at a core: this thread runs where they do not. A system that does not let it is no
/// worse off than without.
pub(super) fn give_way() {
    if let Ok(low) = ThreadPriorityValue::try_from(BESIDE) {
        let _ = thread_priority::set_current_thread_priority(ThreadPriority::Crossplatform(low));
    }
}

/// Does `work` right away, for those who cannot wait for another frame.
pub(super) fn done<T: Send + 'static>(work: impl FnOnce() -> T) -> Background<T> {
    Background(Promise::from_ready(Some(work())))
}

/// Frees what may be large beside the frames: a hundred thousand entries take milliseconds.
pub(super) fn let_go<T: Send + 'static>(spent: T) {
    share_threads();
    rayon::spawn(move || drop(spent));
}

impl<T: Send + 'static> Background<T> {
    /// The result, or the work itself while it goes on. None if it crashed.
    pub(super) fn take(self) -> Result<Option<T>, Self> {
        self.0.try_take().map_err(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    fn within_a_while(is_so: impl Fn() -> bool) -> bool {
        (0..2_000).any(|_| {
            thread::sleep(Duration::from_millis(5));
            is_so()
        })
    }

    /// How readily this thread makes way for others; 0 is usual.
    #[cfg(target_os = "linux")]
    fn niceness() -> Option<i32> {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(16)?.parse().ok()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn work_beside_frames_makes_way_for_them_and_what_is_waited_for_does_not() {
        let here = niceness().unwrap();
        let ctx = egui::Context::default();
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
        let beside = in_time(start("beside", &ctx, niceness)).unwrap();
        assert!(beside > here, "{beside} beside {here}");
        let awaited = start_awaited("awaited", &ctx, || rayon::join(niceness, || ()).0);
        assert_eq!(in_time(awaited), Some(here));
    }

    #[test]
    fn what_is_let_go_is_freed() {
        let spent = Arc::new([0_u8; 64]);
        let left = Arc::downgrade(&spent);
        let_go(spent);
        assert!(within_a_while(|| left.strong_count() == 0));
    }
}
