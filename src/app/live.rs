//! A file that is still being written: watched by a thread that sleeps, read again when it has changed, and shown only
//! once everything about it is worked out, so that nothing flickers.

use super::background::{self, Background};
use super::derived::Derived;
use super::document::{Document, Origin};
use super::latest::Where;
use super::load::Loading;
use super::policies::Policies;
use super::state::{Config, Selection, View};
use crate::exec::{LoadOptions, Stamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a file is looked at.
const EVERY: Duration = Duration::from_millis(700);

/// How long what takes longest (losses, insights) is waited for before the rest is shown without it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The open file while it may grow.
#[derive(Debug)]
pub(super) struct Live {
    path: PathBuf,
    watch: Watch,
    loading: Option<Loading>,
    next: Option<Next>,
    /// How often it was read again.
    n_read: usize,
    /// Why it could not be read again.
    problem: Option<String>,
}

/// A file that has changed since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveState<'a> {
    /// It was read again, and is watched on.
    Followed,
    /// It cannot be read as it is now, for this reason; what was read before is shown.
    Unread(&'a str),
    /// It is no longer there; what was read of it is shown.
    Gone,
}

/// The file as it is now, until it can be shown.
#[derive(Debug)]
struct Next {
    document: Arc<Document>,
    derived: Derived,
    selection: Selection,
    /// Since when lanes and rows are there.
    replayed: Option<Instant>,
}

/// A thread that looks whether a file has changed; it ends when nobody wants to know.
#[derive(Debug)]
struct Watch {
    has_changed: Arc<AtomicBool>,
    is_gone: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    _thread: Background<()>,
}

impl Live {
    /// Watches a document's file; `shown` is the one that what is shown stands in, which may lie beside it.
    pub(super) fn new(ctx: &egui::Context, path: &Path, shown: Option<&Path>) -> Self {
        Self {
            path: path.to_owned(),
            watch: Watch::start(ctx, shown.unwrap_or(path).to_owned()),
            loading: None,
            next: None,
            n_read: 0,
            problem: None,
        }
    }

    /// What there is to say of it.
    pub(super) fn state(&self) -> Option<LiveState<'_>> {
        if self.watch.is_gone.load(Ordering::Relaxed) {
            return Some(LiveState::Gone);
        }
        let unread = self.problem.as_deref().map(LiveState::Unread);
        unread.or_else(|| (self.n_read > 0).then_some(LiveState::Followed))
    }

    /// Reads the file again if it has changed and no earlier version is still being worked on.
    pub(super) fn read_again(&mut self, ctx: &egui::Context, options: LoadOptions) {
        let is_busy = self.loading.is_some() || self.next.is_some();
        if !is_busy && self.watch.has_changed.swap(false, Ordering::Relaxed) {
            self.read(ctx, options);
        }
    }

    fn read(&mut self, ctx: &egui::Context, options: LoadOptions) {
        let origin = Origin::Path(self.path.clone());
        self.loading = Some(Loading::start(ctx, Where::AsNeeded, origin, options));
    }

    /// Takes what was read; who looks at the end keeps looking at it.
    pub(super) fn receive(
        &mut self,
        ctx: &egui::Context,
        options: LoadOptions,
        shown: &Document,
        at: &Selection,
    ) {
        let Some(loading) = self.loading.take() else {
            return;
        };
        match loading.take() {
            Ok(Ok(document)) => {
                self.problem = None;
                match moved(shown, &document) {
                    Some(conversation) => self.read(
                        ctx,
                        LoadOptions {
                            conversation,
                            ..options
                        },
                    ),
                    None => self.next = Some(Next::new(document, shown, at)),
                }
            }
            // Half written or away: what was read before stays, until the file changes again.
            Ok(Err(problem)) => self.problem = Some(problem),
            Err(loading) => {
                ctx.request_repaint_after(Duration::from_millis(50));
                self.loading = Some(*loading);
            }
        }
    }

    /// What is to be shown from now on, once it is worked out.
    pub(super) fn take_ready(
        &mut self,
        ctx: &egui::Context,
        policies: &Policies,
        config: &Config,
        (view, shown): (&View, &Derived),
    ) -> Option<(Arc<Document>, Derived, Selection)> {
        let next = self.next.as_mut()?;
        let Next {
            document,
            derived,
            selection,
            replayed,
        } = next;
        derived.update(ctx, document, policies, config, selection, view);
        if derived.runs().is_none() || derived.rows().is_none() {
            return None;
        }
        let since = replayed.get_or_insert_with(Instant::now);
        if !derived.shows_all_of(shown) && since.elapsed() < PATIENCE {
            return None;
        }
        self.n_read += 1;
        let next = self.next.take()?;
        Some((next.document, next.derived, next.selection))
    }
}

/// The number that the shown conversation has now, where it is no longer the one that was read: others may have begun
/// before it.
fn moved(shown: &Document, read: &Document) -> Option<usize> {
    let known = shown.loaded.conversations.get(shown.conversation)?;
    let now = &read.loaded.conversations;
    if now
        .get(read.conversation)
        .is_some_and(|read| read.is_same(known))
    {
        return None;
    }
    let number = now.iter().position(|c| c.is_same(known));
    number.filter(|number| *number != read.conversation)
}

impl Next {
    fn new(document: Document, shown: &Document, at: &Selection) -> Self {
        let mut derived = Derived::new(Where::AsNeeded);
        derived.clear(&document);
        let document = document.following(shown);
        let (last, n_messages) = (document.last_step(), document.facts.len());
        let step = if at.step >= shown.last_step() {
            last
        } else {
            at.step.min(last)
        };
        let is_there = |message: &usize| *message < n_messages;
        let selection = Selection {
            step,
            message: at.message.filter(is_there),
            anchor: at.anchor.filter(is_there),
            // Runs are new, and so are their events and what they wrote.
            event: None,
            written: None,
            ..*at
        };
        Self {
            document: Arc::new(document),
            derived,
            selection,
            replayed: None,
        }
    }
}

impl Watch {
    fn start(ctx: &egui::Context, path: PathBuf) -> Self {
        let [has_changed, is_gone, is_over]: [Arc<AtomicBool>; 3] = Default::default();
        let [changed, gone, over] = [&has_changed, &is_gone, &is_over].map(Arc::clone);
        let again = ctx.clone();
        let mut last = Stamp::of(&path);
        let look = move || {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(EVERY);
                let now = Stamp::of(&path);
                if now != last {
                    last = now;
                    // What is gone cannot be read; it may come back.
                    gone.store(now.is_none(), Ordering::Relaxed);
                    changed.store(now.is_some(), Ordering::Relaxed);
                    again.request_repaint();
                }
            }
        };
        Self {
            has_changed,
            is_gone,
            is_over,
            _thread: background::start("watch", ctx, look),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
