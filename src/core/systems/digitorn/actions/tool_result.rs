//! Truncates a tool's result before it enters the conversation.

use super::super::tool_result::{cut_result, max_result_chars};
use super::{Reading, terms};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::check_keys;
use std::sync::Arc;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "digitorn.cut_result",
    ActionKind::Cut,
    "Cuts a tool result to half of the usable window, a list at an item, and adds a notice for the model.",
    |settings| {
        check_keys(settings, &["reading"])?;
        let reading = Reading::of(settings)?;
        Ok(Arc::new(CutResult { reading }))
    },
)
.with_numbers(&["max_tokens", "output_reserved"]);

#[derive(Debug)]
struct CutResult {
    reading: Reading,
}

impl Rewrite for CutResult {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let whole = |name: &str| input.number(name) as i64;
        let most = max_result_chars(whole("max_tokens"), whole("output_reserved"));
        let (mut longest, mut left, mut n_cut) = (0, 0, 0);
        let mut messages = input.messages.into_vec();
        for message in messages.iter_mut().filter(|m| m.is("tool")) {
            let Some(text) = message.text() else { continue };
            let tool = message.name.as_deref().unwrap_or("tool");
            let cuts_short_lists = self.reading == Reading::Document;
            if let Some(cut) = cut_result(text, most, tool, cuts_short_lists) {
                longest = longest.max(text.chars().count());
                left += cut.chars().count();
                n_cut += 1;
                *message = message.with_text(cut);
            }
        }
        Ok(Rewritten {
            messages: (n_cut > 0).then_some(messages),
            fired: n_cut > 0,
            terms: terms(&[
                ("max_chars", most as f64),
                ("result_chars", longest as f64),
                ("chars_left", left as f64),
            ]),
            ..Rewritten::default()
        })
    }
}
