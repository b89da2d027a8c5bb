//! `SummarizationMiddleware.wrap_model_call` up to the request.

use super::arguments::{are_cut, cut_arguments, uncut_total, with_originals};
use super::call::{Attempt, CallState};
use super::clip::{EXHAUSTED, ended};
use super::files::path;
use crate::chat::{ChatMessage, PendingRequest, Replies};
use crate::engine::{
    Hook, Memory, MessageEdit, NewFile, Rewrite, RewriteInput, Rewritten, Storage,
};
use crate::session::WrittenKind;
use crate::systems::langchain::cut::cut;
use crate::systems::langchain::request::{PROMPT, Trim, xml_of};
use crate::systems::langchain::summarize::{Counts, is_triggered, keep, summary};

const MEDIA: &str = include_str!("media_prompt.txt");
/// Name of the file with all summarized messages. Each run has an id of its own.
const HISTORY: &str = "conversation_history/session_00000000000000000000000000000001.md";

/// Cuts arguments for the request, and puts them back after the call.
#[derive(Debug)]
pub(super) struct CutArguments {
    pub(super) marker: String,
}

impl Rewrite for CutArguments {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let call = CallState::new(&input);
        if are_cut(&call) {
            return Ok(Rewritten::default());
        }
        let start = call.system().len();
        let mut edits = cut_arguments(&input, &call, &self.marker);
        if edits.is_empty() {
            return Ok(Rewritten::default());
        }
        let originals = edits.iter().map(|edit| call.conversation()[edit.at].clone());
        let total = call.count(call.conversation());
        let memory = with_originals(Memory::default(), &input, originals.collect(), total);
        for edit in &mut edits {
            edit.at += start;
        }
        Ok(Rewritten { edits: edits.into(), fired: true, memory, ..Rewritten::default() })
    }
}

#[derive(Debug)]
pub(super) struct Summarize {
    pub(super) marker: String,
}

impl Rewrite for Summarize {
    /// Before a call, summarizes if a trigger is met or the budget is exceeded. After a rejection, summarizes if no
    /// trigger was met.
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let call = CallState::new(&input);
        let is_rejected = input.at == Hook::OverflowError;
        match call.attempt() {
            Some((Attempt::Plain, _)) | None => {}
            Some((Attempt::Last, count)) => return Ok(ended(&call, EXHAUSTED, count)),
            Some((Attempt::NothingToSummarize | Attempt::Summarized | Attempt::Ended, _)) => {
                return Ok(Rewritten::default());
            }
        }
        let mut conversation = call.conversation().to_vec();
        let originals =
            if is_rejected { self.cut(&mut conversation, &input, &call) } else { Vec::new() };
        let total = call.count(&conversation);
        let attempt = if is_rejected { Attempt::Last } else { Attempt::Summarized };
        let mut memory = call.to_memory(attempt, total);
        if !originals.is_empty() {
            memory = with_originals(memory, &input, originals, total);
        }
        let unchanged = Rewritten {
            compared: (!is_rejected).then(|| uncut_total(&input).unwrap_or(total)),
            memory,
            ..Rewritten::counted(total)
        };
        let limit = call.limit();
        let counts = Counts {
            messages: conversation.len(),
            total,
            reported: call.usage().of_newest(&conversation),
        };
        let acts = is_rejected || is_triggered(&input, limit, counts) || call.is_over(total);
        if !acts {
            return Ok(Rewritten { memory: call.to_memory(Attempt::Plain, total), ..unchanged });
        }
        let alone = call.count_alone(&conversation);
        let first_kept = cut(&conversation, keep(&input, limit), alone);
        if first_kept == 0 {
            return Ok(Rewritten {
                memory: call.to_memory(Attempt::NothingToSummarize, total),
                ..unchanged
            });
        }
        let (old, kept) = conversation.split_at(first_kept);
        let trim = Trim {
            tokens: input.count("trim_tokens") as u64,
            totals: &call.usage().of(&conversation)[..first_kept],
        };
        let text = match summary(old, trim, &prompt(), replies)? {
            Ok(text) => text,
            Err(why) => {
                return Ok(Rewritten {
                    memory: call.to_memory(Attempt::Ended, total),
                    ..unchanged.stopped_by(why)
                });
            }
        };
        let (text, file) = with_path(input.storage, &text, old, input.call);
        let mut left = call.system().to_vec();
        left.push(ChatMessage::summary("user", text));
        left.extend_from_slice(kept);
        Ok(Rewritten {
            messages: Some(left),
            files: file.into_iter().collect(),
            fired: true,
            ..unchanged
        })
    }
}

impl Summarize {
    /// Cuts old arguments of a conversation. Returns the changed messages as they were.
    fn cut(
        &self,
        conversation: &mut [ChatMessage],
        input: &RewriteInput<'_>,
        call: &CallState<'_>,
    ) -> Vec<ChatMessage> {
        let edits = cut_arguments(input, call, &self.marker).into_iter();
        let replace =
            |MessageEdit { at, now }| Some(std::mem::replace(&mut conversation[at], now?));
        edits.filter_map(replace).collect()
    }
}

/// Returns the prompt of the summary, up to the messages.
fn prompt() -> String {
    PROMPT.replacen("\n<messages>\n", &format!("\n{MEDIA}\n\n<messages>\n"), 1)
}

/// Returns the text of the summary message, and the file with the summarized messages.
fn with_path(
    storage: &Storage,
    summary: &str,
    old: &[ChatMessage],
    call: usize,
) -> (String, Option<NewFile>) {
    let Some(path) = path(storage, HISTORY) else {
        let text = format!("Here is a summary of the conversation to date:\n\n{summary}");
        return (text, None);
    };
    let is_summary = |m: &&ChatMessage| m.written == Some(WrittenKind::Summary);
    let recorded: Vec<ChatMessage> = old.iter().filter(|m| !is_summary(m)).cloned().collect();
    let section = format!("## Summarized before call {}\n\n{}\n\n", call + 1, xml_of(&recorded));
    let text = format!(
        "You are in the middle of a conversation that has been summarized.\n\nThe full conversation history has been saved to {path} should you need to refer back to it for details.\n\nA condensed summary follows:\n\n<summary>\n{summary}\n</summary>"
    );
    let file = NewFile { appends: true, ..NewFile::text(HISTORY, section) };
    (text, Some(file))
}
