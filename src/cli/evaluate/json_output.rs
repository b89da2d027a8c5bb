//! The output of `plimsoll evaluate --json`.

use super::{Evaluated, EvaluatedLane, Evaluations};
use crate::analysis::facts::{Fact, FactKind, Facts, KindSurvival, LostFact};
use crate::cli::lazy_list::LazyList;
use crate::cli::rereads::RereadsEntry;
use crate::cli::targets::SkippedEntry;
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// Facts of sessions that policies kept.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Evaluation<'a> {
    /// Evaluated sessions.
    sessions: Vec<SessionEntry<'a>>,
    /// Sessions that were not read.
    skipped: Vec<SkippedEntry<'a>>,
}

/// A session.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation in the file, from 1; null if the file holds only one.
    conversation: Option<usize>,
    /// Title of the session.
    title: &'a str,
    /// Number of messages.
    messages: usize,
    /// Number of calls.
    calls: usize,
    /// Number of facts by kind.
    facts: Vec<FactCount>,
    /// Facts that each lane kept.
    lanes: Vec<LaneEntry<'a>>,
}

/// The facts of a kind.
#[derive(Serialize, JsonSchema)]
struct FactCount {
    /// Kind of the facts.
    kind: &'static str,
    /// Number of facts, with those that a later one replaced.
    facts: usize,
    /// Number of facts that are left out: too short to be searched, or above the maximum of 3,000.
    left_out: usize,
}

/// Facts that a lane kept.
#[derive(Serialize, JsonSchema)]
pub(super) struct LaneEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Number of compactions; null if the file does not record them.
    compactions: Option<usize>,
    /// Number of calls that overflow; null with `--score`. Rejected attempts are part of `usd` only with `--bill-rejected`.
    overflows: Option<usize>,
    /// Number of calls that reach into the output reserve without an overflow; null with `--score`.
    into_reserve: Option<usize>,
    /// Tokens of the context of the last call; with `--score`, of the conversation or text.
    context_tokens: Tokens,
    /// Cost of the lane in USD; null if a price is unknown.
    usd: Option<f64>,
    /// Expected re-reads; null with `--score`.
    expected_rereads: Option<RereadsEntry>,
    /// Whether the lane removed or shortened a message with a fact.
    removed_facts: bool,
    /// Survival at the last call by kind.
    survival: Vec<SurvivalEntry>,
    /// Survival of all facts.
    total: SurvivalEntry,
    /// Facts that a call lacked: those used while they were lost first.
    lost: LazyList<'a, LostEntry<'a>>,
    /// Facts that the last call had partly.
    partial: LazyList<'a, FactEntry<'a>>,
}

/// The facts of a kind at the last call. Facts that a later one replaced before the call do not count.
#[derive(Serialize, JsonSchema)]
pub(super) struct SurvivalEntry {
    /// Kind of the facts; `all` for the sum.
    kind: &'static str,
    /// Number of facts stated before the call.
    stated: usize,
    /// Number of these facts whose message was removed or shortened at some call.
    removed: usize,
    /// Number of facts that the context holds verbatim.
    verbatim: usize,
    /// Number of facts that it holds partly: a file without its folder, a command without its outcome, most words of a sentence.
    partial: usize,
    /// Number of facts that it lacks.
    gone: usize,
    /// Number of facts that only a predicted or encrypted summary may hold.
    unknown: usize,
    /// Share held verbatim or partly, of the facts whose state is known; null without such facts.
    survival: Option<Share>,
    /// Lowest possible share of all stated facts: the unknown ones are lost. Null without facts.
    lowest: Option<Share>,
    /// Highest possible share: the unknown ones are held. Null without facts.
    highest: Option<Share>,
}

/// A fact.
#[derive(Serialize, JsonSchema)]
pub(super) struct FactEntry<'a> {
    /// Kind of the fact.
    kind: &'static str,
    /// Text of the fact.
    text: &'a str,
    /// State or outcome of the fact, such as `edited` or `failed`; empty if the kind has none.
    detail: &'a str,
    /// Message that states the fact.
    message: usize,
    /// Part of the message, from 1.
    part: usize,
    /// Start and end of the fact in the part's text, in bytes.
    span: [usize; 2],
}

/// A fact that a call lacked.
#[derive(Serialize, JsonSchema)]
struct LostEntry<'a> {
    #[serde(flatten)]
    fact: FactEntry<'a>,
    /// First call that lacked the fact; null with `--score`.
    left_at_call: Option<usize>,
    /// First later call that had the fact again; null without one.
    back_at_call: Option<usize>,
    /// First call that lacked the fact and whose answer uses it; null without one.
    used_at_call: Option<usize>,
    /// Whether the last call lacks the fact.
    gone: bool,
}

impl Evaluations {
    pub(super) fn json_output(&self) -> Evaluation<'_> {
        Evaluation {
            sessions: self.sessions.iter().map(Evaluated::json_output).collect(),
            skipped: self.skipped.json_output(),
        }
    }
}

impl Evaluated {
    /// Returns the JSON output of a session.
    pub(crate) fn json_output(&self) -> SessionEntry<'_> {
        let facts = FactKind::ALL.map(|kind| FactCount {
            kind: kind.name(),
            facts: self.facts.all().iter().filter(|fact| fact.kind == kind).count(),
            left_out: self.facts.left_out(kind),
        });
        SessionEntry {
            file: &self.id.file,
            conversation: self.id.number(),
            title: &self.title,
            messages: self.messages,
            calls: self.calls,
            facts: facts.into(),
            lanes: self.lanes.iter().map(|lane| self.lane(lane)).collect(),
        }
    }

    fn lane<'a>(&'a self, lane: &'a EvaluatedLane) -> LaneEntry<'a> {
        let survival = &lane.survival;
        let lost = survival.lost.iter().map(|lost| self.lost_entry(*lost));
        let partial = survival.partial.iter();
        let partial = partial.map(|idx| FactEntry::new(&self.facts, *idx));
        LaneEntry {
            lane: &lane.name,
            compactions: lane.compactions,
            overflows: lane.overflows,
            into_reserve: lane.into_reserve,
            context_tokens: survival.tokens,
            usd: lane.cost.map(|usd| usd.0),
            expected_rereads: lane.rereads.as_ref().map(RereadsEntry::from),
            removed_facts: survival.has_removed,
            survival: by_kind(&survival.kinds),
            total: SurvivalEntry::new("all", survival.of(None)),
            lost: LazyList::new(lost),
            partial: LazyList::new(partial),
        }
    }

    fn lost_entry(&self, lost: LostFact) -> LostEntry<'_> {
        LostEntry {
            fact: FactEntry::new(&self.facts, lost.fact),
            left_at_call: lost.left_at.map(|call| call + 1),
            back_at_call: lost.back_at.map(|call| call + 1),
            used_at_call: lost.used_at.map(|call| call + 1),
            gone: lost.is_gone,
        }
    }
}

/// Returns the survival of every kind.
pub(super) fn by_kind(kinds: &[KindSurvival]) -> Vec<SurvivalEntry> {
    let kinds = FactKind::ALL.iter().zip(kinds);
    kinds.map(|(kind, survival)| SurvivalEntry::new(kind.name(), *survival)).collect()
}

impl SurvivalEntry {
    pub(super) fn new(kind: &'static str, survival: KindSurvival) -> Self {
        let bounds = survival.bounds();
        Self {
            kind,
            stated: survival.stated,
            removed: survival.removed,
            verbatim: survival.verbatim,
            partial: survival.partial,
            gone: survival.gone,
            unknown: survival.unknown,
            survival: survival.share(),
            lowest: bounds.map(|[low, _]| low),
            highest: bounds.map(|[_, high]| high),
        }
    }
}

impl<'a> FactEntry<'a> {
    pub(super) fn new(facts: &'a Facts, idx: usize) -> Self {
        let fact: &Fact = &facts.all()[idx];
        Self {
            kind: fact.kind.name(),
            text: &fact.text,
            detail: &fact.detail,
            message: fact.message as usize + 1,
            part: fact.nth_part as usize + 1,
            span: [fact.span.start, fact.span.end],
        }
    }
}
