//! Threads that each read one file after another. A file that panics or takes too long ends its work, not the run.
//!
//! Each worker is a pool of rayon of its own, so that its analyses run in its threads and never wait for another file. Its
//! stack is eight times the usual one; readers bound the depth of nested content (JSON: 128 levels), so that no file can
//! exhaust it. A thread that takes too long cannot be ended. Its progress is cancelled, a new worker takes its place, and it
//! ends with its work or with the program.

use super::file_rows::{Failure, FileProgress, FileRows, file_rows};
use super::inputs::HashedFile;
use super::options::TableOptions;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Stack of a thread in bytes.
const STACK: usize = 16 << 20;

/// Time between two reports of the progress.
const TICK: Duration = Duration::from_millis(100);

/// Place of the last panic in a worker.
type PanicPlace = Arc<Mutex<Option<String>>>;

thread_local! {
    /// Set in the threads of workers.
    static PLACE: RefCell<Option<PanicPlace>> = const { RefCell::new(None) };
}

/// Result of a file, by its index.
pub(super) struct FileResult {
    pub(super) index: usize,
    pub(super) rows: Result<FileRows, Failure>,
    pub(super) has_timed_out: bool,
}

/// The message of a worker that has finished a file.
struct Finished {
    /// Number of the run of a file, to ignore those that took too long.
    run: u64,
    rows: Result<FileRows, Failure>,
}

/// A thread pool and the file that it reads.
struct Worker {
    pool: ThreadPool,
    place: PanicPlace,
    running: Option<Running>,
}

struct Running {
    run: u64,
    index: usize,
    since: Instant,
    progress: Arc<FileProgress>,
}

/// Threads that read files.
pub(super) struct Workers {
    options: Arc<TableOptions>,
    all: Vec<Worker>,
    /// Threads of each worker.
    threads: usize,
    runs: u64,
    sender: Sender<Finished>,
    finished: Receiver<Finished>,
}

impl Workers {
    /// Starts as many workers as there are threads, or fewer with several threads each for fewer files.
    pub(super) fn start(
        options: &Arc<TableOptions>,
        n_files: usize,
    ) -> Result<Self, ThreadPoolBuildError> {
        record_panics();
        let cores = rayon::current_num_threads().max(1);
        let n = n_files.clamp(1, cores);
        let threads = (cores / n).max(1);
        let (sender, finished) = channel();
        let workers = (0..n).map(|_| Worker::start(threads)).collect::<Result<_, _>>()?;
        let options = Arc::clone(options);
        Ok(Self { options, all: workers, threads, runs: 0, sender, finished })
    }

    /// Reads files and passes each result to `on_result`, in the order in which they are finished.
    pub(super) fn read(
        &mut self,
        files: &[HashedFile],
        mut on_result: impl FnMut(FileResult),
        mut on_tick: impl FnMut(),
    ) -> Result<(), ThreadPoolBuildError> {
        let mut waiting: VecDeque<usize> = (0..files.len()).collect();
        let mut left = files.len();
        while left > 0 {
            for worker in self.all.iter_mut().filter(|worker| worker.running.is_none()) {
                if let Some(index) = waiting.pop_front() {
                    self.runs += 1;
                    let file = files[index].clone();
                    worker.run((self.runs, index), file, &self.options, &self.sender);
                }
            }
            match self.finished.recv_timeout(TICK) {
                Ok(Finished { run, rows }) => {
                    if let Some(Running { index, .. }) = self.take(run) {
                        left -= 1;
                        on_result(FileResult { index, rows, has_timed_out: false });
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            left -= self.replace_late(&mut on_result)?;
            on_tick();
        }
        Ok(())
    }

    /// Returns the run of this number; `None` if it took too long.
    fn take(&mut self, run: u64) -> Option<Running> {
        let is_it = |worker: &&mut Worker| {
            worker.running.as_ref().is_some_and(|running| running.run == run)
        };
        self.all.iter_mut().find(is_it)?.running.take()
    }

    /// Replaces workers whose file takes too long. Returns their number.
    fn replace_late(
        &mut self,
        on_result: &mut impl FnMut(FileResult),
    ) -> Result<usize, ThreadPoolBuildError> {
        let Some(limit) = self.options.timeout else {
            return Ok(0);
        };
        let mut n = 0;
        for worker in &mut self.all {
            let late = worker.running.take_if(|running| running.since.elapsed() > limit);
            let Some(Running { index, progress, .. }) = late else {
                continue;
            };
            progress.progress.cancel();
            *worker = Worker::start(self.threads)?;
            let reason = format!("no result after {} s", limit.as_secs_f64());
            let rows = Err(Failure { stage: progress.stage(), reason });
            on_result(FileResult { index, rows, has_timed_out: true });
            n += 1;
        }
        Ok(n)
    }
}

impl Worker {
    fn start(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let place = PanicPlace::default();
        let of_thread = Arc::clone(&place);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .start_handler(move |_| PLACE.set(Some(Arc::clone(&of_thread))))
            .build()?;
        Ok(Self { pool, place, running: None })
    }

    /// Starts to read a file.
    fn run(
        &mut self,
        (run, index): (u64, usize),
        file: HashedFile,
        options: &Arc<TableOptions>,
        sender: &Sender<Finished>,
    ) {
        let progress = Arc::new(FileProgress::default());
        let running = Arc::clone(&progress);
        self.running = Some(Running { run, index, since: Instant::now(), progress: running });
        let (options, sender) = (Arc::clone(options), sender.clone());
        let place = Arc::clone(&self.place);
        self.pool.spawn(move || {
            // A file shares nothing with others but caches that recompute what they lack.
            let rows = catch_unwind(AssertUnwindSafe(|| file_rows(&file, &options, &progress)));
            let rows = rows.unwrap_or_else(|_| Err(panicked(&place, &progress)));
            // If nobody receives it, the file took too long.
            let _ = sender.send(Finished { run, rows });
        });
    }
}

fn panicked(place: &PanicPlace, progress: &FileProgress) -> Failure {
    let place = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let at = place.map_or_else(String::new, |place| format!(" at {place}"));
    Failure { stage: progress.stage(), reason: format!("internal error{at}") }
}

/// Keeps the place of panics in workers instead of printing their messages, which may quote a session.
fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let place = PLACE.with_borrow(Option::clone);
            match place {
                Some(place) => {
                    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
                    *place = panic.location().map(shown);
                }
                None => others(panic),
            }
        }));
    });
}

/// Returns the last folder and the name of a source file, and the line.
fn shown(at: &Location<'_>) -> String {
    let file = at.file().replace('\\', "/");
    let start = file.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    format!("{}:{}", &file[start..], at.line())
}
