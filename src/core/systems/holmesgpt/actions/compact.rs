//! The stage that compacts a conversation before a model call, or ends the run.

use super::super::count::{Llm, forget_counts};
use super::super::event::RunError;
use super::super::instruction::{LEGACY_INSTRUCTION, V038_INSTRUCTION, V045_INSTRUCTION};
use super::super::legacy::compact_legacy;
use super::super::limiter::{Limited, Threshold, compact_if_necessary, compaction_start_event};
use super::super::stats::RequestStats;
use super::super::summarizer::Summarizer;
use super::super::v038::compact_if_necessary_v038;
use super::settings::{Settings, Version};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::engine::{ActionKind, Edits, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::json::{Value, json};
use crate::systems::stage_settings::text_setting;
use std::sync::Arc;

/// Tokens that the meter may miss: it assumes instructions.
// A request without instructions counts up to four tokens more (`DEFINITIONS_WITH_SYSTEM` in
// `systems/litellm/counter.rs`).
const METER_SLACK: f64 = 4.0;

pub(super) const COMPACT: NamedAction = NamedAction::new(
    "holmesgpt.compact",
    ActionKind::Summarize,
    "Replaces a conversation near its window with instructions, a summary and the last question; ends the run if it still overflows.",
    |table| {
        let settings = Settings::read(table, &["prompt"])?;
        let builtin = match settings.version {
            Version::V045 => V045_INSTRUCTION,
            Version::V038 => V038_INSTRUCTION,
            Version::Legacy => LEGACY_INSTRUCTION,
        };
        let prompt = text_setting(table, "prompt")?.unwrap_or(builtin).into();
        Ok(Arc::new(Compact { settings, prompt }))
    },
)
.with_numbers(&[
    "used",
    "window_override",
    "output_override",
    "tool_pct",
    "tool_tokens",
    "threshold_pct",
    "enabled",
    "summary_max_tokens",
]);

#[derive(Debug)]
struct Compact {
    settings: Settings,
    prompt: Arc<str>,
}

/// The common part of the versions' results.
struct Outcome {
    messages: Vec<ChatMessage>,
    initial: i64,
    tokens: i64,
    compacted: Option<i64>,
    is_compacted: bool,
    n_requests: u64,
    usage: RequestStats,
    error: Option<RunError>,
    log: Vec<String>,
}

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let llm = self.settings.llm(&input);
        let threshold = Threshold {
            is_enabled: input.flag("enabled"),
            pct: input.number("threshold_pct").round() as i64,
        };
        if is_far_below(&input, &llm, threshold) {
            return Ok(Rewritten::default());
        }
        let price = |request: &SummaryRequest, reply: &SummaryReply| {
            let tools = if request.with_tools { input.tools } else { &[] };
            let prompt = llm.count(&mut request.messages.clone(), tools).total;
            let answer = match reply {
                SummaryReply::Text(text) => llm.counter.tokenizer.count(text),
                _ => 0,
            };
            RequestStats::of_request(prompt.unsigned_abs(), answer)
        };
        let summarizer = Summarizer {
            llm: &llm,
            tools: input.tools,
            instruction: &self.prompt,
            max_tokens: Some(input.number("summary_max_tokens") as u64).filter(|most| *most > 0),
            price: &price,
        };
        let outcome = self.run(&summarizer, threshold, input.messages.into_vec(), replies)?;
        Ok(rewritten(outcome, &llm, threshold, &input.memory))
    }
}

impl Compact {
    fn run(
        &self,
        summarizer: &Summarizer<'_>,
        threshold: Threshold,
        mut messages: Vec<ChatMessage>,
        replies: &mut Replies<'_>,
    ) -> Result<Outcome, PendingRequest> {
        if self.settings.version == Version::Legacy {
            let limited = compact_legacy(summarizer, threshold, messages, replies)?;
            let (compacted, usage) = match limited.compaction {
                Some((tokens, compaction)) => (Some(tokens), compaction.usage),
                None => (None, RequestStats::default()),
            };
            return Ok(Outcome {
                messages: limited.messages,
                initial: limited.initial.total,
                tokens: limited.tokens.total,
                compacted,
                is_compacted: limited.is_compacted,
                n_requests: u64::from(compacted.is_some()),
                usage,
                error: limited.error,
                log: limited.log,
            });
        }
        let (llm, tools) = (summarizer.llm, summarizer.tools);
        // Counted here first, as upstream does: only this version counts images for Anthropic models.
        let is_countable = llm.refusal(&messages).is_none();
        let start = is_countable
            .then(|| compaction_start_event(llm, threshold, &mut messages, tools))
            .flatten();
        let limited = if self.settings.version == Version::V038 {
            compact_if_necessary_v038(summarizer, threshold, messages, replies)?
        } else {
            compact_if_necessary(summarizer, threshold, messages, replies)?
        };
        Ok(outcome(limited, start.and_then(|event| event.content)))
    }
}

fn outcome(limited: Limited, start: Option<String>) -> Outcome {
    Outcome {
        log: start.into_iter().chain(limited.log).collect(),
        messages: limited.messages,
        initial: limited.initial.total,
        tokens: limited.tokens.total,
        compacted: limited.compacted,
        is_compacted: limited.is_compacted,
        n_requests: limited.n_requests,
        usage: limited.usage,
        error: limited.error,
    }
}

/// Returns whether the meter already rules out any action, so that no exact count is needed.
fn is_far_below(input: &RewriteInput<'_>, llm: &Llm, threshold: Threshold) -> bool {
    let used = input.number("used");
    let needed = used + METER_SLACK + llm.limits.max_output as f64;
    let line = llm.limits.threshold(threshold.pct).min(llm.limits.window as f64);
    used > 0.0 && needed <= line
}

fn rewritten(outcome: Outcome, llm: &Llm, threshold: Threshold, memory: &Value) -> Rewritten {
    let tried = outcome.compacted.is_some();
    if !tried && outcome.error.is_none() {
        return Rewritten::default();
    }
    let usage = &outcome.usage;
    let mut terms = vec![
        ("tokens", outcome.initial as f64),
        ("max_output", llm.limits.max_output as f64),
        ("window", llm.limits.window as f64),
        ("threshold", llm.limits.threshold(threshold.pct)),
        ("tokens_after", outcome.tokens as f64),
    ];
    if let Some(compacted) = outcome.compacted {
        terms.extend([
            ("compacted_tokens", compacted as f64),
            ("summarization_requests", outcome.n_requests as f64),
            ("prompt_tokens", usage.prompt_tokens as f64),
            ("completion_tokens", usage.completion_tokens as f64),
        ]);
    }
    let mut costs = RequestStats::from_json(&memory["costs"]);
    costs.add_compaction(usage);
    terms.push(("num_compactions", costs.num_compactions as f64));
    let mut messages = outcome.messages;
    forget_counts(&mut messages);
    Rewritten {
        compared: None,
        repeats: false,
        messages: outcome.is_compacted.then_some(messages),
        edits: Edits::default(),
        fired: tried,
        terms: terms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        log: outcome.log,
        files: Vec::new(),
        halt: outcome.error.map(|error| error.text),
        memory: json!({"costs": costs.to_json()}).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::run_with_replies;
    use crate::engine::{Hook, Storage};

    fn compacted(text_len: usize, window: f64, answer: &str) -> Rewritten {
        let table: toml::Table = toml::from_str("tokenizer = 'chars/4'").unwrap();
        let action = (COMPACT.make)(&table).unwrap();
        let numbers = [
            ("window_override", window),
            ("output_override", 500.0),
            ("tool_pct", 15.0),
            ("tool_tokens", 25_000.0),
            ("threshold_pct", 95.0),
            ("enabled", 1.0),
        ];
        let mut question = ChatMessage::new("user", "why?");
        if let crate::chat::Content::Text(text) = &mut question.content {
            text.part = Some(1);
        }
        let messages = vec![
            ChatMessage::new("system", "s"),
            question,
            ChatMessage::new("assistant", "x".repeat(text_len)),
        ];
        run_with_replies(
            |replies| {
                let input = RewriteInput {
                    messages: messages.clone().into(),
                    tools: &[],
                    numbers: &numbers,
                    at: Hook::BeforeCall,
                    call: 4,
                    turn: 1,
                    call_in_turn: 0,
                    now: 0.0,
                    since: None,
                    model: "",
                    window: window as u64,
                    memory: Value::Null.into(),
                    error: "",
                    storage: &Storage::AsSet,
                };
                action.rewrite(input, replies)
            },
            |_| SummaryReply::Text(answer.into()),
        )
    }

    #[test]
    fn a_compaction_keeps_the_question_and_reports_its_cost() {
        let done = compacted(13_600, 4_000.0, "SUMMARY");
        let messages = done.messages.unwrap();
        assert_eq!(messages.len(), 3);
        assert_eq!(messages[2].content.first_part(), Some(1));
        assert!(messages.iter().all(|m| m.rest.is_empty()));
        assert_eq!(done.memory["costs"]["num_compactions"], json!(1));
        assert!(done.log[0].starts_with("Compacting conversation history ("));
    }

    #[test]
    fn a_conversation_that_cannot_fit_ends_the_run() {
        let done = compacted(100, 520.0, "SUMMARY");
        assert!(done.messages.is_none() && done.fired);
        assert!(done.halt.is_some_and(|halt| halt.contains("but context window is 520.")));
    }
}
