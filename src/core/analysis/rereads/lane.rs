//! The expected re-reads of a lane: each removal of a file's content, with what it adds and costs.

use super::files::{FileReads, ReadResult};
use super::model::{Expected, FileUse, RereadModel, WeightedSum};
use super::price::RereadPrices;
use crate::engine::{Case, Effect, Event, Outcome, PartVisibility, Received, TextKind, Visibility};
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};

/// The re-reads that a run's removals are expected to cause: extra to those that happen anyway.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedRereads {
    /// The removals of files' content, by call.
    pub removals: Vec<RemovedFile>,
    /// Sum over all removals.
    pub total: RereadTotal,
}

impl ExpectedRereads {
    /// Returns the removals that add most re-reads, the first of at most one for each file.
    pub fn likeliest(&self, most: usize) -> Vec<&RemovedFile> {
        let mut all: Vec<&RemovedFile> = self.removals.iter().collect();
        all.sort_by(|a, b| b.extra.total_cmp(&a.extra));
        let mut listed = HashSet::new();
        all.retain(|removed| listed.insert(removed.file));
        all.truncate(most);
        all
    }
}

/// Expected re-reads, their tokens and their price, each with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RereadTotal {
    /// Number of removals of a file's content that an agent may read again.
    pub removals: usize,
    /// Expected extra re-reads within [`super::WINDOW_CALLS`] calls after each removal.
    pub files: Expected,
    /// Tokens that they fetch.
    pub tokens: Expected,
    /// Tokens sent for them: fetched once, then sent by every later call up to the next compaction.
    pub sent: Expected,
    /// Their price in USD; none if a price is unknown.
    pub usd: Option<Expected>,
}

/// The content of a file that left the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemovedFile {
    /// The file, for [`FileReads::name`].
    pub file: u32,
    /// Index of the first call without the content.
    pub call: usize,
    /// Index of the message with the last read.
    pub message: usize,
    /// Age, uses and edits of the file.
    pub known: FileUse,
    /// Share of the last read that left the context at this call.
    pub share: f64,
    /// Tokens of that share.
    pub tokens: Tokens,
    /// Probability that the agent reads it again within [`super::WINDOW_CALLS`] calls.
    pub probability: f64,
    /// Expected re-reads that the removal adds.
    pub extra: f64,
}

/// A removal before it is weighed.
struct ReadRemoval {
    file: u32,
    call: u32,
    place: (u32, u32),
    share: f64,
    /// Tokens of the whole last read.
    tokens: f64,
}

/// The measure of a session: its files, and what re-reads cost. Shared by all lanes.
#[derive(Clone, Copy, Debug)]
pub struct RereadMeasure<'a> {
    /// The coefficients.
    pub model: &'a RereadModel,
    /// The files of the session.
    pub files: &'a FileReads,
    /// Prices of its calls.
    pub prices: &'a RereadPrices,
}

impl RereadMeasure<'_> {
    /// Returns the expected re-reads of a run, with every removal.
    pub fn rereads(&self, case: &Case, outcome: &Outcome) -> ExpectedRereads {
        let mut found = ExpectedRereads::default();
        found.total = self.weigh(case, outcome, |removal| found.removals.push(removal));
        found
    }

    /// Returns the sum of the expected re-reads of a run.
    pub fn total(&self, case: &Case, outcome: &Outcome) -> RereadTotal {
        self.weigh(case, outcome, |_| ())
    }

    fn weigh(
        &self,
        case: &Case,
        outcome: &Outcome,
        mut each: impl FnMut(RemovedFile),
    ) -> RereadTotal {
        let ends = Ends::new(outcome, case.session.calls.len());
        let [mut files, mut tokens, mut sent, mut usd] = [WeightedSum::default(); 4];
        let mut n = 0;
        for removal in removals(case, self.files, &outcome.received) {
            let known = self.files.file_use(removal.file, removal.call);
            let extra = self.model.extra(known, removal.share);
            let call = removal.call as usize;
            let end = ends.after(call);
            files.add(&extra, 1.0);
            tokens.add(&extra, removal.tokens);
            sent.add(&extra, removal.tokens * (end - call) as f64);
            usd.add(&extra, removal.tokens * self.prices.of(call, end));
            n += 1;
            each(RemovedFile {
                file: removal.file,
                call,
                message: removal.place.0 as usize,
                known,
                share: removal.share,
                tokens: Tokens((removal.tokens * removal.share) as u64),
                probability: self.model.if_removed(known),
                extra: extra.value,
            });
        }
        let is_priced = self.prices.are_known();
        RereadTotal {
            removals: n,
            files: self.model.expected(&files),
            tokens: self.model.expected_tokens(&tokens),
            sent: self.model.expected_tokens(&sent),
            usd: is_priced.then(|| self.model.expected_tokens(&usd)),
        }
    }
}

/// The calls at which content that a re-read brought back leaves the context again.
struct Ends {
    /// First calls after compactions, ascending. Consecutive ones are one compaction.
    compactions: Vec<usize>,
    calls: usize,
}

impl Ends {
    fn new(outcome: &Outcome, calls: usize) -> Self {
        let events = outcome.events.iter();
        let removing = events.filter(|event| event.effect == Effect::Removed && !event.is_manual());
        let mut compactions: Vec<usize> = removing.map(Event::first_call_after).collect();
        compactions.sort_unstable();
        compactions.dedup();
        Self { compactions, calls }
    }

    /// Returns the end of the calls that send what was read again after a removal at this call.
    fn after(&self, call: usize) -> usize {
        let mut at = self.compactions.partition_point(|other| *other <= call);
        let mut last = call;
        while let Some(next) = self.compactions.get(at).filter(|next| **next == last + 1) {
            last = *next;
            at += 1;
        }
        let end = self.compactions.get(at).copied();
        end.unwrap_or(self.calls).max(call + 1)
    }
}

/// Returns the removals of the content of files' last reads, by call. Content that no call lacks is left out.
///
/// The run's changes are applied to the visibility of messages call by call, and only the reads in changed messages are
/// looked at. A read that is cut further and further counts each time with the share that is newly missing.
fn removals(case: &Case, files: &FileReads, received: &Received) -> Vec<ReadRemoval> {
    let n_calls = case.session.calls.len() as u32;
    let mut visible = Visibility::at_start(&case.session);
    // The largest share of each read that was missing so far, by file and touch.
    let mut missing = HashMap::<(u32, u32), f64>::new();
    let mut found = Vec::new();
    let mut changes = received.changes.as_slice();
    while let Some(first) = changes.first() {
        let call = first.call;
        let n = changes.partition_point(|change| change.call == call);
        let (now, later) = changes.split_at(n);
        changes = later;
        for change in now {
            let range = change.messages.start as usize..change.messages.end as usize;
            visible[range].fill(change.now);
        }
        if call >= n_calls {
            break;
        }
        for (file, nth) in now.iter().flat_map(|change| files.reads_in(change.messages.clone())) {
            let touch = &files.files()[file as usize].touches[nth as usize];
            let Some(read) = touch.read.as_ref().filter(|_| touch.call < call) else {
                continue;
            };
            if !files.is_last_read(file, nth, call) {
                continue;
            }
            let end = case.session.calls[call as usize].context_end as u32;
            let share = missing_share(case, received, &visible, (read, end));
            let before = missing.entry((file, nth)).or_default();
            if share > *before {
                let place = read.places[0];
                let tokens = case.ledger.part(place.1 as usize).as_f64();
                found.push(ReadRemoval {
                    file,
                    call,
                    place,
                    share: share - *before,
                    tokens: tokens / f64::from(read.shared_by),
                });
                *before = share;
            }
        }
    }
    found
}

/// Returns the share of a read's text that the context lacks, by the best of the copies that exist at the call.
fn missing_share(
    case: &Case,
    received: &Received,
    visible: &[Visibility],
    (read, context_end): (&ReadResult, u32),
) -> f64 {
    let copies = read.places.iter().filter(|(message, _)| *message < context_end);
    let missing = copies.map(|(message, part)| {
        let first = match visible[*message as usize] {
            Visibility::Whole => return 0.0,
            Visibility::Gone => return 1.0,
            Visibility::Partly(first) => first,
        };
        let parts = &case.session.messages[*message as usize].parts;
        let states = received.parts_from(first, parts.len());
        match states[*part as usize - parts.start] {
            PartVisibility::Kept => 0.0,
            PartVisibility::Gone => 1.0,
            PartVisibility::Text(text) => {
                let text = &received.texts[text as usize];
                let whole = case.session.parts[*part as usize].body.text().len();
                match text.kind {
                    TextKind::Remainder => 1.0 - text.text.len() as f64 / whole.max(1) as f64,
                    TextKind::Summary | TextKind::Notice | TextKind::Marker => 1.0,
                }
            }
        }
    });
    missing.fold(1.0, f64::min).clamp(0.0, 1.0)
}
