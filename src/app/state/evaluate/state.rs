//! State of the tab Evaluate: expected re-reads, the facts that lanes kept, and references at risk. Independent of the UI.

use crate::analysis::facts::FactKind;
use crate::analysis::loss::{BlindEdit, Fault};
use crate::analysis::rereads::RereadTotal;
use crate::app::state::evaluate::losses::LaneLoss;
use crate::app::state::model::tone::Tone;
use crate::app::state::model::view::View;
use std::cmp::Ordering;

/// State of the tab Evaluate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluateView {
    /// Selected page.
    pub page: EvaluatePage,
    /// Kind of the listed facts; `None` for all kinds.
    pub kind: Option<FactKind>,
    /// Count the facts at the selected call instead of the last one.
    pub at_selected_call: bool,
}

/// Pages of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvaluatePage {
    /// The files that the agent will probably read again.
    #[default]
    Rereads,
    /// The facts that each lane kept and lost.
    Facts,
    /// Later uses of removed content.
    AtRisk,
}

impl EvaluatePage {
    /// All pages, in order.
    pub const ALL: [Self; 3] = [Self::Rereads, Self::Facts, Self::AtRisk];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rereads => "re-reads",
            Self::Facts => "facts",
            Self::AtRisk => "references at risk",
        }
    }

    /// Returns the hover text.
    pub fn help(self) -> &'static str {
        match self {
            Self::Rereads => {
                "Files that the agent will probably read again because a lane removed their content"
            }
            Self::Facts => {
                "Constraints, files, commands, errors and values that each lane kept or lost"
            }
            Self::AtRisk => "Later uses of content that a lane removed",
        }
    }
}

/// Returns the plural of the facts of a kind, or of all kinds.
pub fn kind_label(kind: Option<FactKind>) -> &'static str {
    kind.map_or("all facts", FactKind::label)
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

/// Returns the tone of a lane's expected re-reads: a warning if their interval is above that of the recorded lane.
pub fn reread_tone(lane: &LaneLoss, recorded: &LaneLoss) -> Tone {
    let [own, recorded] = [lane, recorded].map(|loss| &loss.rereads.total);
    if order(own, recorded).is_gt() && !own.is_none() { Tone::Warn } else { Tone::Plain }
}

/// Compares expected re-reads. They are equal if their intervals overlap.
pub fn order(own: &RereadTotal, other: &RereadTotal) -> Ordering {
    if own.files.low > other.files.high {
        Ordering::Greater
    } else if own.files.high < other.files.low {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

/// Returns the tone of a lane's blind edits: bad if there are more than in the recorded lane.
pub fn blind_tone(lane: &LaneLoss, recorded: &LaneLoss) -> Tone {
    let n = |loss: &LaneLoss| loss.found.at_risk.blind_edits.len();
    if n(lane) > n(recorded) { Tone::Bad } else { Tone::Plain }
}

/// Formats the references at risk: `55`, or `24–31` if predicted summaries may contain some of them.
pub fn at_risk_text(loss: &LaneLoss) -> String {
    let (fewest, most) = (loss.found.at_risk.fewest, loss.found.at_risk.faults.len());
    if fewest < most { format!("{fewest}–{most}") } else { most.to_string() }
}

impl View {
    /// Returns the view settings of the tab Evaluate.
    pub fn evaluate(&self) -> EvaluateView {
        *self.get()
    }

    /// Returns the view settings of the tab Evaluate, to change them.
    pub fn evaluate_mut(&mut self) -> &mut EvaluateView {
        self.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::rereads::Expected;

    #[test]
    fn expected_rereads_are_equal_if_their_intervals_overlap() {
        let total = |low, high| RereadTotal {
            files: Expected { value: f64::midpoint(low, high), low, high },
            ..RereadTotal::default()
        };
        let recorded = total(0.8, 1.9);
        let orders = [total(0.1, 0.7), total(0.1, 0.9), total(1.8, 4.0), total(2.0, 4.0)]
            .map(|own| order(&own, &recorded));
        let expected = [Ordering::Less, Ordering::Equal, Ordering::Equal, Ordering::Greater];
        assert_eq!(orders, expected);
    }
}
