//! The history as Continue stores it: an answer and the results of its calls are one item.

use crate::chat::{Call, ChatMessage, Messages, Rule, SummaryRequest};

const PROMPT: &str = "Please provide a concise summary of our conversation so far, capturing the key context, decisions made, and current state. Format this as a single comprehensive message that preserves all important information needed to continue our work. You do not need to recap the system message, as this will remain. Make sure it is clear what the current stream of work was at the very end prior to compaction so that you can continue exactly where you left off without missing any information.";
/// Tokens reserved for [`PROMPT`].
// The numbers of this file are those of @continuedev/cli 1.5.47, `compaction.ts` and `util/tokenizer.ts`.
const PROMPT_TOKENS: u64 = 150;
/// Tokens kept free in every request.
pub(super) const SAFETY: u64 = 100;

const RULE: Rule = Rule::new("continue_cli: tokens");

/// `countTotalInputTokens` without tools, of a whole conversation.
pub(super) fn count_all(messages: &Messages) -> u64 {
    messages.weigh(RULE, |message| message.weigh(RULE, of_message))
}

/// `countChatHistoryTokens`, or the tokens of instructions.
pub(super) fn count(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(|m| m.weigh(RULE, of_message)).sum()
}

fn of_message(message: &ChatMessage) -> u64 {
    /// Role and structure.
    const PER_ITEM: u64 = 2 + 3;
    const PER_RESULT: u64 = 5;
    const PER_INSTRUCTION: u64 = 4;
    let text = of_text(&message.joined_text(""));
    match &*message.role {
        "tool" => text + PER_RESULT,
        "system" => text + PER_INSTRUCTION,
        _ => text + PER_ITEM + message.calls().iter().map(of_call).sum::<u64>(),
    }
}

fn of_call(call: &Call) -> u64 {
    const PER_CALL: u64 = 10;
    of_text(call.tool()) + of_text(&call.arguments_as_text()) + PER_CALL
}

/// Counts a text as gpt-tokenizer does: unlike in the vocabulary's own rule, a word and its contraction are apart.
fn of_text(text: &str) -> u64 {
    let mut previous = ' ';
    let mut start = 0;
    let mut total = 0;
    for (at, char) in text.char_indices() {
        if char == '\'' && previous.is_alphabetic() {
            total += super::count(&text[start..at], "o200k_base");
            start = at;
        }
        previous = char;
    }
    total + super::count(&text[start..], "o200k_base")
}

/// Returns the summary request for a history. Messages at its end are removed until it leaves `answer` tokens of the
/// window, at worst the prompt too.
pub(super) fn summary_request(
    system: &[ChatMessage],
    history: &[ChatMessage],
    window: u64,
    answer: u64,
) -> SummaryRequest {
    let prompt = ChatMessage::new("user", PROMPT);
    // Here the instructions count as any other item.
    let instructions = count(system).saturating_sub(2 * system.len() as u64);
    let reserved = answer + instructions + PROMPT_TOKENS;
    let mut history = history.to_vec();
    let of_prompt = count(std::slice::from_ref(&prompt));
    while !history.is_empty() && reserved + count(&history) + of_prompt > window {
        prune_last(&mut history);
    }
    history.push(prompt);
    let reserved = answer + count(system) + SAFETY;
    while n_items(&history) > 1 && reserved + count(&history) > window {
        prune_last(&mut history);
    }
    SummaryRequest { messages: [system, &history].concat(), with_tools: true, max_tokens: None }
}

fn n_items(history: &[ChatMessage]) -> usize {
    history.iter().filter(|message| !message.is("tool")).count()
}

/// `pruneLastMessage`: removes the last item, and the one before it if that is a request or has calls.
fn prune_last(history: &mut Vec<ChatMessage>) {
    let starts = (0..history.len()).filter(|at| !history[*at].is("tool"));
    let starts: Vec<usize> = starts.collect();
    let end = match starts[..] {
        [.., before, last] => {
            let goes_too = history[before].is("user") || !history[before].calls().is_empty();
            if goes_too { before } else { last }
        }
        _ => 0,
    };
    history.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::testing::texts;

    fn history(roles: &[&str]) -> Vec<ChatMessage> {
        roles.iter().map(|role| ChatMessage::new(role, *role)).collect()
    }

    fn pruned(roles: &[&str]) -> Vec<String> {
        let mut history = history(roles);
        prune_last(&mut history);
        texts(&history)
    }

    #[test]
    fn prunes_a_request_with_its_answer() {
        assert_eq!(pruned(&["user", "assistant", "user", "assistant"]), ["user", "assistant"]);
        assert_eq!(pruned(&["user", "assistant", "user"]), ["user", "assistant"]);
        assert_eq!(pruned(&["user"]), [""; 0]);
    }

    #[test]
    fn prunes_results_with_their_answer() {
        assert_eq!(pruned(&["assistant", "assistant", "tool", "tool"]), ["assistant"]);
    }

    #[test]
    fn a_request_that_is_too_large_loses_its_end() {
        let all = history(&["user", "assistant", "user", "assistant"]);
        let system = history(&["system"]);
        let prompt = count(&[ChatMessage::new("user", PROMPT)]);
        let asked = |room: u64| {
            // Instructions of one token, an answer of 10 tokens.
            let window = 10 + 1 + 2 + PROMPT_TOKENS + prompt + room;
            texts(&summary_request(&system, &all, window, 10).messages).len()
        };
        assert_eq!(asked(count(&all)), 6);
        assert_eq!(asked(count(&all) - 1), 4);
    }
}
