//! Runs single actions in unit tests.

use crate::chat::{ChatMessage, Replies, SummaryReply, SummaryRequest, run_with_replies};
use crate::engine::{Hook, Memory, NamedAction, RewriteInput, Rewritten, Storage};

/// The result of an action and its summary requests.
pub(super) struct Played {
    before: Vec<ChatMessage>,
    pub(super) done: Rewritten,
    pub(super) requests: Vec<SummaryRequest>,
}

impl Played {
    /// Returns the conversation after the action.
    pub(super) fn after(&self) -> Vec<ChatMessage> {
        let after = self.done.after(&self.before);
        after.unwrap_or_else(|| self.before.clone())
    }
}

/// Runs an action at the second call or later, with a window of 100,000 tokens. Requests get the replies in order.
pub(super) fn play(
    action: &NamedAction,
    numbers: &[(&'static str, f64)],
    (turn, call_in_turn): (u32, u32),
    before: Vec<ChatMessage>,
    replies: &[SummaryReply],
) -> Played {
    let rewrite = (action.make)(&toml::Table::new()).unwrap();
    let mut requests = Vec::new();
    let run = |replies: &mut Replies<'_>| {
        let input = RewriteInput {
            messages: before.clone().into(),
            tools: &[],
            numbers,
            at: Hook::BeforeCall,
            call: 1,
            turn,
            call_in_turn,
            now: 0.0,
            since: None,
            model: "",
            window: 100_000,
            memory: Memory::default(),
            error: "",
            storage: &Storage::AsSet,
        };
        rewrite.rewrite(input, replies)
    };
    let done = run_with_replies(run, |request| {
        requests.push(request.clone());
        replies[requests.len() - 1].clone()
    });
    Played { before, done, requests }
}

/// Returns the text of each message.
pub(super) fn texts(messages: &[ChatMessage]) -> Vec<String> {
    messages.iter().map(|m| m.joined_text("").into_owned()).collect()
}
