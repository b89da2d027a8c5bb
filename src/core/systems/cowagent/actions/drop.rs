//! Actions that drop turns before a run.

use super::super::estimate::messages_tokens;
use super::super::trim::{
    Size, flatten_line, flattened, halve_line, older_half, removed_line, turn_limit_line,
    turns_over_limit,
};
use super::super::turn::trim_to_turns;
use super::super::turn::turns;
use super::{changed, idle, instructions_tokens, split_instructions, term, with_instructions};
use crate::chat::ChatMessage;
use crate::engine::{RewriteInput, Rewritten};
use std::ops::Range;

/// Drops all but the last turns of a scheduled task's session.
pub(super) fn trim_scheduler(input: &RewriteInput<'_>) -> Rewritten {
    let keep = input.count("keep_turns");
    let (system, conversation) = split_instructions(&input.messages);
    let mut conversation = conversation.to_vec();
    let before = conversation.len();
    trim_to_turns(&mut conversation, keep);
    let n_removed = before - conversation.len();
    let terms = vec![term("messages_removed", n_removed), term("keep_turns", keep)];
    changed(n_removed, [system, &conversation], terms, Vec::new())
}

/// Drops the oldest half of too many turns.
pub(super) fn limit_turns(input: &RewriteInput<'_>) -> Rewritten {
    let max_turns = input.count("max_turns");
    let (system, conversation) = split_instructions(&input.messages);
    let turns = turns(conversation);
    let mut terms = vec![term("turns", turns.len()), term("max_turns", max_turns)];
    let Some((start, n_removed)) = turns_over_limit(&turns, max_turns) else {
        return idle(terms);
    };
    terms.push(term("turns_removed", n_removed));
    Rewritten {
        messages: (start > 0).then(|| with_instructions(system, &conversation[start..])),
        fired: true,
        terms,
        log: vec![turn_limit_line(turns.len(), n_removed, max_turns)],
        ..Rewritten::default()
    }
}

/// Inputs of the two stages of the token budget.
struct Weighed<'a> {
    system: &'a [ChatMessage],
    conversation: &'a [ChatMessage],
    turns: Vec<Range<usize>>,
    system_tokens: u64,
    used: u64,
    max_tokens: u64,
    few_turns: usize,
    terms: Vec<(String, f64)>,
}

impl<'a> Weighed<'a> {
    fn new(input: &'a RewriteInput<'_>) -> Self {
        let (max_tokens, few_turns) = (input.count("max_tokens"), input.count("few_turns"));
        let (system, conversation) = split_instructions(&input.messages);
        let system_tokens = instructions_tokens(system);
        let used = messages_tokens(conversation) + system_tokens;
        let turns = turns(conversation);
        Self {
            terms: vec![
                term("used", used as usize),
                term("max_tokens", max_tokens),
                term("turns", turns.len()),
                term("few_turns", few_turns),
            ],
            system,
            conversation,
            turns,
            system_tokens,
            used,
            max_tokens: max_tokens as u64,
            few_turns,
        }
    }

    fn is_over(&self) -> bool {
        !self.turns.is_empty() && self.used > self.max_tokens
    }

    fn becomes(mut self, conversation: &[ChatMessage], left: u64, log: Vec<String>) -> Rewritten {
        self.terms.push(term("left", left as usize));
        Rewritten {
            messages: Some(with_instructions(self.system, conversation)),
            fired: true,
            terms: self.terms,
            log,
            ..Rewritten::default()
        }
    }
}

/// Few turns over budget: converts them to plain text.
pub(super) fn flatten_turns(input: &RewriteInput<'_>) -> Rewritten {
    let weighed = Weighed::new(input);
    if !weighed.is_over() || weighed.turns.len() >= weighed.few_turns {
        return idle(weighed.terms);
    }
    let texts = flattened(weighed.conversation, &weighed.turns);
    let left = messages_tokens(&texts) + weighed.system_tokens;
    let before = Size::new(weighed.conversation, weighed.used);
    let line = flatten_line(
        before,
        Size::new(&texts, left),
        weighed.max_tokens,
        weighed.few_turns,
        weighed.turns.len(),
    );
    weighed.becomes(&texts, left, vec![line])
}

/// Many turns over budget: drops the oldest half.
pub(super) fn halve_turns(input: &RewriteInput<'_>) -> Rewritten {
    let mut weighed = Weighed::new(input);
    if !weighed.is_over() || weighed.turns.len() < weighed.few_turns {
        return idle(weighed.terms);
    }
    let (start, n_removed) = older_half(&weighed.turns);
    let n_kept = weighed.turns.len() - n_removed;
    let before = Size::new(weighed.conversation, weighed.used);
    let kept = &weighed.conversation[start..];
    let left = messages_tokens(kept) + weighed.system_tokens;
    let log = vec![
        halve_line(weighed.used, weighed.max_tokens, n_kept, n_removed),
        removed_line(before, Size::new(kept, left), n_removed),
    ];
    weighed.terms.push(term("turns_removed", n_removed));
    weighed.becomes(kept, left, log)
}
