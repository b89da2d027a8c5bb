//! State of the tab Loss: references at risk, instructions and summaries. Independent of the UI.

use super::compute::LaneLoss;
use crate::analysis::loss::{BlindEdit, Fault, Kept, Survival};
use crate::app::widgets::Tone;

/// State of the tab Loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossView {
    /// Selected page.
    pub page: LossPage,
    /// Index of the selected recorded compaction.
    pub compaction: usize,
}

/// Pages of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPage {
    /// Later uses of removed content.
    #[default]
    AtRisk,
    /// Whether your instructions are still in the context.
    Instructions,
    /// Survival after recorded compactions, and in the lanes.
    Summaries,
}

impl LossPage {
    /// All pages, in order.
    pub const ALL: [Self; 3] = [Self::AtRisk, Self::Instructions, Self::Summaries];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtRisk => "at risk",
            Self::Instructions => "instructions",
            Self::Summaries => "compactions",
        }
    }

    /// Returns the hover text.
    pub fn help(self) -> &'static str {
        match self {
            Self::AtRisk => "Later uses of content that a lane removed",
            Self::Instructions => "Your instructions, and the calls at which they are missing",
            Self::Summaries => "Survival after each recorded compaction, and in every lane",
        }
    }
}

/// A later use of removed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReference {
    /// An edit of text that was not in the context.
    Edit(BlindEdit),
    /// A name without a remaining copy.
    Name(Fault),
}

impl LostReference {
    /// Returns the index of the call whose answer contains the use.
    pub fn call(&self) -> usize {
        match self {
            Self::Edit(edit) => edit.call,
            Self::Name(fault) => fault.call,
        }
    }

    /// Returns the index of the message with the use.
    pub fn message(&self) -> usize {
        match self {
            Self::Edit(edit) => edit.message,
            Self::Name(fault) => fault.message,
        }
    }
}

/// Returns the nth entry of a lane: blind edits first, then names, each in call order.
pub fn lost_reference(loss: &LaneLoss, nth: usize) -> Option<LostReference> {
    let edits = &loss.found.at_risk.blind_edits;
    if let Some(edit) = edits.get(nth) {
        return Some(LostReference::Edit(*edit));
    }
    let fault = loss.found.at_risk.faults.get(nth - edits.len());
    fault.map(|fault| LostReference::Name(*fault))
}

/// Returns the number of entries of a lane.
pub fn n_lost_references(loss: &LaneLoss) -> usize {
    loss.found.at_risk.blind_edits.len() + loss.found.at_risk.faults.len()
}

/// Returns the tone of a lane's references at risk: a warning if there are more than in the recorded lane (the noise
/// floor).
pub fn risk_tone(lane: &LaneLoss, floor: &LaneLoss) -> Tone {
    let n = |loss: &LaneLoss| loss.found.at_risk.faults.len();
    above(n(lane), n(floor), Tone::Warn)
}

/// Returns the tone of a lane's blind edits: bad if there are more than in the recorded lane.
pub fn blind_tone(lane: &LaneLoss, floor: &LaneLoss) -> Tone {
    let n = |loss: &LaneLoss| loss.found.at_risk.blind_edits.len();
    above(n(lane), n(floor), Tone::Bad)
}

fn above(found: usize, floor: usize, tone: Tone) -> Tone {
    if found > floor { tone } else { Tone::Plain }
}

/// Formats the references at risk: `55`, or `24–31` if predicted summaries may contain some of them.
pub fn at_risk_text(loss: &LaneLoss) -> String {
    let (fewest, most) = (loss.found.at_risk.fewest, loss.found.at_risk.faults.len());
    if fewest < most {
        format!("{fewest}–{most}")
    } else {
        most.to_string()
    }
}

/// Returns the counts of items that are present verbatim, partly and not at all.
pub fn kept_counts(kept: impl Iterator<Item = Kept>) -> [usize; 3] {
    let mut counts = [0; 3];
    for kept in kept {
        counts[kept as usize] += 1;
    }
    counts
}

/// Returns the three kinds of items that a compaction keeps or loses, with their counts.
pub fn survival_counts(survival: &Survival) -> [(&'static str, [usize; 3]); 3] {
    let names = survival.names.iter().map(|(_, kept)| *kept);
    let instructions = survival.instructions.iter().map(|(_, kept)| *kept);
    let files = survival.files.iter().map(|(_, kept)| *kept);
    [
        ("names used later", kept_counts(names)),
        ("instructions", kept_counts(instructions)),
        ("changed files", kept_counts(files)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_within_the_noise_floor_have_no_color() {
        let tones = [(0, 0), (4, 5), (5, 5), (6, 5)].map(|(n, floor)| above(n, floor, Tone::Bad));
        assert_eq!(tones, [Tone::Plain, Tone::Plain, Tone::Plain, Tone::Bad]);
    }

    #[test]
    fn survival_is_counted_by_extent() {
        let kept = [Kept::Gone, Kept::Verbatim, Kept::Gone, Kept::Partly];
        assert_eq!(kept_counts(kept.into_iter()), [1, 1, 2]);
    }
}
