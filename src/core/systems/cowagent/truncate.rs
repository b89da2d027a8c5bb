//! Truncation of long contents: new results, results of earlier turns, reasoning.

use super::block::{cut_text, has, is, result_text, set_result_text};
use crate::chat::{Block, ChatMessage, Content};
use crate::languages::python::{first_chars, last_chars};

/// Returns the head of a text longer than this many characters, with a notice; `None` if it is not longer.
pub fn cut_result(text: &str, most: usize) -> Option<String> {
    cut_text(text, most, |n| {
        format!("\n\n[Output truncated: {n} chars total, showing first {most} chars]")
    })
}

/// `MAX_STORED_REASONING_CHARS`.
pub const STORED_REASONING_CHARS: usize = 4096;

/// `_truncate_reasoning_for_storage`: returns a reasoning text, or its first and last half of the limit with a marker between.
pub fn cut_reasoning(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let omitted = length - 2 * half;
    format!(
        "{}\n\n... [reasoning truncated, {omitted} chars omitted] ...\n\n{}",
        first_chars(text, half),
        last_chars(text, half)
    )
}

/// The part of a long result that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Its head, as shipped.
    Head,
    /// Half of the limit at each end, as documented.
    Both,
}

/// `MAX_HISTORY_RESULT_CHARS`; the original's own comments still mention 10,000.
pub const HISTORY_RESULT_CHARS: usize = 20_000;

/// `_truncate_historical_tool_results`: cuts results before the current turn to this many characters and returns their number. A result cut earlier is
/// longer than the limit by its notice, so it is cut again and the notice then states the wrong length.
pub fn cut_history(
    messages: &mut [ChatMessage],
    most: usize,
    ends: Ends,
    log: &mut Vec<String>,
) -> usize {
    if messages.len() < 2 {
        return 0;
    }
    let current = messages.iter().rposition(starts_current_turn);
    let current = current.unwrap_or(messages.len());
    let mut n_cut = 0;
    let is_long = |m: &&mut ChatMessage| {
        m.is("user") && m.blocks().iter().any(|block| is_longer(block, most))
    };
    for message in messages.iter_mut().take(current).filter(is_long) {
        let Content::Blocks(blocks) = &mut message.content else {
            continue;
        };
        for block in blocks.iter_mut().filter(|block| is(block, "tool_result")) {
            let shorter = result_text(block).and_then(|text| shortened(text, most, ends));
            if let Some(text) = shorter {
                set_result_text(block, text);
                n_cut += 1;
            }
        }
    }
    if n_cut > 0 {
        log.push(format!("info: 📎 Truncated {n_cut} historical tool result(s) to {most} chars"));
    }
    n_cut
}

/// Returns whether a block is a result of more than this many characters.
pub(super) fn is_longer(block: &Block, most: usize) -> bool {
    let is_longer = |text: &str| text.len() > most && text.chars().nth(most).is_some();
    result_text(block).is_some_and(is_longer)
}

/// Cuts a text longer than the limit and adds a notice.
fn shortened(text: &str, most: usize, ends: Ends) -> Option<String> {
    let notice = |n: usize| format!("\n\n[Historical output truncated: {n} -> {most} chars]");
    match ends {
        Ends::Head => cut_text(text, most, notice),
        Ends::Both => {
            let length = text.chars().count();
            let at_end = most / 2;
            let shorter = |n: usize| notice(n) + "\n\n" + last_chars(text, at_end);
            (length > most).then(|| cut_text(text, most - at_end, shorter)).flatten()
        }
    }
}

/// Unlike a turn's start, a text next to results counts here.
fn starts_current_turn(message: &ChatMessage) -> bool {
    message.is("user") && (message.text().is_some() || has(message, "text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_keeps_both_ends() {
        let cut = shortened("abcdefgh", 4, Ends::Both);
        let wanted = "ab\n\n[Historical output truncated: 8 -> 4 chars]\n\ngh";
        assert_eq!(cut.as_deref(), Some(wanted));
        assert_eq!(shortened("abcd", 4, Ends::Both), None);
    }

    #[test]
    fn a_result_at_the_limit_stays_whole() {
        let limit = "é".repeat(50_000);
        assert_eq!(cut_result(&limit, 50_000), None);
        let cut = cut_result(&(limit.clone() + "x"), 50_000);
        let notice = "\n\n[Output truncated: 50001 chars total, showing first 50000 chars]";
        assert_eq!(cut, Some(limit + notice));
    }
}
