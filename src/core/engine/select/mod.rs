//! Selects the entries or tool results that a stage takes: all of a kind except those that it keeps.
//!
//! Rules about the newest ("last n messages") keep a suffix of the context: the earliest of them is the cut. Rules
//! about single entries ("system") keep them at any position, and so does a pin.
mod kept;

use crate::engine::case::Case;
use crate::engine::context::Entry;
use crate::engine::context::taken::Taken;
use crate::engine::expr::{Expr, Moment};
use crate::engine::policy::stages::{Boundary, Keep, Results, Take};
use crate::engine::working::{Live, LiveResult, Which, Working};
use crate::session::{Body, Role};
use crate::units::Tokens;
use kept::{KeptEntries, is_system};

/// Returns the entries that are taken.
pub(super) fn messages(case: &Case, working: &Working<'_>, take: &Take, moment: &Moment) -> Taken {
    let entries = &working.context.entries;
    let cuts = take.keep.iter().map(|keep| suffix(case, entries, keep, moment));
    let cut = safe(case, entries, cuts.min().unwrap_or(entries.len()), take.boundary);
    let kept = KeptEntries::new(case, entries, take, moment);
    let pins = case.pins();
    let is_held = |entry: &Entry| entry.message().is_some_and(|m| pins.holds(m));
    let is_taken = |idx: &usize| {
        let entry = &entries[*idx];
        !kept.holds(case, *idx, entry) && (pins.is_empty() || !is_held(entry))
    };
    let mut taken = Vec::with_capacity(cut);
    taken.extend((0..cut).filter(is_taken));
    if let Some(most) = &take.oldest {
        let most = most.value(moment).max(0.0) as usize;
        if let Some(end) = taken.get(most) {
            let end = safe(case, entries, *end, take.boundary);
            taken.retain(|idx| *idx < end);
        }
    }
    Taken::new(&working.context, taken)
}

/// Returns the live tool results that are taken, with their weight on the policy's own meter. These are always the
/// oldest of those that the stage applies to, since every rule keeps the newest. A pinned result stays; a result whose
/// call is pinned may be cleared, since the pair stays.
#[inline]
pub(super) fn tool_results(
    case: &Case,
    working: &Working<'_>,
    take: &Take,
    moment: &Moment,
) -> (Which, Tokens) {
    let kept = KeptResults::new(case, working, take, moment);
    if take.results.are_all() && case.pins().is_empty() {
        let (n, gone) = kept.oldest(&working.live);
        return (Which::Oldest(n), gone);
    }
    let (mut places, mut about) = (Vec::new(), Live::default());
    for (place, result) in working.live.iter().enumerate() {
        if is_about(case, working, &take.results, result) {
            places.push(place);
            about.push(*result);
        }
    }
    let (n, gone) = kept.oldest(&about);
    places.truncate(n);
    let mut held = 0;
    places.retain(|place| {
        let result = &working.live[*place];
        let is_pinned = case.pins().is_pinned(result.message);
        held += u64::from(result.metered) * u64::from(is_pinned);
        !is_pinned
    });
    (Which::At(places), gone - Tokens(held))
}

/// The tool results that the rules of one stage keep.
struct KeptResults {
    /// Results in this message and later ones.
    from_message: u32,
    /// The newest results up to this total weight.
    protect: u64,
    /// Number of the newest results.
    newest: usize,
}

impl KeptResults {
    fn new(case: &Case, working: &Working<'_>, take: &Take, moment: &Moment) -> Self {
        let entries = &working.context.entries;
        let (mut from_message, mut protect, mut newest) = (u32::MAX, 0.0, 0.0);
        for keep in &take.keep {
            match keep {
                Keep::LastToolTokens(n) => protect = n.value(moment).max(protect),
                Keep::LastResults(n) => newest = n.value(moment).max(newest),
                // By message rather than by entry: no search is needed if this keeps everything.
                Keep::LastTurns(n) => {
                    let start = turn_start(case, working.context.messages_end, n, moment);
                    from_message = from_message.min(start);
                }
                Keep::LastMessages(_) | Keep::LastTokens(_) => {
                    let cut = suffix(case, entries, keep, moment);
                    let position = entries.get(cut).map_or(u32::MAX, Entry::position);
                    from_message = from_message.min(position);
                }
                // Apply to messages only.
                Keep::System
                | Keep::FirstUser
                | Keep::FirstMessages(_)
                | Keep::LastAnswers(_)
                | Keep::LastUser
                | Keep::UserTokens(_) => {}
            }
        }
        Self { from_message, protect: protect as u64, newest: newest as usize }
    }

    /// Returns the number of oldest results that are taken, with their weight.
    fn oldest(&self, live: &Live) -> (usize, Tokens) {
        let most = live.len().saturating_sub(self.newest);
        live.oldest(most, self.protect, self.from_message)
    }
}

/// Returns whether a stage applies to a tool result.
fn is_about(case: &Case, working: &Working<'_>, about: &Results, result: &LiveResult) -> bool {
    let part = result.part as usize;
    let tool = match &case.session.parts[part].body {
        Body::ToolResult { tool, .. } => tool,
        _ => "",
    };
    let again = || case.index.repeated_in[part] < working.context.messages_end as u32;
    about.are_of(tool) && (!about.repeated || again())
}

/// Returns the first entry that a rule about the newest keeps.
fn suffix(case: &Case, entries: &[Entry], keep: &Keep, moment: &Moment) -> usize {
    match keep {
        Keep::LastMessages(n) => {
            let wanted = n.value(moment);
            let mut count = 0.0;
            first_kept(entries, |entry| {
                count += f64::from(u8::from(!is_system(case, entry)));
                count <= wanted
            })
        }
        Keep::LastTokens(n) => {
            let wanted = n.value(moment);
            let mut sum = 0.0;
            first_kept(entries, |entry| {
                sum += f64::from(entry.metered);
                sum <= wanted
            })
        }
        Keep::LastAnswers(n) => {
            let wanted = n.value(moment);
            let (mut count, mut newest) = (0.0, None);
            first_kept(entries, |entry| match answer(case, entry) {
                None => count < wanted,
                answer if answer == newest => true,
                answer => {
                    newest = answer;
                    count += 1.0;
                    count <= wanted
                }
            })
        }
        Keep::LastTurns(n) => {
            let end = entries.iter().filter_map(Entry::message).max().map_or(0, |m| m as usize + 1);
            let start = turn_start(case, end, n, moment);
            first_kept(entries, |entry| entry.position() >= start)
        }
        Keep::System
        | Keep::FirstUser
        | Keep::FirstMessages(_)
        | Keep::LastUser
        | Keep::UserTokens(_)
        | Keep::LastToolTokens(_)
        | Keep::LastResults(_) => entries.len(),
    }
}

/// Returns the call whose answer contains an entry of the session; its index if the call is unknown.
fn answer(case: &Case, entry: &Entry) -> Option<u32> {
    let index = entry.message()?;
    let message = &case.session.messages[index as usize];
    (message.role == Role::Assistant).then(|| message.call.map_or(index, |call| call as u32))
}

/// Returns the first of the last entries that all satisfy `is_kept`, which is called from the newest on.
fn first_kept(entries: &[Entry], mut is_kept: impl FnMut(&Entry) -> bool) -> usize {
    entries.iter().rposition(|entry| !is_kept(entry)).map_or(0, |idx| idx + 1)
}

/// Returns the first message of the newest `n` turns, including the current one; the end of the context if `n` is 0.
fn turn_start(case: &Case, messages_end: usize, n: &Expr, moment: &Moment) -> u32 {
    newest_turns(case, messages_end, n.value(moment))
}

/// Returns the first message of the newest `n` turns.
fn newest_turns(case: &Case, messages_end: usize, n: f64) -> u32 {
    if n < 1.0 {
        return u32::MAX;
    }
    let current = messages_end.checked_sub(1).map_or(0, |last| case.index.turn(last));
    let first = oldest_turn(current, n);
    case.index.turn_start.get(first).copied().unwrap_or(0)
}

/// Returns the first of the newest `n` turns, including the current one.
pub(super) fn oldest_turn(current: u32, n: f64) -> usize {
    (f64::from(current) - n + 1.0).max(0.0) as usize
}

/// Moves a cut towards the oldest entry until the boundary allows it.
fn safe(case: &Case, entries: &[Entry], cut: usize, boundary: Boundary) -> usize {
    let mut cut = cut;
    match boundary {
        Boundary::None => {}
        Boundary::Turn | Boundary::NextTurn => {
            let opens =
                |entry: &Entry| entry.message().is_some_and(|m| case.index.opens_turn[m as usize]);
            if boundary == Boundary::NextTurn
                && let Some(next) = entries[cut..].iter().position(opens)
            {
                return cut + next;
            }
            if boundary == Boundary::NextTurn {
                cut = cut.min(entries.len().saturating_sub(1));
            }
            while cut > 0 && cut < entries.len() && !opens(&entries[cut]) {
                cut -= 1;
            }
        }
        Boundary::Pair => {
            let first_call = |entry: &Entry| {
                entry.message().map_or(u32::MAX, |m| case.index.first_call[m as usize])
            };
            let mut needed = entries[cut..].iter().map(first_call).min().unwrap_or(u32::MAX);
            while cut > 0 && entries[cut - 1].position() >= needed {
                cut -= 1;
                needed = needed.min(first_call(&entries[cut]));
            }
        }
    }
    cut
}
