//! Follows a file that is still being written. A thread watches the file; after a change it is read, and the new version
//! is shown once all of its results are ready, so that nothing flickers.

use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::derived::Derived;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::selection::Selection;
use crate::app::state::open::loading::{KeptStates, Loading};
use crate::app::state::results;
use crate::app::state::results::Inputs;
use crate::exec::{LoadOptions, Stamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between checks of the file.
const EVERY: Duration = Duration::from_millis(700);

/// Maximum wait for the slowest results (losses, insights) before the rest is shown without them.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The open file while it may grow.
#[derive(Debug)]
pub(crate) struct FollowedFile {
    path: PathBuf,
    watch: Watch,
    loading: Option<Loading>,
    next: Option<NewVersion>,
    /// Number of times the file was read again.
    n_read: usize,
    /// The error of the last attempt to read it.
    problem: Option<String>,
}

/// State of a file that changed after it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowedState<'a> {
    /// Read again and still watched.
    Followed,
    /// Unreadable for this reason; the previous version is shown.
    Unread(&'a str),
    /// Deleted; the previous version is shown.
    Gone,
}

/// The new version of a file.
#[derive(Debug)]
pub(crate) struct NewVersion {
    pub(crate) document: Arc<Document>,
    pub(crate) derived: Derived,
    pub(crate) selection: Selection,
    /// Time at which lanes and rows were ready.
    replayed: Option<Instant>,
}

/// A thread that checks a file for changes. It ends when this value is dropped.
#[derive(Debug)]
struct Watch {
    has_changed: Arc<AtomicBool>,
    is_gone: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    _thread: Background<()>,
}

impl FollowedFile {
    /// Watches the file of a document. `shown` is the file that contains the session, which may be another file.
    pub(crate) fn new(repaint: &Repaint, path: &Path, shown: Option<&Path>) -> Self {
        Self {
            path: path.to_owned(),
            watch: Watch::start(repaint, shown.unwrap_or(path).to_owned()),
            loading: None,
            next: None,
            n_read: 0,
            problem: None,
        }
    }

    /// Returns the state to report, if any.
    pub(crate) fn state(&self) -> Option<FollowedState<'_>> {
        if self.watch.is_gone.load(Ordering::Relaxed) {
            return Some(FollowedState::Gone);
        }
        let unread = self.problem.as_deref().map(FollowedState::Unread);
        unread.or_else(|| (self.n_read > 0).then_some(FollowedState::Followed))
    }

    /// Reads the file if it changed and no earlier version is still in work.
    pub(crate) fn read_again(&mut self, repaint: &Repaint, options: LoadOptions) {
        let is_busy = self.loading.is_some() || self.next.is_some();
        if !is_busy && self.watch.has_changed.swap(false, Ordering::Relaxed) {
            self.read(repaint, options);
        }
    }

    fn read(&mut self, repaint: &Repaint, options: LoadOptions) {
        let origin = Origin::Path(self.path.clone());
        self.loading = Some(Loading::start(
            repaint,
            WorkMode::AsNeeded,
            origin,
            options,
            KeptStates::default(),
        ));
    }

    /// Receives the new version. A selection at the end moves to the new end.
    pub(crate) fn receive(
        &mut self,
        repaint: &Repaint,
        options: LoadOptions,
        shown: &Document,
        at: &Selection,
    ) {
        let Some(loading) = self.loading.take() else {
            return;
        };
        match loading.take() {
            Ok(Ok((document, _))) => {
                self.problem = None;
                match moved(shown, &document) {
                    Some(conversation) => {
                        self.read(repaint, LoadOptions { conversation, ..options });
                    }
                    None => self.next = Some(NewVersion::new(document, shown, at)),
                }
            }
            // Incomplete or missing: the previous version is kept until the file changes again.
            Ok(Err(problem)) => self.problem = Some(problem),
            Err(loading) => {
                repaint.after(Duration::from_millis(50));
                self.loading = Some(*loading);
            }
        }
    }

    /// Computes the results of the new version. Returns it once they are ready; `shown` are the results shown now.
    pub(crate) fn take_ready(&mut self, inputs: Inputs<'_>, shown: &Derived) -> Option<NewVersion> {
        let next = self.next.as_mut()?;
        let derived = &mut next.derived;
        results::update(derived, &next.document, &next.selection, inputs);
        if derived.runs().is_none() || derived.rows().is_none() {
            return None;
        }
        let since = next.replayed.get_or_insert_with(Instant::now);
        if !derived.shows_all_of(shown) && since.elapsed() < MAX_WAIT {
            return None;
        }
        self.n_read += 1;
        self.next.take()
    }
}

/// Returns the new index of the shown conversation if it changed, since others may have started before it.
fn moved(shown: &Document, read: &Document) -> Option<usize> {
    let known = shown.loaded.conversations.get(shown.conversation)?;
    let now = &read.loaded.conversations;
    if now.get(read.conversation).is_some_and(|read| read.is_same(known)) {
        return None;
    }
    let number = now.iter().position(|c| c.is_same(known));
    number.filter(|number| *number != read.conversation)
}

impl NewVersion {
    fn new(document: Document, shown: &Document, at: &Selection) -> Self {
        let mut derived = Derived::new(WorkMode::AsNeeded);
        derived.clear(&document);
        let document = document.following(shown);
        let (last, n_messages) = (document.last_call(), document.n_messages());
        let call = if at.call >= shown.last_call() { last } else { at.call.min(last) };
        let is_there = |message: &usize| *message < n_messages;
        let selection = Selection {
            call,
            message: at.message.filter(is_there),
            anchor: at.anchor.filter(is_there),
            compared: at.compared.filter(|call| *call <= last),
            // New runs have new events and new written messages.
            event: None,
            written: None,
            ..*at
        };
        Self { document: Arc::new(document), derived, selection, replayed: None }
    }
}

impl Watch {
    fn start(repaint: &Repaint, path: PathBuf) -> Self {
        let [has_changed, is_gone, is_over]: [Arc<AtomicBool>; 3] = Default::default();
        let [changed, gone, over] = [&has_changed, &is_gone, &is_over].map(Arc::clone);
        let again = repaint.clone();
        let mut last = Stamp::of(&path);
        let look = move || {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(EVERY);
                let now = Stamp::of(&path);
                if now != last {
                    last = now;
                    // A missing file cannot be read, but it may reappear.
                    gone.store(now.is_none(), Ordering::Relaxed);
                    changed.store(now.is_some(), Ordering::Relaxed);
                    again.now();
                }
            }
        };
        Self { has_changed, is_gone, is_over, _thread: task::start("watch", repaint, look) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
