//! Retention: the expected re-reads of a compaction by how much of the newest content it keeps. One curve shows the
//! effect of every value of `keep_recent` or `prune_protect`.

use super::lane::RereadMeasure;
use crate::engine::Case;
use crate::session::Kind;
use crate::units::Usd;

/// Calls at which a compaction is tried, spread evenly over the session. With twice as many, curves of real sessions
/// change by less than the interval of the coefficients.
const POINTS: usize = 24;

/// The curves of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetentionCurves {
    /// By the number of newest messages that stay.
    pub messages: RetentionCurve,
    /// By the tokens of newest tool results that stay.
    pub results: RetentionCurve,
}

/// Expected re-reads after one compaction by the amount that it keeps. They only fall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetentionCurve {
    /// Amounts, ascending: keeping so much keeps one file more.
    steps: Vec<RetentionStep>,
    is_priced: bool,
}

/// A file that is kept from an amount on, with the sums of all files that need more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RetentionStep {
    amount: u64,
    rereads_beyond: f64,
    usd_beyond: f64,
}

/// Expected re-reads after one compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Retention {
    /// Expected extra re-reads.
    pub rereads: f64,
    /// Their price; none if a price is unknown.
    pub usd: Option<Usd>,
}

impl RetentionCurve {
    fn new(mut files: Vec<(u64, f64, f64)>, is_priced: bool) -> Self {
        files.sort_by_key(|file| file.0);
        let (mut rereads, mut usd) = (0.0, 0.0);
        let mut steps: Vec<RetentionStep> = Vec::with_capacity(files.len() + 1);
        for (amount, extra, price) in files.into_iter().rev() {
            steps.push(RetentionStep { amount, rereads_beyond: rereads, usd_beyond: usd });
            (rereads, usd) = (rereads + extra, usd + price);
        }
        steps.push(RetentionStep { amount: 0, rereads_beyond: rereads, usd_beyond: usd });
        steps.reverse();
        Self { steps, is_priced }
    }

    /// Returns the expected re-reads of a compaction that keeps this amount.
    pub fn at(&self, kept: u64) -> Retention {
        let until = self.steps.partition_point(|step| step.amount <= kept);
        let step = until.checked_sub(1).map(|last| self.steps[last]);
        step.map_or_else(Retention::default, |step| Retention {
            rereads: step.rereads_beyond,
            usd: self.is_priced.then_some(Usd(step.usd_beyond)),
        })
    }

    /// Returns the amounts at which the curve falls, with the expected re-reads from there on.
    pub fn steps(&self) -> impl Iterator<Item = (u64, f64)> {
        self.steps.iter().map(|step| (step.amount, step.rereads_beyond))
    }

    /// Returns the smallest amount from which on re-reads are at most this share of those without any kept content.
    pub fn smallest(&self, share: f64) -> u64 {
        let most = self.at(0).rereads;
        let is_enough = |step: &&RetentionStep| step.rereads_beyond <= share * most;
        self.steps.iter().find(is_enough).map_or(0, |step| step.amount)
    }

    /// Returns whether no compaction would cause a re-read.
    pub fn is_empty(&self) -> bool {
        self.at(0).rereads <= 0.0
    }
}

/// Computes the curves of a session.
pub fn retention_curves(measure: &RereadMeasure<'_>, case: &Case) -> RetentionCurves {
    let session = &case.session;
    let n_calls = session.calls.len();
    let (messages_before, results_before) = sums(case);
    let (mut by_messages, mut by_results) = (Vec::new(), Vec::new());
    let points = (1..=POINTS).map(|nth| n_calls * nth / (POINTS + 1)).filter(|call| *call > 0);
    let mut points: Vec<usize> = points.collect();
    points.dedup();
    let share = 1.0 / points.len().max(1) as f64;
    for call in points {
        let end = session.calls[call].context_end;
        for (file, touched) in (0..).zip(measure.files.files()) {
            let before = touched.touches.iter().take_while(|touch| (touch.call as usize) < call);
            let Some(read) = before.filter_map(|touch| touch.read.as_ref()).last() else {
                continue;
            };
            let (message, part) = read.places[0];
            if message as usize >= end {
                continue;
            }
            let known = measure.files.file_use(file, call as u32);
            let extra = share * measure.model.extra(known, 1.0).value;
            let tokens = case.ledger.part(part as usize).as_f64() / f64::from(read.shared_by);
            let factor = measure.model.tokens.factor;
            let price = extra * factor * tokens * measure.prices.of(call, n_calls);
            let newest = messages_before[end] - messages_before[message as usize];
            by_messages.push((u64::from(newest), extra, price));
            let newest = results_before[end] - results_before[message as usize];
            by_results.push((newest, extra, price));
        }
    }
    let is_priced = measure.prices.are_known();
    RetentionCurves {
        messages: RetentionCurve::new(by_messages, is_priced),
        results: RetentionCurve::new(by_results, is_priced),
    }
}

/// Returns the number of history messages and the tokens of tool results before each message, and in total.
fn sums(case: &Case) -> (Vec<u32>, Vec<u64>) {
    let messages = &case.session.messages;
    let (mut counts, mut results) = (vec![0], vec![0]);
    let (mut count, mut tokens) = (0, 0);
    for message in messages {
        count += u32::from(message.in_history);
        for part in message.parts.clone().filter(|_| message.in_history) {
            if case.index.kinds[part] == Kind::ToolResult {
                tokens += case.ledger.part(part).0;
            }
        }
        counts.push(count);
        results.push(tokens);
    }
    (counts, results)
}
