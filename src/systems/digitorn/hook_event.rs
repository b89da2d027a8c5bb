//! Events that hooks emit while they run.

use serde_json::{Map, Value, json};

/// An event of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// The hook.
    pub hook_id: String,
    /// Type of its action.
    pub action_type: String,
    /// `start`, `end`, `error` or `update`.
    pub phase: &'static str,
    /// Further fields.
    pub details: Map<String, Value>,
}

impl HookEvent {
    /// Returns the event as it is sent.
    pub fn to_json(&self) -> Value {
        json!({
            "hook_id": self.hook_id,
            "action_type": self.action_type,
            "phase": self.phase,
            "details": self.details,
        })
    }
}
