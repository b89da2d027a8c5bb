//! Detects implausible usage from the neighboring calls and the content of the file.

use super::{Body, Part, Session};
use crate::units::Tokens;

/// Reported usage that is implausible and therefore ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplausibleUsage {
    /// Reported context size.
    pub reported: Tokens,
    /// Ratio to the context size of the neighboring calls; `None` for a placeholder, which all calls report.
    pub times: Option<f64>,
}

/// Ratio from which a context counts as a spike: nearly twice the context before and after, as if counted twice.
// Below 2, because the answer of the counted call is part of the context after it.
const SPIKE: f64 = 1.8;
/// Minimum context size for the detection of spikes.
// Chosen: a smaller context may double by content that no file records, such as a list of tools that a server added.
const MIN_CONTEXT: f64 = 20_000.0;
/// Maximum share of a context that new content may explain.
// Chosen well below the 0.8 that a spike adds, since the text that is recorded is only an estimate of what was sent.
const MAX_ADDED: f64 = 0.3;
/// Minimum usual bytes of text per token.
// Code and JSON have 3 to 4. A low number overestimates the tokens that were added, so that fewer spikes are found.
const BYTES_PER_TOKEN: f64 = 3.0;
/// Ratio from which a context is absurd, unless the file contains as much.
// Chosen: calls of a sub-agent or of a small model are often a few times smaller than their neighbors, which makes the
// other calls a few times larger.
const ABSURD: f64 = 10.0;
/// Number of calls on either side that determine the usual size.
// Chosen: the median of eight calls bears three wrong ones. More calls would include contexts from before a compaction.
const NEIGHBORS: usize = 4;
/// Tokens of content that may not be recorded: instructions, tools, attachments.
// Chosen: a whole usual window, so that a call is called impossible only if it exceeds one in addition to its text.
const UNRECORDED: f64 = 200_000.0;
/// Maximum plausible context, larger than most context windows. A larger one is implausible even without a call on both
/// sides.
// Twice the window of a million tokens that several models have.
const MAX_PLAUSIBLE: f64 = 2_000_000.0;
/// Minimum number of equal reports that count as a placeholder. Fewer may be repeated requests.
// Chosen: with two, a retry of a call would count as a placeholder. With six, short sessions keep theirs.
const MIN_EQUAL: usize = 3;
/// Bytes that no vocabulary encodes as one token on average. Content that was added between equal reports and has more
/// bytes for each reported token was not counted.
// Prose has about 4. Only runs of spaces or of one sign have more than this.
const MAX_BYTES_PER_TOKEN: u64 = 16;
/// Maximum tokens of an image or a document.
// Counted as bytes of text, so generous: a document of ten pages by the rule in `src/core/tokens/media.rs`.
const MEDIA: u64 = 20_000;

/// Removes implausible usage ([`super::Call::left_out`]). Usage is implausible if the context jumps to about twice the
/// size and back although almost nothing was added and no compaction explains the way back. It is also implausible if the context is many times as large as its
/// neighbors and larger than all text so far (a token has at least one byte). A placeholder, which gateways write into
/// every call, is removed from all calls.
pub fn remove_implausible_usage(session: &mut Session) {
    if remove_placeholders(session) {
        return;
    }
    let reported = |session: &Session, call: usize| {
        let usage = session.calls[call].usage;
        usage.map_or(0.0, |usage| usage.input.as_f64())
    };
    let calls: Vec<usize> =
        (0..session.calls.len()).filter(|call| reported(session, *call) > 0.0).collect();
    if calls.len() < 2 {
        return;
    }
    let inputs: Vec<f64> = calls.iter().map(|call| reported(session, *call)).collect();
    let bytes = bytes_before(session);
    let ends: Vec<u64> = calls
        .iter()
        .map(|call| bytes[session.calls[*call].context_end.min(bytes.len() - 1)])
        .collect();
    let compactions: Vec<usize> = session.compactions.iter().map(|c| c.call).collect();
    let n_until = |call: usize| compactions.partition_point(|c| *c <= call);
    let mut before: Option<usize> = None;
    for at in 0..calls.len() {
        let now = inputs[at];
        // A compaction explains why the context is smaller after it.
        let after = inputs.get(at + 1).filter(|_| n_until(calls[at]) == n_until(calls[at + 1]));
        let spike = before.zip(after).and_then(|(before, after)| {
            let around = inputs[before].max(*after);
            let added = (ends[at] - ends[before]) as f64 / BYTES_PER_TOKEN;
            let is_steady = inputs[before] >= MIN_CONTEXT && added <= MAX_ADDED * inputs[before];
            (is_steady && now > SPIKE * around).then_some(now / around)
        });
        let absurd = || {
            let usual = usual(&inputs, at);
            let is_held = now <= ends[at] as f64 + UNRECORDED;
            // The last call may have received much content that is not recorded.
            let is_between = at > 0 && at + 1 < calls.len() || now > MAX_PLAUSIBLE;
            (now > ABSURD * usual && !is_held && is_between).then_some(now / usual.max(1.0))
        };
        let Some(times) = spike.or_else(absurd) else {
            before = Some(at);
            continue;
        };
        let call = &mut session.calls[calls[at]];
        let reported = call.usage.take().unwrap_or_default().input;
        call.left_out = Some(ImplausibleUsage { reported, times: Some(times) });
    }
}

/// Removes the usage of all calls if all report the same small context although it grows. Returns whether it did.
fn remove_placeholders(session: &mut Session) -> bool {
    let reports = session.calls.iter().filter_map(|call| {
        let input = call.usage.map(|usage| usage.input)?;
        (input > Tokens::ZERO).then_some((input, call.context_end))
    });
    let reports: Vec<(Tokens, usize)> = reports.collect();
    let (Some((reported, first)), Some((_, last))) = (reports.first(), reports.last()) else {
        return false;
    };
    let (reported, bytes) = (*reported, bytes_before(session));
    let at = |end: usize| bytes[end.min(bytes.len() - 1)];
    let added = at(*last) - at(*first);
    let is_placeholder = reports.len() >= MIN_EQUAL
        && reports.iter().all(|(input, _)| *input == reported)
        && added > reported.0.saturating_mul(MAX_BYTES_PER_TOKEN);
    if is_placeholder {
        for call in &mut session.calls {
            let usage = call.usage.take_if(|usage| usage.input == reported);
            call.left_out = usage.map(|_| ImplausibleUsage { reported, times: None });
        }
    }
    is_placeholder
}

/// Returns the median context size of the neighboring calls.
fn usual(inputs: &[f64], at: usize) -> f64 {
    let around = at.saturating_sub(NEIGHBORS)..(at + 1 + NEIGHBORS).min(inputs.len());
    let mut others: Vec<f64> =
        around.filter(|other| *other != at).map(|other| inputs[other]).collect();
    others.sort_by(f64::total_cmp);
    others[others.len() / 2]
}

/// Returns the cumulative bytes of content before each message, and the total.
fn bytes_before(session: &Session) -> Vec<u64> {
    let mut all = 0;
    let mut before = vec![0];
    for message in &session.messages {
        all += session.parts_of(message).iter().map(weight).sum::<u64>();
        before.push(all);
    }
    before
}

fn weight(part: &Part) -> u64 {
    let other = match &part.body {
        Body::Media { .. } => MEDIA,
        Body::Thinking { sealed_bytes, .. } => u64::from(*sealed_bytes),
        _ => 0,
    };
    other + part.body.text().len() as u64
}

#[cfg(test)]
mod tests {
    use super::{ImplausibleUsage, remove_implausible_usage};
    use crate::session::{
        Body, CallDraft, Draft, Part, RecordedCompaction, Role, Session, SessionBuilder, Source,
        Usage,
    };
    use crate::units::Tokens;

    /// Builds a session of calls with a reported context and the bytes added before it.
    fn session(calls: &[(u64, usize)]) -> Session {
        let mut builder = SessionBuilder::new(Source {
            name: "talk".to_owned(),
            format: "openai_chat",
            bytes: Vec::new().into(),
        });
        let say = |text: String| Part { body: Body::Text(text.into()), record: 0, block: 0 };
        for (input, bytes) in calls {
            builder.message(Draft::new(Role::User, vec![say("x".repeat(*bytes))]));
            let usage = Some(Usage { input: Tokens(*input), ..Usage::default() });
            builder.call(CallDraft { usage, ..CallDraft::default() });
            builder.message(Draft::new(Role::Assistant, vec![say("Done.".to_owned())]));
        }
        builder.finish()
    }

    fn left_out(calls: &[(u64, usize)]) -> Vec<(usize, ImplausibleUsage)> {
        let session = session(calls);
        let calls = session.calls.iter().enumerate();
        calls.filter_map(|(idx, call)| Some((idx, call.left_out?))).collect()
    }

    #[test]
    fn removes_usage_many_times_larger_than_its_neighbors() {
        for at in 0..5 {
            let mut calls = [(100_000, 40); 5];
            calls[at].0 = 9_000_000;
            let reported = Tokens(9_000_000);
            assert_eq!(left_out(&calls), [(at, ImplausibleUsage { reported, times: Some(90.0) })]);
        }
        let two = [(5_000, 9), (9_000_000, 9), (8_000_000, 9), (5_000, 9), (5_100, 9), (5_200, 9)];
        assert_eq!(left_out(&two).len(), 2);
    }

    #[test]
    fn removes_the_same_usage_of_all_calls_if_the_content_grows() {
        let all = |calls: &[(u64, usize)]| left_out(calls).len();
        assert_eq!(all(&[(100, 9_000), (100, 9_000), (100, 9_000)]), 3);
        // Repeated requests, a growing count, and a server that cuts every prompt to its window.
        assert_eq!(all(&[(100, 9_000), (100, 9), (100, 9)]), 0);
        assert_eq!(all(&[(100, 9_000), (100, 9_000), (101, 9_000)]), 0);
        assert_eq!(all(&[(4_096, 9_000), (4_096, 9_000), (4_096, 9_000)]), 0);
    }

    #[test]
    fn keeps_usage_after_which_a_compaction_is_recorded() {
        let mut session = session(&[(30_000, 9), (30_000, 9), (30_000, 9)]);
        session.calls[1].usage = Some(Usage { input: Tokens(68_000), ..Usage::default() });
        let mut compacted = session.clone();
        compacted.compactions.push(RecordedCompaction {
            before_message: 4,
            call: 2,
            trigger: "auto".to_owned(),
            tokens_before: None,
            tokens_after: None,
            request: None,
            kept: vec![3],
        });
        remove_implausible_usage(&mut session);
        remove_implausible_usage(&mut compacted);
        assert!(session.calls[1].usage.is_none());
        assert!(compacted.calls[1].usage.is_some());
    }

    #[test]
    fn keeps_usage_that_the_content_or_later_calls_explain() {
        // A small call of another model between large ones.
        let small = [(150_000, 400_000), (300, 9), (150_100, 9), (310, 9), (150_200, 9)];
        assert_eq!(left_out(&small), []);
        // Much content was added.
        assert_eq!(left_out(&[(40_000, 9), (90_000, 200_000), (30_000, 9)]), []);
        // The context stays large.
        assert_eq!(left_out(&[(40_000, 9), (90_000, 9), (91_000, 9)]), []);
        assert_eq!(left_out(&[(9_000_000, 9)]), []);
        // The content of the last call may not be recorded.
        assert_eq!(left_out(&[(1_000, 9), (5_000, 9), (300_000, 9)]), []);
    }
}
