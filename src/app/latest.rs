//! The latest result of some work, by what it was asked for: done in the frame while it is quick, else on a thread of its own.
//!
//! Whoever asks gets the result before (stale) until the new one is there; work is never done twice for the same key.

use crate::app::background::{self, Background};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Work that took longer than this goes to a thread the next time.
const QUICK: Duration = Duration::from_millis(4);

/// Where work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In the frame while it is quick, else on a thread.
    AsNeeded,
    /// Always in the frame: a picture has no next frame.
    InFrame,
}

/// The latest result of some work.
#[derive(Debug)]
pub struct Latest<K, V: Send + Sync + 'static> {
    name: &'static str,
    have: Option<(K, Arc<V>)>,
    running: Option<(K, Background<(V, Duration)>)>,
    /// How long the last one took; unknown work is expected to be slow unless it was said to be quick.
    cost: Duration,
    /// What the last work crashed on: it is not tried again.
    crashed: Option<K>,
    generation: u64,
}

impl<K: Clone + PartialEq, V: Send + Sync + 'static> Latest<K, V> {
    /// Nothing yet. `name` names the thread.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            have: None,
            running: None,
            cost: Duration::ZERO,
            crashed: None,
            generation: 0,
        }
    }

    /// What is there now, for whatever key it was made.
    pub fn get(&self) -> Option<&Arc<V>> {
        self.have.as_ref().map(|(_, value)| value)
    }

    /// Counts the results so far, so that work on a result can be keyed by it.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What is there is what was wanted last.
    pub fn is_for(&self, key: &K) -> bool {
        self.have.as_ref().is_some_and(|(k, _)| k == key)
    }

    /// Expects the next work to take this long.
    pub fn expect(&mut self, cost: Duration) {
        self.cost = cost;
    }

    /// Forgets everything, running work included.
    pub fn clear(&mut self) {
        if let Some((_, value)) = self.have.take() {
            background::let_go(value);
        }
        self.running = None;
        self.generation += 1;
    }

    /// Asks for the result for `key`; `make` gets the result before, to reuse what is still right.
    pub fn want(
        &mut self,
        ctx: &egui::Context,
        at: Where,
        key: &K,
        make: impl FnOnce(Option<Arc<V>>) -> V + Send + 'static,
    ) {
        self.collect();
        if self.is_for(key) || self.running.is_some() || self.crashed.as_ref() == Some(key) {
            // Running work for another key ends first; asked again then.
            return;
        }
        let before = self.get().map(Arc::clone);
        let timed = move || {
            let start = Instant::now();
            (make(before), start.elapsed())
        };
        if at == Where::InFrame || self.cost < QUICK {
            let done = timed();
            self.store(key.clone(), done);
        } else {
            self.running = Some((key.clone(), background::start(self.name, ctx, timed)));
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
        // What took long to make is large.
        if let Some((_, before)) = before.filter(|_| self.cost.max(cost) >= QUICK) {
            background::let_go(before);
        }
        self.cost = cost;
        self.generation += 1;
    }
}
