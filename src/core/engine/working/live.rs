//! Tool results whose content is still in the context, with their total weight.

use crate::units::Tokens;
use std::cell::Cell;
use std::ops::Deref;

/// A tool result whose content is still in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveResult {
    /// Index of its part.
    pub(crate) part: u32,
    /// Index of its message.
    pub(crate) message: u32,
    /// Tokens on the policy's own meter, media inside it included.
    pub(crate) metered: u32,
}

/// Tool results that are not cleared, in context order; reads as a slice.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    results: Vec<LiveResult>,
    /// Total weight on the policy's own meter.
    metered: u64,
    /// Whether their messages ascend, as they do unless a recorded compaction kept some out of order.
    is_ascending: bool,
    /// Number and weight of the oldest at the end of the last search, which is near the end of the next one.
    searched: Cell<(usize, u64)>,
}

impl Default for Live {
    fn default() -> Self {
        Self { results: Vec::new(), metered: 0, is_ascending: true, searched: Cell::default() }
    }
}

impl Deref for Live {
    type Target = [LiveResult];

    #[inline]
    fn deref(&self) -> &[LiveResult] {
        &self.results
    }
}

impl Live {
    /// Appends a result.
    #[inline]
    pub(crate) fn push(&mut self, result: LiveResult) {
        let last = self.results.last();
        self.is_ascending &= last.is_none_or(|last| last.message <= result.message);
        self.metered += u64::from(result.metered);
        self.results.push(result);
    }

    /// Adds weight to the newest result, if it is this part.
    pub(crate) fn add_to(&mut self, part: u32, metered: u32) {
        if let Some(nth) = self.results.iter().rposition(|r| r.part == part) {
            self.reweigh(nth, self.results[nth].metered + metered);
        }
    }

    /// Sets the weight of a result.
    pub(crate) fn reweigh(&mut self, nth: usize, metered: u32) {
        let result = &mut self.results[nth];
        self.metered = self.metered - u64::from(result.metered) + u64::from(metered);
        result.metered = metered;
        self.forget_search();
    }

    /// Removes and returns the oldest `n` results.
    pub(crate) fn take_oldest(&mut self, n: usize) -> Vec<LiveResult> {
        let taken = self.results.drain(..n).collect();
        self.note_removed(taken)
    }

    /// Removes and returns the results at these positions (ascending).
    pub(crate) fn take_at(&mut self, places: &[usize]) -> Vec<LiveResult> {
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return Vec::new();
        };
        let mut at = *first..;
        let mut places = places.iter().peekable();
        let is_one = |_: &mut LiveResult| {
            let at = at.next().unwrap_or(usize::MAX);
            places.next_if(|place| **place == at).is_some()
        };
        let taken = self.results.extract_if(*first..=*last, is_one).collect();
        self.note_removed(taken)
    }

    fn note_removed(&mut self, taken: Vec<LiveResult>) -> Vec<LiveResult> {
        self.metered -= sum(&taken);
        self.forget_search();
        taken
    }

    /// Keeps the results for which `is_kept` returns true; it may change them.
    pub(crate) fn retain_mut(&mut self, is_kept: impl FnMut(&mut LiveResult) -> bool) {
        self.results.retain_mut(is_kept);
        self.metered = sum(&self.results);
        self.forget_search();
    }

    /// Returns how many of the `most` oldest come before the first result of `from_message` or later, or the first that
    /// weighs at most `protect` together with all newer ones. Also returns their weight.
    pub(crate) fn oldest(&self, most: usize, protect: u64, from_message: u32) -> (usize, Tokens) {
        let is_kept = |nth: usize, older: u64| {
            self.metered - older <= protect || self.results[nth].message >= from_message
        };
        let (mut n, mut older) = self.searched.get();
        // If results are in order, all after a kept one are kept, so the search may begin anywhere.
        while n > 0 {
            let before = older - u64::from(self.results[n - 1].metered);
            if n <= most && self.is_ascending && !is_kept(n - 1, before) {
                break;
            }
            (n, older) = (n - 1, before);
        }
        while n < most && !is_kept(n, older) {
            older += u64::from(self.results[n].metered);
            n += 1;
        }
        self.searched.set((n, older));
        (n, Tokens(older))
    }

    fn forget_search(&mut self) {
        self.searched = Cell::default();
    }
}

fn sum(results: &[LiveResult]) -> u64 {
    results.iter().map(|r| u64::from(r.metered)).sum()
}
