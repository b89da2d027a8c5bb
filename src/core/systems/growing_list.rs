//! A list that grows at its end, as a part of a session that is kept before and after every call.

use std::sync::Arc;

/// Items in order. Clones share all chunks until one of them changes its last one.
#[derive(Clone, Debug)]
pub(super) struct GrowingList<T> {
    /// Full chunks and a last one.
    chunks: Vec<Arc<Vec<T>>>,
}

/// Number of items of a full chunk.
// Chosen: a clone copies a reference for each chunk, and a change of the last chunk copies up to 64 items. A replay
// does both at every call, so that half or double only moves the work.
const CHUNK: usize = 64;

impl<T> Default for GrowingList<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T: Clone> GrowingList<T> {
    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        let n_last = self.chunks.last().map_or(0, |chunk| chunk.len());
        self.chunks.len().saturating_sub(1) * CHUNK + n_last
    }

    /// Adds an item.
    pub(super) fn push(&mut self, item: T) {
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(item),
            None => self.chunks.push(Arc::new(vec![item])),
        }
    }

    /// Returns the last item.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        Arc::make_mut(self.chunks.last_mut()?).last_mut()
    }

    /// Iterates over the items.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Returns the items as one list.
    pub(super) fn to_vec(&self) -> Vec<T> {
        self.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_grow_independently() {
        let mut list = GrowingList::default();
        for n in 0..100 {
            list.push(n);
        }
        let mut copy = list.clone();
        copy.push(7);
        *list.last_mut().unwrap() = 5;
        assert_eq!((list.len(), copy.len()), (100, 101));
        let newest =
            |list: &GrowingList<u32>| list.iter().rev().take(2).copied().collect::<Vec<_>>();
        assert_eq!((newest(&list), newest(&copy)), (vec![5, 98], vec![7, 99]));
        assert_eq!(copy.to_vec()[..100], (0..100).collect::<Vec<u32>>());
    }
}
