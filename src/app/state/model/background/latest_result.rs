//! The latest result of some work, by key: computed in the frame if it is fast, else on its own thread.
//!
//! Returns the previous (stale) result until the new one is ready. Work is never repeated for the same key.

use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Work that took longer than this runs on a thread the next time.
const QUICK: Duration = Duration::from_millis(4);

/// When work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkMode {
    /// In the frame if it is fast, else on a thread.
    AsNeeded,
    /// Always in the frame, since a picture has no next frame.
    InFrame,
}

impl WorkMode {
    /// Runs work now, or as [`task::start`] on a thread with this name.
    pub(crate) fn start<T: Send + 'static>(
        self,
        repaint: &Repaint,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Background<T> {
        match self {
            Self::AsNeeded => task::start(name, repaint, work),
            Self::InFrame => task::run_now(work),
        }
    }
}

/// The latest result of some work.
#[derive(Debug)]
pub struct LatestResult<K, V: Send + Sync + 'static> {
    name: &'static str,
    have: Option<(K, Arc<V>)>,
    running: Option<(K, Background<(V, Duration)>)>,
    /// Duration of the last run. Unmeasured work counts as slow unless declared fast.
    cost: Duration,
    /// The key of work that panicked. It is not tried again.
    crashed: Option<K>,
    generation: u64,
}

impl<K: Clone + PartialEq, V: Send + Sync + 'static> LatestResult<K, V> {
    /// Creates an empty result. `name` is the name of the thread.
    pub fn new(name: &'static str) -> Self {
        Self { name, have: None, running: None, cost: Duration::ZERO, crashed: None, generation: 0 }
    }

    /// Returns the current result, for any key.
    pub fn get(&self) -> Option<&Arc<V>> {
        self.have.as_ref().map(|(_, value)| value)
    }

    /// Returns the key of the current result.
    pub fn key(&self) -> Option<&K> {
        self.have.as_ref().map(|(key, _)| key)
    }

    /// Returns the number of results so far, as a key for dependent work.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the result for this key, if it is the current one.
    pub fn of(&self, key: &K) -> Option<&Arc<V>> {
        let (current, value) = self.have.as_ref()?;
        (current == key).then_some(value)
    }

    /// Sets the expected duration of the next run.
    pub fn expect(&mut self, cost: Duration) {
        self.cost = cost;
    }

    /// Discards the result and any running work.
    pub fn clear(&mut self) {
        if let Some((_, value)) = self.have.take() {
            task::drop_in_background(value);
        }
        self.running = None;
        self.generation += 1;
    }

    /// Requests the result for `key`, unless it is the current one. `make` receives the previous result to reuse
    /// unchanged parts.
    pub fn request(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        key: &K,
        make: impl FnOnce(Option<Arc<V>>) -> V + Send + 'static,
    ) {
        self.collect();
        if self.of(key).is_some() || self.running.is_some() || self.crashed.as_ref() == Some(key) {
            // Work for another key is still running. This request is repeated afterwards.
            return;
        }
        let before = self.get().map(Arc::clone);
        let timed = move || {
            let start = Instant::now();
            (make(before), start.elapsed())
        };
        if mode == WorkMode::InFrame || self.cost < QUICK {
            let done = timed();
            self.store(key.clone(), done);
        } else {
            self.running = Some((key.clone(), task::start(self.name, repaint, timed)));
        }
    }

    fn collect(&mut self) {
        let Some((key, work)) = self.running.take() else {
            return;
        };
        match work.take() {
            Ok(Some(done)) => self.store(key, done),
            Ok(None) => self.crashed = Some(key),
            Err(work) => self.running = Some((key, work)),
        }
    }

    fn store(&mut self, key: K, (value, cost): (V, Duration)) {
        let before = self.have.replace((key, Arc::new(value)));
        // A result that took long to compute is large.
        if let Some((_, before)) = before.filter(|_| self.cost.max(cost) >= QUICK) {
            task::drop_in_background(before);
        }
        self.cost = cost;
        self.generation += 1;
    }
}
