//! Usage by conversation: of a session, its sub-agents and its branches.

use super::UsageRow;
use crate::figure::{counted, number, whole_percent};
use std::cmp::Reverse;

/// Maximum number of conversations that [`TreeUsage::overflow_sentence`] names. Chosen: they fit two lines.
const MAX_NAMED: usize = 3;

/// Usage of a session's conversations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeUsage {
    /// Sums of each conversation by its index, without calls that an earlier one contains; `None` if its file cannot be
    /// read.
    pub rows: Vec<Option<UsageRow>>,
    /// Number of files of sub-agents that cannot be read; the sums lack them.
    pub unread: usize,
    /// Sums over all of them; each call counts once.
    pub total: UsageRow,
}

impl TreeUsage {
    /// Returns a sentence that names the conversations with calls above the window, those with the most first, or else the
    /// one with the largest context. Says how many files cannot be read.
    pub fn overflow_sentence(&self) -> String {
        let text = self.overflowing();
        if self.unread == 0 {
            return text;
        }
        let unread = format!("{} of sub-agents cannot be read.", counted(self.unread, "file"));
        if text.is_empty() { unread } else { format!("{text} {unread}") }
    }

    fn overflowing(&self) -> String {
        let known = self.rows.iter().enumerate();
        let known =
            known.filter_map(|(idx, row)| Some((idx, row.as_ref().filter(|r| r.calls > 0)?)));
        let known: Vec<(usize, &UsageRow)> = known.collect();
        let mut exceeding: Vec<_> = known.iter().filter(|(_, row)| row.overflows > 0).collect();
        exceeding.sort_by_key(|(idx, row)| (Reverse(row.overflows), *idx));
        if exceeding.is_empty() {
            let fullest = known.iter().rev().max_by(|a, b| a.1.peak.0.total_cmp(&b.1.peak.0));
            return fullest.map_or_else(String::new, |(idx, row)| {
                let (name, peak) = (number(*idx), whole_percent(row.peak));
                format!(
                    "No call was above the window; the largest context is of conversation {name}, {peak} of the usable window."
                )
            });
        }
        let named = exceeding.iter().take(MAX_NAMED).map(|(idx, row)| {
            let calls = counted(row.overflows, "call");
            format!("conversation {} ({calls}, peak {})", number(*idx), whole_percent(row.peak))
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        if let Some(more) = exceeding.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            named = format!("{named} and {more} more");
        }
        format!("Above the window: {named}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Share;

    fn row(calls: usize, overflows: usize, peak: f64) -> UsageRow {
        UsageRow { calls, overflows, peak: Share(peak), ..UsageRow::default() }
    }

    fn sentence(rows: Vec<Option<UsageRow>>) -> String {
        TreeUsage { rows, ..TreeUsage::default() }.overflow_sentence()
    }

    #[test]
    fn names_those_above_the_window_or_the_fullest() {
        assert_eq!(sentence(vec![None, Some(row(0, 0, 0.0))]), "");
        assert_eq!(
            sentence(vec![
                Some(row(3, 0, 0.4)),
                None,
                Some(row(2, 0, 0.87)),
                Some(row(1, 0, 0.87))
            ]),
            "No call was above the window; the largest context is of conversation 3, 87 % of the usable window."
        );
        let above = vec![
            Some(row(9, 1, 1.2)),
            Some(row(5, 0, 0.9)),
            Some(row(9, 4, 1.1)),
            Some(row(2, 1, 1.1)),
            Some(row(2, 1, 1.3)),
        ];
        assert_eq!(
            sentence(above),
            "Above the window: conversation 3 (4 calls, peak 110 %), conversation 1 (1 call, peak 120 %), conversation 4 (1 call, peak 110 %) and 1 more."
        );
    }
}
