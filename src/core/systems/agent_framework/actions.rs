//! The action of presets.

use super::conversation::Conversation;
use super::group::annotate;
use super::settings::Lists;
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::session_state::{Effects, session_before, session_memory};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT];

/// Acts on the whole history of each call. `strategies` are those within `TokenBudgetComposedStrategy`;
/// `before_strategy` and `after_strategy` those of a `CompactionProvider`.
const COMPACT: NamedAction = NamedAction::new(
    "agent_framework.compact",
    ActionKind::Drop,
    "Runs a compaction strategy before each call, and in the harness after each turn.",
    |settings| Ok(Arc::new(Compact(Lists::parse(settings)?))),
)
.with_numbers(&[
    "strategy",
    "is_harness",
    "skip_excluded",
    "max_context_window_tokens",
    "max_output_tokens",
    "tool_eviction_threshold",
    "truncation_threshold",
    "keep_last_tool_call_groups",
    "preserve_system",
    "preserve_first_user_group",
    "max_n",
    "compact_to",
    "tokens",
    "keep_last_groups",
    "target_count",
    "threshold",
    "max_summary_input_tokens",
    "token_budget",
    "early_stop",
]);

#[derive(Debug)]
struct Compact(Lists);

/// Key of the conversation in memory.
const CONVERSATION: &str = "agent_framework_conversation";

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let plan = self.0.plan(&input);
        let before = session_before::<Conversation>(&input, CONVERSATION);
        let all = &input.messages;
        let mut effects = Effects::default();
        let mut after = Conversation::clone(&before);
        after.begin_call(all, &mut (&plan, &mut effects, replies))?;
        let mut compared = None;
        if let Some(strategy) = &plan.in_run {
            annotate(&mut after.working, None);
            compared = strategy.count(&after.working);
            strategy.run(&mut after.working, &mut effects, replies)?;
        }
        let hides = plan.in_run.is_some();
        let sent = after.working.iter().filter(|m| !hides || !m.is_excluded);
        let sent = sent.flat_map(|m| m.messages.iter().cloned());
        let messages: Vec<ChatMessage> = all[..n_system(all)].iter().cloned().chain(sent).collect();
        after.end_call(&plan);
        Ok(Rewritten {
            messages: Some(messages),
            memory: session_memory(&input, CONVERSATION, before, after),
            ..effects.into_rewritten(compared)
        })
    }
}
