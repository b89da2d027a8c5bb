//! Insights about a session or a run, worst first: the problem, its evidence and advice.
//!
//! A false report is worse than a missed one: an insight needs figures above a minimum and states its certainty.

mod advice;
mod breadth;
mod card;
mod compaction;
mod course;
mod lane;
mod loss;
mod record;
mod waste;

pub use card::{card, card_statements};
pub use lane::{Lane, lane_insights};
pub use loss::loss_insights;

use super::Trigger;
use super::attribution::Attribution;
use super::cost::Audit;
use super::last_use::LastUses;
use super::message_name::MessageName;
use super::resent::{Resent, resent};
use super::tools::{AnsweredCall, answered_calls};
use crate::engine::{Case, Outcome};
use crate::figure::{counted, whole_percent};
use crate::session::RecordedCompaction;
use crate::units::{Share, Tokens};
use serde::Serialize;
use std::cmp::Reverse;

/// A reported problem or fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Insight {
    /// Which.
    pub kind: InsightKind,
    /// Severity.
    pub level: Level,
    /// Certainty.
    pub certainty: Certainty,
    /// The lane that it concerns; `None` for the session.
    pub lane: Option<String>,
    /// Index of the call that shows it.
    pub call: Option<usize>,
    /// Index of the message that it concerns.
    pub message: Option<usize>,
    /// Description as a sentence.
    pub text: String,
    /// The figures behind it.
    pub evidence: String,
    /// Advice.
    pub advice: &'static str,
    /// Cumulative tokens (tokens times calls) that it concerns; 0 if not applicable.
    pub stake: Tokens,
}

impl Insight {
    /// Creates an insight without a description.
    fn new(kind: InsightKind, level: Level, certainty: Certainty) -> Self {
        Self {
            kind,
            level,
            certainty,
            lane: None,
            call: None,
            message: None,
            text: String::new(),
            evidence: String::new(),
            advice: "",
            stake: Tokens::ZERO,
        }
    }
}

/// Severity levels, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Something failed or cannot work.
    Bad,
    /// A cost or a risk.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Certainty of an insight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The file or the replay shows it.
    Certain,
    /// It follows from calibrated or estimated figures.
    Likely,
    /// It is inferred from names: the model may use content without naming it.
    Inferred,
}

impl Certainty {
    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Inferred => "inferred",
        }
    }
}

/// Kinds of insights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InsightKind {
    /// A call jumped from below the trigger to above the usable window.
    ThresholdSkipped,
    /// Many calls just below the limit.
    Hovering,
    /// Tool results resent after their last use.
    DeadResults,
    /// An identical call returned an identical result.
    DuplicateResults,
    /// Large reads, listings or searches of which little was named later.
    BroadResults,
    /// Tool definitions in every call that no call used.
    UnusedTools,
    /// Images resent with every call.
    ImagesResent,
    /// A few messages account for a large share of all sent tokens.
    FewMessages,
    /// A request to summarize the whole context would overflow.
    SummaryTooLong,
    /// A policy cannot get below its own trigger.
    CannotGetBelow,
    /// A compaction made the context larger.
    CompactionGrew,
    /// A compaction freed little.
    CompactionFreedLittle,
    /// Calls were repeated after a compaction.
    RepeatedCalls,
    /// Cache misses.
    CacheBreaks,
    /// Compactions cost more than they saved.
    NotPaid,
    /// The share of the context window at which the recorded program compacts.
    CompactionFill,
    /// The recorded program compacted at another share of the context window than before.
    TriggerChanged,
    /// Answers that reached their maximum length.
    AnswerCut,
    /// Impossible usage.
    ImpossibleUsage,
    /// The window differs from the model's listed one.
    WindowMismatch,
    /// Calls and results without their partner.
    OrphanedPairs,
    /// Our count and the provider's differ.
    CountsDiffer,
    /// A warning of the run.
    Odd,
    /// The first call after a recorded compaction is larger than what is recorded explains.
    UnrecordedContent,
    /// Edits of text that the context no longer held.
    BlindEdits,
    /// A user instruction is missing from the context.
    InstructionGone,
    /// Re-reads that the removals of a lane are expected to cause.
    ExpectedRereads,
    /// A finding of a policy's run ([`super::FindingKind`]).
    #[serde(untagged)]
    Finding(super::FindingKind),
}

impl InsightKind {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThresholdSkipped => "threshold_skipped",
            Self::Hovering => "hovering",
            Self::DeadResults => "dead_results",
            Self::DuplicateResults => "duplicate_results",
            Self::BroadResults => "broad_results",
            Self::UnusedTools => "unused_tools",
            Self::ImagesResent => "images_resent",
            Self::FewMessages => "few_messages",
            Self::SummaryTooLong => "summary_too_long",
            Self::CannotGetBelow => "cannot_get_below",
            Self::CompactionGrew => "compaction_grew",
            Self::CompactionFreedLittle => "compaction_freed_little",
            Self::RepeatedCalls => "repeated_calls",
            Self::CacheBreaks => "cache_breaks",
            Self::NotPaid => "not_paid",
            Self::CompactionFill => "compaction_fill",
            Self::TriggerChanged => "trigger_changed",
            Self::AnswerCut => "answer_cut",
            Self::ImpossibleUsage => "impossible_usage",
            Self::WindowMismatch => "window_mismatch",
            Self::OrphanedPairs => "orphaned_pairs",
            Self::CountsDiffer => "counts_differ",
            Self::Odd => "odd",
            Self::UnrecordedContent => "unrecorded_content",
            Self::BlindEdits => "blind_edits",
            Self::InstructionGone => "instruction_gone",
            Self::ExpectedRereads => "expected_rereads",
            Self::Finding(kind) => kind.name(),
        }
    }
}

/// Data for the insights about a session.
#[derive(Debug)]
pub struct InsightInput<'a> {
    /// The session.
    pub case: &'a Case,
    /// The recorded run.
    pub recorded: &'a Outcome,
    /// Output reserve.
    pub output_reserve: Tokens,
    /// The trigger of the comparison.
    pub trigger: Trigger,
    /// Automatic compactions of the recorded program, in order.
    own_compactions: Vec<OwnCompaction>,
    /// Number of calls that resent each message.
    pub resent: Resent,
    /// Last use of each message's names.
    pub uses: LastUses<'a>,
    /// Cache audit, if the file records cache counts.
    pub audit: Option<&'a Audit>,
    /// Tokens and price of each source, for the insight about unused tools.
    pub attribution: Option<&'a Attribution>,
    tools: Vec<AnsweredCall<'a>>,
}

impl<'a> InsightInput<'a> {
    /// Collects the data. Linear in the session's text.
    pub fn new(
        case: &'a Case,
        recorded: &'a Outcome,
        output_reserve: Tokens,
        trigger: impl Into<Trigger>,
        audit: Option<&'a Audit>,
    ) -> Self {
        Self {
            case,
            recorded,
            output_reserve,
            trigger: trigger.into(),
            own_compactions: own_compactions(case, recorded),
            resent: resent(case, recorded),
            uses: LastUses::new(&case.session),
            audit,
            attribution: None,
            tools: answered_calls(case),
        }
    }

    /// Adds the tokens and prices of the sources, for the insight about unused tools.
    #[must_use]
    pub fn with_attribution(self, attribution: &'a Attribution) -> Self {
        Self { attribution: Some(attribution), ..self }
    }

    /// Returns the number of calls that resent a message after its last use; all of them if it was never used.
    fn calls_after(&self, message: usize, user: Option<usize>) -> usize {
        let resent = self.resent.messages[message];
        let named_at = user.and_then(|user| self.case.session.messages[user].call);
        let Some((end, begin)) = resent.last.zip(named_at) else {
            return resent.calls;
        };
        let after = self.resent.calls_in(begin + 1..end + 1);
        after.min(resent.calls)
    }

    /// Returns a readable name of a message.
    fn name(&self, message: usize) -> String {
        MessageName::of(self.case, message).to_string()
    }

    fn share_of_sent(&self, tokens: Tokens) -> Share {
        tokens.share_of(self.resent.sent)
    }
}

/// An automatic compaction of the recorded program.
#[derive(Clone, Copy, Debug)]
struct OwnCompaction {
    /// Index of the first call after it.
    call: usize,
    /// The context before it: the program's trigger at that time.
    before: Tokens,
    /// The context window at that time.
    window: Tokens,
}

impl OwnCompaction {
    fn share(&self) -> Share {
        self.before.share_of(self.window)
    }
}

/// Triggers that are not the program's own for compactions: the user's command, and the removal of old results at any
/// size.
const NO_TRIGGER: [&str; 2] = ["manual", "prune"];

/// Returns the automatic compactions of which a size is recorded or reported.
fn own_compactions(case: &Case, recorded: &Outcome) -> Vec<OwnCompaction> {
    let calls = &case.session.calls;
    let is_known = |compaction: &RecordedCompaction| {
        let before = compaction.call.checked_sub(1).and_then(|call| calls.get(call));
        compaction.tokens_before.is_some() || before.is_some_and(|call| call.usage.is_some())
    };
    let events = recorded.events.iter().filter(|event| event.is_recorded());
    let all = case.session.compactions.iter().zip(events);
    let own = all.filter(|(c, _)| !NO_TRIGGER.contains(&&*c.trigger) && is_known(c));
    own.map(|(_, event)| OwnCompaction {
        call: event.call,
        before: event.before,
        window: case.windows.at(event.call),
    })
    .collect()
}

/// Functions that detect insights of one kind.
type Detector = fn(&InsightInput<'_>) -> Vec<Insight>;

const DETECTORS: &[Detector] = &[
    course::threshold_skipped,
    course::hovering,
    course::summary_too_long,
    course::few_messages,
    waste::dead_results,
    waste::duplicate_results,
    waste::broad_results,
    waste::images,
    waste::unused_tools,
    compaction::grew_or_freed_little,
    compaction::fill,
    compaction::trigger_changed,
    compaction::repeated_calls,
    compaction::unrecorded_content,
    compaction::cache_breaks,
    record::impossible_usage,
    record::cut_answers,
    record::window_mismatch,
    record::orphans,
    record::counts_differ,
];

/// Returns the insights about the session, worst first.
pub fn insights(input: &InsightInput<'_>) -> Vec<Insight> {
    let mut found: Vec<Insight> = DETECTORS.iter().flat_map(|look| look(input)).collect();
    sort(&mut found);
    found
}

/// Sorts by severity, then by cumulative tokens, then by position in the session.
pub fn sort(insights: &mut [Insight]) {
    insights.sort_by_key(|found| (found.level, Reverse(found.stake), found.call));
}

/// Formats a number with the singular or plural text.
fn those(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
