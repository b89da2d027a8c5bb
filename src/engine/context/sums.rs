//! Weights of a context and its pairs of calls and results, updated as entries are added and removed.

use super::{Entry, EntryBody, Marker, PartStatus};
use crate::engine::case::Case;
use crate::session::Kind;
use std::sync::Arc;

/// Running sums over the entries of a context.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Sums {
    /// True tokens by kind, overhead included (as system).
    pub(in crate::engine) by_kind: [u64; Kind::ALL.len()],
    /// True tokens, overhead included.
    pub(in crate::engine) tokens: u64,
    /// Units on the policy's own meter (tokens on most), without overhead.
    pub(in crate::engine) metered: u64,
    pairs: Pairs,
}

/// Calls and results in the context.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// Number of occurrences of the call and the result of each pair. Copies share each block until one changes it.
    there: Vec<Arc<PairBlock>>,
    /// Number of pairs with one half missing.
    n_orphans: usize,
}

/// Pairs whose counts stand together.
const BLOCK: usize = 512;

/// Counts of calls and results of consecutive pairs.
type PairBlock = [(u32, u32); BLOCK];

impl Sums {
    /// Creates the sums of an empty context.
    pub(in crate::engine) fn new(case: &Case) -> Self {
        let none: Arc<PairBlock> = Arc::new([(0, 0); BLOCK]);
        Self {
            pairs: Pairs {
                there: vec![none; case.index.n_pairs.div_ceil(BLOCK)],
                n_orphans: 0,
            },
            ..Self::default()
        }
    }

    /// Returns the number of calls without a result and results without a call.
    pub(in crate::engine) fn orphans(&self) -> usize {
        self.pairs.n_orphans
    }

    /// Adds an untouched message with its weights (true tokens, and units of the policy's own meter).
    #[inline]
    pub(super) fn add_message(&mut self, case: &Case, message: usize, weights: (u32, u32)) {
        self.tokens += u64::from(weights.0);
        self.metered += u64::from(weights.1);
        for part in case.index.parts(message) {
            let tokens = u64::from(case.ledger.truth.per_part[part]);
            self.by_kind[case.index.kinds[part].index()] += tokens;
            self.pairs.change(case, part, |n| *n += 1);
        }
    }

    /// Replaces content of these weights (true tokens, and units of the policy's own meter) by a written text of other
    /// weights.
    #[inline]
    pub(super) fn put_text(&mut self, was: Kind, before: (u32, u32), after: (u32, u32)) {
        self.by_kind[was.index()] -= u64::from(before.0);
        self.by_kind[Kind::Notice.index()] += u64::from(after.0);
        self.tokens = self.tokens + u64::from(after.0) - u64::from(before.0);
        self.metered = self.metered + u64::from(after.1) - u64::from(before.1);
    }

    /// Adds an entry with its weights.
    pub(in crate::engine) fn add(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
        self.tokens += u64::from(entry.tokens);
        self.metered += u64::from(entry.metered);
        self.change(
            case,
            markers,
            entry,
            |sum, tokens| *sum += tokens,
            |n| *n += 1,
        );
    }

    /// Removes an entry.
    #[inline]
    pub(in crate::engine) fn forget(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
        self.tokens -= u64::from(entry.tokens);
        self.metered -= u64::from(entry.metered);
        self.change(
            case,
            markers,
            entry,
            |sum, tokens| *sum -= tokens,
            |n| *n -= 1,
        );
    }

    #[inline]
    fn change(
        &mut self,
        case: &Case,
        markers: &[Marker],
        entry: &Entry,
        weigh: impl Fn(&mut u64, u64),
        count: impl Fn(&mut u32),
    ) {
        // Usual case: a whole untouched message.
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
    /// Adds or removes a part.
    #[inline]
    fn change(&mut self, case: &Case, part: usize, change: impl Fn(&mut u32)) {
        let Some(pair) = case.index.pair[part] else {
            return;
        };
        let (block, idx) = (pair as usize / BLOCK, pair as usize % BLOCK);
        let (calls, results) = &mut Arc::make_mut(&mut self.there[block])[idx];
        let was_orphan = (*calls > 0) != (*results > 0);
        let is_result = case.index.kinds[part] == Kind::ToolResult;
        change(if is_result { results } else { calls });
        let is_orphan = (*calls > 0) != (*results > 0);
        self.n_orphans += usize::from(is_orphan);
        self.n_orphans -= usize::from(was_orphan);
    }
}

/// Passes the parts of a session message's entry to `give`, with their state.
pub(in crate::engine) fn each_part(
    case: &Case,
    entry: &Entry,
    mut give: impl FnMut(usize, &PartStatus),
) {
    let Some(message) = entry.message() else {
        return;
    };
    let parts = case.index.parts(message as usize);
    match &entry.body {
        EntryBody::Edited(edited) => {
            let statuses = parts.zip(edited.parts.as_slice());
            statuses.for_each(|(part, status)| give(part, status));
        }
        _ => parts.for_each(|part| give(part, &PartStatus::Kept)),
    }
}
