//! The action of presets. Within a turn, each step continues from what the step before left. The next turn begins with
//! the whole history.

use super::options::{Options, Reasoning, ToolCallRule, rules};
use super::prune::{SdkMessage, grouped, prune};
use crate::chat::{ChatMessage, Mark, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, Memory, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::check_keys;
use std::sync::Arc;

/// `rules` is a value of `toolCalls` that takes precedence over the number: a list of rules, each with `type` and
/// possibly `tools`.
pub(super) const PRUNE: NamedAction = NamedAction::new(
    "ai_sdk.prune",
    ActionKind::Drop,
    "Removes old calls with their results, and reasoning, before each step.",
    |settings| {
        check_keys(settings, &["rules"])?;
        let given = settings.get("rules").map(rules).transpose()?;
        Ok(Arc::new(Prune(given)))
    },
)
.with_numbers(&["reasoning", "tool_calls", "keeps_empty"]);

/// Key of the messages of a turn, in memory.
const STEP: &str = "ai_sdk_step";

/// The rules that take precedence.
#[derive(Debug)]
struct Prune(Option<Vec<ToolCallRule>>);

/// The messages that a step sent.
#[derive(Clone, Debug)]
struct Step {
    messages: Vec<SdkMessage>,
    /// The end of the conversation at this step.
    end: Mark,
    call: usize,
    /// Whether this step removed anything.
    has_changed: bool,
}

impl Rewrite for Prune {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let by_number = || ToolCallRule::by_number(input.count("tool_calls")).into_iter().collect();
        let options = Options {
            reasoning: Reasoning::by_number(input.count("reasoning")),
            rules: self.0.clone().unwrap_or_else(by_number),
            keeps_empty: input.flag("keeps_empty"),
        };
        if options.rules.is_empty() && options.reasoning == Reasoning::Kept {
            return Ok(Rewritten::default());
        }
        let all = &input.messages;
        let n_system = n_system(all);
        let known = input.memory.shared::<Step>(STEP);
        let continued = known.and_then(|known| {
            let new = all.since(&known.end)?;
            let goes_on = !new.iter().any(|m| m.is("user"));
            goes_on.then(|| (known.clone(), new))
        });
        let (mut step, new) = continued.unwrap_or_else(|| {
            let begin = all.iter().rposition(|m| m.is("user"));
            let (history, new) = all[n_system..].split_at(begin.map_or(0, |at| at + 1 - n_system));
            let mut messages = grouped(history);
            let step = Step {
                has_changed: prune(&mut messages, &options),
                messages,
                end: all.mark(),
                call: input.call,
            };
            (step, new)
        });
        // Another try of a call sends the same messages.
        if step.call != input.call || !new.is_empty() {
            for answered in steps(new) {
                step.messages.extend(grouped(answered));
                step.has_changed = prune(&mut step.messages, &options);
            }
            step.end = all.mark();
            step.call = input.call;
        }
        let mut messages = all[..n_system].to_vec();
        messages.extend(step.messages.iter().flat_map(SdkMessage::to_chat));
        Ok(Rewritten {
            messages: Some(messages),
            repeats: !step.has_changed,
            memory: Memory::default().with(STEP, step),
            ..Rewritten::default()
        })
    }
}

/// Splits messages before each answer. A step without an answer is one too.
fn steps(messages: &[ChatMessage]) -> Vec<&[ChatMessage]> {
    let answers = messages.iter().enumerate().skip(1);
    let answers = answers.filter(|(_, m)| m.is("assistant"));
    let mut steps = Vec::new();
    let mut start = 0;
    for (at, _) in answers {
        steps.push(&messages[start..at]);
        start = at;
    }
    steps.push(&messages[start..]);
    steps
}
