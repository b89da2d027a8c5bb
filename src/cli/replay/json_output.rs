//! The result of `plimsoll replay` as JSON.

use crate::analysis::rereads::ExpectedRereads;
use crate::analysis::{Finding, FindingKind};
use crate::cli::json_values::{JsonNumber, Object, Settings};
use crate::cli::lazy_list::LazyList;
use crate::cli::played::{compactions, policy_name};
use crate::cli::recorded_call::RecordedCall;
use crate::cli::rereads::RereadsEntry;
use crate::engine::{Case, Effect, Event, Sample, WindowSource};
use crate::exec::Loaded;
use crate::report::Played;
use crate::session::Session;
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// The replay of every lane over every call.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Replay<'a> {
    /// Detected format.
    format: &'a str,
    /// Title of the session.
    title: &'a str,
    /// Context window in tokens, the largest if it changes.
    window: Tokens,
    /// Source of the context window.
    window_source: WindowSource,
    /// Tokens of the context window that are kept for the answer in the lanes `recorded` and `none`.
    output_reserve: Tokens,
    /// How exactly token counts are known: `reported`, `exact`, `calibrated` or `estimated`.
    accuracy: &'a str,
    /// Tokenizer.
    counter: &'a str,
    /// Number of model calls.
    calls: usize,
    /// The lanes: `recorded`, `none`, then the policies.
    lanes: LazyList<'a, LaneReplay<'a>>,
}

/// The replay of one lane.
#[derive(Serialize, JsonSchema)]
struct LaneReplay<'a> {
    /// Name of the policy; `recorded` for the recorded run.
    policy: &'a str,
    /// Name of the lane.
    lane: &'a str,
    /// Values of the policy's settings.
    settings: Settings,
    /// Tokens of the context window that are kept for the answer.
    output_reserve: Tokens,
    /// Largest context in tokens, including the one at the end; null without calls.
    peak_tokens: Option<Tokens>,
    /// Call that sent the largest context; null if that is the context at the end.
    peak_call: Option<usize>,
    /// Tokens of the largest context that a call sent; null without calls.
    largest_call_tokens: Option<Tokens>,
    /// Call that sent the largest context of a call; null without calls.
    largest_call: Option<usize>,
    /// Number of compactions; null if the format of the recorded run does not record them.
    compactions: Option<usize>,
    /// Largest context as a share of the usable window; null without calls and if the reserve leaves no usable tokens.
    peak_share: Option<Share>,
    /// Tokens of the context at the end, which the next call would send before a new message: after the last compaction.
    end_tokens: Tokens,
    /// Number of calls that overflowed at the first attempt: larger than the context window, or rejected in the recorded
    /// run.
    overflows: usize,
    /// Number of calls that reach into the output reserve without an overflow.
    into_reserve: usize,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: Tokens,
    /// Tokens of rejected calls, not part of `tokens_sent`.
    tokens_rejected: Tokens,
    /// Requests for summaries, not part of `tokens_sent`.
    summaries: Summaries,
    /// Expected re-reads, not part of `tokens_sent`.
    expected_rereads: RereadsEntry,
    /// Warnings about the run.
    warnings: Vec<String>,
    /// Defects of the policy that the run shows.
    findings: Vec<FindingEntry<'a>>,
    /// Points where the system itself would have ended the run. The replay continues.
    halts: Vec<HaltEntry<'a>>,
    /// Actions of the policy's stages, in order.
    events: LazyList<'a, EventEntry<'a>>,
    /// The context at each call.
    samples: LazyList<'a, SampleEntry<'a>>,
}

/// Requests for summaries.
#[derive(Serialize, JsonSchema)]
struct Summaries {
    /// Number of requests.
    requests: usize,
    /// Tokens sent.
    tokens_sent: Tokens,
    /// Tokens received, as predicted.
    tokens_received: Tokens,
}

/// A defect of a policy.
#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    /// Kind of the defect.
    kind: FindingKind,
    /// First call that shows the defect.
    call: usize,
    /// Number of times that the defect occurred.
    count: usize,
    /// Description with figures.
    text: &'a str,
}

/// A point where the system itself would have ended the run.
#[derive(Serialize, JsonSchema)]
struct HaltEntry<'a> {
    /// Call, from 1.
    call: usize,
    /// The system's error message.
    reason: &'a str,
}

/// An action of a stage.
#[derive(Serialize, JsonSchema)]
struct EventEntry<'a> {
    /// Call before which the stage acted; the number of calls + 1 after the last.
    call: usize,
    /// Id of the stage.
    stage: &'a str,
    /// Name of the action, such as `drop`, `clear` or `summarize`.
    action: &'a str,
    /// Cause of the action.
    cause: CauseEntry<'a>,
    /// Context before, in tokens.
    tokens_before: Tokens,
    /// Context after, in tokens.
    tokens_after: Tokens,
    /// Effect on the context.
    effect: Effect,
    /// Number of calls and results that lost their partner.
    orphans: usize,
    /// Number of earlier summaries that were removed and not part of the new summary's request.
    forgotten_summaries: usize,
    /// Provider error of `--error` that the stage responded to; null otherwise.
    error: Option<&'a str>,
    /// Files that the stage writes.
    files: Vec<FileEntry<'a>>,
    /// Tokens of the request for a summary; null if the stage requested none.
    request: Option<RequestEntry>,
    /// Lines that the system itself logs.
    log: &'a [String],
    /// Messages that changed, from 1.
    messages: Vec<usize>,
}

/// The cause of an action.
#[derive(Serialize, JsonSchema)]
struct CauseEntry<'a> {
    /// Trigger as the preset defines it.
    when: &'a str,
    /// Values of the quantities in `when` at that moment.
    terms: Object<JsonNumber>,
}

/// A file that a stage writes.
#[derive(Serialize, JsonSchema)]
struct FileEntry<'a> {
    /// Path in the folder of files.
    name: &'a str,
    /// Size in bytes; null for an image of the session, which is written as recorded.
    bytes: Option<usize>,
}

/// A request for a summary.
#[derive(Serialize, JsonSchema)]
struct RequestEntry {
    /// Tokens sent.
    tokens_sent: Tokens,
    /// Predicted size of the answer in tokens.
    tokens_received: Tokens,
}

/// The context at a call.
#[derive(Serialize, JsonSchema)]
struct SampleEntry<'a> {
    /// Call, from 1.
    call: usize,
    #[serde(flatten)]
    recorded: RecordedCall<'a>,
    /// Turn of the call.
    turn: u32,
    /// Context window in tokens.
    window: Tokens,
    /// Context in the policy's own count.
    metered: Tokens,
    /// Context in tokens.
    tokens: Tokens,
    /// Context as a share of the usable window (`window` − `output_reserve`); above 1, it reaches into the output reserve
    /// or overflows. Null if the reserve leaves no usable tokens.
    pressure: Option<Share>,
    /// Pressure by the policy's own count and limit; null if the policy defines none.
    believed_pressure: Option<Share>,
    /// Whether the first attempt overflowed.
    overflows: bool,
    /// Whether the context reaches into the output reserve without an overflow.
    into_reserve: bool,
    /// Whether the provider rejected the recorded call and it overflows here too.
    rejected: bool,
}

/// Returns the JSON output.
pub(super) fn json_output<'a>(
    loaded: &'a Loaded,
    output_reserve: Tokens,
    played: &'a [Played],
    expected: &'a [ExpectedRereads],
) -> Replay<'a> {
    let case = &loaded.case;
    let lanes = played.iter().zip(expected);
    Replay {
        format: case.session.source.format,
        title: &case.session.title,
        window: case.windows.largest(),
        window_source: case.windows.source,
        output_reserve,
        accuracy: case.ledger.accuracy.name(),
        counter: case.ledger.counter.name,
        calls: case.session.calls.len(),
        lanes: LazyList::new(lanes.map(|(lane, expected)| lane_replay(case, lane, expected))),
    }
}

fn lane_replay<'a>(case: &'a Case, lane: &'a Played, expected: &ExpectedRereads) -> LaneReplay<'a> {
    let outcome = &lane.outcome;
    let (peak, largest, halts) = (outcome.peak(), outcome.largest_call(), outcome.halts.iter());
    LaneReplay {
        policy: policy_name(lane),
        lane: &lane.lane,
        settings: Settings::from(&lane.knobs),
        output_reserve: lane.output_reserve,
        peak_tokens: peak.map(|peak| peak.tokens),
        peak_call: peak.and_then(|peak| peak.call).map(|idx| idx + 1),
        largest_call_tokens: largest.map(|(_, tokens)| tokens),
        largest_call: largest.map(|(idx, _)| idx + 1),
        compactions: compactions(case, lane),
        peak_share: peak.and_then(|_| outcome.peak_share().known()),
        end_tokens: outcome.end,
        overflows: outcome.overflows,
        into_reserve: outcome.into_reserve(),
        tokens_sent: outcome.tokens_sent(),
        tokens_rejected: outcome.tokens_rejected,
        summaries: Summaries {
            requests: outcome.summaries.requests,
            tokens_sent: outcome.summaries.sent,
            tokens_received: outcome.summaries.received,
        },
        expected_rereads: RereadsEntry::from(expected),
        warnings: outcome.warnings.iter().map(ToString::to_string).collect(),
        findings: lane.findings.iter().map(finding).collect(),
        halts: halts.map(|halt| HaltEntry { call: halt.call + 1, reason: &halt.why }).collect(),
        events: LazyList::new(outcome.events.iter().map(event)),
        samples: LazyList::new(
            outcome.samples.iter().map(|sample| sample_entry(&case.session, sample)),
        ),
    }
}

fn finding(finding: &Finding) -> FindingEntry<'_> {
    FindingEntry {
        kind: finding.kind,
        call: finding.call + 1,
        count: finding.times,
        text: &finding.text,
    }
}

fn event(event: &Event) -> EventEntry<'_> {
    let terms = event.cause.terms.iter();
    let files =
        event.files.iter().map(|file| FileEntry { name: &file.name, bytes: file.n_bytes() });
    EventEntry {
        call: event.call + 1,
        stage: &event.stage,
        action: event.action.name(),
        cause: CauseEntry {
            when: &event.cause.when,
            terms: Object::new(terms.map(|(name, value)| (name.as_str(), JsonNumber(*value)))),
        },
        tokens_before: event.before,
        tokens_after: event.after,
        effect: event.effect,
        orphans: event.orphans,
        forgotten_summaries: event.forgotten,
        error: event.error.as_deref(),
        files: files.collect(),
        request: event.request.map(|request| RequestEntry {
            tokens_sent: request.sent,
            tokens_received: request.answer,
        }),
        log: &event.log,
        messages: event.messages.iter().cloned().flatten().map(|idx| idx + 1).collect(),
    }
}

fn sample_entry<'a>(session: &'a Session, sample: &Sample) -> SampleEntry<'a> {
    SampleEntry {
        call: sample.call + 1,
        recorded: RecordedCall::new(session, sample.call),
        turn: sample.turn,
        window: sample.window,
        metered: sample.metered,
        tokens: sample.tokens,
        pressure: sample.pressure.known(),
        believed_pressure: sample.believed.and_then(Share::known),
        overflows: sample.overflows,
        into_reserve: sample.is_into_reserve(),
        rejected: sample.is_rejected,
    }
}
