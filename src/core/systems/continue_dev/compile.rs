//! Pruning by the extensions: `compileChatMessages`, run on the whole conversation for every request.

use crate::chat::{Call, ChatMessage, Rule, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::numbers_only;

/// Removes empty messages and fills those that must stay, for the request only.
pub(super) const SHAPE: NamedAction = NamedAction::new(
    "continue.shape",
    ActionKind::Repair,
    "Removes empty messages, and writes a space into empty results.",
    |settings| numbers_only(settings, shape),
);

/// Keeps `answer` tokens of the window free for the answer, at most 1,000.
pub(super) const PRUNE: NamedAction = NamedAction::new(
    "continue.prune",
    ActionKind::Drop,
    "Removes the oldest messages, for the request only.",
    |settings| numbers_only(settings, prune),
)
.with_numbers(&["answer", "tools"]);

const RULE: Rule = Rule::new("continue: tokens");

fn shape(input: &RewriteInput<'_>) -> Rewritten {
    let all = input.messages.iter().enumerate();
    let is_blank = |message: &ChatMessage| message.joined_text("").trim().is_empty();
    let is_changed = |message: &ChatMessage| !message.is("system") && message.calls().is_empty();
    let blank = all.filter(|(_, message)| is_blank(message) && is_changed(message));
    let edits = blank.map(|(at, message)| MessageEdit {
        at,
        now: message.is("tool").then(|| message.with_text(" ")),
    });
    Rewritten { edits: edits.collect(), ..Rewritten::default() }
}

/// Key of the number of messages that were removed from the last request, in memory.
const PRUNED: &str = "continue_pruned";

fn prune(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let counted = |messages: &[ChatMessage]| -> u64 {
        messages.iter().map(|m| m.weigh(RULE, of_message)).sum()
    };
    let start = n_system(all);
    let end = newest(all).max(start);
    let window = input.window as f64;
    // At most 1,000 tokens and 2 % of the window, as in `compileChatMessages`. At most 1,000 of the answer are kept
    // free.
    let safety = f64::min(1000.0, window * 0.02);
    let (answer, tools) = (input.number("answer"), input.number("tools"));
    let instructions = counted(&all[..start]);
    let stays = instructions + counted(&all[end..]);
    let free = answer.min(1000.0);
    let available = window - safety - free - tools - stays as f64;
    if available < 0.0 {
        return Rewritten {
                halt: Some(format!(
                    "Not enough context available to include the system message, last user message, and tools.
        There must be at least {free} tokens remaining for output.
        Request had the following token counts:
        - contextLength: {window}
        - counting safety buffer: {safety}
        - tools: ~{tools}
        - system message: ~{instructions}
        - max output tokens: {answer}"
                )),
                ..Rewritten::default()
            };
    }
    let of_all = all.weigh(RULE, |message| message.weigh(RULE, of_message));
    let mut left = of_all.saturating_sub(stays);
    let mut first = start;
    while first < end && left as f64 > available {
        left -= counted(&all[first..=first]);
        first += 1;
        // No result without its call.
        while first < end && all[first].is("tool") {
            left -= counted(&all[first..=first]);
            first += 1;
        }
    }
    let n_pruned = (first - start) as u64;
    let pruned = (start..first).map(|at| MessageEdit { at, now: None });
    Rewritten {
        edits: pruned.collect(),
        repeats: input.memory[PRUNED].as_u64() == Some(n_pruned),
        memory: json!({PRUNED: n_pruned}).into(),
        ..Rewritten::default()
    }
}

/// `extractToolSequence`: returns the index of the first message that always stays.
fn newest(all: &[ChatMessage]) -> usize {
    let n_last = |role: &str| all.iter().rev().take_while(|m| m.is(role)).count();
    let n = match all.last() {
        // The answer with the calls too.
        Some(last) if last.is("tool") => n_last("tool") + 1,
        Some(last) if last.is("assistant") => n_last("assistant"),
        last => usize::from(last.is_some()),
    };
    all.len().saturating_sub(n)
}

fn of_message(message: &ChatMessage) -> u64 {
    // As in Continue at d0a3c0b6, `core/llm/countTokens.ts`.
    const PER_MESSAGE: u64 = 4;
    const PER_CALL_OR_RESULT: u64 = 10;
    let call = |call: &Call| PER_CALL_OR_RESULT + of_text(&written(call));
    let calls: u64 = message.calls().iter().map(call).sum();
    let result = if message.is("tool") {
        PER_CALL_OR_RESULT + of_text(message.call_id.as_deref().unwrap_or_default())
    } else {
        0
    };
    let text = message.joined_text("");
    // An empty answer with calls is sent as a space.
    let text = if text.trim().is_empty() { " " } else { &text };
    PER_MESSAGE + of_text(text) + calls + result
}

/// Writes a call as JSON.
fn written(call: &Call) -> String {
    let quoted = |text: &str| json!(text).to_string();
    let id = quoted(call.id.as_deref().unwrap_or_default());
    let (tool, arguments) = (quoted(call.tool()), quoted(&call.arguments_as_text()));
    format!(
        "{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{tool},\"arguments\":{arguments}}}}}"
    )
}

fn of_text(text: &str) -> u64 {
    super::count(text, "cl100k_base")
}
