//! The rewrite in Go: compaction by a share of the window, a final fitting before the request, and the emergency.

use super::super::go_rewrite::compact::{Compaction, Summary, summarize, truncate};
use super::super::go_rewrite::micro_compact::micro_compact;
use super::super::go_rewrite::{
    emergency_keep_recent, estimate_tokens, is_context_overflow, message_text,
};
use super::super::safe_split::split_system;
use super::terms;
use crate::chat::{Arguments, ChatMessage, PendingRequest, Replies, Rule};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::json::Value;
use crate::languages::python::signed;
use crate::systems::stage_settings::{check_keys, numbers_only};
use std::sync::Arc;

/// Maximum number of compactions that one request may trigger.
// The numbers of this file are those of digitornai/digitorn 51fe8f4a, `enforcePromptBudget` and
// `internal/runtime/contextcompact`.
const MAX_TRIES: usize = 8;

/// Minimum number of messages that fitting keeps.
const MIN_KEPT: i64 = 2;

/// Bytes per token for fitting a request.
const BYTES_PER_TOKEN: u64 = 3;

/// Bytes of names and braces around a message or a call.
const FRAME_BYTES: usize = 30;

/// Tokens that a request may always have.
const MIN_TOKENS: f64 = 256.0;

pub(super) const COMPACT: NamedAction = NamedAction::new(
    "digitorn.go_compact",
    ActionKind::Summarize,
    "Replaces the oldest messages with a framed recap or summary; keeps everything from the user's last message on.",
    |settings| Compact::of(settings).map(|c| Arc::new(c) as Arc<dyn Rewrite>),
)
.with_numbers(&["keep_recent", "strategy", "summary_max_tokens"]);

pub(super) const FIT: NamedAction = NamedAction::new(
    "digitorn.go_fit",
    ActionKind::Drop,
    "Compacts up to eight times, keeping half as many messages each time, until a conservative estimate fits.",
    |settings| {
        let compact = Compact::of(settings)?;
        Ok(Arc::new(Fit { compact }))
    },
)
.with_numbers(&["keep_recent", "strategy", "summary_max_tokens", "limit", "estimate_ratio"]);

pub(super) const MICRO: NamedAction = NamedAction::new(
    "digitorn.go_micro",
    ActionKind::Clear,
    "Replaces old, large tool results with one line.",
    |settings| numbers_only(settings, elide_results),
)
.with_numbers(&["keep_results", "min_bytes"]);

pub(super) const EMERGENCY: NamedAction = NamedAction::new(
    "digitorn.go_emergency",
    ActionKind::Drop,
    "After a rejected request, keeps half as many messages, but at least four, once.",
    |settings| numbers_only(settings, emergency),
)
.with_numbers(&["keep_recent", "attempt"]);

#[derive(Debug)]
struct Compact {
    prompt: String,
}

impl Compact {
    fn of(settings: &toml::Table) -> Result<Self, String> {
        check_keys(settings, &["prompt"])?;
        let prompt = settings.get("prompt").and_then(toml::Value::as_str);
        let prompt = prompt.ok_or("missing `prompt`")?.to_owned();
        Ok(Self { prompt })
    }

    /// Compacts once. The recap of an earlier compaction is not a message but the previous summary.
    fn compact(
        &self,
        input: &RewriteInput<'_>,
        messages: &[ChatMessage],
        keep: i64,
        replies: &mut Replies<'_>,
    ) -> Result<Compaction, PendingRequest> {
        let (prior, messages) = match messages.split_first() {
            Some((recap, rest)) if recap.written.is_some() => {
                (recap.text().unwrap_or_default(), rest)
            }
            _ => ("", messages),
        };
        let since = messages.iter().rev().position(|m| m.is("user"));
        let keep = keep.max(since.map_or(0, |idx| signed(idx) + 1));
        if input.number("strategy") < 1.0 {
            return Ok(truncate(messages, keep, ""));
        }
        let summary = Summary {
            has_model: true,
            prompt: &self.prompt,
            max_tokens: input.count("summary_max_tokens") as u64,
            prior,
        };
        summarize(messages, keep, "", summary, replies)
    }
}

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let (system, conversation) = split_system(&input.messages);
        let keep = input.number("keep_recent") as i64;
        let done = self.compact(&input, conversation, keep, replies)?;
        let before = estimate_tokens(conversation);
        Ok(rewritten(system, done, before))
    }
}

#[derive(Debug)]
struct Fit {
    compact: Compact,
}

impl Rewrite for Fit {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let limit = limit_of(&input);
        let definitions = definitions(input.tools);
        let all = input.messages.weigh(WRITTEN, written);
        let before = (definitions + all) / BYTES_PER_TOKEN;
        let (mut now, mut dropped) = (before, 0);
        let mut messages = None;
        if now as f64 > limit {
            let (system, conversation) = split_system(&input.messages);
            let mut conversation = conversation.to_vec();
            let fixed = definitions + system.map_or(0, written);
            let mut keep = input.number("keep_recent") as i64;
            for _ in 0..MAX_TRIES {
                if now as f64 <= limit {
                    break;
                }
                let done = self.compact.compact(&input, &conversation, keep, replies)?;
                if done.dropped == 0 {
                    break;
                }
                dropped += done.dropped;
                conversation = done.messages;
                keep = (keep / 2).max(MIN_KEPT);
                let bytes: u64 = conversation.iter().map(written).sum();
                now = (fixed + bytes) / BYTES_PER_TOKEN;
            }
            messages =
                (dropped > 0).then(|| system.cloned().into_iter().chain(conversation).collect());
        }
        Ok(Rewritten {
            messages,
            fired: dropped > 0,
            terms: terms(&[
                ("estimate", before as f64),
                ("estimate_after", now as f64),
                ("limit / ratio", limit),
                ("messages_dropped", dropped as f64),
            ]),
            ..Rewritten::default()
        })
    }
}

/// The cached rule for the bytes of a message.
const WRITTEN: Rule = Rule::new("digitorn: written");

/// Returns the bytes of tool definitions.
fn definitions(tools: &[Value]) -> u64 {
    tools.iter().map(|t| t.to_string().len() as u64).sum()
}

/// Returns the limit of a request's estimated tokens.
fn limit_of(input: &RewriteInput<'_>) -> f64 {
    let limit = input.number("limit") / input.number("estimate_ratio").max(1.0);
    limit.floor().max(MIN_TOKENS)
}

/// Returns the approximate bytes of a sent message: its escaped texts and the JSON around them.
fn written(message: &ChatMessage) -> u64 {
    let escaped = |text: &str| {
        let escapes = text.bytes().filter(|b| matches!(b, b'"' | b'\\' | b'\n' | b'\t' | b'\r'));
        (text.len() + escapes.count()) as u64
    };
    let calls = message.calls().iter().filter_map(|call| {
        let function = call.function.as_ref()?;
        let arguments = match &function.arguments {
            Arguments::Text(text) => escaped(text),
            Arguments::Json(value) => value.to_string().len() as u64,
            Arguments::Missing => 0,
        };
        Some(arguments + (function.name.len() + FRAME_BYTES) as u64)
    });
    escaped(&message_text(message)) + (message.role.len() + FRAME_BYTES) as u64 + calls.sum::<u64>()
}

fn elide_results(input: &RewriteInput<'_>) -> Rewritten {
    let whole = |name: &str| input.number(name) as i64;
    let (keep, least) = (whole("keep_results"), whole("min_bytes"));
    let (messages, elided) = micro_compact(input.messages.to_vec(), keep, least);
    Rewritten {
        messages: (!elided.is_empty()).then_some(messages),
        terms: terms(&[("results_elided", elided.len() as f64)]),
        ..Rewritten::default()
    }
}

fn emergency(input: &RewriteInput<'_>) -> Rewritten {
    if !input.error.is_empty() && !is_context_overflow(input.error) {
        return Rewritten { halt: Some(input.error.to_owned()), ..Rewritten::default() };
    }
    if input.number("attempt") > 1.0 {
        let window = input.window;
        let why = format!("This model's maximum context length is {window} tokens.");
        return Rewritten { halt: Some(why), ..Rewritten::default() };
    }
    let keep = emergency_keep_recent(input.number("keep_recent") as i64);
    let (system, conversation) = split_system(&input.messages);
    let conversation = match conversation {
        [note, rest @ ..] if note.written.is_some() => rest,
        _ => conversation,
    };
    let before = estimate_tokens(conversation);
    let done = truncate(conversation, keep, "");
    rewritten(system, done, before)
}

fn rewritten(system: Option<&ChatMessage>, done: Compaction, before: u64) -> Rewritten {
    let after = estimate_tokens(&done.messages);
    let is_done = done.dropped > 0;
    Rewritten {
        terms: terms(&[
            ("tokens_before", before as f64),
            ("tokens_after", after as f64),
            ("messages_dropped", done.dropped as f64),
        ]),
        messages: is_done.then(|| system.cloned().into_iter().chain(done.messages).collect()),
        fired: is_done,
        ..Rewritten::default()
    }
}
