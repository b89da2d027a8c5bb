//! Cases that compress a session by force or summarize it.

use super::{messages_to_json, or_null, settings, stored};
use crate::vector_runners::Case;
use plimsoll::chat::{ChatMessage, SummaryReply, SummaryRequest, run_with_replies};
use plimsoll::json::{Value, json};
use plimsoll::systems::picoclaw::estimate::{tokens_after, tokens_before};
use plimsoll::systems::picoclaw::event::Reason;
use plimsoll::systems::picoclaw::force_compression::force_compression as compress;
use plimsoll::systems::picoclaw::message::text_of;
use plimsoll::systems::picoclaw::sanitize::sent;
use plimsoll::systems::picoclaw::summarize::{Summarized, Trigger, summarize_session};
use plimsoll::systems::picoclaw::summary_text::TEMPERATURE;
use plimsoll::systems::picoclaw::{Edition, Settings, Stored};

/// The agent of every case.
const AGENT: &str = "a";

/// Maximum bytes of a prompt that a case records in full. The longest such prompt has 2,020 bytes, the shortest other
/// one 3,108.
const MAX_PROMPT_BYTES: usize = 3000;

/// Bytes recorded of a longer prompt.
const PROMPT_HEAD_BYTES: usize = 200;

pub(super) fn force_compression(case: &Case, edition: Edition) -> Value {
    let times = repeats(case);
    if times > 1 {
        return repeated(case, edition, times);
    }
    let before = stored(case);
    let compressed = compress(&before, edition);
    let after = compressed.as_ref().map_or(&before, |done| &done.stored);
    let mut answer = json!({
        "messages": messages_to_json(&after.history),
        "summary": after.summary,
        "tokens_after": tokens(&after.history, edition),
        "tokens_before": tokens(&before.history, edition),
    });
    if edition == Edition::Before {
        answer["provider_view_after_sanitize"] = json!(sent(&after.history, edition).len());
        return answer;
    }
    let remaining = compressed.as_ref().map_or(0, |done| done.stored.history.len());
    answer["compressed"] = json!(compressed.is_some());
    answer["dropped"] = json!(compressed.as_ref().map_or(0, |done| done.dropped));
    answer["remaining"] = json!(remaining);
    answer
}

/// Returns the number of runs of the function: 7 for `forceCompression x7`.
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
    let mut answer = json!({"messages": messages_to_json(&session.history), "steps": steps});
    if edition == Edition::After {
        answer["events"] = or_null(&events);
    }
    answer
}

pub(super) fn summarize(case: &Case, edition: Edition) -> Value {
    let before = stored(case);
    let (done, requests) = run_summary(case, &before, edition, &settings(case, edition));
    let after = done.as_ref().map_or(&before, |done| &done.stored);
    let mut answer = json!({
        "llm_calls": requests.iter().map(recorded).collect::<Vec<_>>(),
        "messages": messages_to_json(&after.history),
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
    let (done, requests) = if trigger.fires() {
        run_summary(case, &before, edition, &settings)
    } else {
        (None, Vec::new())
    };
    let after = done.as_ref().map_or(&before, |done| &done.stored);
    json!({
        "history_len": trigger.messages,
        "kept": after.history.len(),
        "llm_called": !requests.is_empty(),
        "summary": after.summary,
        "threshold_tokens": trigger.token_threshold,
        "tokens_before": trigger.tokens,
    })
}

/// Runs a summary with the case's model. Returns the result and the requests.
fn run_summary(
    case: &Case,
    stored: &Stored,
    edition: Edition,
    settings: &Settings,
) -> (Option<Summarized>, Vec<SummaryRequest>) {
    let mut requests = Vec::new();
    let done = run_with_replies(
        |replies| summarize_session(stored, edition, settings, replies),
        |request| {
            requests.push(request.clone());
            model(case)
        },
    );
    (done, requests)
}

fn model(case: &Case) -> SummaryReply {
    match case.config["llm"].as_str() {
        Some("fail") => SummaryReply::Failed("the model failed".to_owned()),
        Some("empty") => SummaryReply::Text("".into()),
        Some("spaces") => SummaryReply::Text("  SUMMARY  \n".into()),
        _ => SummaryReply::Text("SUMMARY".into()),
    }
}

fn recorded(request: &SummaryRequest) -> Value {
    let prompt = text_of(&request.messages[0]);
    let mut call = json!({
        "options": {
            "max_tokens": request.max_tokens,
            "prompt_cache_key": AGENT,
            "temperature": TEMPERATURE,
        },
        "prompt_len_bytes": prompt.len(),
    });
    if prompt.len() > MAX_PROMPT_BYTES {
        call["prompt_head"] = json!(head(&prompt));
    } else {
        call["prompt"] = json!(prompt);
    }
    call
}

/// Returns the first bytes of a text as Go writes them: a replacement character for each byte of a cut character.
fn head(text: &str) -> String {
    let whole = text.floor_char_boundary(PROMPT_HEAD_BYTES);
    let torn = PROMPT_HEAD_BYTES.min(text.len()) - whole;
    text[..whole].to_owned() + &"\u{fffd}".repeat(torn)
}

fn tokens(history: &[ChatMessage], edition: Edition) -> u64 {
    match edition {
        Edition::Before => tokens_before(history),
        Edition::Proposed | Edition::After => tokens_after(history),
    }
}
