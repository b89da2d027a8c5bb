//! Groups of messages that are kept or excluded whole.

use super::history::{History, Settled};
use super::marked::{Group, Kind, Marked};
use crate::chat::ChatMessage;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// A group with the positions of its messages.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) id: Arc<str>,
    /// Kind of its first message.
    pub(super) kind: Kind,
    pub(super) at: Vec<usize>,
}

impl Members {
    /// Returns whether any of its messages is included.
    pub(super) fn is_included(&self, list: &[Marked]) -> bool {
        self.at.iter().any(|at| !list[*at].is_excluded)
    }

    /// Excludes all messages of the group. Returns whether any was included.
    pub(super) fn exclude(&self, list: &mut [Marked]) -> bool {
        let changed = self.is_included(list);
        for at in &self.at {
            list[*at].is_excluded = true;
        }
        changed
    }
}

/// Returns the groups of messages in the order of their first message.
pub(super) fn groups(list: &[Marked]) -> Vec<Members> {
    let mut groups: Vec<Members> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, message) in list.iter().enumerate() {
        let Some(group) = &message.group else {
            continue;
        };
        // Most groups are neighbours.
        if let Some(last) = groups.last_mut().filter(|last| last.id == group.id) {
            last.at.push(at);
            continue;
        }
        let nth = *known.entry(&group.id).or_insert_with(|| {
            groups.push(Members { id: Arc::clone(&group.id), kind: group.kind, at: Vec::new() });
            groups.len() - 1
        });
        groups[nth].at.push(at);
    }
    groups
}

/// `annotate_message_groups`: groups the messages that are new, or those from a position on.
pub(super) fn annotate(list: &mut History, from: Option<usize>) {
    let (settled, list) = list.parts();
    let first_new = || list.iter().position(|message| message.group.is_none());
    let Some(start) = from.or_else(first_new) else {
        return;
    };
    let start = start_of_group_before(list, start.min(list.len().saturating_sub(1)));
    let start = start_of_calls(list, start);
    let (known, new) = list.split_at_mut(start);
    add_ids(new, known, settled);
    let spans = linked(new, spans(new));
    let mut n_spans: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, group) in &spans {
        *n_spans.entry(&group.id).or_default() += 1;
    }
    let mut joined: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (range, group) in &spans {
        for at in range.clone() {
            new[at].group = Some(group.clone());
            if n_spans[&*group.id] > 1 {
                joined.entry(&group.id).or_default().push(at);
            }
        }
    }
    for members in joined.values() {
        if members.iter().any(|at| !new[*at].is_excluded) {
            for at in members {
                new[*at].is_excluded = false;
            }
        }
    }
}

/// Inserts a message in place of others.
pub(super) fn insert(
    list: &mut History,
    at: usize,
    message: ChatMessage,
    (id, summary_of): (Arc<str>, Vec<Arc<str>>),
) {
    let uid = list.iter().map(|message| message.uid).max().unwrap_or(0) + 1;
    let inserted = Marked { uid, id: Some(id), summary_of, ..Marked::new(message) };
    list.insert(at, inserted);
    annotate(list, Some(at));
}

fn start_of_group_before(list: &[Marked], at: usize) -> usize {
    let Some(mut start) = at.checked_sub(1) else {
        return 0;
    };
    let id = |at: usize| list[at].group.as_ref().map(|group| &group.id);
    let group = id(start);
    while group.is_some() && start > 0 && id(start - 1) == group {
        start -= 1;
    }
    start
}

/// Moves a start back to the calls that results behind it answer.
fn start_of_calls(list: &[Marked], start: usize) -> usize {
    let answered: HashSet<&str> = list[start..].iter().flat_map(Marked::result_ids).collect();
    if start == 0 || answered.is_empty() {
        return start;
    }
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut earliest = start;
    for (at, message) in list.iter().enumerate() {
        for id in message.call_ids().filter(|id| answered.contains(id)) {
            open.entry(id).or_default().push(at);
        }
        for id in message.result_ids() {
            let Some(calls) = open.get_mut(id).filter(|calls| !calls.is_empty()) else {
                continue;
            };
            if at >= start {
                let before = calls.iter().copied().filter(|call| *call < start);
                earliest = before.fold(earliest, usize::min);
            }
            if calls.len() == 1 {
                calls.pop();
            }
        }
    }
    if earliest == start {
        return start;
    }
    start_of_group_before(list, earliest + 1)
}

/// Gives ids to messages without one. `known` are the messages before them, behind the settled ones.
fn add_ids(list: &mut [Marked], known: &[Marked], settled: &Settled) {
    let n_new = list.iter().filter(|message| message.id.is_none()).count();
    let end = settled.n + known.len() + list.len();
    let mut taken: HashSet<Arc<str>> = HashSet::new();
    if n_new > FEW {
        taken = known.iter().chain(&*list).filter_map(|message| message.id.clone()).collect();
    }
    for nth in 0..list.len() {
        if list[nth].id.is_some() {
            continue;
        }
        let is_taken = |id: &Arc<str>| {
            let mut messages = known.iter().chain(&*list);
            let is_known = if n_new > FEW {
                taken.contains(id)
            } else {
                messages.any(|message| message.id.as_ref() == Some(id))
            };
            is_known || settled.has_id(id)
        };
        let numbers = std::iter::once(settled.n + known.len() + nth).chain(end..);
        let mut ids = numbers.map(|number| Arc::from(format!("msg_{number}")));
        let id: Option<Arc<str>> = ids.find(|id| !is_taken(id));
        taken.extend(id.clone());
        list[nth].id = id;
    }
}

/// Number of new ids for which a search through all ids is faster than a set of them.
// Chosen: usually one or two messages are new at a call, and building a set of all ids would take longer than looking
// at them once for each.
const FEW: usize = 8;

/// Returns the ranges of neighbouring messages that are a group.
fn spans(list: &[Marked]) -> Vec<(Range<usize>, Group)> {
    let mut spans = Vec::new();
    let mut start = 0;
    let skip = |from: usize, is_skipped: &dyn Fn(&Marked) -> bool| {
        from + list[from..].iter().take_while(|m| is_skipped(m)).count()
    };
    let has_calls = |at: usize| {
        list.get(at).is_some_and(|m| m.role() == "assistant" && m.calls().next().is_some())
    };
    while let Some(message) = list.get(start) {
        let call = skip(start, &Marked::is_reasoning_only);
        let (kind, end) = match message.role() {
            "system" => (Kind::System, start + 1),
            "user" => (Kind::User, start + 1),
            _ if has_calls(call) => {
                let results = skip(call + 1, &Marked::is_reasoning_only);
                (Kind::ToolCall, skip(results, &|m| m.role() == "tool"))
            }
            "tool" => (Kind::ToolCall, skip(start, &|m| m.role() == "tool")),
            _ => (Kind::AssistantText, start + 1),
        };
        let id = format!("group_{}", message.id.as_deref().unwrap_or_default());
        let group = Group { id: id.into(), kind };
        spans.push((start..end, group));
        start = end;
    }
    spans
}

/// Adds results that are further away to the group of their call, if only one call has their id. Pairs of spans are
/// joined like sets: each span has a root, and joining two gives all spans of the later root the earlier one.
fn linked(list: &[Marked], mut spans: Vec<(Range<usize>, Group)>) -> Vec<(Range<usize>, Group)> {
    let span_at = |at: usize| spans.partition_point(|(range, _)| range.end <= at);
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (at, message) in list.iter().enumerate() {
        for id in message.call_ids() {
            open.entry(id).or_default().push(at);
        }
        for id in message.result_ids() {
            if let Some(calls) = open.get_mut(id).filter(|calls| calls.len() == 1) {
                let call = calls.pop().map_or(at, |call| call);
                pairs.insert((span_at(call), span_at(at)));
            }
        }
    }
    let mut roots: Vec<usize> = (0..spans.len()).collect();
    for (call, result) in pairs.into_iter().filter(|(call, result)| call < result) {
        let (one, other) = (roots[call], roots[result]);
        let (first, second) = (one.min(other), one.max(other));
        for root in roots.iter_mut().filter(|root| **root == second) {
            *root = first;
        }
    }
    for (nth, root) in roots.into_iter().enumerate() {
        spans[nth].1.id = Arc::clone(&spans[root].1.id);
    }
    spans
}
