//! The context of an ADK session: messages with the times of their events, which compactions refer to.

use crate::session::MAX_KEPT;

/// A message of the context.
#[derive(Clone, Copy, Debug)]
struct ContextEntry {
    message: usize,
    /// Index of the event.
    event: usize,
    /// Time of the event in seconds; of a summary, the time of the last event that it replaces.
    time: f64,
    /// Time of the first event that a summary replaces.
    start: Option<f64>,
}

/// The messages of the events that no rewind removed.
#[derive(Debug)]
pub(super) struct EventContext {
    /// In the order of their events.
    entries: Vec<ContextEntry>,
    /// Number of entries that changes may still examine, as many as a session may keep.
    left: usize,
}

impl Default for EventContext {
    fn default() -> Self {
        Self { entries: Vec::new(), left: MAX_KEPT }
    }
}

impl EventContext {
    /// Adds the message of an event.
    pub(super) fn add(&mut self, message: usize, event: usize, time: Option<f64>) {
        let time = time.or_else(|| self.entries.last().map(|last| last.time));
        let time = time.unwrap_or_default();
        self.entries.push(ContextEntry { message, event, time, start: None });
    }

    /// Adds a summary that replaces the events of a range of times. Returns the messages of the context after it, or
    /// `None` beyond the limit.
    pub(super) fn compact(
        &mut self,
        message: usize,
        event: usize,
        (start, end): (f64, f64),
    ) -> Option<Vec<usize>> {
        self.entries.push(ContextEntry { message, event, time: end, start: Some(start) });
        self.messages()
    }

    /// Removes the events from one on. Returns the messages of the context after it, or `None` beyond the limit.
    pub(super) fn rewind(&mut self, first: usize) -> Option<Vec<usize>> {
        let n = self.entries.partition_point(|entry| entry.event < first);
        self.entries.truncate(n);
        self.messages()
    }

    /// Returns the messages that are sent: the summaries whose range is within no other, and the events in none of
    /// their ranges, by time.
    fn messages(&mut self) -> Option<Vec<usize>> {
        let left = self.left.checked_sub(self.entries.len());
        self.left = left.unwrap_or(0);
        left?;
        let ranges = self.entries.iter().filter_map(|entry| Some((entry.start?, *entry)));
        let mut ranges: Vec<(f64, ContextEntry)> = ranges.collect();
        ranges.sort_by(|(start, a), (other, b)| {
            let ends = || b.time.total_cmp(&a.time).then(b.event.cmp(&a.event));
            start.total_cmp(other).then_with(ends)
        });
        let mut covered: Vec<(f64, f64)> = Vec::new();
        let mut kept: Vec<ContextEntry> = Vec::new();
        let mut latest_end = f64::NEG_INFINITY;
        for (start, summary) in ranges {
            if summary.time <= latest_end {
                continue;
            }
            match covered.last_mut().filter(|_| start <= latest_end) {
                Some(range) => range.1 = summary.time,
                None => covered.push((start, summary.time)),
            }
            latest_end = summary.time;
            kept.push(summary);
        }
        let is_covered = |entry: &ContextEntry| {
            let before = covered.partition_point(|range| range.0 <= entry.time);
            before.checked_sub(1).is_some_and(|at| entry.time <= covered[at].1)
        };
        let events = self.entries.iter().filter(|entry| entry.start.is_none());
        kept.extend(events.filter(|entry| !is_covered(entry)));
        kept.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.event.cmp(&b.event)));
        Some(kept.into_iter().map(|entry| entry.message).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_replaces_its_range_and_the_summaries_in_it() {
        let mut context = EventContext::default();
        for n in 0..4 {
            context.add(n, n, Some(n as f64));
        }
        assert_eq!(context.compact(4, 4, (0.0, 1.0)), Some(vec![4, 2, 3]));
        context.add(5, 5, Some(5.0));
        assert_eq!(context.compact(6, 6, (1.0, 2.0)), Some(vec![4, 6, 3, 5]));
        assert_eq!(context.compact(7, 7, (0.0, 3.0)), Some(vec![7, 5]));
        assert_eq!(context.compact(8, 8, (1.0, 2.0)), Some(vec![7, 5]), "within another");
        // The event that recorded the summary is removed.
        assert_eq!(context.rewind(5), Some(vec![4, 2, 3]));
        assert_eq!(context.rewind(3), Some(vec![0, 1, 2]));
    }
}
