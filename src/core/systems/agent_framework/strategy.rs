//! The strategies: they exclude groups of messages, and insert messages in place of some.

use super::group::{Members, annotate, groups, insert};
use super::history::History;
use super::marked::{Kind, Marked, result_text};
use super::summarize::{Summarization, summarize};
use crate::chat::{PendingRequest, Replies, tools_by_call};
use crate::languages::python::{first_chars, strip, strip_end};
use crate::systems::session_state::Effects;
use std::sync::Arc;

/// A strategy with its arguments.
#[derive(Clone, Debug)]
pub(super) enum Strategy {
    Truncation(Truncation),
    SlidingWindow { keep: usize, keep_system: bool },
    SelectiveToolCall { keep: usize },
    ToolResult { keep: usize },
    Summarization(Summarization),
    TokenBudget { budget: u64, strategies: Vec<Self>, early_stop: bool },
    ContextWindow { eviction: u64, keep: usize, truncation: Truncation },
}

/// Arguments of `TruncationStrategy`.
#[derive(Clone, Debug)]
pub(super) struct Truncation {
    pub(super) most: u64,
    pub(super) target: u64,
    /// Counts tokens instead of messages.
    pub(super) by_tokens: bool,
    pub(super) keep_system: bool,
    pub(super) keep_first_user: bool,
}

const SUMMARY_PREFIX: &str = "[Tool results: ";
const SUMMARY_END: &str = "]";
const SUMMARY_CUT: &str = "... [truncated]";
// As in agent-framework-core 1.23.0, `_SUMMARY_MAX_CHARS` (`_compaction.py`).
const SUMMARY_CHARS: usize = 4096;

impl Strategy {
    /// Returns the name of the class.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Truncation(_) => "TruncationStrategy",
            Self::SlidingWindow { .. } => "SlidingWindowStrategy",
            Self::SelectiveToolCall { .. } => "SelectiveToolCallCompactionStrategy",
            Self::ToolResult { .. } => "ToolResultCompactionStrategy",
            Self::Summarization(_) => "SummarizationStrategy",
            Self::TokenBudget { .. } => "TokenBudgetComposedStrategy",
            Self::ContextWindow { .. } => "ContextWindowCompactionStrategy",
        }
    }

    /// Returns the count that the strategy compares with its limit, if it counts.
    pub(super) fn count(&self, list: &[Marked]) -> Option<u64> {
        match self {
            Self::Truncation(truncation) => Some(truncation.count(list)),
            Self::Summarization(_) => {
                let counted = list.iter().filter(|m| !m.is_excluded);
                Some(counted.filter(|m| m.role() != "system").count() as u64)
            }
            Self::TokenBudget { .. } | Self::ContextWindow { .. } => Some(tokens(list)),
            Self::SlidingWindow { .. }
            | Self::SelectiveToolCall { .. }
            | Self::ToolResult { .. } => None,
        }
    }

    /// Runs the strategy on grouped messages. Returns whether it changed something.
    pub(super) fn run(
        &self,
        list: &mut History,
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<bool, PendingRequest> {
        let changed = match self {
            Self::Truncation(truncation) => truncation.run(list),
            Self::SlidingWindow { keep, keep_system } => slide(list, *keep, *keep_system),
            Self::SelectiveToolCall { keep } => {
                let old = old_tool_groups(list, *keep);
                let excluded = old.iter().map(|group| group.exclude(list));
                excluded.fold(false, |any, changed| any | changed)
            }
            Self::ToolResult { keep } => collapse(list, *keep),
            Self::Summarization(arguments) => {
                summarize(arguments, list, &mut effects.log, replies)?
            }
            Self::TokenBudget { budget, strategies, early_stop } => {
                compose(list, *budget, (strategies, *early_stop), effects, replies)?
            }
            Self::ContextWindow { eviction, keep, truncation } => {
                let mut changed = false;
                if tokens(list) > *eviction {
                    changed |= Self::ToolResult { keep: *keep }.run(list, effects, replies)?;
                }
                changed | Self::Truncation(truncation.clone()).run(list, effects, replies)?
            }
        };
        if changed {
            effects.acted.push(self.name().to_owned());
        }
        Ok(changed)
    }
}

/// Returns the estimated tokens of the included messages.
pub(super) fn tokens(list: &[Marked]) -> u64 {
    let included = list.iter().filter(|message| !message.is_excluded);
    included.map(Marked::tokens).sum()
}

impl Truncation {
    fn count(&self, list: &[Marked]) -> u64 {
        if self.by_tokens {
            tokens(list)
        } else {
            list.iter().filter(|message| !message.is_excluded).count() as u64
        }
    }

    fn run(&self, list: &mut [Marked]) -> bool {
        let mut count = self.count(list);
        if count <= self.most {
            return false;
        }
        let groups = groups(list);
        let kept = minimum(&groups, list);
        let is_first_user = |nth: usize| {
            self.keep_first_user && groups.iter().position(|g| g.kind == Kind::User) == Some(nth)
        };
        let mut changed = false;
        for (nth, group) in groups.iter().enumerate() {
            if count <= self.target {
                break;
            }
            let is_system = self.keep_system && group.kind == Kind::System;
            if is_system || is_first_user(nth) || kept == Some(nth) {
                continue;
            }
            count -= self.count_of(group, list);
            changed |= group.exclude(list);
        }
        changed
    }

    fn count_of(&self, group: &Members, list: &[Marked]) -> u64 {
        let included = group.at.iter().filter(|at| !list[**at].is_excluded);
        let count = |at: &usize| {
            if self.by_tokens { list[*at].tokens() } else { 1 }
        };
        included.map(count).sum()
    }
}

/// Returns the group that must stay: the last included one that is not a system message, else the last included one.
fn minimum(groups: &[Members], list: &[Marked]) -> Option<usize> {
    let newest = |is_any: bool| {
        groups.iter().rposition(|g| (is_any || g.kind != Kind::System) && g.is_included(list))
    };
    newest(false).or_else(|| newest(true))
}

fn slide(list: &mut [Marked], keep: usize, keep_system: bool) -> bool {
    let mut groups = groups(list);
    groups.retain(|group| group.is_included(list));
    let n_others = groups.iter().filter(|g| g.kind != Kind::System).count();
    let mut n_removed = n_others.saturating_sub(keep);
    let mut changed = false;
    for group in groups {
        let is_removed = if group.kind == Kind::System { !keep_system } else { n_removed > 0 };
        if is_removed {
            changed |= group.exclude(list);
        }
        if group.kind != Kind::System {
            n_removed = n_removed.saturating_sub(1);
        }
    }
    changed
}

/// Returns the included groups of calls but the newest.
fn old_tool_groups(list: &[Marked], keep: usize) -> Vec<Members> {
    let mut groups = groups(list);
    groups.retain(|group| group.kind == Kind::ToolCall && group.is_included(list));
    groups.truncate(groups.len().saturating_sub(keep));
    groups
}

/// Replaces the old groups of calls by a text with their results.
fn collapse(list: &mut History, keep: usize) -> bool {
    let old = old_tool_groups(list, keep);
    for (nth, group) in old.iter().enumerate() {
        // Each group before has one inserted message in front.
        let at: Vec<usize> = group.at.iter().map(|at| at + nth).collect();
        let id: Arc<str> = format!("tool_summary_{}", group.id).into();
        let summary = collapsed_text(&at, list);
        let ids = at.iter().filter_map(|at| list[*at].id.clone()).collect();
        let Some(first) = at.first().copied() else {
            continue;
        };
        for at in at {
            list[at].is_excluded = true;
            list[at].summarized_by = Some(Arc::clone(&id));
        }
        let summary = list.notice(summary);
        insert(list, first, summary, (id, ids));
    }
    !old.is_empty()
}

fn collapsed_text(at: &[usize], list: &[Marked]) -> String {
    let included = || at.iter().map(|at| &list[*at]).filter(|m| !m.is_excluded);
    let mut tools = tools_by_call(included().flat_map(|m| m.messages.iter()));
    tools.retain(|id, tool| !id.is_empty() && !tool.is_empty());
    let results = included().flat_map(Marked::results).map(|result| {
        let text = result_text(result);
        let tool = tools.get(result.call_id.as_deref().unwrap_or_default());
        let text = tool.map_or_else(|| text.clone(), |tool| format!("{tool}: {text}"));
        strip(&text).to_owned()
    });
    let results: Vec<String> = results.collect();
    let label = if results.is_empty() { "no results".to_owned() } else { results.join("; ") };
    let text = format!("{SUMMARY_PREFIX}{label}{SUMMARY_END}");
    if text.chars().count() <= SUMMARY_CHARS {
        return text;
    }
    let around = SUMMARY_PREFIX.len() + SUMMARY_CUT.len() + SUMMARY_END.len();
    let label = strip_end(first_chars(&label, SUMMARY_CHARS - around));
    format!("{SUMMARY_PREFIX}{label}{SUMMARY_CUT}{SUMMARY_END}")
}

/// Runs strategies until the messages are within the budget, then excludes the oldest groups.
fn compose(
    list: &mut History,
    budget: u64,
    (strategies, early_stop): (&[Strategy], bool),
    effects: &mut Effects,
    replies: &mut Replies<'_>,
) -> Result<bool, PendingRequest> {
    if tokens(list) <= budget {
        return Ok(false);
    }
    let mut changed = false;
    for strategy in strategies {
        changed |= strategy.run(list, effects, replies)?;
        annotate(list, None);
        if early_stop && tokens(list) <= budget {
            return Ok(changed);
        }
    }
    let groups = groups(list);
    let kept = minimum(&groups, list);
    for is_system in [false, true] {
        if tokens(list) <= budget {
            break;
        }
        for (nth, group) in groups.iter().enumerate() {
            if (group.kind == Kind::System) == is_system && kept != Some(nth) {
                changed |= group.exclude(list);
                if tokens(list) <= budget {
                    break;
                }
            }
        }
    }
    Ok(changed)
}
