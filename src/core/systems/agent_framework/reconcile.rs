//! `_reconcile_compaction_summaries`: after each call, the messages of the turn get the summaries that replace only them.
//! All others are undone: the messages that they replaced are included again. In the harness, these are the messages of
//! the call's input.

use super::marked::Marked;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Identities of the messages that a summary replaces, directly or not.
type Roots = BTreeSet<u64>;

/// Adds summaries to the transcript of the turn, a list of identities of `list`, and undoes all others.
pub(super) fn reconcile(list: &mut [Marked], transcript: &mut Vec<u64>) {
    if list.iter().all(|message| message.summary_of.is_empty()) {
        return;
    }
    let own: HashSet<u64> = transcript.iter().copied().collect();
    let positions = list.iter().enumerate();
    let positions: HashMap<u64, usize> = positions.map(|(at, m)| (m.uid, at)).collect();
    let mut known: HashMap<Arc<str>, Option<Roots>> = HashMap::new();
    for uid in &*transcript {
        if let Some(id) = &list[positions[uid]].id {
            let roots = Some(Roots::from([*uid]));
            known.entry(Arc::clone(id)).and_modify(|same| *same = None).or_insert(roots);
        }
    }
    let own_ids: HashSet<Arc<str>> = known.keys().cloned().collect();
    let is_candidate =
        |at: &usize| !own.contains(&list[*at].uid) && !list[*at].summary_of.is_empty();
    let candidates: Vec<usize> = (0..list.len()).filter(is_candidate).collect();
    let accepted = accepted(list, &candidates, known);
    for at in transcript.iter().map(|uid| positions[uid]).chain(candidates.iter().copied()) {
        let message = &mut list[at];
        let is_undone = |id: &mut Arc<str>| !accepted.contains_key(id) && !own_ids.contains(id);
        if message.summarized_by.take_if(is_undone).is_some() {
            message.is_excluded = false;
        }
    }
    for at in candidates {
        let roots = list[at].id.as_ref().and_then(|id| accepted.get(id));
        if let Some(roots) = roots {
            let first = transcript.iter().position(|uid| roots.contains(uid));
            transcript.insert(first.unwrap_or(transcript.len()), list[at].uid);
        }
    }
}

/// Returns the summaries that replace only messages of the turn, with these.
fn accepted(
    list: &[Marked],
    candidates: &[usize],
    mut known: HashMap<Arc<str>, Option<Roots>>,
) -> HashMap<Arc<str>, Roots> {
    // Of two summaries with one id, neither counts.
    let mut pending: BTreeMap<Arc<str>, Option<&[Arc<str>]>> = BTreeMap::new();
    for at in candidates {
        if let Some(id) = &list[*at].id {
            let replaced = Some(&*list[*at].summary_of);
            pending.entry(Arc::clone(id)).and_modify(|same| *same = None).or_insert(replaced);
        }
    }
    let mut accepted = HashMap::new();
    loop {
        let mut new: Vec<(Arc<str>, Roots)> = Vec::new();
        for (id, replaced) in &pending {
            let roots = replaced.and_then(|replaced| {
                let roots = replaced.iter().map(|id| known.get(id)?.as_ref());
                let roots: Option<Vec<&Roots>> = roots.collect();
                Some(roots?.into_iter().flatten().copied().collect::<Roots>())
            });
            let is_same = |roots: &Roots| known.get(id).is_none_or(|k| k.as_ref() == Some(roots));
            new.extend(roots.filter(is_same).map(|roots| (Arc::clone(id), roots)));
        }
        if new.is_empty() {
            return accepted;
        }
        for (id, roots) in new {
            pending.remove(&id);
            known.insert(Arc::clone(&id), Some(roots.clone()));
            accepted.insert(id, roots);
        }
    }
}
