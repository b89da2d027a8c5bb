//! Cases of requests that are trimmed to the window.

use super::{messages, messages_to_json, settings, stored};
use crate::vector_runners::Case;
use plimsoll::chat::ChatMessage;
use plimsoll::json::{Value, json};
use plimsoll::systems::picoclaw::budget::{self, Budget, Trimmed};
use plimsoll::systems::picoclaw::estimate::{tokens_after, tool_tokens};
use plimsoll::systems::picoclaw::event::{Event, Reason};
use plimsoll::systems::picoclaw::overflow::active_messages;
use plimsoll::systems::picoclaw::overflow::compact_if_over;
use plimsoll::systems::picoclaw::prompt::Prompt;
use plimsoll::systems::picoclaw::{Edition, Settings, Stored};

/// A turn ready for its first call.
struct Setup {
    /// Estimate of the original request.
    budget: Budget,
    /// The session afterwards.
    stored: Stored,
    /// The trimmed history of the request.
    trimmed: Trimmed,
    /// Events for listeners.
    events: Vec<Event>,
}

/// Runs both steps: compresses the store and trims the request.
fn set_up_turn(prompt: &Prompt, stored: &Stored, tool_tokens: u64, settings: &Settings) -> Setup {
    let (budget, compressed) = compact_if_over(prompt, stored, tool_tokens, settings);
    let events = compressed.iter().map(|done| done.event(Reason::ProactiveBudget)).collect();
    let stored = compressed.map_or_else(|| stored.clone(), |done| done.stored);
    Setup {
        trimmed: budget::trim_to_fit(prompt, &stored, &[], tool_tokens, settings),
        budget,
        stored,
        events,
    }
}

pub(super) fn proactive_pipeline(case: &Case) -> Value {
    let settings = settings(case, Edition::After);
    let tools = tool_tokens(&definitions(case));
    let prompt = prompt(case);
    let setup = set_up_turn(&prompt, &stored(case), tools, &settings);
    let request = setup.trimmed.request(&prompt, &setup.stored, &[]);
    let events: Vec<Value> = setup.events.iter().map(|event| Event::to_json(*event)).collect();
    let stored_history = setup.stored.history.len();
    json!({
        "events": super::or_null(&events),
        "fit": setup.trimmed.fits,
        "kept_history_len": stored_history - setup.trimmed.dropped,
        "messages": messages_to_json(&request),
        "over_budget": setup.budget.is_over(),
        "stored_history_len": stored_history,
        "summary": setup.stored.summary,
        "tokens_after": tokens_after(&request),
        "tokens_before": setup.budget.message_tokens,
    })
}

pub(super) fn trim_to_fit(case: &Case) -> Value {
    let settings = settings(case, Edition::After);
    let tools = tool_tokens(&definitions(case));
    let (prompt, stored) = (prompt(case), stored(case));
    let budget = Budget::of(&prompt, &stored, tools, &settings);
    let trimmed = budget::trim_to_fit(&prompt, &stored, &[], tools, &settings);
    let request = trimmed.request(&prompt, &stored, &[]);
    json!({
        "dropped": trimmed.dropped,
        "fit": trimmed.fits,
        "kept_history_len": stored.history.len() - trimmed.dropped,
        "messages": messages_to_json(&request),
        "over_budget_initially": budget.is_over(),
        "tokens_after": tokens_after(&request),
        "tokens_before": budget.message_tokens,
        "tool_tokens": budget.tool_tokens,
    })
}

/// The current turn stored the newest messages of the history.
pub(super) fn split_active_turn(case: &Case) -> Value {
    let history = messages(&case.input["messages"]);
    let n_stored = case.input["persisted_tail"].as_u64().unwrap_or(0) as usize;
    let turn = &history[history.len().saturating_sub(n_stored)..];
    let protected = active_messages(&history, turn);
    json!({"protected_len": protected, "stable_len": history.len() - protected})
}

fn prompt(case: &Case) -> Prompt {
    let text = |key: &str| case.config[key].as_str().unwrap_or("").to_owned();
    Prompt {
        instructions: vec![text("system_prompt")],
        current: Some(ChatMessage::new("user", text("current_message"))),
        edition: Edition::After,
    }
}

/// Makes the tool definitions of a case, which states only their number.
fn definitions(case: &Case) -> Vec<Value> {
    let definition = |n: u64| {
        json!({"type": "function", "function": {
            "name": format!("tool_{n}"),
            "description": "Reads something <b>important</b> & returns text 中文.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "n": {"type": "integer", "default": 3},
                },
                "required": ["path"],
            },
        }})
    };
    let n_tools = case.config["tool_definitions"].as_u64().unwrap_or(0);
    (0..n_tools).map(definition).collect()
}
