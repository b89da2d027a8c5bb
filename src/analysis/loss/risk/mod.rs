//! References at risk: what the recorded agent used of what a run's context no longer held.

mod best;

use super::names::Names;
use super::visible::Visible;
use crate::engine::{Case, Outcome};
use crate::units::Tokens;
use std::collections::HashMap;

/// Messages for which something that was missed counts as fetched again, so that one loss is told once and not with every
/// use.
pub const PAGE_IN: u32 = 40;

/// What a run's calls lacked of what the recorded answers used.
///
/// A summary that is only predicted counts as holding nothing, so this is the most that may be missed; [`Self::fewest`] is
/// what would be missed if each had held what was asked for most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtRisk {
    /// Names that answers used and that had been said before: what could be missed.
    pub uses: usize,
    /// What was missed, by step.
    pub faults: Vec<Fault>,
    /// Edits whose old text had been said before: what could be blind.
    pub edits: usize,
    /// Edits that could not have been written, by step.
    pub blind_edits: Vec<BlindEdit>,
    /// Index of the first step that shows either; before it the replay is exact in what the agent demonstrably used.
    pub horizon: Option<usize>,
    /// Tokens of the messages that were missed: what fetching them again would cost at least.
    pub refetch: Tokens,
    /// Faults that would be left if every predicted summary had held, within its size, the names asked for most.
    pub fewest: usize,
}

/// A name that an answer used although no copy of it was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the step whose answer used it.
    pub step: usize,
    /// Index of the message that used it.
    pub message: usize,
    /// Index of the last message before that had it.
    pub source: usize,
    /// Its index in [`Names::word`].
    pub name: u32,
    /// True tokens of the source.
    pub refetch: Tokens,
}

/// An edit whose old text the context did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindEdit {
    /// Index of the step whose answer holds it.
    pub step: usize,
    /// Index of the message.
    pub message: usize,
    /// Lines of the old text that are long enough to tell.
    pub lines: usize,
    /// Of these, in the context.
    pub seen: usize,
}

/// What a run's calls lacked of what the recorded answers used; `names` is the index of the case's session.
pub fn references_at_risk(names: &Names, case: &Case, outcome: &Outcome) -> AtRisk {
    let mut found = most_at_risk(names, case, outcome);
    found.fewest = best::fewest(names, case, outcome, found.faults.len());
    found
}

/// The same, taking predicted summaries to hold nothing: [`AtRisk::fewest`] is as many as there are. For many runs.
pub fn most_at_risk(names: &Names, case: &Case, outcome: &Outcome) -> AtRisk {
    let mut visible = Visible::new(case, names, &outcome.seen);
    let mut found = AtRisk::default();
    for sample in &outcome.samples {
        visible.advance(sample.step);
        edits(&mut found, names, &visible, sample.step);
        faults(&mut found, names, &mut visible, (case, sample.step));
    }
    let first_fault = found.faults.first().map(|fault| fault.step);
    let first_edit = found.blind_edits.first().map(|edit| edit.step);
    found.horizon = first_fault.into_iter().chain(first_edit).min();
    found.refetch = found.faults.iter().map(|fault| fault.refetch).sum();
    found.fewest = found.faults.len();
    found
}

/// Faults with the names that these texts are taken to hold.
fn supposing(
    names: &Names,
    case: &Case,
    outcome: &Outcome,
    supposed: HashMap<u32, Vec<u32>>,
) -> usize {
    let mut visible = Visible::new(case, names, &outcome.seen).supposing(supposed);
    let mut found = AtRisk::default();
    for sample in &outcome.samples {
        visible.advance(sample.step);
        faults(&mut found, names, &mut visible, (case, sample.step));
    }
    found.faults.len()
}

fn faults(
    found: &mut AtRisk,
    names: &Names,
    visible: &mut Visible<'_>,
    (case, step): (&Case, usize),
) {
    let uses = names.uses_at(step);
    found.uses += uses.len();
    if !visible.is_touched() {
        return;
    }
    for used in uses {
        let copies = names.copies_before(used);
        if visible.shows_name((used.name, used.message), copies) {
            continue;
        }
        let is_history = |message: u32| case.session.messages[message as usize].in_history;
        let mut latest = copies.iter().rev().map(|place| place.message);
        let Some(source) = latest.find(|message| is_history(*message)) else {
            continue;
        };
        visible.fetch(source, used.message + PAGE_IN);
        found.faults.push(Fault {
            step,
            message: used.message as usize,
            source: source as usize,
            name: used.name,
            refetch: case.ledger.message(source as usize),
        });
    }
}

fn edits(found: &mut AtRisk, names: &Names, visible: &Visible<'_>, step: usize) {
    for edit in names.edits.at(step) {
        found.edits += 1;
        if !visible.is_touched() {
            continue;
        }
        let lines = edit.lines.iter();
        let is_seen = |line: &&u32| visible.shows_phrase(**line, edit.context_end);
        let seen = lines.filter(is_seen).count();
        if 2 * seen < edit.lines.len() {
            found.blind_edits.push(BlindEdit {
                step,
                message: edit.message as usize,
                lines: edit.lines.len(),
                seen,
            });
        }
    }
}
