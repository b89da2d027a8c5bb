//! What the tab Loss shows, without a window: what was missed, a person's instructions, and what compactions left.

use crate::analysis::loss::{BlindEdit, Fault, Kept, Survival};
use crate::app::losses::LaneLoss;
use crate::app::widgets::Tone;

/// What the tab Loss shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossView {
    /// Which of its pages.
    pub page: LossPage,
    /// The recorded compaction that is looked at, by index.
    pub compaction: usize,
}

/// Pages of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPage {
    /// What the agent used of what was gone.
    #[default]
    AtRisk,
    /// Whether a person's instructions stand.
    Instructions,
    /// What recorded compactions left, and what lanes would have.
    Summaries,
}

impl LossPage {
    /// All pages, in order.
    pub const ALL: [Self; 3] = [Self::AtRisk, Self::Instructions, Self::Summaries];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtRisk => "at risk",
            Self::Instructions => "instructions",
            Self::Summaries => "compactions",
        }
    }

    /// What it shows, as a phrase.
    pub fn help(self) -> &'static str {
        match self {
            Self::AtRisk => "What the recorded agent used of what a lane had removed",
            Self::Instructions => {
                "What the person said is always, never or not to be done, and where it no longer stands"
            }
            Self::Summaries => {
                "What recorded compactions left, and what each lane would have left there"
            }
        }
    }
}

/// Something that was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// An edit that could not have been written.
    Edit(BlindEdit),
    /// A name of which no copy was left.
    Name(Fault),
}

impl Missed {
    /// Index of the step whose answer missed it.
    pub fn step(&self) -> usize {
        match self {
            Self::Edit(edit) => edit.step,
            Self::Name(fault) => fault.step,
        }
    }

    /// Index of the message that missed it.
    pub fn message(&self) -> usize {
        match self {
            Self::Edit(edit) => edit.message,
            Self::Name(fault) => fault.message,
        }
    }
}

/// The nth thing that a lane missed: blind edits first, then names, each in the order of calls.
pub fn missed(loss: &LaneLoss, nth: usize) -> Option<Missed> {
    let edits = &loss.found.at_risk.blind_edits;
    if let Some(edit) = edits.get(nth) {
        return Some(Missed::Edit(*edit));
    }
    let fault = loss.found.at_risk.faults.get(nth - edits.len());
    fault.map(|fault| Missed::Name(*fault))
}

/// How many things a lane missed.
pub fn n_missed(loss: &LaneLoss) -> usize {
    loss.found.at_risk.blind_edits.len() + loss.found.at_risk.faults.len()
}

/// The tone of a lane's references at risk: a warning where there are more than in what was recorded (the noise floor).
pub fn risk_tone(lane: &LaneLoss, floor: &LaneLoss) -> Tone {
    let n = |loss: &LaneLoss| loss.found.at_risk.faults.len();
    above(n(lane), n(floor), Tone::Warn)
}

/// The tone of a lane's blind edits: bad where there are more than in what was recorded.
pub fn blind_tone(lane: &LaneLoss, floor: &LaneLoss) -> Tone {
    let n = |loss: &LaneLoss| loss.found.at_risk.blind_edits.len();
    above(n(lane), n(floor), Tone::Bad)
}

fn above(found: usize, floor: usize, tone: Tone) -> Tone {
    if found > floor { tone } else { Tone::Plain }
}

/// `55`, or `24–31` where predicted summaries may have held some of it.
pub fn at_risk_said(loss: &LaneLoss) -> String {
    let (fewest, most) = (loss.found.at_risk.fewest, loss.found.at_risk.faults.len());
    if fewest < most {
        format!("{fewest}–{most}")
    } else {
        most.to_string()
    }
}

/// How many of some things are there verbatim, partly and not at all.
pub fn kept_counts(kept: impl Iterator<Item = Kept>) -> [usize; 3] {
    let mut counts = [0; 3];
    for kept in kept {
        counts[kept as usize] += 1;
    }
    counts
}

/// The three kinds of things that a compaction leaves or loses, each with its counts.
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
    fn no_more_than_the_noise_floor_has_no_color() {
        let tones = [(0, 0), (4, 5), (5, 5), (6, 5)].map(|(n, floor)| above(n, floor, Tone::Bad));
        assert_eq!(tones, [Tone::Plain, Tone::Plain, Tone::Plain, Tone::Bad]);
    }

    #[test]
    fn what_is_left_is_counted_by_how_much_of_it() {
        let kept = [Kept::Gone, Kept::Verbatim, Kept::Gone, Kept::Partly];
        assert_eq!(kept_counts(kept.into_iter()), [1, 1, 2]);
    }
}
