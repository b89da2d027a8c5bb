//! What a person should know about a session or a run, worst first: what happened, how that is known, what to do.
//!
//! A wrong accusation is worse than a missed one: an insight needs figures above a floor, and says how sure it is.

mod advice;
mod card;
mod compaction;
mod course;
mod lane;
mod loss;
mod record;
mod tool_use;
mod waste;

pub use card::{besides, card};
pub use lane::{Lane, lane_insights};
pub use loss::loss_insights;

use super::Trigger;
use super::cost::Audit;
use super::last_use::LastUses;
use super::message_name::MessageName;
use super::retained::{Retained, retained};
use crate::engine::{Case, Outcome};
use crate::figure::counted;
use crate::units::{Share, Tokens};
use std::cmp::Reverse;
use tool_use::{ToolUse, tool_uses};

/// Something to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Insight {
    /// Which.
    pub kind: InsightKind,
    /// How bad it is.
    pub level: Level,
    /// How sure it is.
    pub certainty: Certainty,
    /// The lane it speaks of; none where it speaks of the session itself.
    pub lane: Option<String>,
    /// Index of the step that shows it.
    pub step: Option<usize>,
    /// Index of the message that it is about.
    pub message: Option<usize>,
    /// What happened, as a sentence.
    pub text: String,
    /// The figures behind it.
    pub evidence: String,
    /// What to do.
    pub advice: &'static str,
    /// Tokens sent that it is about (tokens times calls); 0 where that is not its measure.
    pub stake: Tokens,
}

/// How bad something is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It broke something or cannot work.
    Bad,
    /// It costs, or soon will.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// How sure something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The file or the replay shows it.
    Certain,
    /// It follows from figures that are fitted or estimated.
    Likely,
    /// It is inferred from names: the model may have used what it never named.
    Inferred,
}

impl Certainty {
    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Inferred => "inferred",
        }
    }
}

/// Kinds of insights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsightKind {
    /// One step went from below the trigger to above usable.
    ThresholdSkipped,
    /// Many calls just below the limit.
    Hovering,
    /// Tool results carried on after anything named what they hold.
    DeadResults,
    /// The same call brought the same result again.
    DuplicateResults,
    /// Large reads, listings or searches of which little was named later.
    BroadResults,
    /// Pictures sent again with every call.
    ImagesResent,
    /// A few messages are much of all that was sent.
    FewMessages,
    /// A request to summarize it all would not fit.
    SummaryTooLong,
    /// A policy cannot get below its own trigger.
    CannotGetBelow,
    /// A compaction made the context larger.
    CompactionGrew,
    /// A compaction freed little.
    CompactionVain,
    /// After a compaction calls were made again.
    AskedAgain,
    /// What had been sent before was not read from the cache.
    CacheBreaks,
    /// Compactions cost more than they saved.
    NotPaid,
    /// Usage that cannot be right.
    ImpossibleUsage,
    /// The window is not what the model's is listed with.
    WindowMismatch,
    /// Calls and results without their partner.
    OrphanedPairs,
    /// Our count and the provider's differ.
    CountsDiffer,
    /// What is odd about a run itself.
    Odd,
    /// Edits of text that the context no longer held.
    BlindEdits,
    /// A person's instruction no longer stands in the context.
    InstructionGone,
    /// From here on a replay is an estimate.
    FidelityHorizon,
    /// What a policy's run shows ([`super::FindingKind`]).
    Finding(super::FindingKind),
}

impl InsightKind {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThresholdSkipped => "threshold_skipped",
            Self::Hovering => "hovering",
            Self::DeadResults => "dead_results",
            Self::DuplicateResults => "duplicate_results",
            Self::BroadResults => "broad_results",
            Self::ImagesResent => "images_resent",
            Self::FewMessages => "few_messages",
            Self::SummaryTooLong => "summary_too_long",
            Self::CannotGetBelow => "cannot_get_below",
            Self::CompactionGrew => "compaction_grew",
            Self::CompactionVain => "compaction_vain",
            Self::AskedAgain => "asked_again",
            Self::CacheBreaks => "cache_breaks",
            Self::NotPaid => "not_paid",
            Self::ImpossibleUsage => "impossible_usage",
            Self::WindowMismatch => "window_mismatch",
            Self::OrphanedPairs => "orphaned_pairs",
            Self::CountsDiffer => "counts_differ",
            Self::Odd => "odd",
            Self::BlindEdits => "blind_edits",
            Self::InstructionGone => "instruction_gone",
            Self::FidelityHorizon => "fidelity_horizon",
            Self::Finding(kind) => kind.name(),
        }
    }
}

/// What insights about a session are made of.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The session.
    pub case: &'a Case,
    /// What really happened.
    pub recorded: &'a Outcome,
    /// Room for the answer.
    pub output_reserve: Tokens,
    /// The trigger that is spoken of.
    pub trigger: Trigger,
    /// Where the recorded program itself compacts: the least that it says it had when it did so of its own accord.
    pub own_trigger: Option<Tokens>,
    /// How long each message was carried.
    pub retained: Retained,
    /// When what each holds was last named.
    pub uses: LastUses<'a>,
    /// What the cache did, where the file says.
    pub audit: Option<&'a Audit>,
    tools: Vec<ToolUse<'a>>,
}

impl<'a> Facts<'a> {
    /// Gathers them; linear in the session's text.
    pub fn new(
        case: &'a Case,
        recorded: &'a Outcome,
        (output_reserve, trigger): (Tokens, impl Into<Trigger>),
        audit: Option<&'a Audit>,
    ) -> Self {
        Self {
            case,
            recorded,
            output_reserve,
            trigger: trigger.into(),
            own_trigger: own_trigger(case),
            retained: retained(case, recorded),
            uses: LastUses::new(&case.session),
            audit,
            tools: tool_uses(case),
        }
    }

    /// Calls that carried a message after this one (of the model) last named it; all of them if none did.
    fn calls_after(&self, message: usize, user: Option<usize>) -> usize {
        let carried = self.retained.messages[message];
        let named_at = user.and_then(|user| self.case.session.messages[user].step);
        let Some((end, begin)) = carried.last.zip(named_at) else {
            return carried.calls;
        };
        let after = self.retained.calls_in(begin + 1..end + 1);
        after.min(carried.calls)
    }

    /// What a person would call a message.
    fn name(&self, message: usize) -> String {
        MessageName::of(self.case, message).to_string()
    }

    fn share_of_sent(&self, tokens: Tokens) -> Share {
        tokens.share_of(self.retained.sent)
    }
}

fn own_trigger(case: &Case) -> Option<Tokens> {
    let compactions = case.session.compactions.iter();
    let own = compactions.filter(|c| c.trigger != "manual");
    own.filter_map(|compaction| compaction.tokens_before).min()
}

/// What looks for insights of one kind.
type Detector = fn(&Facts<'_>) -> Vec<Insight>;

const DETECTORS: &[Detector] = &[
    course::threshold_skipped,
    course::hovering,
    course::summary_too_long,
    course::few_messages,
    waste::dead_results,
    waste::duplicate_results,
    waste::broad_results,
    waste::images,
    compaction::grew_or_vain,
    compaction::asked_again,
    compaction::cache_breaks,
    record::impossible_usage,
    record::window_mismatch,
    record::orphans,
    record::counts_differ,
];

/// What there is to know about the session itself, worst first.
pub fn insights(facts: &Facts<'_>) -> Vec<Insight> {
    let mut found: Vec<Insight> = DETECTORS.iter().flat_map(|look| look(facts)).collect();
    sort(&mut found);
    found
}

/// Worst first, then what most is at stake, then in order of the session.
pub fn sort(insights: &mut [Insight]) {
    insights.sort_by_key(|found| (found.level, Reverse(found.stake), found.step));
}

/// Whole percent; a little is not nothing.
fn percent(share: Share) -> String {
    match share.0 * 100.0 {
        0.0 => "0 %".to_owned(),
        value if value < 0.5 => "<1 %".to_owned(),
        value => format!("{value:.0} %"),
    }
}

/// The number with what is said of one, or of many.
fn those(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
