//! The agent's recorded actions after a call, without observations.

use crate::session::{Body, Session};
use std::fmt::Write as _;

/// Maximum number of characters of an action's arguments and of the thoughts before it. Eight actions then add at most
/// 6,400 characters to a request, and a long patch, which holds the answer itself, does not give it away.
const MAX_CHARS: usize = 400;

/// A tool call that the agent made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAction {
    /// Index of the call that made it.
    pub call: usize,
    /// Name of the tool.
    pub tool: String,
    /// Arguments, shortened.
    pub arguments: String,
    /// Text of the model before it, shortened; may be empty.
    pub thoughts: String,
}

/// Returns at most `most` actions from a call on.
pub fn next_actions(session: &Session, call: usize, most: usize) -> Vec<RecordedAction> {
    let mut actions = Vec::new();
    let Some(start) = session.calls.get(call).map(|call| call.context_end) else {
        return actions;
    };
    let mut current = call;
    let mut thoughts = String::new();
    for (idx, message) in session.messages.iter().enumerate().skip(start) {
        if !message.in_history || message.call.is_none() && message.is_injected {
            continue;
        }
        while session.calls.get(current + 1).is_some_and(|next| next.context_end <= idx) {
            current += 1;
            thoughts.clear();
        }
        for part in session.parts_of(message) {
            match &part.body {
                Body::ToolCall { tool, arguments, .. } => {
                    actions.push(RecordedAction {
                        call: current,
                        tool: tool.to_string(),
                        arguments: shortened(arguments),
                        thoughts: shortened(&std::mem::take(&mut thoughts)),
                    });
                    if actions.len() == most {
                        return actions;
                    }
                }
                Body::Text(text) | Body::Thinking { text, .. }
                    if message.role == crate::session::Role::Assistant =>
                {
                    thoughts.push_str(text);
                    thoughts.push('\n');
                }
                _ => {}
            }
        }
    }
    actions
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the text that is sent to the model after the context.
pub fn request_text(actions: &[RecordedAction]) -> String {
    let mut text = String::from(
        "Stop the work and judge it. Below are the next actions that the agent took after the conversation above. For each action, \
         decide what it rests on: a path, a name, a value, an instruction or a result that the agent had to know.\n\n",
    );
    for (idx, action) in actions.iter().enumerate() {
        let _ = writeln!(text, "Action {}: {} {}", idx + 1, action.tool, action.arguments);
        if !action.thoughts.is_empty() {
            let _ = writeln!(text, "Thoughts before it: {}", action.thoughts);
        }
    }
    text.push_str(
        "\nAnswer with a JSON array that has one object for each action and nothing else:\n\
         [{\"action\": 1, \"status\": \"supported\", \"quote\": \"…\"}]\n\
         status is \"supported\" if the conversation above contains what the action rests on, \"contradicted\" if it contains the \
         opposite, and \"missing\" if it contains neither. quote is the shortest passage of the conversation above that shows it, \
         copied exactly; empty if the status is \"missing\".",
    );
    text
}
