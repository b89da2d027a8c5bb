//! Counts of the long texts that a thread counted last. A replay counts the same predicted summary thousands of times.

use std::cell::RefCell;
use std::collections::VecDeque;

/// Minimum bytes of a text whose count is kept; shorter ones are counted quickly.
// Chosen: predicted summaries are longer. A shorter text takes at most 10 µs to count (docs/performance.md) and would
// displace one of the few long ones.
const MIN_BYTES: usize = 1024;

/// Maximum number of kept counts.
// Chosen: a replay alternates between few long texts. Every lookup compares with all of them, so a longer list slows
// down texts that do not repeat.
const MAX_KEPT: usize = 6;

/// A counter, a text and its count.
type Kept = (usize, Box<str>, u32);

thread_local! {
    static KEPT: RefCell<VecDeque<Kept>> = RefCell::default();
}

/// Returns the count of a text: the kept one if this thread counted it recently.
pub(crate) fn count_recent(count: fn(&str) -> u32, text: &str) -> u32 {
    if text.len() < MIN_BYTES {
        return count(text);
    }
    let counter = count as usize;
    let is_same = |(by, of, _): &&Kept| *by == counter && **of == *text;
    let known = KEPT.with_borrow(|kept| kept.iter().find(is_same).map(|kept| kept.2));
    known.unwrap_or_else(|| {
        let tokens = count(text);
        KEPT.with_borrow_mut(|kept| {
            kept.truncate(MAX_KEPT - 1);
            kept.push_front((counter, text.into(), tokens));
        });
        tokens
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static COUNTED: Cell<usize> = const { Cell::new(0) };
    }

    fn bytes(text: &str) -> u32 {
        COUNTED.set(COUNTED.get() + 1);
        text.len() as u32
    }

    #[test]
    fn a_long_text_is_counted_once() {
        let (long, other) = ("long ".repeat(1_000), "other ".repeat(1_000));
        for _ in 0..3 {
            assert_eq!(count_recent(bytes, &long), 5_000);
            assert_eq!(count_recent(bytes, &other), 6_000);
        }
        assert_eq!(COUNTED.get(), 2);
        assert_eq!(count_recent(|_| 7, &long), 7, "of another counter");
    }
}
