//! A cache of results that several threads request.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps each result by its key. Computes outside the lock: a computation may wait for rayon, and a waiting worker runs
/// other work, which may request the same result. Two threads may therefore compute one result; the first stored stays.
pub struct Memo<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// Returns the result of a key; computes it at its first use.
    pub fn get_or_make<Q>(&self, key: &Q, make: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let known = self.lock().get(key).cloned();
        known.unwrap_or_else(|| {
            let result = make();
            self.lock().entry(key.to_owned()).or_insert(result).clone()
        })
    }
}

impl<K: Hash + Eq, V> Memo<K, V> {
    /// Removes all results, and returns that of a key.
    pub fn take<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        std::mem::take(&mut *self.lock()).remove(key)
    }
}

impl<K, V> Memo<K, V> {
    /// Locks the map. A panic cannot leave it half changed.
    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> fmt::Debug for Memo<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memo({})", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Regression test: with the computation inside the lock, this deadlocked within a few rounds.
    #[test]
    fn computations_that_wait_for_rayon_never_block_each_other() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let work = |n: u64| (0..n).into_par_iter().map(|i| i % 7).sum::<u64>();
        pool.install(|| {
            for _ in 0..200 {
                let memo = Memo::<u64, u64>::default();
                let ask = |n: u64| memo.get_or_make(&(n % 3), || work(1000 * (n % 3)));
                let found: Vec<u64> = (0..24).into_par_iter().map(ask).collect();
                assert!(found.iter().zip(0..).all(|(f, n)| *f == work(1000 * (n % 3))));
            }
        });
    }
}
