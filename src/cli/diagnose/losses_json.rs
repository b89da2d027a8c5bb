//! The losses of `plimsoll diagnose` as JSON.

use super::losses::{Current, LaneLoss, Losses, MESSAGES, MISSES, RESULTS};
use crate::analysis::loss::{
    BlindEdit, CheapestWay, Distances, Fault, Kept, Names, PAGE_IN, Survival,
};
use crate::cli::cost_json::{CostEntry, cost};
use crate::cli::lazy_list::LazyList;
use crate::engine::KnobRole;
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Content that the recorded agent used again after a lane had removed it.
#[derive(Serialize, JsonSchema)]
pub(super) struct LossEntry<'a> {
    /// Number of messages for which a reference at risk counts as read again.
    reread_lasts_messages: u32,
    /// Losses by lane.
    lanes: LazyList<'a, LaneLossEntry<'a>>,
    /// The user's standing instructions.
    instructions: Vec<InstructionEntry<'a>>,
    /// Content left in every lane after each recorded compaction.
    compactions: LazyList<'a, CompactionEntry<'a>>,
    hindsight: HindsightEntry<'a>,
    reuse: ReuseEntry<'a>,
}

/// Losses of one lane.
#[derive(Serialize, JsonSchema)]
struct LaneLossEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Number of references: uses of content of earlier messages.
    references: usize,
    /// Number of references at risk. Predicted summaries count as empty.
    at_risk: usize,
    /// Number of references at risk if predicted summaries contained what was used most.
    fewest_at_risk: usize,
    /// Tokens of the messages that would have to be read again.
    reread_tokens: Tokens,
    /// First call with a loss; the replay of earlier calls is exact. Null without a loss.
    first_call: Option<usize>,
    /// Number of edits of text that an earlier message contained.
    edits: usize,
    /// Tokens saved as a share of the lossless maximum; above 1 if the lane saves more. Null if nothing could be saved.
    saved_share: Option<Share>,
    /// Whether all summaries are known. False if a summary is predicted.
    summaries_known: bool,
    /// The references at risk.
    references_at_risk: LazyList<'a, ReferenceEntry<'a>>,
    /// Edits of text that the context no longer contained.
    blind_edits: LazyList<'a, BlindEditEntry>,
    /// Instructions that were missing from the context.
    missing_instructions: LazyList<'a, MissingInstructionEntry>,
}

/// A reference at risk.
#[derive(Serialize, JsonSchema)]
struct ReferenceEntry<'a> {
    /// Call whose answer used the content.
    call: usize,
    /// Message that used the content.
    message: usize,
    /// Last earlier message that contained the content.
    source_message: usize,
    /// The content that was used: a name, a path or a number.
    name: &'a str,
    /// Tokens of the source message.
    reread_tokens: Tokens,
}

/// An edit of text that the context no longer contained.
#[derive(Serialize, JsonSchema)]
struct BlindEditEntry {
    /// Call whose answer contains the edit.
    call: usize,
    /// Message that contains the edit.
    message: usize,
    /// Number of lines of the old text that are long enough to be recognized.
    lines: usize,
    /// Number of these lines in the context.
    lines_present: usize,
}

/// Calls that lacked an instruction.
#[derive(Serialize, JsonSchema)]
struct MissingInstructionEntry {
    /// Instruction, from 1.
    instruction: usize,
    /// Ranges of calls, first and last.
    calls: Vec<[usize; 2]>,
}

/// A standing instruction of the user.
#[derive(Serialize, JsonSchema)]
struct InstructionEntry<'a> {
    /// First message that contains the instruction.
    message: usize,
    /// Text of the instruction.
    text: &'a str,
}

/// Content left after a recorded compaction.
#[derive(Serialize, JsonSchema)]
struct CompactionEntry<'a> {
    /// First call after the compaction.
    call: usize,
    /// Content left by lane.
    lanes: Vec<SurvivalEntry<'a>>,
}

/// Earlier content left in a lane.
#[derive(Serialize, JsonSchema)]
struct SurvivalEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Whether the summary is known. False if it is predicted.
    summary_known: bool,
    /// Names that the agent used later.
    names: States<&'a str>,
    /// Instructions, from 1.
    instructions: States<usize>,
    /// Files that had been changed.
    files: States<&'a str>,
}

/// Items by how much of them is left.
#[derive(Serialize, JsonSchema)]
struct States<T> {
    /// Present word for word.
    verbatim: Vec<T>,
    /// Partly present.
    partly: Vec<T>,
    /// Not present.
    missing: Vec<T>,
}

/// The hindsight optimum: each tool result is cleared right after its last use.
#[derive(Serialize, JsonSchema)]
struct HindsightEntry<'a> {
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: Tokens,
    /// Largest context in tokens.
    peak_tokens: Tokens,
    /// Number of results cleared.
    clearings: usize,
    /// Cost of the calls. It may exceed that of the recorded run: a clearing writes the rest of the context to the cache
    /// again.
    cost: CostEntry<'a>,
    /// Optimum in money; null if a price is unknown.
    cheapest: Option<CheapestEntry>,
}

/// The hindsight optimum in money: the cheapest of the recorded run, no compaction, and clearing tool results after their
/// last use, with a modelled cache.
#[derive(Serialize, JsonSchema)]
struct CheapestEntry {
    /// What it does.
    way: CheapestWay,
    /// Its cost in USD, never above `recorded_usd`.
    usd: Usd,
    /// Cost of the recorded run by the same cache model, in USD.
    recorded_usd: Usd,
    /// Number of results cleared.
    clearings: usize,
    /// Sum of the contexts of all calls in tokens.
    tokens_sent: Tokens,
}

/// Distances over which the agent used content again.
#[derive(Serialize, JsonSchema)]
struct ReuseEntry<'a> {
    /// Distances in messages, for settings such as `keep_recent`.
    keep_recent: CurveEntry<'a>,
    /// Distances in tokens of tool results, for settings such as `prune_protect`.
    prune_protect: CurveEntry<'a>,
}

/// Share of uses missed by value of a setting.
#[derive(Serialize, JsonSchema)]
struct CurveEntry<'a> {
    /// Number of uses.
    uses: usize,
    /// Points of the curve.
    points: Vec<CurvePoint>,
    /// Smallest value that misses at most 5 % of the uses.
    at_most_5_percent_from: u64,
    /// Smallest value that misses at most 1 % of the uses.
    at_most_1_percent_from: u64,
    /// Values of the lanes.
    lanes: Vec<CurrentEntry<'a>>,
}

/// A point of the curve.
#[derive(Serialize, JsonSchema)]
struct CurvePoint {
    /// Value of the setting.
    value: u64,
    /// Share of uses missed, 0 to 1.
    missed_share: Share,
}

/// The value of a lane's setting.
#[derive(Serialize, JsonSchema)]
struct CurrentEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Value of the setting.
    value: u64,
    /// Share of uses missed, 0 to 1.
    missed_share: Share,
}

impl Losses {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> LossEntry<'_> {
        let instructions = self.names.instructions().iter();
        let instructions = instructions.map(|instruction| InstructionEntry {
            message: instruction.message + 1,
            text: &instruction.text,
        });
        let best = &self.hindsight;
        LossEntry {
            reread_lasts_messages: PAGE_IN,
            lanes: LazyList::new(self.lanes.iter().map(|lane| self.lane(lane))),
            instructions: instructions.collect(),
            compactions: LazyList::new(self.compactions()),
            hindsight: HindsightEntry {
                tokens_sent: best.sent,
                peak_tokens: best.peak,
                clearings: best.clearings,
                cost: cost(&best.cost),
                cheapest: best.cheapest.map(|run| CheapestEntry {
                    way: run.way,
                    usd: run.usd,
                    recorded_usd: run.recorded,
                    clearings: run.clearings,
                    tokens_sent: run.sent,
                }),
            },
            reuse: ReuseEntry {
                keep_recent: self.curve(&self.curves.messages, KnobRole::KeepRecent, &MESSAGES),
                prune_protect: self.curve(&self.curves.results, KnobRole::PruneProtect, &RESULTS),
            },
        }
    }

    fn lane<'a>(&'a self, lane: &'a LaneLoss) -> LaneLossEntry<'a> {
        let risk = &lane.loss.at_risk;
        let faults = risk.faults.iter();
        let standing = lane.loss.standing.iter().enumerate();
        let missing = standing.filter(|(_, standing)| !standing.gone.is_empty());
        LaneLossEntry {
            lane: &lane.lane,
            references: risk.uses,
            at_risk: risk.faults.len(),
            fewest_at_risk: risk.fewest,
            reread_tokens: risk.refetch,
            first_call: risk.horizon.map(|idx| idx + 1),
            edits: risk.edits,
            saved_share: lane.saved,
            summaries_known: !lane.loss.is_predicted,
            references_at_risk: LazyList::new(faults.map(|fault| reference(&self.names, fault))),
            blind_edits: LazyList::new(risk.blind_edits.iter().map(blind_edit)),
            missing_instructions: LazyList::new(missing.map(|(idx, standing)| {
                MissingInstructionEntry {
                    instruction: idx + 1,
                    calls: standing.gone.iter().map(range).collect(),
                }
            })),
        }
    }

    /// Returns, for each recorded compaction, the content left in every lane at the first call after it.
    fn compactions(&self) -> impl Iterator<Item = CompactionEntry<'_>> + Clone {
        let first = self.lanes.first();
        let n = first.map_or(0, |lane| lane.loss.survival.len());
        (0..n).filter_map(|idx| {
            let of_lane =
                |lane: &'_ LaneLoss| lane.loss.survival[idx].as_ref().map(|left| left.call);
            let call = self.lanes.iter().find_map(of_lane)? + 1;
            let lanes = self.lanes.iter().filter_map(|lane| {
                let left = lane.loss.survival[idx].as_ref()?;
                Some(self.survival(&lane.lane, left))
            });
            Some(CompactionEntry {
                call,
                lanes: lanes.collect(),
            })
        })
    }

    fn survival<'a>(&'a self, lane: &'a str, left: &'a Survival) -> SurvivalEntry<'a> {
        let names = left.names.iter();
        let instructions = left.instructions.iter();
        let files = left.files.iter();
        SurvivalEntry {
            lane,
            summary_known: !left.is_predicted,
            names: states(names.map(|(name, kept)| (self.names.word(*name), *kept))),
            instructions: states(instructions.map(|(idx, kept)| (idx + 1, *kept))),
            files: states(files.map(|(file, kept)| (&**file, *kept))),
        }
    }

    fn curve(&self, curve: &Distances, role: KnobRole, values: &[u64]) -> CurveEntry<'_> {
        let current = self.current.iter().filter(|current| current.role == role);
        let [five, one] = MISSES.map(|miss| curve.smallest(miss));
        let point = |value: &u64| CurvePoint {
            value: *value,
            missed_share: curve.miss(*value),
        };
        CurveEntry {
            uses: curve.uses(),
            points: values.iter().map(point).collect(),
            at_most_5_percent_from: five,
            at_most_1_percent_from: one,
            lanes: current.map(current_value).collect(),
        }
    }
}

fn current_value(current: &Current) -> CurrentEntry<'_> {
    CurrentEntry {
        lane: &current.lane,
        value: current.value,
        missed_share: current.miss,
    }
}

fn reference<'a>(names: &'a Names, fault: &Fault) -> ReferenceEntry<'a> {
    ReferenceEntry {
        call: fault.call + 1,
        message: fault.message + 1,
        source_message: fault.source + 1,
        name: names.word(fault.name),
        reread_tokens: fault.refetch,
    }
}

fn blind_edit(edit: &BlindEdit) -> BlindEditEntry {
    BlindEditEntry {
        call: edit.call + 1,
        message: edit.message + 1,
        lines: edit.lines,
        lines_present: edit.seen,
    }
}

/// Returns the first and the last call of a range of indices.
fn range(calls: &Range<usize>) -> [usize; 2] {
    [calls.start + 1, calls.end]
}

/// Sorts items by how much of them is left.
fn states<T>(items: impl Iterator<Item = (T, Kept)>) -> States<T> {
    let mut states = States {
        verbatim: Vec::new(),
        partly: Vec::new(),
        missing: Vec::new(),
    };
    for (item, kept) in items {
        match kept {
            Kept::Verbatim => states.verbatim.push(item),
            Kept::Partly => states.partly.push(item),
            Kept::Gone => states.missing.push(item),
        }
    }
    states
}
