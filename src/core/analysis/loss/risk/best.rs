//! References at risk with the best possible summaries, if their text is predicted: each contains the names used most
//! while it was in the context, within its size.

use super::supposing;
use crate::analysis::loss::names::Names;
use crate::analysis::loss::visible::Visible;
use crate::engine::{Case, Outcome};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Number of uses of a name while a predicted text was in the context, by text and name.
type Demand = BTreeMap<(u32, u32), usize>;

/// Returns the number of references that stay at risk, of `faults`.
pub(super) fn fewest(names: &Names, case: &Case, outcome: &Outcome, faults: usize) -> usize {
    let texts = &outcome.received.texts;
    if faults == 0 || !texts.iter().any(|text| text.is_predicted) {
        return faults;
    }
    let demand = demand(names, case, outcome);
    if demand.is_empty() {
        return faults;
    }
    let mut by_text: HashMap<u32, Vec<(usize, u32)>> = HashMap::new();
    for ((text, name), n) in demand {
        by_text.entry(text).or_default().push((n, name));
    }
    let held = by_text.into_iter().map(|(text, mut asked)| {
        asked.sort_by_key(|(n, name)| (Reverse(*n), *name));
        let mut room = u64::from(texts[text as usize].tokens);
        let fits = |(_, name): &(usize, u32)| {
            // A name takes a separator with it.
            let weight = case.ledger.weigh(names.word(*name)).0 + 1;
            let fits = weight <= room;
            room -= if fits { weight } else { 0 };
            fits
        };
        let held: Vec<_> = asked.into_iter().filter(fits).collect();
        (text, held.into_iter().map(|(_, name)| name).collect())
    });
    // Two summaries may contain the same name.
    supposing(names, case, outcome, held.collect()).min(faults)
}

fn demand(names: &Names, case: &Case, outcome: &Outcome) -> Demand {
    let mut visible = Visible::new(case, names, &outcome.received);
    let mut demand = Demand::new();
    let mut written_before: HashMap<u32, u32> = HashMap::new();
    for sample in &outcome.samples {
        visible.advance(sample.call);
        let predicted: Vec<u32> = visible.predicted().collect();
        let end = case.session.calls[sample.call].context_end as u32;
        for text in &predicted {
            written_before.entry(*text).or_insert(end);
        }
        for used in names.uses_at(sample.call) {
            let copies = names.copies_before(used);
            if predicted.is_empty() || visible.shows_name(used.name, used.message, copies) {
                continue;
            }
            let first = copies.first().map_or(u32::MAX, |place| place.message);
            for text in &predicted {
                // A summary can only contain names that occurred before it was written.
                if first < written_before[text] {
                    *demand.entry((*text, used.name)).or_default() += 1;
                }
            }
        }
    }
    demand
}
