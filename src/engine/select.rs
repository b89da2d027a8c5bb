//! Which entries or tool results a stage takes: all of a kind but what is kept.
//!
//! Rules about the newest ("last n messages") are suffixes of the context: the earliest of them is the cut. Rules
//! about single entries ("system") spare them wherever they stand, and so does a person's pin.

use super::Case;
use super::context::{Entry, EntryBody};
use super::expr::{Expr, Moment};
use super::stages::{Boundary, Keep, Take};
use super::taken::Taken;
use super::working::Working;
use crate::session::Role;
use crate::units::Tokens;

/// The entries that are taken.
pub(super) fn messages(case: &Case, working: &Working<'_>, take: &Take, moment: &Moment) -> Taken {
    let entries = &working.context.entries;
    let cuts = take
        .keep
        .iter()
        .map(|keep| suffix(case, entries, keep, moment));
    let cut = safe(
        case,
        entries,
        cuts.min().unwrap_or(entries.len()),
        take.boundary,
    );
    let pins = case.pins();
    let is_held = |entry: &Entry| entry.message().is_some_and(|m| pins.holds(m));
    let is_taken = |entry: &Entry| {
        !take.keep.iter().any(|keep| spares(case, entry, keep))
            && (pins.is_empty() || !is_held(entry))
    };
    let mut taken = Vec::with_capacity(cut);
    taken.extend((0..cut).filter(|idx| is_taken(&entries[*idx])));
    Taken::new(&working.context, taken)
}

/// Tool results that are taken: always the oldest, since every rule spares the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OldestResults {
    /// So many of the live ones, but what a person pinned among them.
    pub(super) oldest: usize,
    /// How many that leaves.
    pub(super) count: usize,
    /// What these weigh on the policy's own meter.
    pub(super) metered: Tokens,
}

/// The live tool results that are taken. A pin holds a result itself; one whose call is pinned may be emptied, since
/// the pair stays.
pub(super) fn tool_results(
    case: &Case,
    working: &Working<'_>,
    take: &Take,
    moment: &Moment,
) -> OldestResults {
    let entries = &working.context.entries;
    let mut until_message = u32::MAX;
    let mut protect = 0.0;
    for keep in &take.keep {
        match keep {
            Keep::LastToolTokens(n) => protect = n.value(moment).max(protect),
            // By message rather than by entry: nothing is searched when this spares everything.
            Keep::LastTurns(n) => {
                until_message =
                    until_message.min(turn_start(case, working.context.messages_end, n, moment));
            }
            Keep::LastMessages(_) | Keep::LastTokens(_) => {
                let cut = suffix(case, entries, keep, moment);
                until_message =
                    until_message.min(entries.get(cut).map_or(u32::MAX, Entry::position));
            }
            Keep::System | Keep::FirstUser => {}
        }
    }
    // From the oldest: a result is spared as soon as it and all newer ones fit under the protection.
    let protect = protect as u64;
    let mut newer = working.live_metered;
    let pins = case.pins();
    let (mut oldest, mut pinned) = (0, (0, 0));
    for result in &working.live {
        if newer <= protect || result.message >= until_message {
            break;
        }
        newer -= u64::from(result.metered);
        oldest += 1;
        if !pins.is_empty() && pins.is_pinned(result.message) {
            pinned = (pinned.0 + 1, pinned.1 + u64::from(result.metered));
        }
    }
    OldestResults {
        oldest,
        count: oldest - pinned.0,
        metered: Tokens(working.live_metered - newer - pinned.1),
    }
}

/// The first entry that a rule about the newest keeps.
fn suffix(case: &Case, entries: &[Entry], keep: &Keep, moment: &Moment) -> usize {
    match keep {
        Keep::System | Keep::FirstUser | Keep::LastToolTokens(_) => entries.len(),
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
        Keep::LastTurns(n) => {
            let end = entries
                .iter()
                .filter_map(Entry::message)
                .max()
                .map_or(0, |m| m as usize + 1);
            let start = turn_start(case, end, n, moment);
            first_kept(entries, |entry| entry.position() >= start)
        }
    }
}

/// The first of the last entries that all satisfy `is_kept`, which is asked from the newest on.
fn first_kept(entries: &[Entry], mut is_kept: impl FnMut(&Entry) -> bool) -> usize {
    entries
        .iter()
        .rposition(|entry| !is_kept(entry))
        .map_or(0, |idx| idx + 1)
}

/// The message at which the newest `n` turns begin, the current one counted; everything is newer if `n` is 0.
fn turn_start(case: &Case, messages_end: usize, n: &Expr, moment: &Moment) -> u32 {
    let n = n.value(moment);
    if n < 1.0 {
        return u32::MAX;
    }
    let current = messages_end
        .checked_sub(1)
        .map_or(0, |last| case.session.messages[last].turn);
    let first = (f64::from(current) - n + 1.0).max(0.0) as usize;
    case.index.turn_start.get(first).copied().unwrap_or(0)
}

/// Moves a cut towards the oldest until it is where it may fall.
fn safe(case: &Case, entries: &[Entry], cut: usize, boundary: Boundary) -> usize {
    let mut cut = cut;
    match boundary {
        Boundary::None => {}
        Boundary::Turn => {
            let opens = |entry: &Entry| {
                entry
                    .message()
                    .is_some_and(|m| case.index.opens_turn[m as usize])
            };
            while cut > 0 && cut < entries.len() && !opens(&entries[cut]) {
                cut -= 1;
            }
        }
        Boundary::Pair => {
            let first_call = |entry: &Entry| {
                entry
                    .message()
                    .map_or(u32::MAX, |m| case.index.first_call[m as usize])
            };
            let mut needed = entries[cut..]
                .iter()
                .map(first_call)
                .min()
                .unwrap_or(u32::MAX);
            while cut > 0 && entries[cut - 1].position() >= needed {
                cut -= 1;
                needed = needed.min(first_call(&entries[cut]));
            }
        }
    }
    cut
}

fn spares(case: &Case, entry: &Entry, keep: &Keep) -> bool {
    match keep {
        Keep::System => is_system(case, entry),
        Keep::FirstUser => entry.message().is_some() && entry.message() == case.index.first_user,
        _ => false,
    }
}

/// The system prompt and the tools: instructions that stand before everything else. Instructions in the middle of
/// the conversation are part of it.
fn is_system(case: &Case, entry: &Entry) -> bool {
    match &entry.body {
        EntryBody::Written(written) => written.role == Role::System,
        _ => entry.message().is_some_and(|m| m < case.index.preamble_end),
    }
}
