//! The losses of `plimsoll diagnose` as JSON.

use super::losses::{LaneLoss, Losses};
use crate::analysis::loss::{BlindEdit, Fault, Kept, Names, PAGE_IN, Survival};
use crate::cli::lazy_list::LazyList;
use crate::units::Tokens;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Content that a lane removed and the recorded agent used again. It describes what was removed; it does not predict what the
/// agent reads again.
#[derive(Serialize, JsonSchema)]
pub(super) struct LossEntry<'a> {
    /// Number of messages in which a name counts once as a reference at risk.
    counted_once_in_messages: u32,
    /// Losses by lane.
    lanes: LazyList<'a, LaneLossEntry<'a>>,
    /// The user's standing instructions.
    instructions: Vec<InstructionEntry<'a>>,
    /// Content left in every lane after each recorded compaction.
    compactions: LazyList<'a, CompactionEntry<'a>>,
}

/// Losses of one lane.
#[derive(Serialize, JsonSchema)]
struct LaneLossEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Number of references: uses of content of earlier messages.
    references: usize,
    /// Number of references at risk. Summaries that are not known count as empty.
    at_risk: usize,
    /// Number of references at risk if predicted summaries contained what was used most, and encrypted ones everything.
    fewest_at_risk: usize,
    /// Tokens of the last earlier messages with this content.
    missing_tokens: Tokens,
    /// First call with a reference at risk or a blind edit. Null without one.
    first_call: Option<usize>,
    /// Number of edits of text that an earlier message contained.
    edits: usize,
    /// Whether all summaries are known. False if a summary is predicted or encrypted: it may contain what counts as missing.
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
    source_tokens: Tokens,
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
    /// Whether the summary is known. False if it is predicted or encrypted.
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
    /// Not present, unless the summary contains it, whose text is not known.
    unknown: Vec<T>,
}

impl Losses {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> LossEntry<'_> {
        let instructions = self.names.instructions().iter();
        let instructions = instructions.map(|instruction| InstructionEntry {
            message: instruction.message + 1,
            text: &instruction.text,
        });
        LossEntry {
            counted_once_in_messages: PAGE_IN,
            lanes: LazyList::new(self.lanes.iter().map(|lane| self.lane(lane))),
            instructions: instructions.collect(),
            compactions: LazyList::new(self.compactions()),
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
            missing_tokens: risk.refetch,
            first_call: risk.horizon.map(|idx| idx + 1),
            edits: risk.edits,
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
            Some(CompactionEntry { call, lanes: lanes.collect() })
        })
    }

    fn survival<'a>(&'a self, lane: &'a str, left: &'a Survival) -> SurvivalEntry<'a> {
        let names = left.names.iter();
        let instructions = left.instructions.iter();
        let files = left.files.iter();
        SurvivalEntry {
            lane,
            summary_known: !left.is_predicted,
            names: states(names.map(|(name, kept)| (self.names.word(*name), *kept)), left),
            instructions: states(instructions.map(|(idx, kept)| (idx + 1, *kept)), left),
            files: states(files.map(|(file, kept)| (&**file, *kept)), left),
        }
    }
}

fn reference<'a>(names: &'a Names, fault: &Fault) -> ReferenceEntry<'a> {
    ReferenceEntry {
        call: fault.call + 1,
        message: fault.message + 1,
        source_message: fault.source + 1,
        name: names.word(fault.name),
        source_tokens: fault.refetch,
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

/// Sorts items by how much of them is left after a compaction.
fn states<T>(items: impl Iterator<Item = (T, Kept)>, left: &Survival) -> States<T> {
    let mut states = States {
        verbatim: Vec::new(),
        partly: Vec::new(),
        missing: Vec::new(),
        unknown: Vec::new(),
    };
    for (item, kept) in items {
        match kept {
            Kept::Verbatim => states.verbatim.push(item),
            Kept::Partly => states.partly.push(item),
            Kept::Gone if left.is_predicted => states.unknown.push(item),
            Kept::Gone => states.missing.push(item),
        }
    }
    states
}
