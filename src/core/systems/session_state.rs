//! The state of systems whose own session is kept from call to call, and the effects of a call on it.

use crate::engine::{Memory, RewriteInput, Rewritten};
use crate::json::json;
use std::sync::Arc;

/// A session before and after a call. A call that is tried again starts from the session before it.
#[derive(Debug)]
struct SessionState<T> {
    call: usize,
    before: Arc<T>,
    after: Arc<T>,
}

/// Returns the session before a call, from the memory of its action.
pub(super) fn session_before<T>(input: &RewriteInput<'_>, key: &str) -> Arc<T>
where
    T: Default + Send + Sync + 'static,
{
    let known = input.memory.shared::<SessionState<T>>(key);
    let before =
        known.map(|known| if known.call == input.call { &known.before } else { &known.after });
    before.map_or_else(Arc::default, Arc::clone)
}

/// Returns memory with the session before and after a call.
pub(super) fn session_memory<T>(
    input: &RewriteInput<'_>,
    key: &'static str,
    before: Arc<T>,
    after: T,
) -> Memory
where
    T: Send + Sync + 'static,
{
    let state = SessionState { call: input.call, before, after: Arc::new(after) };
    Memory::from(json!({})).with(key, state)
}

/// Effects of a call.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Names of the mechanisms that changed something, inner ones first.
    pub(super) acted: Vec<String>,
    /// Lines that the system logs.
    pub(super) log: Vec<String>,
}

impl Effects {
    /// Returns the result of an action without its messages and memory. Its terms are the compared count and the mechanisms that acted.
    pub(super) fn into_rewritten(self, compared: Option<u64>) -> Rewritten {
        let fired = !self.acted.is_empty();
        let counted = compared.map(|count| ("used".to_owned(), count as f64));
        let acted = self.acted.into_iter().map(|name| (name, 1.0));
        Rewritten {
            compared,
            fired,
            terms: counted.into_iter().chain(acted).collect(),
            log: self.log,
            ..Rewritten::default()
        }
    }
}
