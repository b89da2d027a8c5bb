//! `ContextEditingMiddleware` with `ClearToolUsesEdit`.

use super::estimate::total;
use crate::chat::{Arguments, Calls, ChatMessage, PendingRequest, Replies, Shape, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_values::{check_keys, names, text};
use std::sync::Arc;

/// `placeholder` takes the place of results (default: `[cleared]`); results of `exclude_tools` are kept.
pub(super) const ACTION: NamedAction = NamedAction {
    name: "langchain.clear",
    kind: ActionKind::Clear,
    help: "Clears all tool results but the newest, for the request only.",
    shape: Shape::OpenAi,
    numbers: &["trigger", "keep", "clear_at_least", "clear_tool_inputs"],
    make: |settings| {
        check_keys(settings, &["placeholder", "exclude_tools"])?;
        let placeholder = text(settings, "placeholder")?;
        Ok(Arc::new(Clear {
            placeholder: placeholder.unwrap_or("[cleared]").to_owned(),
            exclude_tools: names(settings, "exclude_tools")?.unwrap_or_default(),
        }))
    },
};

#[derive(Debug)]
struct Clear {
    placeholder: String,
    exclude_tools: Vec<String>,
}

impl Rewrite for Clear {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let n_system = n_system(all);
        let before = total(&all[n_system..]);
        let mut done = Rewritten {
            compared: Some(before),
            ..Rewritten::default()
        };
        if before <= input.count("trigger") as u64 {
            return Ok(done);
        }
        let is_result = |idx: &usize| all[*idx].is("tool");
        let mut results: Vec<usize> = (0..all.len()).filter(is_result).collect();
        results.truncate(results.len().saturating_sub(input.count("keep")));
        let at_least = input.count("clear_at_least") as u64;
        let mut after = all.to_vec();
        for at in results {
            let Some(caller) = all[..at].iter().rposition(|m| m.is("assistant")) else {
                continue;
            };
            if !self.clears(&all[at], &all[caller]) {
                continue;
            }
            after[at] = all[at].with_text(&*self.placeholder);
            if input.number("clear_tool_inputs") != 0.0 {
                clear_arguments(&mut after[caller], all[at].call_id.as_deref());
            }
            if at_least > 0 && before.saturating_sub(total(&after[n_system..])) >= at_least {
                break;
            }
        }
        let changed = |(at, now): (usize, ChatMessage)| {
            (now != all[at]).then_some(MessageEdit { at, now: Some(now) })
        };
        done.edits = after.into_iter().enumerate().filter_map(changed).collect();
        done.fired = !done.edits.is_empty();
        Ok(done)
    }
}

impl Clear {
    /// Returns whether a result may be cleared: it has content, the nearest answer before it has its call, and its tool
    /// is not excluded.
    fn clears(&self, result: &ChatMessage, caller: &ChatMessage) -> bool {
        let call = caller.calls().iter().find(|call| call.id == result.call_id);
        let Some(call) = call else {
            return false;
        };
        let tool = result.name.as_deref().unwrap_or_else(|| call.tool());
        let is_excluded = self.exclude_tools.iter().any(|name| name == tool);
        !is_excluded && result.text() != Some(&self.placeholder)
    }
}

/// Empties the arguments of a call.
fn clear_arguments(answer: &mut ChatMessage, id: Option<&str>) {
    if let Calls::List(calls) = &mut answer.calls {
        for call in calls.iter_mut().filter(|call| call.id.as_deref() == id) {
            if let Some(function) = &mut call.function {
                function.arguments = Arguments::Text("{}".into());
            }
        }
    }
}
