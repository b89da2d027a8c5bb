//! The results at the end of a request that is too large, and the check before it is sent.

use super::arguments::{cut_arguments, with_originals};
use super::call::{Attempt, CallState};
use super::files::offloaded;
use crate::chat::{ChatMessage, PendingRequest, Replies};
use crate::engine::{Hook, MessageEdit, Rewrite, RewriteInput, Rewritten};
use crate::languages::python::first_chars;

/// Characters that are left of a file's content.
// As in deepagents 0.7.32, `middleware/_overflow_clip.py`.
const FILE_CHARS: usize = 4_000;
pub(super) const EXHAUSTED: &str = "Model input still does not fit after recovery; reduce input, tools, or configured output tokens.";
const REMAINS: &str = "Context remains above the input budget after compaction; reduce input, tools, or configured output tokens.";

#[derive(Debug)]
pub(super) struct Clip {
    pub(super) marker: String,
}

impl Rewrite for Clip {
    /// Clips the results at the end of a request that was rejected, or of one above the budget after a summary. The run
    /// ends if the request is then not smaller or not within the budget.
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let call = CallState::new(&input);
        let conversation = call.conversation();
        let is_rejected = input.at == Hook::OverflowError;
        let Some((attempt, count)) = call.attempt() else {
            return Ok(Rewritten::default());
        };
        let limit = match attempt {
            Attempt::Last | Attempt::NothingToSummarize if is_rejected => Some(count),
            Attempt::Summarized if is_rejected => Some(call.count(conversation)),
            Attempt::Summarized | Attempt::NothingToSummarize
                if call.is_over(call.count(conversation)) =>
            {
                None
            }
            _ => return Ok(Rewritten::default()),
        };
        let n_tail = conversation.iter().rev().take_while(|m| m.is("tool")).count();
        let first = conversation.len() - n_tail;
        let mut after = conversation.to_vec();
        let mut done = Rewritten::default();
        let mut originals = Vec::new();
        if is_rejected && attempt == Attempt::NothingToSummarize {
            for MessageEdit { at, now } in cut_arguments(&input, &call, &self.marker) {
                originals.push(conversation[at].clone());
                after[at] = now.clone().unwrap_or_else(|| after[at].clone());
                let at = call.system().len() + at;
                done.edits.list_mut().push(MessageEdit { at, now });
            }
        }
        for (at, result) in conversation.iter().enumerate().skip(first) {
            let now = match path_of_file(conversation, result) {
                Some(path) => Some(shortened(result, &path)),
                None => offloaded(input.storage, result).map(|(now, file)| {
                    done.files.push(file);
                    now
                }),
            };
            if let Some(now) = now {
                after[at] = now.clone();
                let at = call.system().len() + at;
                done.edits.list_mut().push(MessageEdit { at, now: Some(now) });
            }
        }
        done.fired = !done.edits.is_empty();
        let count = call.count(&after);
        let attempt = if is_rejected || done.fired { Attempt::Last } else { attempt };
        done.memory = call.to_memory(attempt, count);
        if !originals.is_empty() {
            done.memory = with_originals(done.memory, &input, originals, count);
        }
        let why = match limit {
            Some(rejected) if count >= rejected => Some(EXHAUSTED),
            _ => call.is_over(count).then_some(REMAINS),
        };
        if let Some(why) = why {
            let ended = ended(&call, why, count);
            (done.halt, done.memory) = (ended.halt, ended.memory);
        }
        Ok(done)
    }
}

/// Returns the end of the run with an error.
pub(super) fn ended(call: &CallState<'_>, why: &str, count: u64) -> Rewritten {
    Rewritten {
        fired: true,
        halt: Some(why.to_owned()),
        memory: call.to_memory(Attempt::Ended, count),
        ..Rewritten::default()
    }
}

/// Returns the path of the file that a result is the content of.
fn path_of_file(conversation: &[ChatMessage], result: &ChatMessage) -> Option<String> {
    let id = result.call_id.as_deref().filter(|id| !id.is_empty())?;
    let calls = conversation.iter().rev().flat_map(|m| m.calls().iter().rev());
    let mut of_id = calls.filter(|call| call.id.as_deref() == Some(id));
    let call = of_id.next().filter(|call| call.tool() == "read_file")?;
    let path = call.arguments_as_value()["file_path"].as_str()?.to_owned();
    (!path.is_empty()).then_some(path)
}

/// Returns the start of a file's content with a notice.
fn shortened(result: &ChatMessage, path: &str) -> ChatMessage {
    let text = result.joined_text("\n");
    let start = first_chars(&text, FILE_CHARS);
    result.with_text(format!(
        "{start}\n\n[Output was truncated due to context window size limits. The full content is at {path}. Use read_file with offset and limit parameters to retrieve specific portions. For example, to read the first 100 lines, call read_file with file_path='{path}', offset=0, limit=100.]"
    ))
}
