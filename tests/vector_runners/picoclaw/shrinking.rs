//! Cases that compress a session by force or summarize it.

use super::{or_null, settings, stored, to_json};
use crate::vector_runners::Case;
use plimsoll::chat::{Ask, ChatMessage, Heard, converse};
use plimsoll::systems::picoclaw::estimate::{tokens_after, tokens_before};
use plimsoll::systems::picoclaw::event::Reason;
use plimsoll::systems::picoclaw::force_compression::force_compression as compress;
use plimsoll::systems::picoclaw::message::text_of;
use plimsoll::systems::picoclaw::sanitize::sent;
use plimsoll::systems::picoclaw::summarize::{Summarized, Trigger, summarize_session};
use plimsoll::systems::picoclaw::summary_text::TEMPERATURE;
use plimsoll::systems::picoclaw::{Edition, Settings, Stored};
use serde_json::{Value, json};

/// The agent that every case was run as.
const AGENT: &str = "a";

/// Prompts of more bytes are recorded by their start only. The longest that is whole has 2,020, the shortest that is
/// not 3,108.
const WHOLE_PROMPT: usize = 3000;

/// Bytes of that start.
const PROMPT_HEAD: usize = 200;

pub(super) fn force_compression(case: &Case, edition: Edition) -> Value {
    let times = repeats(case);
    if times > 1 {
        return repeated(case, edition, times);
    }
    let before = stored(case);
    let compressed = compress(&before, edition);
    let after = compressed.as_ref().map_or(&before, |done| &done.stored);
    let mut answer = json!({
        "messages": to_json(&after.history),
        "summary": after.summary,
        "tokens_after": tokens(&after.history, edition),
        "tokens_before": tokens(&before.history, edition),
    });
    if edition == Edition::Before {
        answer["provider_view_after_sanitize"] = json!(sent(&after.history, edition).len());
        return answer;
    }
    let remaining = compressed
        .as_ref()
        .map_or(0, |done| done.stored.history.len());
    answer["compressed"] = json!(compressed.is_some());
    answer["dropped"] = json!(compressed.as_ref().map_or(0, |done| done.dropped));
    answer["remaining"] = json!(remaining);
    answer
}

/// How often the function ran: `forceCompression x7`.
fn repeats(case: &Case) -> usize {
    let function = case.whole["upstream_function"].as_str().unwrap_or("");
    let times = function.rsplit_once(" x").and_then(|(_, n)| n.parse().ok());
    times.unwrap_or(1)
}

fn repeated(case: &Case, edition: Edition, times: usize) -> Value {
    let mut session = stored(case);
    let mut events = Vec::new();
    let mut steps = Vec::new();
    for _ in 0..times {
        if let Some(done) = compress(&session, edition) {
            events.push(done.event(Reason::LlmRetry).to_json());
            session = done.stored;
        }
        let mut step = json!({
            "history_len": session.history.len(),
            "summary": session.summary,
            "tokens": tokens(&session.history, edition),
        });
        if edition == Edition::Before {
            let first = session.history.first();
            step["first_message_content"] =
                json!(first.map_or(String::new(), |m| text_of(m).into()));
        }
        steps.push(step);
    }
    let mut answer = json!({"messages": to_json(&session.history), "steps": steps});
    if edition == Edition::After {
        answer["events"] = or_null(&events);
    }
    answer
}

pub(super) fn summarize(case: &Case, edition: Edition) -> Value {
    let before = stored(case);
    let (done, asked) = run_summary(case, &before, edition, &settings(case, edition));
    let after = done.as_ref().map_or(&before, |done| &done.stored);
    let mut answer = json!({
        "llm_calls": asked.iter().map(recorded).collect::<Vec<_>>(),
        "messages": to_json(&after.history),
        "summary": after.summary,
        "tokens_after": tokens(&after.history, edition),
        "tokens_before": tokens(&before.history, edition),
    });
    if edition == Edition::Before {
        answer["provider_view_count"] = json!(sent(&after.history, edition).len());
    } else {
        let events = done.iter().map(|done| done.event.to_json());
        answer["events"] = or_null(&events.collect::<Vec<_>>());
    }
    answer
}

pub(super) fn maybe_summarize(case: &Case) -> Value {
    let edition = Edition::After;
    let before = stored(case);
    let settings = settings(case, edition);
    let trigger = Trigger::measure(
        &before.history,
        edition,
        settings.message_threshold,
        settings.token_threshold(),
    );
    let (done, asked) = if trigger.fires() {
        run_summary(case, &before, edition, &settings)
    } else {
        (None, Vec::new())
    };
    let after = done.as_ref().map_or(&before, |done| &done.stored);
    json!({
        "history_len": trigger.messages,
        "kept": after.history.len(),
        "llm_called": !asked.is_empty(),
        "summary": after.summary,
        "threshold_tokens": trigger.token_threshold,
        "tokens_before": trigger.tokens,
    })
}

/// Runs a summary with the case's model; what came of it and what was asked.
fn run_summary(
    case: &Case,
    stored: &Stored,
    edition: Edition,
    settings: &Settings,
) -> (Option<Summarized>, Vec<Ask>) {
    let mut asked = Vec::new();
    let done = converse(
        |dialogue| summarize_session(stored, edition, settings, dialogue),
        |ask| {
            asked.push(ask.clone());
            model(case)
        },
    );
    (done, asked)
}

fn model(case: &Case) -> Heard {
    match case.config["llm"].as_str() {
        Some("fail") => Heard::Failed("the model failed".to_owned()),
        Some("empty") => Heard::Text("".into()),
        Some("spaces") => Heard::Text("  SUMMARY  \n".into()),
        _ => Heard::Text("SUMMARY".into()),
    }
}

fn recorded(ask: &Ask) -> Value {
    let prompt = text_of(&ask.messages[0]);
    let mut call = json!({
        "options": {
            "max_tokens": ask.max_tokens,
            "prompt_cache_key": AGENT,
            "temperature": TEMPERATURE,
        },
        "prompt_len_bytes": prompt.len(),
    });
    if prompt.len() > WHOLE_PROMPT {
        call["prompt_head"] = json!(head(&prompt));
    } else {
        call["prompt"] = json!(prompt);
    }
    call
}

/// The first bytes of a text, as Go writes them: each byte of a torn character by itself.
fn head(text: &str) -> String {
    let whole = text.floor_char_boundary(PROMPT_HEAD);
    let torn = PROMPT_HEAD.min(text.len()) - whole;
    text[..whole].to_owned() + &"\u{fffd}".repeat(torn)
}

fn tokens(history: &[ChatMessage], edition: Edition) -> u64 {
    match edition {
        Edition::Before => tokens_before(history),
        Edition::Proposed | Edition::After => tokens_after(history),
    }
}
