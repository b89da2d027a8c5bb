//! The settings of a point as text.

use crate::analysis::tune::Point;
use crate::app::state::tune::sweep::Sweep;
use crate::app::state::wording;

/// Returns the name and the formatted value of each setting that the sweep varies.
pub(crate) fn settings(sweep: &Sweep, point: &Point) -> Vec<(String, String)> {
    let subject = &sweep.subjects[point.subject];
    let is_varied = |knob: &str| subject.axes.iter().any(|axis| axis.knob == knob);
    let knobs = subject.policy.knobs.iter().filter(|knob| is_varied(&knob.name));
    knobs
        .filter_map(|knob| {
            let value = point.knobs.get(&knob.name)?;
            let text = match knob.choices.get(value.max(0.0) as usize) {
                Some(choice) => choice.clone(),
                None => wording::knob_value(knob, value),
            };
            Some((knob.name.clone(), text))
        })
        .collect()
}
