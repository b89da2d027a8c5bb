//! What hooks tell while they run.

use serde_json::{Map, Value, json};

/// What is told of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// The hook.
    pub hook_id: String,
    /// What it does.
    pub action_type: String,
    /// `start`, `end`, `error` or `update`.
    pub phase: &'static str,
    /// More.
    pub details: Map<String, Value>,
}

impl HookEvent {
    /// The event as it is sent.
    pub fn to_json(&self) -> Value {
        json!({
            "hook_id": self.hook_id,
            "action_type": self.action_type,
            "phase": self.phase,
            "details": self.details,
        })
    }
}
