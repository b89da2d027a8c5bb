//! The stage of the legacy version that truncates results if a conversation overflows.

use super::super::count::forget_counts;
use super::super::legacy::truncate_to_window;
use super::settings::Settings;
use crate::chat::{PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use std::sync::Arc;

pub(super) const TRUNCATE: NamedAction = NamedAction::new(
    "holmesgpt.truncate_fairly",
    ActionKind::Cut,
    "Cuts the largest tool results to equal shares until the conversation fits its window; mistakes tokens for characters.",
    |table| Ok(Arc::new(Truncate(Settings::read(table, &[])?))),
)
.with_numbers(&["window_override", "output_override", "tool_pct", "tool_tokens"]);

#[derive(Debug)]
struct Truncate(Settings);

impl Rewrite for Truncate {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let llm = self.0.llm(&input);
        let mut messages = input.messages.into_vec();
        let fair = match truncate_to_window(&llm, &mut messages, input.tools) {
            Ok(Some(fair)) => fair,
            Ok(None) => return Ok(Rewritten::default()),
            Err(error) => {
                return Ok(Rewritten { halt: Some(error.text), ..Rewritten::default() });
            }
        };
        forget_counts(&mut messages);
        let terms = [
            ("window", llm.limits.window),
            ("reserved", fair.reserved),
            ("tokens_without_tools", fair.without_tools),
            ("available", fair.available),
        ];
        let log = fair.truncations.iter().map(|cut| {
            format!(
                "{} ({}): {} tokens cut to {} characters",
                cut.tool_name, cut.tool_call_id, cut.original_tokens, cut.end_index
            )
        });
        Ok(Rewritten {
            log: log.collect(),
            messages: (!fair.truncations.is_empty()).then_some(messages),
            fired: true,
            terms: terms.map(|(name, value)| (name.to_owned(), value as f64)).to_vec(),
            ..Rewritten::default()
        })
    }
}
