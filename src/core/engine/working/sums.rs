//! Running sums over a context: its weights, and its tool calls and results without each other.

use crate::engine::case::Case;
use crate::engine::context::{Entry, EntryBody, Marker, PartStatus};
use crate::session::Kind;
use std::sync::Arc;

/// Weights of content on two meters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// Actual tokens.
    pub(crate) tokens: u32,
    /// Units of the policy's own meter.
    pub(crate) metered: u32,
}

/// Running sums over the entries of a context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// Actual tokens by kind. The overhead counts as system.
    pub(crate) by_kind: [u64; Kind::ALL.len()],
    /// Actual tokens, overhead included.
    pub(crate) tokens: u64,
    /// Units of the policy's own meter (tokens on most), without overhead.
    pub(crate) metered: u64,
    pairs: Pairs,
}

/// The occurrences of tool calls and results in the context.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// Occurrences of each pair. Copies of the sums share a block until one of them changes it.
    blocks: Vec<Arc<PairBlock>>,
    /// Number of pairs with one half missing.
    n_orphans: usize,
}

/// Number of pairs in a block: 4 KiB. A view copies the sums at every call and changes a few pairs. Smaller blocks make
/// copies of the list of blocks longer, larger ones copy more for each change.
const BLOCK: usize = 512;

/// Occurrences of consecutive pairs.
type PairBlock = [Occurrences; BLOCK];

/// Occurrences of a tool call and of its result.
#[derive(Clone, Copy, Debug, Default)]
struct Occurrences {
    calls: u32,
    results: u32,
}

impl Occurrences {
    /// Whether only one of call and result occurs.
    fn is_orphan(self) -> bool {
        (self.calls > 0) != (self.results > 0)
    }
}

impl Sums {
    /// Creates the sums of an empty context.
    pub(crate) fn new(case: &Case) -> Self {
        let none: Arc<PairBlock> = Arc::new([Occurrences::default(); BLOCK]);
        Self {
            pairs: Pairs {
                blocks: vec![none; case.index.calls.n_calls().div_ceil(BLOCK)],
                n_orphans: 0,
            },
            ..Self::default()
        }
    }

    /// Makes room for the calls that a growing session has now.
    pub(super) fn grow(&mut self, case: &Case) {
        let n_blocks = case.index.calls.n_calls().div_ceil(BLOCK);
        if n_blocks > self.pairs.blocks.len() {
            let none: Arc<PairBlock> = Arc::new([Occurrences::default(); BLOCK]);
            self.pairs.blocks.resize(n_blocks, none);
        }
    }

    /// Returns the number of calls without a result and results without a call.
    pub(crate) fn orphans(&self) -> usize {
        self.pairs.n_orphans
    }

    /// Adds an unchanged message.
    #[inline]
    pub(super) fn add_message(&mut self, case: &Case, message: usize, weights: Weights) {
        self.tokens += u64::from(weights.tokens);
        self.metered += u64::from(weights.metered);
        for part in case.index.parts(message) {
            let tokens = u64::from(case.ledger.truth.per_part[part]);
            self.by_kind[case.index.kinds[part].index()] += tokens;
            self.pairs.change(case, part, |n| *n += 1);
        }
    }

    /// Replaces content of a kind by a written text.
    #[inline]
    pub(super) fn put_text(&mut self, was: Kind, before: Weights, after: Weights) {
        self.by_kind[was.index()] -= u64::from(before.tokens);
        self.by_kind[Kind::Notice.index()] += u64::from(after.tokens);
        self.tokens = self.tokens + u64::from(after.tokens) - u64::from(before.tokens);
        self.metered = self.metered + u64::from(after.metered) - u64::from(before.metered);
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
        self.tokens += u64::from(entry.tokens);
        self.metered += u64::from(entry.metered);
        self.change(case, markers, entry, |sum, tokens| *sum += tokens, |n| *n += 1);
    }

    /// Removes an entry.
    #[inline]
    pub(crate) fn remove(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
        self.tokens -= u64::from(entry.tokens);
        self.metered -= u64::from(entry.metered);
        self.change(case, markers, entry, |sum, tokens| *sum -= tokens, |n| *n -= 1);
    }

    /// Adds or removes an entry's tokens by kind with `weigh`, and its calls and results with `count`.
    #[inline]
    fn change(
        &mut self,
        case: &Case,
        markers: &[Marker],
        entry: &Entry,
        weigh: impl Fn(&mut u64, u64),
        count: impl Fn(&mut u32),
    ) {
        // Fast path for the usual entry: an unchanged message.
        if let EntryBody::Original(message) = entry.body {
            for part in case.index.parts(message as usize) {
                let tokens = u64::from(case.ledger.truth.per_part[part]);
                weigh(&mut self.by_kind[case.index.kinds[part].index()], tokens);
                self.pairs.change(case, part, &count);
            }
            return;
        }
        entry.each_weight(case, markers, |kind, tokens| {
            weigh(&mut self.by_kind[kind.index()], u64::from(tokens));
        });
        each_part(case, entry, |part, status| {
            if !matches!(status, PartStatus::Removed { .. }) {
                self.pairs.change(case, part, &count);
            }
        });
    }
}

impl Pairs {
    /// Adds or removes a part with `change` if it is a call or a result.
    #[inline]
    fn change(&mut self, case: &Case, part: usize, change: impl Fn(&mut u32)) {
        let kind = case.index.kinds[part];
        let Some(pair) = case.index.calls.number(part).filter(|_| kind != Kind::Media) else {
            return;
        };
        let (block, idx) = (pair as usize / BLOCK, pair as usize % BLOCK);
        let occurrences = &mut Arc::make_mut(&mut self.blocks[block])[idx];
        let was_orphan = occurrences.is_orphan();
        if kind == Kind::ToolResult {
            change(&mut occurrences.results);
        } else {
            change(&mut occurrences.calls);
        }
        self.n_orphans += usize::from(occurrences.is_orphan());
        self.n_orphans -= usize::from(was_orphan);
    }
}

/// Calls `visit` with each part of a session message's entry and its status.
pub(crate) fn each_part(case: &Case, entry: &Entry, mut visit: impl FnMut(usize, &PartStatus)) {
    let Some(message) = entry.message() else {
        return;
    };
    let parts = case.index.parts(message as usize);
    match &entry.body {
        EntryBody::Edited(edited) => {
            let statuses = parts.zip(edited.parts.as_slice());
            statuses.for_each(|(part, status)| visit(part, status));
        }
        _ => parts.for_each(|part| visit(part, &PartStatus::Kept)),
    }
}
