//! Clearing of tool results, by sums: always the oldest, so that two numbers define the remaining ones.

use super::account::What;
use super::course::first_not;
use super::plain::{Attempt, Least, Scene};
use crate::engine::seen::{SeenKind, SeenText};
use crate::engine::select::oldest_turn;
use crate::engine::stages::{Clear, Keep, Results, Take};
use crate::units::Tokens;
use std::sync::Arc;

/// A stage that clears tool results, during a run.
pub(super) struct Clearing {
    marker: Arc<str>,
    /// Weight of the marker: true tokens, and on the policy's own meter.
    weights: Option<(u64, u64)>,
    least: Least,
    /// Number of the newest turns that are kept.
    turns: Option<f64>,
    protect: u64,
    newest: usize,
    /// Number of results that are cleared already.
    cleared: usize,
    /// First result of the kept newest tokens; it only increases.
    protected: usize,
    /// First result of the kept newest turns; it only increases.
    turned: usize,
    /// First result up to which there is enough to clear; it only increases.
    enough: usize,
}

impl Clearing {
    pub(super) fn new(take: &Take, clear: Clear, least: Least) -> Option<Self> {
        if take.results != Results::ALL {
            return None;
        }
        let (mut protect, mut newest, mut turns) = (0.0_f64, 0.0_f64, None);
        for keep in &take.keep {
            match keep {
                Keep::LastToolTokens(n) => protect = n.constant_value()?.max(protect),
                Keep::LastResults(n) => newest = n.constant_value()?.max(newest),
                Keep::LastTurns(n) => {
                    let n = n.constant_value()?;
                    turns = Some(turns.map_or(n, |most: f64| most.max(n)));
                }
                Keep::LastMessages(_) | Keep::LastTokens(_) => return None,
                // Rules about whole messages do not apply to results.
                _ => {}
            }
        }
        Some(Self {
            marker: clear.marker,
            weights: None,
            least,
            turns,
            protect: protect as u64,
            newest: newest as usize,
            cleared: 0,
            protected: 0,
            turned: 0,
            enough: 0,
        })
    }

    /// Returns the first call from `call` on at which no rule keeps enough of the oldest results.
    pub(super) fn earliest(&mut self, scene: &Scene<'_>, call: usize) -> usize {
        let (course, results) = (scene.course, &scene.course.results);
        let before = &results.metered_before;
        let least = self.least.min_saved.unwrap_or(0.0).max(0.0);
        let is_too_little = |sum: &u64| (sum - before[self.cleared]) as f64 <= least;
        let end = first_not(before, self.enough.max(self.cleared + 1), is_too_little);
        self.enough = end;
        // All results newer than the last of them must exceed the protected tokens.
        let Some(protected) = before.get(end).and(before.get(end - 1)) else {
            return course.len();
        };
        let is_protected = |came: &u64| came.saturating_sub(*protected) <= self.protect;
        let call = first_not(&results.metered_at, call, is_protected);
        let is_newest = |came: &usize| *came < end.saturating_add(self.newest);
        let call = first_not(&results.at, call, is_newest);
        let Some(turns) = self.turns.filter(|turns| *turns >= 1.0) else {
            return call;
        };
        let message = results.messages[end - 1];
        let starts = &scene.case.index.turn_start;
        let is_new = |turn: &u32| starts.get(oldest_turn(*turn, turns)) <= Some(&message);
        first_not(&course.turns, call, is_new)
    }

    pub(super) fn attempt(&mut self, scene: &Scene<'_>, call: usize) -> Attempt {
        let results = &scene.course.results;
        let end = results.at[call];
        let end = self
            .end(scene, call)
            .min(end.saturating_sub(self.newest.min(end - self.cleared)));
        if end <= self.cleared {
            return Attempt::Nothing;
        }
        let taken = self.cleared..end;
        let n = taken.len() as u64;
        let sum = |before: &[u64]| before[taken.end] - before[taken.start];
        let gone = sum(&results.metered_before);
        let (truth, metered) = *self.weights.get_or_insert_with(|| {
            let truth = scene.case.ledger.weigh(&self.marker).0;
            let metered = scene.meter.weigh_part(scene.case, &self.marker);
            (u64::from(truth as u32), u64::from(metered))
        });
        if !self.least.allows(Tokens(gone), || Tokens(metered * n)) {
            return Attempt::Nothing;
        }
        self.cleared = end;
        let cleared = sum(&results.truth_before);
        let added = (
            (truth * n).cast_signed() - cleared.cast_signed(),
            (metered * n).cast_signed() - gone.cast_signed(),
        );
        Attempt::Done(What::Cleared(taken, truth), added)
    }

    /// Returns the text in the place of results.
    pub(super) fn marker(&self, scene: &Scene<'_>) -> SeenText {
        SeenText {
            text: Arc::clone(&self.marker),
            kind: SeenKind::Marker,
            is_predicted: false,
            tokens: scene.case.ledger.weigh(&self.marker).0 as u32,
        }
    }

    /// Returns the first result that the newest tokens or the newest turns keep.
    fn end(&mut self, scene: &Scene<'_>, call: usize) -> usize {
        let results = &scene.course.results;
        let all = results.at[call];
        let before = &results.metered_before[..=all];
        let is_open = |sum: &u64| before[all] - sum > self.protect;
        self.protected = first_not(before, self.protected.max(self.cleared), is_open);
        let Some(turns) = self.turns else {
            return self.protected;
        };
        let first = oldest_turn(scene.course.turns[call], turns);
        let from = match scene.case.index.turn_start.get(first) {
            _ if turns < 1.0 => u32::MAX,
            start => start.copied().unwrap_or(0),
        };
        let messages = &results.messages[..all];
        self.turned = first_not(messages, self.turned, |message| *message < from);
        self.protected.min(self.turned)
    }
}
