//! `SummarizationCompactor`: replaces the oldest turns, then the oldest steps of the current task, with summaries until
//! the target is reached.

use super::conversation::Conversation;
use super::hook::{self, check, compacted};
use super::render::render;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::languages::python::strip;
use crate::systems::stage_settings::{joined, summarizing};

/// `summary_tokens` is the size that the system expects of a summary.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "haystack.summarize",
    ActionKind::Summarize,
    "Replaces the oldest turns, then the oldest steps of the current task, with summaries.",
    |settings| summarizing(settings, summarize),
)
.with_numbers(&const { joined::<8>(&[&hook::NUMBERS, &["summary_tokens", "raises"]]) });

const INSTRUCTION: &str = include_str!("instruction.txt");
const OPENING: &str = "<conversation_summary>";
const CLOSING: &str = "</conversation_summary>";

fn summarize(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let mut all = Conversation::new(&input.messages);
    let (due, mut done) = check(input, &all);
    let Some(due) = due else {
        return Ok(done);
    };
    let plan = Plan {
        target: due.target,
        summary_tokens: input.count("summary_tokens") as u64,
        min_keep_steps: input.count("min_keep_steps"),
    };
    let mut is_summarized = false;
    while all.count_all(0) > due.target
        && let Some(chosen) = plan.next(&all)
    {
        match summarized(&all, &chosen, replies)? {
            Ok(after) => all = after,
            // The error ends the run.
            Err(why) if input.flag("raises") => return Ok(done.stopped_by(why)),
            Err(why) => {
                done.log.push(why);
                break;
            }
        }
        is_summarized = true;
    }
    Ok(if is_summarized { compacted(input, &due, all.messages, done) } else { done })
}

/// Limits of a compaction.
struct Plan {
    target: u64,
    summary_tokens: u64,
    min_keep_steps: usize,
}

impl Plan {
    /// Returns the messages to summarize next; `None` if the rest is always kept.
    fn next(&self, all: &Conversation) -> Option<Vec<usize>> {
        let turns: Vec<_> = all.turns().into_iter().map(Vec::from_iter).collect();
        if !turns.is_empty() {
            return Some(self.fewest(all, &turns).concat());
        }
        let history = self.summaries(all, all.n_system, all.history_end());
        if history.is_some() {
            return history;
        }
        let start = all.task_start();
        let mut steps: Vec<_> = all.steps(start).into_iter().map(Vec::from_iter).collect();
        steps.truncate(steps.len().saturating_sub(self.min_keep_steps));
        if !steps.is_empty() {
            return Some(self.fewest(all, &steps).concat());
        }
        self.summaries(all, start, all.messages.len())
    }

    /// Returns the oldest summaries of a part, at least two; `None` if there are fewer.
    fn summaries(&self, all: &Conversation, start: usize, end: usize) -> Option<Vec<usize>> {
        let found = (start..end).filter(|at| all.messages[*at].written.is_some());
        let found: Vec<Vec<usize>> = found.map(|at| vec![at]).collect();
        let n = self.fewest(all, &found).len().max(2);
        found.get(..n).map(<[_]>::concat)
    }

    /// Returns the fewest oldest groups without which the conversation and a summary reach the target.
    fn fewest<'g>(&self, all: &Conversation, groups: &'g [Vec<usize>]) -> &'g [Vec<usize>] {
        let is_enough = |n: &usize| {
            let left_out = groups[..*n].concat();
            let rest = (0..all.messages.len()).filter(|at| left_out.binary_search(at).is_err());
            all.count(rest) + self.summary_tokens <= self.target
        };
        let n = (1..groups.len()).find(is_enough).unwrap_or(groups.len());
        &groups[..n]
    }
}

/// Returns the conversation with a summary in place of messages. An error is returned as text.
fn summarized(
    all: &Conversation,
    chosen: &[usize],
    replies: &mut Replies<'_>,
) -> Result<Result<Conversation, String>, PendingRequest> {
    let text = match replies.reply_to(request(all, chosen))?.into_text() {
        Ok(text) => text,
        Err(why) => return Ok(Err(why)),
    };
    let text = strip(&text);
    if text.is_empty() {
        let why = "The Chat Generator returned no usable text to use as a conversation summary.";
        return Ok(Err(why.to_owned()));
    }
    let summary = ChatMessage::summary("user", format!("{OPENING}\n{text}\n{CLOSING}"));
    let mut messages = Vec::new();
    for (at, message) in all.messages.iter().enumerate() {
        if chosen.first() == Some(&at) {
            messages.push(summary.clone());
        }
        if chosen.binary_search(&at).is_err() {
            messages.push(message.clone());
        }
    }
    let after = Conversation::new(&messages);
    let (n_before, n_after) = (all.count_all(0), after.count_all(0));
    if n_after >= n_before {
        return Ok(Err(format!(
            "The generated summary did not reduce the conversation size ({n_before} tokens before and {n_after} tokens \
             after)."
        )));
    }
    Ok(Ok(after))
}

/// Returns the request for a summary of messages.
fn request(all: &Conversation, chosen: &[usize]) -> SummaryRequest {
    let text = |at: &usize| {
        let message = &all.messages[*at];
        if message.written.is_none() {
            return render(message, all.tool(message), true);
        }
        let text = message.joined_text("\n");
        let inner = text.strip_prefix(OPENING);
        let inner = inner.and_then(|text| text.strip_suffix(CLOSING)).map(strip);
        format!("[conversation_summary]\n{}", inner.unwrap_or(&text))
    };
    let transcript: Vec<String> = chosen.iter().map(text).collect();
    let transcript = transcript.join("\n");
    let prompt = format!("<conversation_to_summarize>\n{transcript}\n</conversation_to_summarize>");
    SummaryRequest::new(vec![
        ChatMessage::new("system", INSTRUCTION),
        ChatMessage::new("user", prompt),
    ])
}
