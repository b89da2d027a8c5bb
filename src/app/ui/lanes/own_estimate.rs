//! The figure of a lane's head that compares the policy's own fill estimate with the actual fill.

use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::lanes::figure::{Difference, Figure};
use crate::units::Share;

/// Returns whether any lane's policy has an estimate of its own.
pub(crate) fn is_any(input: &OpenSession<'_>) -> bool {
    let mut lanes = input.runs.lanes.iter();
    lanes.any(|lane| lane.policy.believed_fill.is_some())
}

/// Returns the believed fill of a lane at the selected call, with the actual one below if they differ.
pub(crate) fn figure(input: &OpenSession<'_>, lane: Option<usize>) -> Figure {
    let call = input.selection.call;
    let of_lane = |lane: usize| input.runs.lanes[lane].believed_fill(call);
    let Some((believed, actual)) = lane.and_then(of_lane) else {
        return Figure::new("believed", "–".to_owned(), |_, _| {
            "This policy has no estimate of its own".to_owned()
        });
    };
    let is_blind = is_blind(believed, actual);
    let tone = if is_blind { Tone::Bad } else { Tone::Plain };
    Figure {
        tone,
        difference: (!wording::is_believed_right(believed, actual)).then(|| Difference {
            text: format!("actual {}", wording::fullness(actual)),
            note: "",
            tone: if is_blind { Tone::Bad } else { Tone::Weak },
            is_within_error: false,
        }),
        ..Figure::new("believed", wording::fullness(believed), hint)
    }
}

/// Returns whether the policy believes it is below its limit while the actual context exceeds the usable window.
fn is_blind(believed: Share, actual: Share) -> bool {
    believed.0 < 1.0 && actual.0 > 1.0
}

fn hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let call = input.selection.call;
    let run = input.run(lane);
    let counts = run.outcome.samples.get(call).zip(run.believed_fill(call));
    let counts = counts.map(|(sample, (believed, actual))| {
        format!(
            "Call {}: the policy counts {} tokens, which is {} of its own limit. Actual: {} tokens, {}.",
            wording::number(call),
            wording::tokens(sample.metered),
            wording::percent(believed),
            wording::tokens(sample.tokens),
            wording::of_usable(actual)
        )
    });
    counts.unwrap_or_default()
}
