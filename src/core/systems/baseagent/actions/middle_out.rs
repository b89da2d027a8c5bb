//! Truncates a tool's output on arrival.

use super::{terms, total};
use crate::chat::{BlockBody, Content, PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::baseagent::{document_middle_out, middle_out};
use crate::systems::stage_settings::{check_keys, choice_setting};
use std::sync::Arc;

/// `counts` is the unit of the limit: `bytes` as shipped, `code_points` as documented.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "baseagent.middle_out",
    ActionKind::Cut,
    "Removes the middle of a tool's output, keeping half of the limit at each end.",
    |settings| {
        check_keys(settings, &["counts"])?;
        let rules = [("bytes", middle_out as Rule), ("code_points", document_middle_out)];
        let rule = choice_setting(settings, "counts", &rules)?.unwrap_or(middle_out);
        Ok(Arc::new(MiddleOut { rule }))
    },
)
.with_numbers(&["max_tokens"]);

/// A rule that shortens a text or returns `None` to keep it.
type Rule = fn(&str, i64) -> Option<String>;

#[derive(Debug)]
struct MiddleOut {
    rule: Rule,
}

impl MiddleOut {
    fn cut(&self, text: &mut Arc<str>, max_tokens: i64) -> bool {
        let cut = (self.rule)(text, max_tokens);
        let is_cut = cut.is_some();
        if let Some(cut) = cut {
            *text = cut.into();
        }
        is_cut
    }
}

impl Rewrite for MiddleOut {
    /// An output is one text in the original; if a session has several in one result, each is an output.
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let max_tokens = input.number("max_tokens") as i64;
        let mut messages = input.messages.into_vec();
        let before = total(&messages);
        let mut n_cut: u32 = 0;
        for message in messages.iter_mut().filter(|message| message.is("tool")) {
            match &mut message.content {
                Content::Text(text) => n_cut += u32::from(self.cut(&mut text.text, max_tokens)),
                Content::Blocks(blocks) => {
                    for block in blocks {
                        if let BlockBody::Text(text) = &mut block.body {
                            n_cut += u32::from(self.cut(text, max_tokens));
                        }
                    }
                }
                Content::Missing | Content::Null | Content::Other(_) => {}
            }
        }
        let after = total(&messages);
        Ok(Rewritten {
            messages: (n_cut > 0).then_some(messages),
            fired: n_cut > 0,
            terms: terms(&[
                ("tokens", before.as_f64()),
                ("max_tokens", max_tokens as f64),
                ("outputs_cut", f64::from(n_cut)),
                ("tokens_after", after.as_f64()),
            ]),
            ..Rewritten::default()
        })
    }
}
