//! The token count that is compared with the limit: the whole prompt, with the vocabulary of the newer OpenAI models.

use crate::chat::{Call, ChatMessage, Messages, Rule};
use crate::tokens;

const RULE: Rule = Rule::new("copilot_chat: tokens");

/// Counts the messages of a conversation.
pub(super) fn count(messages: &Messages) -> u64 {
    messages.weigh(RULE, |message| message.weigh(RULE, of_message))
}

/// `countMessageTokens`: the values of a message in OpenAI's form.
fn of_message(message: &ChatMessage) -> u64 {
    // The count is that of the tokenizer of GitHub Copilot Chat 0.42.0: 3 tokens a message, and calls count one and a
    // half times.
    const PER_MESSAGE: u64 = 3;
    let calls: u64 = message.calls().iter().map(of_call).sum();
    let id = message.call_id.as_deref().unwrap_or_default();
    let texts = [&message.role, &*message.joined_text(""), id];
    PER_MESSAGE + texts.into_iter().map(of_text).sum::<u64>() + calls * 3 / 2
}

/// Counts a call. Its type is one token, and so is having a name.
fn of_call(call: &Call) -> u64 {
    of_text(call.id.as_deref().unwrap_or_default())
        + of_text(call.tool())
        + of_text(&call.arguments_as_text())
        + 2
}

fn of_text(text: &str) -> u64 {
    let counter = tokens::by_name("o200k_base").unwrap_or_else(tokens::default_counter);
    u64::from((counter.count)(text))
}
