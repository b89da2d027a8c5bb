//! The recorded run: the source's own compactions and the tokens that its provider reported.

use crate::engine::case::Case;
use crate::engine::case::budget::Budget;
use crate::engine::context::Dropped;
use crate::engine::context::taken::{ranges, widen};
use crate::engine::meter::Meter;
use crate::engine::outcome::event::{Cause, Effect, Event, RequestSize};
use crate::engine::outcome::{Outcome, Sample};
use crate::engine::received::recorder::Recorder;
use crate::engine::vocabulary::{ActionKind, OwnMeasure};
use crate::engine::working::Working;
use crate::engine::working::prefix::{LastPrompt, Prefix};
use crate::session::{Call, ContextChange, RecordedCompaction};
use crate::units::Tokens;
use std::collections::HashSet;
use std::ops::Range;

/// Returns the lane `recorded`, up to and including the call with index `until` (default: the session's end). A
/// sample's tokens are those that the provider reported. Other calls and the end continue from the last report, so that
/// no figure contradicts the provider's counts; before the first report, they are calculated.
pub fn recorded(case: &Case, output_reserve: Tokens, until: Option<usize>) -> Outcome {
    let session = &case.session;
    let last = until.map_or(session.calls.len(), |call| (call + 1).min(session.calls.len()));
    let mut outcome = Outcome { samples: Vec::with_capacity(last), ..Outcome::default() };
    let mut changes = session.context_changes().peekable();
    let mut working = Working::new(case, &Meter::TRUE);
    let mut prefix = Prefix::default();
    let mut recorder = Recorder::new(case);
    let mut reports = Reports::default();
    // Start of the history since the change before; earlier messages are gone already.
    let mut begun = 0;
    for (idx, call) in session.calls[..last].iter().enumerate() {
        while let Some(change) = changes.next_if(|c| c.call() <= idx) {
            let old = match change {
                ContextChange::Compaction(compaction) => {
                    let (event, old) = compact(case, &mut working, idx, compaction, begun);
                    outcome.events.push(event);
                    old
                }
                ContextChange::Revision(_) => revise(case, &mut working, idx, change),
            };
            reports = Reports::default();
            if matches!(prefix.last, LastPrompt::Working) {
                prefix.last = LastPrompt::Old(Box::new(old));
            }
            begun = change.before_message();
        }
        working.append_history(call.context_end);
        working.set_overhead(case.ledger.overhead_at(idx));
        let budget = Budget { window: case.windows.at(idx), output_reserve };
        let (calculated, overhead) = (working.tokens(), case.ledger.overhead_at(idx));
        let reported = call.reported_size();
        if let Some(tokens) = reported {
            reports.add(tokens, calculated, overhead);
        }
        let tokens = reported.unwrap_or_else(|| reports.continued(calculated, overhead));
        let mut sample = sample(&working, tokens, idx, call, budget);
        let common = prefix.advance(&working, (None, None), sample.tokens);
        sample.unchanged = common.tokens;
        recorder.note(&mut working, idx, common);
        outcome.overflows += usize::from(sample.overflows);
        outcome.tokens_rejected += sample.rejected;
        outcome.samples.push(sample);
    }
    outcome.received = recorder.finish();
    // No call received the result of these.
    for change in changes.take_while(|_| until.is_none()) {
        if let ContextChange::Compaction(compaction) = change {
            let (event, _) = compact(case, &mut working, last, compaction, begun);
            outcome.events.push(event);
        } else {
            revise(case, &mut working, last, change);
        }
        reports = Reports::default();
        begun = change.before_message();
    }
    for request in outcome.events.iter().filter_map(|event| event.request) {
        outcome.summaries.requests += 1;
        outcome.summaries.sent += request.sent;
        outcome.summaries.received += request.answer;
    }
    outcome.compactions = outcome.events.len();
    outcome.context = self::working(case, &Meter::TRUE, until).context;
    let budget = Budget { window: case.windows.at(last), output_reserve };
    let calculated = outcome.context.tokens();
    let end = reports.continued(calculated, overhead(case, until));
    outcome.stop_at(end, budget);
    outcome
}

/// Reported sizes of contexts, and the sizes of contexts that continue them.
#[derive(Default)]
struct Reports {
    /// The last reported size since the last compaction.
    last: Option<Report>,
    /// Whether the call after it reported a much smaller context, which may be that of another request.
    is_in_doubt: bool,
}

/// A reported size, and the calculated tokens of the messages in the same context.
#[derive(Clone, Copy)]
struct Report {
    tokens: Tokens,
    messages: Tokens,
}

impl Reports {
    /// Adds the reported size of a context with this calculated size and these tokens that are not recorded. A single
    /// report of less than half of the expected size is that of another request (a title, another model).
    fn add(&mut self, tokens: Tokens, calculated: Tokens, overhead: Tokens) {
        let expected = self.continued(calculated, overhead);
        let is_small = self.last.is_some() && tokens.0.saturating_mul(2) < expected.0;
        if is_small && !std::mem::replace(&mut self.is_in_doubt, true) {
            return;
        }
        *self = Self {
            last: Some(Report { tokens, messages: calculated - overhead }),
            is_in_doubt: false,
        };
    }

    /// Returns the size of a context without a report: the last reported size and the messages added since, else the
    /// calculated size.
    fn continued(&self, calculated: Tokens, overhead: Tokens) -> Tokens {
        let messages = calculated - overhead;
        match self.last.filter(|last| messages >= last.messages) {
            Some(last) => last.tokens + (messages - last.messages),
            None => calculated,
        }
    }
}

/// Applies a recorded revision to the context. Returns the previous context.
fn revise<'a>(
    case: &'a Case,
    working: &mut Working<'a>,
    call: usize,
    revision: ContextChange<'_>,
) -> Working<'a> {
    working.append_history(revision.before_message());
    let old = std::mem::replace(working, after(case, &Meter::TRUE, revision));
    working.set_overhead(case.ledger.overhead_at(call));
    old
}

/// Applies a recorded compaction to the context. `begun` is the start of the history since the change before.
/// Returns the previous context.
fn compact<'a>(
    case: &'a Case,
    working: &mut Working<'a>,
    call: usize,
    compaction: &RecordedCompaction,
    begun: usize,
) -> (Event, Working<'a>) {
    working.append_history(compaction.before_message);
    let before = working.tokens();
    let change = ContextChange::Compaction(compaction);
    let old = std::mem::replace(working, after(case, &Meter::TRUE, change));
    working.set_overhead(case.ledger.overhead_at(call));
    let gone = gone_in(case, change, begun);
    let sizes = sizes(case, call, compaction, (before, working.tokens()));
    (event(call, compaction, sizes, working, &gone), old)
}

/// Share of a call's context that the messages after a compaction have if they are subtracted from it: less is within
/// the error of the counts.
const ADDED: f64 = 0.02;
/// Ratio from which the calculated size after a compaction refutes the recorded one. Programs often leave out the
/// system prompt and the tools in their own number. A quarter is the largest error of a calibration that is still used,
/// so a larger difference is none of counting.
const REFUTED: f64 = 1.25;

/// Returns the size of the context before and after a recorded compaction, as the provider counted the calls around it.
/// A program's own numbers come second: some of them leave out what every call sends. `calculated` comes last.
fn sizes(
    case: &Case,
    call: usize,
    compaction: &RecordedCompaction,
    calculated: (Tokens, Tokens),
) -> (Tokens, Tokens) {
    let session = &case.session;
    let reported = |call: usize| {
        let usage = session.calls.get(call)?.usage?;
        usage.is_of_provider().then_some(usage.input)
    };
    let is_of_call = |other: &&RecordedCompaction| other.call == compaction.call;
    let mut of_call = session.compactions.iter().filter(is_of_call);
    let is_first = of_call.clone().next() == Some(compaction);
    let is_last = of_call.next_back() == Some(compaction);
    // The context contains at least what the call before sent.
    let least = call.checked_sub(1).filter(|_| is_first).and_then(reported);
    let before = match (compaction.tokens_before, least) {
        (Some(own), None) => own,
        (Some(own), Some(least)) if own >= least => own,
        (_, least) => calculated.0.max(least.unwrap_or_default()),
    };
    let after = if let Some(next) = Some(call).filter(|_| is_last).and_then(reported) {
        let end = session.calls[call].context_end;
        let added = (compaction.before_message..end)
            .filter(|m| session.messages[*m].in_history && !compaction.kept.contains(m));
        let added: Tokens = added.map(|m| case.ledger.message(m)).sum();
        let is_much = added.as_f64() > ADDED * next.as_f64();
        next - if is_much { added } else { Tokens::ZERO }
    } else {
        let own = compaction.tokens_after;
        let own = own.filter(|own| calculated.1.as_f64() <= REFUTED * own.as_f64());
        own.unwrap_or(calculated.1)
    };
    (before, after)
}

/// Returns a recorded compaction as an event.
fn event(
    call: usize,
    compaction: &RecordedCompaction,
    (before, after): (Tokens, Tokens),
    working: &Working<'_>,
    gone: &[Range<u32>],
) -> Event {
    Event {
        call,
        is_after_request: false,
        stage: Event::RECORDED.to_owned(),
        action: ActionKind::Recorded,
        cause: Cause { when: compaction.trigger.clone(), terms: Vec::new() },
        before,
        after,
        messages: widen(gone),
        request: compaction.request.as_ref().map(|request| RequestSize {
            sent: request.usage.input,
            answer: request.usage.output.unwrap_or_default(),
        }),
        effect: Effect::Removed,
        measured: OwnMeasure::default(),
        orphans: 0,
        forgotten: 0,
        left: working.n_messages(),
        log: Vec::new(),
        files: Vec::new(),
        error: None,
    }
}

fn sample(
    working: &Working<'_>,
    tokens: Tokens,
    idx: usize,
    call: &Call,
    budget: Budget,
) -> Sample {
    let is_rejected = call.is_rejected;
    Sample {
        call: idx,
        believed: None,
        turn: call.turn,
        window: budget.window,
        metered: working.tokens(),
        tokens,
        pressure: budget.pressure(tokens),
        overflows: is_rejected,
        is_rejected,
        rejected: if is_rejected { tokens } else { Tokens::ZERO },
        unchanged: Tokens::ZERO,
        by_kind: working.by_kind(),
    }
}

/// Returns the recorded context before the call with this index, or at the session's end.
pub(super) fn working<'a>(case: &'a Case, meter: &Meter, until: Option<usize>) -> Working<'a> {
    let session = &case.session;
    let end = until
        .and_then(|call| session.calls.get(call))
        .map_or(session.messages.len(), |s| s.context_end);
    let last = session
        .context_changes()
        .rev()
        .find(|c| until.map_or(c.before_message() <= end, |call| c.call() <= call));
    let mut working =
        last.map_or_else(|| Working::new(case, meter), |change| after(case, meter, change));
    working.append_history(end);
    working.set_overhead(overhead(case, until));
    working
}

/// Returns the tokens that the file does not record for the call with this index, or for the call after the last.
pub(super) fn overhead(case: &Case, until: Option<usize>) -> Tokens {
    let ledger = &case.ledger;
    until.map_or_else(|| ledger.overhead_next(), |call| ledger.overhead_at(call))
}

/// Returns the index of the call with the last answer before the call with this index, or before the session's end.
pub(super) fn call_before(case: &Case, until: Option<usize>) -> Option<usize> {
    let n_calls = case.session.calls.len();
    until.unwrap_or(n_calls).min(n_calls).checked_sub(1)
}

/// Returns the recorded context without the messages added for the call with this index, or at the session's end. It is
/// the last call's context with its answer, or the result of a later compaction.
pub(super) fn before<'a>(case: &'a Case, meter: &Meter, until: Option<usize>) -> Working<'a> {
    let last = call_before(case, until);
    let session = &case.session;
    let end = until
        .and_then(|call| session.calls.get(call))
        .map_or(session.messages.len(), |s| s.context_end);
    let begun = last.map_or(0, |last| session.calls[last].context_end);
    let since = |c: &ContextChange<'_>| (begun + 1..=end).contains(&c.before_message());
    if let Some(change) = session.context_changes().rev().find(since) {
        return after(case, meter, change);
    }
    let Some(last) = last else {
        return Working::new(case, meter);
    };
    let mut working = working(case, meter, Some(last));
    let answer = case.index.answer_len(begun, last);
    working.append_history(begun + answer);
    working
}

/// Returns the context right after a recorded change: exactly the messages that it kept.
fn after<'a>(case: &'a Case, meter: &Meter, change: ContextChange<'_>) -> Working<'a> {
    let kept: Vec<u32> = change.kept().iter().map(|m| *m as u32).collect();
    let is_summarized = change.kept().iter().any(|m| case.session.messages[*m].is_summary);
    let gone = |messages| Dropped { messages, event: None, is_summarized };
    let dropped = gone_in(case, change, 0).into_iter().map(gone).collect();
    Working::resume(case, meter, &kept, dropped, change.before_message())
}

/// Returns messages of the history from `from` on that a recorded change did not keep.
fn gone_in(case: &Case, change: ContextChange<'_>, from: usize) -> Vec<Range<u32>> {
    let kept: HashSet<usize> = change.kept().iter().copied().collect();
    let gone = (from..change.before_message())
        .filter(|m| case.session.messages[*m].in_history && !kept.contains(m))
        .map(|m| m as u32);
    ranges(gone)
}
