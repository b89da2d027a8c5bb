//! Runs the hooks of an event: selects them, orders them and emits their events.
//!
//! Source: `HookRunner` of `runtime/hooks.py`, mbathe/digitorn-bridge @8d8eb4a6.

use super::clock::Clock;
use super::compact::{Surroundings, compact, messages_to_keep};
use super::condition::holds;
use super::hook::{Hook, HookEvent, HookState};
use super::inject::inject_message;
use super::log_message::{filled, log_message};
use super::module_action::module_action;
use super::stop::Stop;
use super::turn_state::TurnState;
use crate::chat::{PendingRequest, Replies};
use crate::json::{Map, Value, json};
use crate::languages::python::PythonError;

/// The hooks of an application with their states.
#[derive(Clone, Debug)]
pub struct HookRunner<'a> {
    hooks: &'a [Hook],
    /// The state of each hook, in the same order.
    pub states: Vec<HookState>,
    /// The clock.
    pub clock: Clock,
    /// Whether actions can access the runner, and so raise `pre_compact`.
    pub raises_pre_compact: bool,
    /// Whether the status after an event is emitted.
    pub emits_status: bool,
    /// Emitted events.
    pub events: Vec<HookEvent>,
    /// Log lines.
    pub log: Vec<String>,
    is_compacting: bool,
}

impl<'a> HookRunner<'a> {
    /// Makes a runner of hooks in execution order ([`super::hook::in_order`]).
    pub fn new(hooks: &'a [Hook], mut states: Vec<HookState>, clock: Clock) -> Self {
        states.resize(hooks.len(), HookState::default());
        Self {
            hooks,
            states,
            clock,
            raises_pre_compact: false,
            emits_status: true,
            events: Vec::new(),
            log: Vec::new(),
            is_compacting: false,
        }
    }

    /// Returns the hooks in execution order.
    pub fn hooks(&self) -> &'a [Hook] {
        self.hooks
    }

    /// Raises an event. Returns the hooks that fired.
    ///
    /// # Errors
    /// [`PendingRequest`] if a summary is needed first.
    pub fn run(
        &mut self,
        event: &str,
        state: &mut TurnState,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Vec<String>, PendingRequest> {
        let mut fired = Vec::new();
        for (idx, hook) in self.hooks.iter().enumerate() {
            if !self.is_due(idx, hook, event, state) {
                continue;
            }
            match self.fire(idx, hook, state, around, replies) {
                Ok(()) => fired.push(hook.id.clone()),
                Err(Stop::Pending(pending)) => return Err(pending),
                Err(Stop::Raised(PythonError { text, .. })) => {
                    self.emit(hook, "error", json!({"error": text}));
                    self.log.push(format!(
                        "hook_exec: action '{}' error for hook '{}': {text}",
                        hook.action.kind, hook.id
                    ));
                }
            }
        }
        if self.emits_status {
            self.emit_status(state);
        }
        Ok(fired)
    }

    /// Returns whether a hook acts now: checks event, agent, limits, condition, and that its action exists.
    fn is_due(&mut self, idx: usize, hook: &Hook, event: &str, state: &mut TurnState) -> bool {
        let is_of_other_agent =
            hook.agent_id.as_ref().is_some_and(|agent| *agent != state.agent_id);
        if !hook.is_on(event) || is_of_other_agent || !self.can_fire(idx, hook) {
            return false;
        }
        let kind = &hook.condition.kind;
        let id = &hook.id;
        match holds(kind, &hook.condition.params, state, &mut self.log) {
            Some(Ok(true)) => {}
            Some(Ok(false)) => return false,
            Some(Err(PythonError { text, .. })) => {
                self.log
                    .push(format!("hook_eval: condition '{kind}' error for hook '{id}': {text}"));
                return false;
            }
            None => {
                self.log.push(format!("hook_eval: unknown condition '{kind}' for hook '{id}'"));
                return false;
            }
        }
        let kind = &hook.action.kind;
        let exists = ACTIONS.contains(&kind.as_str());
        if !exists {
            self.log.push(format!("hook_exec: unknown action '{kind}' for hook '{id}'"));
        }
        exists
    }

    /// Returns whether a hook is enabled, below its run limit and past its cooldown. A clock below the cooldown also
    /// blocks a hook that never fired.
    fn can_fire(&mut self, idx: usize, hook: &Hook) -> bool {
        let state = self.states.get(idx).copied().unwrap_or_default();
        let has_reached_limit = hook.max_fires > 0 && state.fire_count >= hook.max_fires;
        if !hook.enabled || has_reached_limit {
            return false;
        }
        hook.cooldown <= 0.0 || self.clock.read() - state.last_fired >= hook.cooldown
    }

    /// Runs the action. The estimate is computed again before the action, not after it: the next hook's condition may
    /// use an old one. The hook counts as fired whatever the action did, unless that raised.
    fn fire(
        &mut self,
        idx: usize,
        hook: &Hook,
        state: &mut TurnState,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<(), Stop> {
        state.forget_estimate();
        let tokens_before = state.estimated_tokens()?;
        let start = json!({"condition": hook.condition.kind, "params": hook.action.params});
        self.emit(hook, "start", start);
        self.act(hook, state, around, replies)?;
        let fire_count = self.mark_fired(idx);
        let details = end_details(hook, fire_count, tokens_before, state)?;
        self.emit(hook, "end", Value::Object(details));
        Ok(())
    }

    fn mark_fired(&mut self, idx: usize) -> u64 {
        let last_fired = self.clock.read();
        let Some(state) = self.states.get_mut(idx) else {
            return 0;
        };
        state.last_fired = last_fired;
        state.fire_count += 1;
        state.fire_count
    }

    fn act(
        &mut self,
        hook: &Hook,
        state: &mut TurnState,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<(), Stop> {
        let params = &hook.action.params;
        match &*hook.action.kind {
            "compact_context" => {
                let Some(keep) = messages_to_keep(state, params)? else {
                    return Ok(());
                };
                // The original recurses endlessly if such a hook compacts in turn. Here the event is raised once.
                if self.raises_pre_compact && !self.is_compacting {
                    self.is_compacting = true;
                    let ran = self.run("pre_compact", state, around, replies);
                    self.is_compacting = false;
                    ran?;
                }
                compact(state, params, keep, around, replies, &mut self.log)?;
            }
            "inject_message" => inject_message(state, params, &mut self.log),
            "log" => log_message(state, params, &mut self.log)?,
            _ => {
                let has_tools = around.reminder.tools.is_some();
                module_action(state, params, has_tools, &mut self.log);
            }
        }
        Ok(())
    }

    fn emit(&mut self, hook: &Hook, phase: &'static str, details: Value) {
        let details = match details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        self.events.push(HookEvent {
            hook_id: hook.id.clone(),
            action_type: hook.action.kind.clone(),
            phase,
            details,
        });
    }

    /// Emits the status after all hooks of an event; not if the estimate raises.
    fn emit_status(&mut self, state: &mut TurnState) {
        let (Ok(pressure), Ok(tokens)) = (state.token_pressure(), state.estimated_tokens()) else {
            return;
        };
        let details = [
            ("pressure", json!(rounded(pressure))),
            ("estimated_tokens", json!(tokens)),
            ("max_tokens", json!(state.effective_max_tokens())),
            ("threshold", json!(state.trigger)),
            ("messages", json!(state.messages.len())),
        ];
        let details = details.map(|(key, value)| (key.to_owned(), value));
        self.events.push(HookEvent {
            hook_id: "_system".to_owned(),
            action_type: "context_status".to_owned(),
            phase: "update",
            details: Map::from_iter(details),
        });
    }
}

/// Returns the details of the event of a hook that has fired.
fn end_details(
    hook: &Hook,
    fire_count: u64,
    tokens_before: i64,
    state: &mut TurnState,
) -> Result<Map<String, Value>, PythonError> {
    let params = &hook.action.params;
    let mut details = vec![("fire_count", json!(fire_count))];
    match &*hook.action.kind {
        "compact_context" => {
            // The label's default differs from the action's.
            let strategy = params.get("strategy").cloned();
            let tokens_after = state.estimated_tokens()?;
            details.extend([
                ("strategy", strategy.unwrap_or_else(|| json!("truncate"))),
                ("tokens_before", json!(tokens_before)),
                ("tokens_after", json!(tokens_after)),
                ("tokens_reduced", json!(tokens_before - tokens_after)),
            ]);
        }
        "log" => details.push(("message", json!(filled(state, params, "")?))),
        _ => {}
    }
    let owned = |(key, value): (&str, Value)| (key.to_owned(), value);
    Ok(details.into_iter().map(owned).collect())
}

/// Names of the actions.
const ACTIONS: &[&str] = &["compact_context", "inject_message", "log", "module_action"];

/// `round(value, 4)`.
fn rounded(value: f64) -> f64 {
    format!("{value:.4}").parse().unwrap_or(value)
}
