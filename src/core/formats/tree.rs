//! Trees of records that name their parents: paths to leaves, and other branches.

use super::notes::Notes;
use std::collections::HashMap;

/// Maximum number of branches that become separate conversations.
// Chosen: branches share their beginning with the main path, and each becomes a whole conversation in memory.
const MAX_BRANCHES: usize = 50;
/// Maximum total length of these branches, as a multiple of the number of records.
// Chosen: a file takes at most nine times the memory of its main conversation.
const MAX_RECORDS_FACTOR: usize = 8;
/// Maximum number of records of a branch that are searched for messages.
// Chosen: a branch begins with a message after a few other records. The limit keeps the time linear for a comb of
// branches.
const MAX_SEARCH: usize = 1000;

/// A forest of records, by their indices in the file.
#[derive(Debug)]
pub(super) struct Tree {
    parents: Vec<Option<usize>>,
    /// Records whose parent is missing. They are assumed to follow the record before them.
    orphans: Vec<usize>,
}

impl Tree {
    /// Builds the forest from each record's id and parent id, in file order. Records without an id follow the record
    /// before them. Of several records with one id, the last one is the parent.
    pub(super) fn new<'a>(
        records: impl Iterator<Item = (Option<&'a str>, Option<&'a str>)>,
    ) -> Self {
        let records: Vec<_> = records.collect();
        let by_id: HashMap<&str, usize> =
            records.iter().enumerate().filter_map(|(at, (id, _))| Some(((*id)?, at))).collect();
        let mut orphans = Vec::new();
        let parents = records.iter().enumerate().map(|(at, (id, parent))| {
            let before = at.checked_sub(1);
            match (id, parent) {
                (None, _) => before,
                (Some(_), None) => None,
                (Some(_), Some(parent)) => {
                    if let Some(parent) = by_id.get(parent).filter(|p| **p != at) {
                        Some(*parent)
                    } else {
                        orphans.push(at);
                        before
                    }
                }
            }
        });
        let parents = parents.collect();
        Self { parents, orphans }
    }

    /// Warns of each record whose parent is missing. `start` returns the position of a record in the file.
    pub(super) fn note_orphans(&self, start: impl Fn(usize) -> usize, notes: &mut Notes) {
        let text =
            "the previous entry is missing; this one is assumed to follow the line before it";
        self.orphans.iter().for_each(|at| notes.add(start(*at), text));
    }

    /// Returns the records on the path to a leaf, starting at the root. A cycle ends the path.
    pub(super) fn path(&self, leaf: usize) -> Vec<usize> {
        let mut is_on = vec![false; self.parents.len()];
        let mut path = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| is_on.get(*at) == Some(&false)) {
            is_on[at] = true;
            path.push(at);
            next = self.parents[at];
        }
        path.reverse();
        path
    }

    /// Returns the leaves of the branches besides `main` that have a message. The number and the total length of
    /// branches are limited.
    pub(super) fn others(&self, main: &[usize], is_message: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_main = vec![false; self.parents.len()];
        for at in main {
            is_main[*at] = true;
        }
        let has_message = |leaf: &usize| {
            let mut next = Some(*leaf);
            (0..MAX_SEARCH).any(|_| match next.filter(|at| !is_main[*at]) {
                Some(at) => {
                    next = self.parents[at];
                    is_message(at)
                }
                None => false,
            })
        };
        let mut left = MAX_RECORDS_FACTOR * self.parents.len();
        self.leaves()
            .into_iter()
            .filter(|at| !is_main[*at])
            .filter(has_message)
            .take(MAX_BRANCHES)
            .take_while(|leaf| {
                left = left.saturating_sub(self.path(*leaf).len());
                left > 0
            })
            .collect()
    }

    /// Returns the records without children, in file order.
    pub(super) fn leaves(&self) -> Vec<usize> {
        let mut is_parent = vec![false; self.parents.len()];
        for parent in self.parents.iter().flatten() {
            is_parent[*parent] = true;
        }
        (0..is_parent.len()).filter(|at| !is_parent[*at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn finds_paths_despite_cycles_and_missing_parents() {
        let records = [
            ("a", None),
            ("b", Some("a")),
            ("c", Some("a")),
            ("d", Some("lost")),
            ("e", Some("f")),
            ("f", Some("e")),
        ];
        let tree = Tree::new(records.iter().map(|(id, parent)| (Some(*id), *parent)));
        assert_eq!(tree.path(1), [0, 1]);
        assert_eq!(tree.path(3), [0, 2, 3]);
        assert_eq!(tree.orphans, [3]);
        assert_eq!(tree.path(5), [4, 5]);
        assert_eq!(tree.leaves(), [1, 3]);
        assert_eq!(tree.others(&tree.path(3), |_| true), [1]);
        assert_eq!(tree.others(&tree.path(3), |at| at != 1), [0; 0]);
    }

    #[test]
    fn records_without_ids_follow_one_another() {
        let tree = Tree::new([(None, None), (None, None), (None, None)].into_iter());
        assert_eq!((tree.path(2), tree.leaves()), (vec![0, 1, 2], vec![2]));
        let none = Tree::new(std::iter::empty());
        assert_eq!((none.path(0), none.leaves()), (vec![], vec![]));
    }
}
