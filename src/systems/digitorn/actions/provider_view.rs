//! The messages sent to the provider: without orphans and old thoughts. The store is unchanged.

use super::super::provider_view::repairs;
use super::only;
use crate::chat::{PendingRequest, Replies, Shape};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use std::sync::Arc;

pub(super) const ACTION: NamedAction = NamedAction {
    name: "digitorn.provider_view",
    kind: ActionKind::Repair,
    help: "Leaves unanswered calls, results without a call and <think> blocks out of a request.",
    shape: Shape::OpenAi,
    numbers: &[],
    make: |settings| {
        only(settings, &[])?;
        Ok(Arc::new(ProviderView))
    },
};

#[derive(Debug)]
struct ProviderView;

impl Rewrite for ProviderView {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let edits = repairs(&input.messages);
        let dropped = edits.iter().filter(|edit| edit.now.is_none()).count();
        Ok(Rewritten {
            edits: edits.into(),
            terms: super::terms(&[("messages_left_out", dropped as f64)]),
            ..Rewritten::default()
        })
    }
}
