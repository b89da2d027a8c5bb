//! `ContextFilterPlugin`: removes old turns from a request.

use super::event::{AdkEvent, AdkEventKind};
use super::pair::whole_split;

/// Removes all but the newest `keep` turns from `keep + at_least` turns on. Returns whether it removed something.
pub(super) fn filter(events: &mut Vec<AdkEvent>, keep: usize, at_least: usize) -> bool {
    if keep == 0 {
        return false;
    }
    let is_user = |at: usize| events[at].kind == AdkEventKind::User;
    let is_start = |at: &usize| is_user(*at) && at.checked_sub(1).is_none_or(|at| !is_user(at));
    let starts: Vec<usize> = (0..events.len()).filter(is_start).collect();
    if starts.len() < keep + at_least {
        return false;
    }
    let split = whole_split(events.iter(), starts[starts.len() - keep]);
    events.drain(..split);
    split > 0
}
