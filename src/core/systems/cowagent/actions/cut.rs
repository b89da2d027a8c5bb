//! Actions that shorten a part and keep the message.

use super::super::block::{result_text, set_result_text};
use super::super::truncate::cut_reasoning;
use super::super::truncate::cut_result;
use super::super::truncate::{Ends, cut_history, is_longer};
use super::{changed, idle, split_instructions, term};
use crate::chat::{Block, BlockBody, ChatMessage, Content, PendingRequest, Replies};
use crate::engine::{Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::{check_keys, choice_setting};

/// Cuts results on arrival.
pub(super) fn cut_new_results(input: &RewriteInput<'_>) -> Rewritten {
    let most = input.count("result_chars");
    let mut messages = input.messages.to_vec();
    let mut log = Vec::new();
    let is_long = |m: &&mut ChatMessage| m.blocks().iter().any(|b| is_longer(b, most));
    for message in messages.iter_mut().filter(is_long) {
        let Content::Blocks(blocks) = &mut message.content else {
            continue;
        };
        for block in blocks {
            let length = result_text(block).map_or(0, |text| text.chars().count());
            let shorter = result_text(block).and_then(|text| cut_result(text, most));
            if let Some(text) = shorter {
                set_result_text(block, text);
                log.push(format!("info: 📎 Truncated tool result: {length} -> {most} chars"));
            }
        }
    }
    let terms = vec![term("cut", log.len()), term("result_chars", most)];
    Rewritten {
        fired: !log.is_empty(),
        messages: (!log.is_empty()).then_some(messages),
        terms,
        log,
        ..Rewritten::default()
    }
}

/// Cuts the thinking of the newest answer.
pub(super) fn cut_newest_thinking(input: &RewriteInput<'_>) -> Rewritten {
    let most = input.count("thinking_chars");
    let mut newest = input.messages.last().cloned();
    let answer = newest.as_mut().filter(|m| m.is("assistant"));
    let n_cut = answer.map_or(0, |message| cut_thinking(message, most));
    let terms = vec![term("cut", n_cut), term("thinking_chars", most)];
    Rewritten {
        fired: n_cut > 0,
        messages: (n_cut > 0).then(|| {
            let before = &input.messages[..input.messages.len() - 1];
            before.iter().cloned().chain(newest).collect()
        }),
        terms,
        ..Rewritten::default()
    }
}

fn cut_thinking(message: &mut ChatMessage, most: usize) -> usize {
    let is_thinking = |b: &Block| matches!(b.body, BlockBody::Thinking(_));
    if !message.blocks().iter().any(is_thinking) {
        return 0;
    }
    let Content::Blocks(blocks) = &mut message.content else {
        return 0;
    };
    let mut n_cut = 0;
    for block in blocks {
        let BlockBody::Thinking(value) = &mut block.body else {
            continue;
        };
        let thinking = value["thinking"].as_str().unwrap_or_default();
        if thinking.chars().count() > most {
            value["thinking"] = cut_reasoning(thinking, most).into();
            n_cut += 1;
        }
    }
    n_cut
}

/// Cuts results of earlier turns.
#[derive(Debug)]
pub(super) struct CutHistory(Ends);

impl CutHistory {
    /// Keeps heads, unless the preset sets `ends = "both"`.
    pub(super) fn new(table: &toml::Table) -> Result<Self, String> {
        check_keys(table, &["ends"])?;
        let choices = [("head", Ends::Head), ("both", Ends::Both)];
        Ok(Self(choice_setting(table, "ends", &choices)?.unwrap_or(Ends::Head)))
    }
}

impl Rewrite for CutHistory {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let most = input.count("result_chars");
        let (system, conversation) = split_instructions(&input.messages);
        let is_long = |m: &ChatMessage| m.blocks().iter().any(|b| is_longer(b, most));
        if !conversation.iter().any(is_long) {
            return Ok(idle(vec![term("cut", 0), term("result_chars", most)]));
        }
        let mut conversation = conversation.to_vec();
        let mut log = Vec::new();
        let n_cut = cut_history(&mut conversation, most, self.0, &mut log);
        let terms = vec![term("cut", n_cut), term("result_chars", most)];
        Ok(changed(n_cut, [system, &conversation], terms, log))
    }
}
