//! References at risk: uses of content that a run's context no longer contained.

mod best;

use super::names::Names;
use super::visible::Visible;
use crate::engine::{Case, Outcome};
use crate::units::Tokens;
use std::collections::HashMap;

/// Number of messages for which missing content counts as fetched again, so that one loss counts once, not at every
/// use.
///
/// Without it, a single loss counts dozens of times. Chosen: 40 messages are about 20 calls. Half as many count a file
/// twice on which an agent works for a while; with twice as many, a second loss is missed.
pub const PAGE_IN: u32 = 40;

/// Content that the recorded answers used and that a run's calls lacked.
///
/// A predicted summary counts as empty, so this is an upper bound. [`Self::fewest`] is the count if each summary had
/// contained the names used most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtRisk {
    /// Uses of earlier names by answers: the maximum that could be at risk.
    pub uses: usize,
    /// References at risk, by call.
    pub faults: Vec<Fault>,
    /// Edits of earlier text: the maximum that could be blind.
    pub edits: usize,
    /// Edits of text that the context lacked, by call.
    pub blind_edits: Vec<BlindEdit>,
    /// Index of the first call with a reference at risk or a blind edit (the fidelity horizon).
    pub horizon: Option<usize>,
    /// Tokens of the missing messages: the minimum to fetch them again.
    pub refetch: Tokens,
    /// References at risk if every predicted summary contained, within its size, the names used most.
    pub fewest: usize,
}

/// A reference at risk: an answer used a name of which the context had no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the call whose answer used it.
    pub call: usize,
    /// Index of the message that used it.
    pub message: usize,
    /// Index of the last earlier message with the name.
    pub source: usize,
    /// Its index in [`Names::word`].
    pub name: u32,
    /// Actual tokens of that message.
    pub refetch: Tokens,
}

/// An edit of text that the context no longer contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindEdit {
    /// Index of the call whose answer contains it.
    pub call: usize,
    /// Index of the message.
    pub message: usize,
    /// Lines of the old text that are long enough to compare.
    pub lines: usize,
    /// Number of these lines in the context.
    pub seen: usize,
}

/// Returns the edits of a run whose text the context lacked, by call; `names` is the index of the case's session.
pub fn blind_edits(names: &Names, case: &Case, outcome: &Outcome) -> Vec<BlindEdit> {
    let mut found = AtRisk::default();
    if names.edits.all().is_empty() {
        return found.blind_edits;
    }
    let mut visible = Visible::new(case, names, &outcome.received);
    for sample in &outcome.samples {
        visible.advance(sample.call);
        edits(&mut found, names, &visible, sample.call);
    }
    found.blind_edits
}

/// Computes the references at risk of a run; `names` is the index of the case's session.
pub fn references_at_risk(names: &Names, case: &Case, outcome: &Outcome) -> AtRisk {
    let mut visible = Visible::new(case, names, &outcome.received);
    let mut found = AtRisk::default();
    for sample in &outcome.samples {
        visible.advance(sample.call);
        edits(&mut found, names, &visible, sample.call);
        faults(&mut found, names, &mut visible, case, sample.call);
    }
    let first_fault = found.faults.first().map(|fault| fault.call);
    let first_edit = found.blind_edits.first().map(|edit| edit.call);
    found.horizon = first_fault.into_iter().chain(first_edit).min();
    found.refetch = found.faults.iter().map(|fault| fault.refetch).sum();
    found.fewest = best::fewest(names, case, outcome, found.faults.len());
    found
}

/// Counts the references at risk if these texts contained these names.
fn supposing(
    names: &Names,
    case: &Case,
    outcome: &Outcome,
    supposed: HashMap<u32, Vec<u32>>,
) -> usize {
    let mut visible = Visible::new(case, names, &outcome.received).supposing(supposed);
    let mut found = AtRisk::default();
    for sample in &outcome.samples {
        visible.advance(sample.call);
        faults(&mut found, names, &mut visible, case, sample.call);
    }
    found.faults.len()
}

fn faults(found: &mut AtRisk, names: &Names, visible: &mut Visible<'_>, case: &Case, call: usize) {
    let uses = names.uses_at(call);
    found.uses += uses.len();
    if !visible.is_touched() {
        return;
    }
    for used in uses {
        let copies = names.copies_before(used);
        if visible.shows_name(used.name, used.message, copies) {
            continue;
        }
        let is_history = |message: u32| case.session.messages[message as usize].in_history;
        let mut latest = copies.iter().rev().map(|place| place.message);
        let Some(source) = latest.find(|message| is_history(*message)) else {
            continue;
        };
        visible.fetch(source, used.message + PAGE_IN);
        found.faults.push(Fault {
            call,
            message: used.message as usize,
            source: source as usize,
            name: used.name,
            refetch: case.ledger.message(source as usize),
        });
    }
}

fn edits(found: &mut AtRisk, names: &Names, visible: &Visible<'_>, call: usize) {
    for edit in names.edits.at(call) {
        found.edits += 1;
        if !visible.is_touched() {
            continue;
        }
        let lines = edit.lines.iter();
        let is_seen = |line: &&u32| visible.shows_phrase(**line, edit.context_end);
        let seen = lines.filter(is_seen).count();
        if 2 * seen < edit.lines.len() {
            found.blind_edits.push(BlindEdit {
                call,
                message: edit.message as usize,
                lines: edit.lines.len(),
                seen,
            });
        }
    }
}
