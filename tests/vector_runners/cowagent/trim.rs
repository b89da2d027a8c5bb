//! Cases of the trim before a run.

use super::super::NotCovered;
use super::{Case, count, messages_to_json, object, unstated};
use plimsoll::chat::{ChatMessage, SummaryReply, SummaryRequest, run_with_replies};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::cowagent::{
    Ends, FEW_TURNS, Flush, Flushed, HISTORY_RESULT_CHARS, Limits, SUMMARY_TEMPERATURE, Summarizer,
    budget, cut_history, daily_entry, daily_header, inject, messages_tokens, sanitize,
    system_tokens, trim_messages, turns,
};

/// Checks that a written summary is the one that the case states.
pub(super) fn check_stated_summary(case: &Case) -> Result<(), NotCovered> {
    let SummaryReply::Text(summary) = answer_of(&case.input) else {
        return Ok(());
    };
    let file = case.expected["daily_memory_file"].as_str();
    match file.filter(|file| !file.is_empty()) {
        Some(file) if !file.contains(summary.trim()) => {
            Err(unstated("the reason why the model's summary was not used"))
        }
        _ => Ok(()),
    }
}

/// Runs one case.
pub(super) fn run(case: &Case, mut given: Vec<ChatMessage>) -> Map<String, Value> {
    let system = system_tokens(case.input["system_prompt"].as_str().unwrap_or_default());
    let (turns_before, tokens_before) = (turns(&given).len(), messages_tokens(&given));
    let mut log = Vec::new();
    cut_history(&mut given, HISTORY_RESULT_CHARS, Ends::Head, &mut log);
    let limits = limits(&case.config);
    let trimmed = trim_messages(&given, system, &limits, &mut Flushed::default(), &mut log);
    let mut messages = trimmed.messages.clone();
    sanitize(&mut messages, &mut log);

    let mut memory = Memory::default();
    let mut later = trimmed.messages;
    for flush in &trimmed.flushes {
        let summary = memory.write(flush, &case.input);
        if let (Some(summary), Some(target), Some(dropped)) =
            (summary, &flush.target, trimmed.dropped)
        {
            inject(&mut later, dropped, target, &summary);
        }
    }
    sanitize(&mut later, &mut Vec::new());

    let mut answer = object([
        ("messages", messages_to_json(&messages)),
        ("turns_before", json!(turns_before)),
        ("turns_after", json!(turns(&messages).len())),
        ("tokens_before", json!(tokens_before)),
        ("tokens_after", json!(messages_tokens(&messages))),
        ("system_tokens", json!(system)),
        ("flushes", flushes(&trimmed.flushes)),
        ("summary_requests", json!(memory.requests)),
        ("daily_memory_file", json!(memory.file)),
        ("log", json!(log)),
    ]);
    if later != messages {
        answer.insert("messages_after_async_summary".to_owned(), messages_to_json(&later));
    }
    answer
}

/// Returns the limits of a configuration.
pub(super) fn limits(config: &Value) -> Limits {
    let model = config["model"].as_str().unwrap_or_default();
    let configured = config["agent_max_context_tokens"].as_u64().unwrap_or(0);
    Limits {
        max_turns: count(&config["agent_max_context_turns"]),
        max_tokens: budget(configured, model),
        few_turns: FEW_TURNS,
        has_memory: config["memory_manager"].as_bool().unwrap_or(true),
    }
}

/// Returns the writes to memory.
pub(super) fn flushes(flushes: &[Flush]) -> Value {
    let writes = flushes.iter().map(|flush| {
        json!({
            "reason": flush.reason.name(),
            "n_messages_passed": flush.n_passed,
            "dispatched": flush.is_dispatched(),
            "inject_callback": flush.target.is_some(),
        })
    });
    writes.collect()
}

/// The daily memory file and its summary requests.
#[derive(Default)]
struct Memory {
    requests: Vec<Value>,
    file: String,
}

impl Memory {
    /// Summarizes the messages and writes the summary.
    fn write(&mut self, flush: &Flush, input: &Value) -> Option<String> {
        let summary = run_with_replies(
            |replies| Summarizer::SHIPPED.summarize(&flush.fresh, replies),
            |request| {
                self.requests.push(request_json(request));
                answer_of(input)
            },
        )?;
        if self.file.is_empty() {
            self.file = daily_header("DATE");
        }
        self.file += &daily_entry(flush.reason, "HH:MM", &summary);
        Some(summary)
    }
}

fn request_json(request: &SummaryRequest) -> Value {
    let text = |role: &str| {
        let message = request.messages.iter().find(|m| m.is(role));
        message.and_then(ChatMessage::text).unwrap_or_default()
    };
    json!({
        "user_prompt": text("user"),
        "max_tokens": request.max_tokens,
        "temperature": SUMMARY_TEMPERATURE,
        "system_prompt_chars": text("system").chars().count(),
    })
}

/// Returns the model's answer. Any other field that starts with `fake_` is a failure.
fn answer_of(input: &Value) -> SummaryReply {
    let fields = input.as_object().into_iter().flatten();
    let is_off = |value: &Value| value.is_null() || value == &json!(false);
    let fails = fields
        .filter(|(key, value)| key.starts_with("fake_") && !is_off(value))
        .any(|(key, _)| key != "fake_summary");
    match &input["fake_summary"] {
        Value::String(text) if !fails => SummaryReply::Text(text.as_str().into()),
        _ => SummaryReply::Failed("no answer".to_owned()),
    }
}
