//! The calls of a run whose context lacks a standing instruction.

use super::names::Names;
use super::visible::Visible;
use crate::engine::{Case, Outcome};
use std::ops::Range;

/// Calls of a run that lacked an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Indices of these calls, as ascending ranges.
    pub gone: Vec<Range<usize>>,
}

/// Returns for each of [`Names::instructions`] the later calls of a run whose context lacked it.
pub fn standing(names: &Names, case: &Case, outcome: &Outcome) -> Vec<Standing> {
    let mut visible = Visible::new(case, names, &outcome.received);
    let mut found = vec![Standing::default(); names.instructions().len()];
    for sample in &outcome.samples {
        visible.advance(sample.call);
        if !visible.is_touched() {
            continue;
        }
        let end = case.session.calls[sample.call].context_end;
        for (instruction, standing) in names.instructions().iter().zip(&mut found) {
            let is_said = instruction.message < end;
            if !is_said || visible.shows_phrase(instruction.phrase, end as u32) {
                continue;
            }
            match standing.gone.last_mut() {
                Some(last) if last.end == sample.call => last.end += 1,
                _ => standing.gone.push(sample.call..sample.call + 1),
            }
        }
    }
    found
}
