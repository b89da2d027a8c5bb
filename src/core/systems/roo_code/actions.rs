//! Actions of presets.

use super::measure::{Measure, condensed};
use super::request::summary_request;
use super::window::{groups, slide, with_all, with_hidden, without_hidden};
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::json::{Value, json};
use crate::session::WrittenKind;
use crate::systems::stage_settings::{check_keys, numbers_only, text_setting};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[CONDENSE, TRUNCATE];

/// Acts above `allowed` tokens or from `percent` of the window on. `environment` is the text that every summary ends
/// with, if it is known.
const CONDENSE: NamedAction = NamedAction::new(
    "roo_code.condense",
    ActionKind::Summarize,
    "Replaces everything, the newest message too, with one summary.",
    |settings| {
        check_keys(settings, &["environment"])?;
        let environment = text_setting(settings, "environment")?;
        Ok(Arc::new(Condense { environment: environment.map(str::to_owned) }))
    },
)
.with_numbers(&["reported", "percent", "allowed", "is_on"]);

/// Acts if `roo_code.condense` is off or failed at this call.
const TRUNCATE: NamedAction = NamedAction::new(
    "roo_code.truncate",
    ActionKind::Drop,
    "Hides half of the messages behind the first, with a marker.",
    |settings| numbers_only(settings, truncate),
)
.with_numbers(&["reported", "allowed", "is_on"]);

/// Key of the call at which a summary failed, in memory.
const FAILED_AT: &str = "roo_code_failed_at";
/// Key of the command blocks of the task, in memory.
const COMMANDS: &str = "roo_code_commands";

#[derive(Debug)]
struct Condense {
    environment: Option<String>,
}

impl Rewrite for Condense {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let Some(measure) = Measure::new(&input) else {
            return Ok(Rewritten::default());
        };
        let total = measure.total as f64;
        let reaches_percent =
            100.0 * total / input.window as f64 >= 100.0 * input.number("percent");
        let acts = reaches_percent || total > input.number("allowed");
        let unchanged = Rewritten {
            compared: Some(measure.total),
            terms: measure.terms(),
            memory: measure.to_memory().into(),
            ..Rewritten::default()
        };
        if !acts || !input.flag("is_on") {
            return Ok(unchanged);
        }
        let all = &input.messages;
        let n_system = n_system(all);
        let is_summary = |m: &ChatMessage| m.written == Some(WrittenKind::Summary);
        let has_summary = all.get(n_system).is_some_and(is_summary);
        if groups(all, n_system).len() < 2 {
            let why =
                if has_summary { "condensed_recently" } else { "condense_not_enough_messages" };
            return Ok(failed(unchanged, &measure, &input, why));
        }
        let commands = commands(&input, all.get(n_system));
        let request = summary_request(&with_all(&all[n_system..], &input.memory));
        let summary = match replies.reply_to(request)?.into_text() {
            Ok(text) => text.trim().to_owned(),
            Err(why) => {
                let why = format!("condense_api_failed: {why}");
                return Ok(failed(unchanged, &measure, &input, &why));
            }
        };
        if summary.is_empty() {
            return Ok(failed(unchanged, &measure, &input, "condense_failed"));
        }
        let mut parts = vec![format!("## Conversation Summary\n{summary}")];
        if !commands.is_empty() {
            parts.push(format!("<system-reminder>\n## Active Workflows\nThe following directives must be maintained across all future condensings:\n{commands}\n</system-reminder>"));
        }
        parts.extend(self.environment.clone());
        let mut memory = condensed(&all[..n_system], &parts, input.tools);
        memory[COMMANDS] = commands.into();
        let mut messages = all[..n_system].to_vec();
        let mut parts = parts.into_iter();
        let summary = parts.next().unwrap_or_default();
        messages.push(ChatMessage::summary("user", summary));
        messages.extend(parts.map(|part| ChatMessage::addition("user", part)));
        Ok(Rewritten {
            messages: Some(messages),
            compared: Some(measure.total),
            terms: measure.terms(),
            fired: true,
            memory: without_hidden(memory.into()),
            ..Rewritten::default()
        })
    }
}

/// Returns the result of a failed attempt.
fn failed(
    unchanged: Rewritten,
    measure: &Measure,
    input: &RewriteInput<'_>,
    why: &str,
) -> Rewritten {
    let mut memory = measure.to_memory();
    memory[FAILED_AT] = json!(input.call);
    Rewritten {
        fired: true,
        log: vec![format!("common:errors.{why}")],
        memory: memory.into(),
        ..unchanged
    }
}

/// Returns the command blocks of the task's first message, which every summary repeats.
fn commands(input: &RewriteInput<'_>, first: Option<&ChatMessage>) -> String {
    if let Value::String(known) = &input.memory[COMMANDS] {
        return known.clone();
    }
    let text = first.map(|first| first.joined_text("\n")).unwrap_or_default();
    let (mut blocks, mut rest) = (Vec::new(), &*text);
    while let Some(start) = rest.find("<command") {
        let Some(end) = rest[start..].find("</command>") else {
            break;
        };
        let end = start + end + "</command>".len();
        blocks.push(&rest[start..end]);
        rest = &rest[end..];
    }
    blocks.join("\n")
}

fn truncate(input: &RewriteInput<'_>) -> Rewritten {
    let has_failed = input.memory[FAILED_AT].as_u64() == Some(input.call as u64);
    let is_next = has_failed || !input.flag("is_on");
    let exceeds = |m: &Measure| m.total as f64 > input.number("allowed");
    let measure = Measure::new(input).filter(|m| is_next && exceeds(m));
    let all = &input.messages;
    let n_system = n_system(all);
    let Some((measure, (messages, hidden))) = measure.zip(slide(all, n_system)) else {
        return Rewritten::default();
    };
    Rewritten {
        messages: Some(messages),
        fired: true,
        terms: measure.terms(),
        memory: with_hidden(json!({}).into(), &input.memory, hidden),
        ..Rewritten::default()
    }
}
