//! A figure of a head.

use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use std::cmp::Ordering;

/// A figure of a head.
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) tone: Tone,
    /// Difference from the recorded lane, which shows the modelled cost here.
    pub(crate) difference: Option<Difference>,
    pub(crate) hint: Hint,
}

impl Figure {
    /// Creates a plain figure.
    pub(crate) fn new(label: &'static str, value: String, hint: Hint) -> Self {
        Self { label, value, tone: Tone::Plain, difference: None, hint }
    }

    /// Returns the figure as a line of text: `peak: 118k (−42k)`.
    pub(crate) fn line(&self) -> String {
        let difference = self.difference.as_ref();
        let difference =
            difference.map_or_else(String::new, |by| format!(" ({}{})", by.text, by.note));
        format!("{}: {}{difference}", self.label, self.value)
    }
}

/// Returns the hover text of a figure for a lane or the recorded one.
pub(crate) type Hint = fn(&OpenSession<'_>, Option<usize>) -> String;

/// A difference from the recorded lane.
pub(crate) struct Difference {
    pub(crate) text: String,
    /// Words after the text. They may extend over the next column, which then has no difference.
    pub(crate) note: &'static str,
    pub(crate) tone: Tone,
    /// Whether it is smaller than the error of the calibration. It has no color then.
    pub(crate) is_within_error: bool,
}

impl Difference {
    /// Creates a difference; less is better.
    pub(crate) fn new(text: String, order: Ordering) -> Self {
        let tone = match order {
            Ordering::Less => Tone::Ok,
            Ordering::Equal => Tone::Weak,
            Ordering::Greater => Tone::Warn,
        };
        Self { text, note: "", tone, is_within_error: false }
    }

    /// Removes the color of a difference from `base` that is smaller than the error of the calibration.
    pub(crate) fn with_error(self, input: &OpenSession<'_>, difference: f64, base: f64) -> Self {
        let ledger = &input.runs.case.ledger;
        if difference != 0.0 && ledger.is_within_error(difference, base) {
            Self { tone: Tone::Weak, is_within_error: true, ..self }
        } else {
            self
        }
    }
}
