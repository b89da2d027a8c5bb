//! Finds the tool results that the action `dedupe` replaces by pointers.

use super::shorten::Shortened;
use crate::engine::case::Case;
use crate::engine::context::Left;
use crate::engine::policy::stages::Dedupe;
use crate::engine::working::Working;
use crate::session::Body;
use crate::units::Tokens;
use std::collections::HashMap;

/// Returns the pointers for the live results at these positions (ascending). Each names the newest identical result that is
/// whole. A pointer to a result that becomes a pointer itself is replaced, so that no pointer leads to another.
pub(super) fn dedupe(
    case: &Case,
    working: &Working<'_>,
    dedupe: &Dedupe,
    places: &[usize],
) -> Shortened {
    let newest = newest_copies(case, working);
    let pointer_to = |nth: usize| pointer(case, dedupe, working.live[nth].part as usize);
    let mut pointers = Shortened::new(Left::Elsewhere);
    let mut add = |nth: usize, text: &str, pointer: String| {
        pointers.gone += Tokens::from(working.meter.weigh_part(case, text));
        pointers.left += Tokens::from(working.meter.weigh_part(case, &pointer));
        pointers.results.push((nth, pointer.into()));
    };
    let weigh = |text: &str| working.meter.weigh_part(case, text);
    // The new pointers, by those to the results that they replace.
    let mut followers: HashMap<String, String> = HashMap::new();
    let mut others = Vec::new();
    for nth in places.iter().copied() {
        let Some((text, left)) = working.live_content(nth) else {
            continue;
        };
        let part = working.live[nth].part as usize;
        let copy = case.index.repeats.identical(part).and_then(|first| newest.get(&first));
        let pointer = copy.filter(|copy| **copy > nth).map(|copy| pointer_to(*copy));
        match (pointer, left) {
            (Some(pointer), Left::Elsewhere) if pointer != text => add(nth, text, pointer),
            (Some(pointer), Left::All | Left::Some) if weigh(&pointer) < weigh(text) => {
                followers.insert(pointer_to(nth), pointer.clone());
                add(nth, text, pointer);
            }
            (None, Left::All) => others.push((nth, text)),
            _ => {}
        }
    }
    // The file may have pointers of an earlier compaction.
    for (nth, text) in others {
        if let Some(pointer) = followers.get(text) {
            add(nth, text, pointer.clone());
        }
    }
    pointers.results.sort_unstable_by_key(|(nth, _)| *nth);
    pointers
}

/// Returns the position of the newest whole copy among the live results, by the part of the first identical result. Only
/// results with several copies are searched.
fn newest_copies(case: &Case, working: &Working<'_>) -> HashMap<usize, usize> {
    let identical = |nth: usize| case.index.repeats.identical(working.live[nth].part as usize);
    let mut copies: HashMap<usize, usize> = HashMap::new();
    for first in (0..working.live.len()).filter_map(identical) {
        *copies.entry(first).or_default() += 1;
    }
    copies.retain(|_, n| *n > 1);
    let mut newest = HashMap::with_capacity(copies.len());
    for nth in (0..working.live.len()).rev() {
        if let Some(first) = identical(nth)
            && copies.contains_key(&first)
            && !newest.contains_key(&first)
            && working.live_content(nth).is_some_and(|(_, left)| left == Left::All)
        {
            newest.insert(first, nth);
        }
    }
    newest
}

/// Returns the pointer to a result.
fn pointer(case: &Case, dedupe: &Dedupe, part: usize) -> String {
    let session = &case.session;
    let tool = case.index.calls.tool_of(session, part).unwrap_or_default();
    match &session.parts[part].body {
        Body::ToolResult { call, .. } => dedupe.pointer_to(call, tool),
        _ => String::new(),
    }
}
