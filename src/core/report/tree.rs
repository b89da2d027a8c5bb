//! The conversations of a session in a report, with the usage of the session, its sub-agents and its branches.

use super::redaction::{Redactor, ReportText};
use super::{Block, track};
use crate::analysis::usage::{TreeUsage, UsageRow};
use crate::figure::{counted, grouped, number, usd, whole_percent};
use crate::session::{Conversation, Track};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Maximum number of listed conversations; a session can have hundreds of sub-agents.
const MAX_LISTED: usize = 40;

/// The conversations of a session with their usage.
#[derive(Clone, Copy, Debug)]
pub struct TreeSubject<'a> {
    /// The conversations.
    pub conversations: &'a [Conversation],
    /// Their usage, by the same index.
    pub usage: &'a TreeUsage,
}

/// The conversations of a session in a report.
#[derive(Clone, Debug)]
pub struct TreeReport {
    /// Those with the largest prompts in sum, in order.
    rows: Vec<TreeRow>,
    /// Number of conversations that are not listed.
    more: usize,
    /// Sums over all conversations.
    total: UsageRow,
    /// The conversations with calls above the window, or the fullest.
    overflow_sentence: String,
}

/// A conversation of a session.
#[derive(Clone, Debug)]
struct TreeRow {
    /// Index of the conversation.
    idx: usize,
    title: ReportText,
    relation: ReportText,
    used: UsageRow,
}

impl TreeReport {
    pub(super) fn new(subject: TreeSubject<'_>, redactor: &Redactor) -> Self {
        let known = subject.conversations.iter().zip(&subject.usage.rows).enumerate();
        let known = known.filter_map(|(idx, (of, used))| Some((idx, of, used.as_ref()?)));
        let known: Vec<(usize, &Conversation, &UsageRow)> = known.collect();
        let mut heaviest: Vec<_> = known.iter().map(|(idx, _, used)| (used.input, *idx)).collect();
        heaviest.sort_by_key(|(input, idx)| (Reverse(*input), *idx));
        let listed: HashSet<usize> =
            heaviest.iter().take(MAX_LISTED).map(|(_, idx)| *idx).collect();
        let n_known = known.len();
        let rows = known.into_iter().filter(|(idx, _, _)| listed.contains(idx));
        let rows: Vec<TreeRow> = rows
            .map(|(idx, conversation, used)| TreeRow {
                idx,
                title: redactor.text(&conversation.title),
                relation: relation(conversation, redactor),
                used: used.clone(),
            })
            .collect();
        Self {
            more: n_known - rows.len(),
            rows,
            total: subject.usage.total.clone(),
            overflow_sentence: subject.usage.overflow_sentence(),
        }
    }

    /// Returns the section.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let head = [
            "#",
            "conversation",
            "relation",
            "#calls",
            "#input",
            "#output",
            "#cost",
            "#peak",
            "#above the window",
        ];
        let rows = self.rows.iter().map(|row| {
            let names = [number(row.idx), row.title.to_string(), row.relation.to_string()];
            names.into_iter().chain(cells(&row.used)).collect()
        });
        let total = [String::new(), "all".to_owned(), String::new()];
        let total: Vec<String> = total.into_iter().chain(cells(&self.total)).collect();
        let rows: Vec<Vec<String>> = rows.chain([total]).collect();
        let mut blocks =
            vec![Block::Heading("Conversations".to_owned()), Block::table(&head, rows)];
        let mut remarks = vec![self.overflow_sentence.clone()];
        if self.more > 0 {
            remarks.push(format!("{} not listed.", counted(self.more, "smaller conversation")));
        }
        if self.total.unpriced > 0 {
            let n = counted(self.total.unpriced, "call");
            remarks.push(format!("The cost is without {n} of models without a known price."));
        }
        remarks.retain(|remark| !remark.is_empty());
        blocks.push(Block::Text(remarks.join(" ")));
        blocks
    }
}

/// Describes the relation; the name of a sub-agent's kind can be the user's.
fn relation(conversation: &Conversation, redactor: &Redactor) -> ReportText {
    match conversation.track {
        Track::Main => ReportText::own("main conversation"),
        Track::SubAgent(_) if redactor.redacts() => ReportText::own("sub-agent"),
        Track::Branch => ReportText::own("branch"),
        Track::SubAgent(_) => redactor.text(&track(conversation)),
    }
}

/// Returns the figures of a row: calls, input, output, cost, peak and calls above the window.
fn cells(used: &UsageRow) -> [String; 6] {
    let star = if used.unpriced > 0 { "*" } else { "" };
    [
        grouped(used.calls as u64),
        used.input.short(),
        used.output.short(),
        used.cost().map_or_else(|| "unknown".to_owned(), |cost| format!("{}{star}", usd(cost))),
        whole_percent(used.peak),
        grouped(used.overflows as u64),
    ]
}
