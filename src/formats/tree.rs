//! Records that name the one before them: the way to a leaf, and the other leaves.

use std::collections::HashMap;

/// No more branches than this are conversations of their own.
const MOST_BRANCHES: usize = 50;
/// And no more than so many times the file's records in all.
const MOST_RECORDS: usize = 8;
/// How far up a branch is searched for something worth showing.
const LONGEST_LOOK: usize = 1000;

/// A forest of records, by their places in the file.
#[derive(Debug)]
pub(super) struct Tree {
    parents: Vec<Option<usize>>,
    /// Records that name a parent which is not there; they are taken to follow the record before them.
    pub(super) orphans: Vec<usize>,
}

impl Tree {
    /// Records with their id and the id of the one before, in file order. Records without an id follow the record
    /// before them; of equal ids the last one is meant.
    pub(super) fn new<'a>(
        records: impl Iterator<Item = (Option<&'a str>, Option<&'a str>)>,
    ) -> Self {
        let records: Vec<_> = records.collect();
        let by_id: HashMap<&str, usize> = records
            .iter()
            .enumerate()
            .filter_map(|(at, (id, _))| Some(((*id)?, at)))
            .collect();
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

    /// The records on the way to a leaf, from the root on. A ring of parents ends it.
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

    /// The leaves of other branches than the one with these records, as far as something on them is worth a
    /// conversation of its own; the largest part of the file is not gone through more than a few times.
    pub(super) fn others(&self, main: &[usize], is_worth: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_main = vec![false; self.parents.len()];
        for at in main {
            is_main[*at] = true;
        }
        let is_worth_it = |leaf: &usize| {
            let mut next = Some(*leaf);
            (0..LONGEST_LOOK).any(|_| match next.filter(|at| !is_main[*at]) {
                Some(at) => {
                    next = self.parents[at];
                    is_worth(at)
                }
                None => false,
            })
        };
        let mut left = MOST_RECORDS * self.parents.len();
        self.leaves()
            .into_iter()
            .filter(|at| !is_main[*at])
            .filter(is_worth_it)
            .take(MOST_BRANCHES)
            .take_while(|leaf| {
                left = left.saturating_sub(self.path(*leaf).len());
                left > 0
            })
            .collect()
    }

    /// The records that no other follows, in file order.
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
    fn a_leaf_has_its_way_and_a_ring_or_a_missing_parent_ends_nothing_early() {
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
