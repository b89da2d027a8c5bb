//! Results derived from document and config, each computed anew only when its key changes.
//!
//! Nothing here knows the results: a feature implements [`DerivedResult`] for a type in its own folder and requests it in
//! a function that `results.rs` or the feature's drawer tab calls before each frame.

use crate::app::state::model::background::latest_result::{LatestResult, WorkMode};
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::config::Config;
use crate::app::state::model::document::Document;
use crate::app::state::model::policies::Policies;
use crate::app::state::model::selection::Selection;
use crate::app::state::model::view::View;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Expected duration of work that does not fit in a frame.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// Age after which outdated results are shown as stale. Replays that take less would make the lanes flicker.
pub(crate) const DIM_AFTER: Duration = Duration::from_millis(100);

/// A result that panels show: the type of its value.
pub trait DerivedResult: Send + Sync + 'static {
    /// Inputs of the result. A `u64` in it is the id of a document or the generation of another result.
    type Key: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Name of the thread that computes it.
    const THREAD: &'static str;
    /// The sessions for which it is expected to be slow until its duration is measured.
    const SLOW_FOR: SlowFor;
    /// A newer state of a growing file is not shown before it has this result, if the shown state has it.
    const IS_AWAITED: bool = false;
}

/// The sessions for which a result is expected to be slow until its duration is measured.
#[derive(Clone, Copy, Debug)]
pub enum SlowFor {
    /// It is fast for all.
    None,
    /// Sessions with more messages.
    MessagesAbove(usize),
    /// Files with more bytes.
    BytesAbove(usize),
    /// It is slow for all.
    All,
}

/// The size of a session, by which the duration of work is expected.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    messages: usize,
    bytes: usize,
}

impl SlowFor {
    fn expected(self, size: Size) -> Duration {
        let is_slow = match self {
            Self::None => false,
            Self::MessagesAbove(limit) => size.messages > limit,
            Self::BytesAbove(limit) => size.bytes > limit,
            Self::All => true,
        };
        if is_slow { SLOW } else { Duration::ZERO }
    }
}

/// A result whose type is not known.
trait AnyResult: Debug + Send {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn clear(&mut self, size: Size);
    fn is_awaited(&self) -> bool;
}

/// The latest value of a result.
struct Slot<T: DerivedResult>(LatestResult<T::Key, T>);

impl<T: DerivedResult> Debug for Slot<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(T::THREAD)
    }
}

impl<T: DerivedResult> Slot<T> {
    fn new(size: Size) -> Self {
        let mut latest = LatestResult::new(T::THREAD);
        latest.expect(T::SLOW_FOR.expected(size));
        Self(latest)
    }
}

impl<T: DerivedResult> AnyResult for Slot<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn clear(&mut self, size: Size) {
        self.0.clear();
        self.0.expect(T::SLOW_FOR.expected(size));
    }

    fn is_awaited(&self) -> bool {
        T::IS_AWAITED && self.0.get().is_some()
    }
}

/// All derived results.
#[derive(Debug)]
pub struct Derived {
    mode: WorkMode,
    size: Size,
    stale_since: Option<Instant>,
    results: BTreeMap<TypeId, Box<dyn AnyResult>>,
}

impl Derived {
    /// Returns an empty set of results.
    pub fn new(mode: WorkMode) -> Self {
        Self { mode, size: Size::default(), stale_since: None, results: BTreeMap::new() }
    }

    /// Discards everything for a new document.
    pub fn clear(&mut self, document: &Document) {
        let bytes = document.session().source.bytes.len();
        self.size = Size { messages: document.n_messages(), bytes };
        for result in self.results.values_mut() {
            result.clear(self.size);
        }
    }

    fn latest<T: DerivedResult>(&self) -> Option<&LatestResult<T::Key, T>> {
        let slot = self.results.get(&TypeId::of::<T>())?;
        (**slot).as_any().downcast_ref::<Slot<T>>().map(|slot| &slot.0)
    }

    fn latest_mut<T: DerivedResult>(&mut self) -> &mut LatestResult<T::Key, T> {
        let size = self.size;
        let slot = self.results.entry(TypeId::of::<T>());
        let slot = slot.or_insert_with(|| Box::new(Slot::<T>::new(size)));
        let slot = (**slot).as_any_mut().downcast_mut::<Slot<T>>();
        &mut slot.expect("a result is stored below its own type").0
    }

    /// Returns a result, possibly of earlier inputs; `None` until it is computed.
    pub fn get<T: DerivedResult>(&self) -> Option<&T> {
        self.shared().map(Arc::as_ref)
    }

    /// Returns a result, possibly of earlier inputs, to share with a thread.
    pub fn shared<T: DerivedResult>(&self) -> Option<&Arc<T>> {
        self.latest::<T>()?.get()
    }

    /// Returns the result for a key, if it is the current one.
    pub fn of<T: DerivedResult>(&self, key: &T::Key) -> Option<&Arc<T>> {
        self.latest::<T>()?.of(key)
    }

    /// Returns the key of the current result.
    pub fn key<T: DerivedResult>(&self) -> Option<&T::Key> {
        self.latest::<T>()?.key()
    }

    /// Returns the number of results of this type so far, as a key for results that depend on it.
    pub fn generation<T: DerivedResult>(&self) -> u64 {
        self.latest::<T>().map_or(0, LatestResult::generation)
    }

    /// Sets the expected duration of the next computation of a result.
    pub fn expect<T: DerivedResult>(&mut self, duration: Duration) {
        self.latest_mut::<T>().expect(duration);
    }

    /// Requests the result for a key, unless it is the current one. `make` receives the previous result to reuse
    /// unchanged parts.
    pub fn request<T: DerivedResult>(
        &mut self,
        repaint: &Repaint,
        key: &T::Key,
        make: impl FnOnce(Option<Arc<T>>) -> T + Send + 'static,
    ) {
        let mode = self.mode;
        self.latest_mut::<T>().request(repaint, mode, key, make);
    }

    /// Returns whether every awaited result of `other` is available here too, so that a swap does not flicker.
    pub fn shows_all_of(&self, other: &Self) -> bool {
        let is_here = |id: &TypeId| self.results.get(id).is_some_and(|here| here.is_awaited());
        other.results.iter().all(|(id, there)| !there.is_awaited() || is_here(id))
    }

    /// Marks the results as outdated or current.
    pub fn mark_stale(&mut self, is_stale: bool) {
        self.stale_since = is_stale.then(|| self.stale_since.unwrap_or_else(Instant::now));
    }

    /// Returns whether results have been outdated for so long that lanes are dimmed. A shorter limit would flicker.
    pub fn is_stale(&self) -> bool {
        self.stale_since.is_some_and(|since| since.elapsed() > DIM_AFTER)
    }
}

/// The inputs of all results, from which each computes its key before a frame.
pub struct Update<'a> {
    /// The results so far.
    pub derived: &'a mut Derived,
    /// Requests a frame when a result is ready.
    pub repaint: &'a Repaint,
    /// A pointer button is down: inputs may change in every frame.
    pub is_dragging: bool,
    /// The replays are of an earlier configuration.
    pub is_stale: bool,
    /// The session.
    pub document: &'a Arc<Document>,
    /// All available policies.
    pub policies: &'a Policies,
    /// The configuration, without notes, which affect no result.
    pub config: &'a Config,
    /// The selection.
    pub selection: &'a Selection,
    /// The view settings.
    pub view: &'a View,
}

impl Update<'_> {
    /// Requests the result for a key, see [`Derived::request`].
    pub fn request<T: DerivedResult>(
        &mut self,
        key: &T::Key,
        make: impl FnOnce(Option<Arc<T>>) -> T + Send + 'static,
    ) {
        self.derived.request(self.repaint, key, make);
    }
}
