//! `pruneMessages`, over messages in the SDK's form.

use super::options::{Options, Reasoning, ToolCallRule};
use crate::chat::{BlockBody, ChatMessage, Content, tools_by_call};
use std::sync::Arc;

/// A message in the SDK's form.
#[derive(Clone, Debug)]
pub(super) enum SdkMessage {
    /// A message that pruning never changes.
    Other(ChatMessage),
    /// An answer; without content if everything was removed.
    Answer(ChatMessage),
    /// All results of one answer.
    Results(Vec<ChatMessage>),
}

/// Returns messages in the SDK's form.
pub(super) fn grouped(messages: &[ChatMessage]) -> Vec<SdkMessage> {
    let mut groups: Vec<SdkMessage> = Vec::new();
    for message in messages {
        match groups.last_mut() {
            Some(SdkMessage::Results(results)) if message.is("tool") => {
                results.push(message.clone());
            }
            _ if message.is("tool") => groups.push(SdkMessage::Results(vec![message.clone()])),
            _ if message.is("assistant") => groups.push(SdkMessage::Answer(message.clone())),
            _ => groups.push(SdkMessage::Other(message.clone())),
        }
    }
    groups
}

/// Prunes messages. Returns whether anything was removed.
pub(super) fn prune(messages: &mut Vec<SdkMessage>, options: &Options) -> bool {
    let mut has_changed = false;
    let n = messages.len();
    for (at, message) in messages.iter_mut().enumerate() {
        let applies = match options.reasoning {
            Reasoning::Kept => false,
            Reasoning::Removed => true,
            Reasoning::KeptInLast => at + 1 < n,
        };
        if let SdkMessage::Answer(answer) = message
            && applies
            && has_reasoning(answer)
        {
            *answer = with_parts(answer, false, |_| true);
            has_changed = true;
        }
    }
    for rule in &options.rules {
        has_changed |= apply(messages, rule);
    }
    if !options.keeps_empty {
        messages.retain(|message| !message.is_empty());
        has_changed |= messages.len() < n;
    }
    has_changed
}

impl SdkMessage {
    fn is_empty(&self) -> bool {
        match self {
            Self::Other(_) => false,
            Self::Answer(answer) => is_empty(answer),
            Self::Results(results) => results.is_empty(),
        }
    }

    /// Returns the messages in the form of a context. An answer without content is the system's own.
    pub(super) fn to_chat(&self) -> Vec<ChatMessage> {
        match self {
            Self::Answer(answer) if is_empty(answer) => {
                vec![ChatMessage::notice("assistant", "")]
            }
            Self::Other(message) | Self::Answer(message) => vec![message.clone()],
            Self::Results(results) => results.clone(),
        }
    }

    /// Returns the ids of the calls of an answer, or of those that results belong to.
    fn ids(&self) -> Vec<Arc<str>> {
        match self {
            Self::Other(_) => Vec::new(),
            Self::Answer(answer) => answer.calls().iter().filter_map(|c| c.id.clone()).collect(),
            Self::Results(results) => results.iter().filter_map(|r| r.call_id.clone()).collect(),
        }
    }
}

/// Applies one rule of `toolCalls`. Returns whether anything was removed.
fn apply(messages: &mut [SdkMessage], rule: &ToolCallRule) -> bool {
    let n_old = messages.len().saturating_sub(rule.kept);
    let (old, newest) = messages.split_at_mut(n_old);
    let mut kept: Vec<Arc<str>> = newest.iter().flat_map(SdkMessage::ids).collect();
    // Sorted for the binary searches below: every part of every old message asks for its id.
    kept.sort_unstable();
    let answers = old.iter().filter_map(|message| match message {
        SdkMessage::Answer(answer) => Some(answer),
        SdkMessage::Other(_) | SdkMessage::Results(_) => None,
    });
    let tools = rule.tools.as_ref().map(|_| tools_by_call(answers));
    let tools = tools.unwrap_or_default();
    let empty = ChatMessage::new("assistant", "");
    let stays = |id: Option<&Arc<str>>, name: Option<&str>| {
        let is_other = |names: &Vec<String>| {
            let called = id.and_then(|id| tools.get(id)).map(|tool| &**tool);
            let name = name.or(called).unwrap_or_default();
            !names.iter().any(|known| known == name)
        };
        id.is_some_and(|id| kept.binary_search(id).is_ok())
            || rule.tools.as_ref().is_some_and(is_other)
    };
    let mut has_changed = false;
    for message in old {
        match message {
            SdkMessage::Other(_) => {}
            SdkMessage::Answer(answer) => {
                let calls = answer.calls().iter();
                let stay = calls.map(|call| stays(call.id.as_ref(), Some(call.tool())));
                let stay: Vec<bool> = stay.collect();
                if stay.contains(&false) {
                    // Reasoning is removed with everything that it led to.
                    *answer = if stay.contains(&true) || has_text(answer) {
                        with_parts(answer, true, |nth| stay[nth])
                    } else {
                        empty.clone()
                    };
                    has_changed = true;
                }
            }
            SdkMessage::Results(results) => {
                let n = results.len();
                results.retain(|result| stays(result.call_id.as_ref(), result.name.as_deref()));
                has_changed |= results.len() < n;
            }
        }
    }
    has_changed
}

fn is_empty(answer: &ChatMessage) -> bool {
    answer.calls().is_empty() && !has_text(answer) && !has_reasoning(answer)
}

fn is_thinking(body: &BlockBody) -> bool {
    matches!(body, BlockBody::Thinking(_))
}

fn has_reasoning(answer: &ChatMessage) -> bool {
    answer.reasoning.is_some() || answer.blocks().iter().any(|block| is_thinking(&block.body))
}

fn has_text(answer: &ChatMessage) -> bool {
    match &answer.content {
        Content::Text(text) => !text.text.is_empty(),
        Content::Blocks(blocks) => blocks.iter().any(|block| !is_thinking(&block.body)),
        Content::Other(_) => true,
        Content::Missing | Content::Null => false,
    }
}

/// Returns an answer with all of its text, some of its calls, and possibly its reasoning.
fn with_parts(
    answer: &ChatMessage,
    keeps_reasoning: bool,
    keeps_call: impl Fn(usize) -> bool,
) -> ChatMessage {
    let mut now = answer.clone();
    if !keeps_reasoning {
        now.reasoning = None;
        if let Content::Blocks(blocks) = &mut now.content {
            blocks.retain(|block| !is_thinking(&block.body));
        }
    }
    let calls = answer.calls().iter().enumerate();
    let calls = calls.filter(|(nth, _)| keeps_call(*nth));
    let calls: Vec<_> = calls.map(|(_, call)| call.clone()).collect();
    now.with_calls(calls)
}
