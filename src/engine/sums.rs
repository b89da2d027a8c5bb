//! What a context weighs and which calls have results, kept while entries come and go.

use super::Case;
use super::context::{Entry, EntryBody, Marker, PartFate};
use crate::session::Kind;
use std::sync::Arc;

/// Running sums over the entries of a context.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// True tokens by kind, overhead included (as system).
    pub(super) by_kind: [u64; Kind::ALL.len()],
    /// True tokens, overhead included.
    pub(super) tokens: u64,
    /// Units on the policy's own meter (tokens on most), without overhead.
    pub(super) metered: u64,
    pairs: Pairs,
}

/// Calls and results that are there.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// How often the call and the result of each pair are there. Copies share each block until one of them changes it.
    there: Vec<Arc<PairBlock>>,
    /// Pairs of which one half is there without the other.
    n_orphans: usize,
}

/// Pairs whose counts stand together.
const BLOCK: usize = 512;

/// Counts of calls and results of consecutive pairs.
type PairBlock = [(u32, u32); BLOCK];

impl Sums {
    /// Nothing yet.
    pub(super) fn new(case: &Case) -> Self {
        let none: Arc<PairBlock> = Arc::new([(0, 0); BLOCK]);
        Self {
            pairs: Pairs {
                there: vec![none; case.index.n_pairs.div_ceil(BLOCK)],
                n_orphans: 0,
            },
            ..Self::default()
        }
    }

    /// Calls in the context without a result, and results without a call.
    pub(super) fn orphans(&self) -> usize {
        self.pairs.n_orphans
    }

    /// Takes a message in as it was said, with its weights (true tokens, and units of the policy's own meter).
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

    /// What stood there with these weights (true tokens, and units of the policy's own meter) is gone; a text of ours
    /// stands there with these.
    #[inline]
    pub(super) fn put_text(&mut self, was: Kind, before: (u32, u32), after: (u32, u32)) {
        self.by_kind[was.index()] -= u64::from(before.0);
        self.by_kind[Kind::Notice.index()] += u64::from(after.0);
        self.tokens = self.tokens + u64::from(after.0) - u64::from(before.0);
        self.metered = self.metered + u64::from(after.1) - u64::from(before.1);
    }

    /// Takes an entry in, by the weights that it names.
    pub(super) fn add(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
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

    /// Takes an entry out again.
    #[inline]
    pub(super) fn forget(&mut self, case: &Case, markers: &[Marker], entry: &Entry) {
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
        // Mostly: all of a message, as it was said.
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
        each_part(case, entry, |part, fate| {
            if !matches!(fate, PartFate::Removed { .. }) {
                self.pairs.change(case, part, &count);
            }
        });
    }
}

impl Pairs {
    /// A part comes or goes.
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

/// Gives the parts of an entry that is a message of the session, with what became of them.
pub(super) fn each_part(case: &Case, entry: &Entry, mut give: impl FnMut(usize, &PartFate)) {
    let Some(message) = entry.message() else {
        return;
    };
    let parts = case.index.parts(message as usize);
    match &entry.body {
        EntryBody::Edited(edited) => {
            let fates = parts.zip(edited.parts.as_slice());
            fates.for_each(|(part, fate)| give(part, fate));
        }
        _ => parts.for_each(|part| give(part, &PartFate::Kept)),
    }
}
