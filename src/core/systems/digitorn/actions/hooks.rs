//! The application's hooks at an event of a turn.

use super::super::clock::Clock;
use super::super::compact::Surroundings;
use super::super::document::as_documented;
use super::super::hook::{Hook, HookEvent, HookState, in_order};
use super::super::notes::Wording;
use super::super::runner::HookRunner;
use super::super::tool_index::ToolIndex;
use super::super::turn_state::{NEVER_COMPACTED, TurnState};
use super::{Reading, documented, mode_of, reminder_inputs, terms};
use crate::chat::{Messages, PendingRequest, Replies, Rule};
use crate::engine::{
    ActionKind, Edits, Hook as At, Memory, NamedAction, Rewrite, RewriteInput, Rewritten,
};
use crate::json::{Value, json};
use crate::languages::python::signed;
use crate::languages::python::{Layout, python_dumps};
use crate::systems::stage_settings::check_keys;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Default number of turns between two compactions. The injected hook states only another number.
const DEFAULT_COOLDOWN_TURNS: f64 = 3.0;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "digitorn.hooks",
    ActionKind::Summarize,
    "Runs the application's hooks, including the injected one: turn_start before a call, turn_end after tool results.",
    |settings| {
        check_keys(settings, &["hooks", "reading", "setup_summary", "agent"])?;
        Hooks::of(settings).map(|hooks| Arc::new(hooks) as Arc<dyn Rewrite>)
    },
)
.with_numbers(&[
    "max_tokens",
    "output_reserved",
    "strategy",
    "keep_recent",
    "compression_trigger",
    "summary_max_tokens",
    "auto_compact",
    "cooldown",
    "cooldown_turns",
    "max_turns",
    "tool_injection",
    "uptime",
]);

#[derive(Debug)]
struct Hooks {
    own: Vec<Hook>,
    setup_summary: Vec<String>,
    agent: String,
    reading: Reading,
}

/// Key of [`HookMemory`].
pub(super) const MEMORY_KEY: &str = "digitorn.hooks";

/// State of the hooks between events.
#[derive(Clone, Debug, Default)]
pub(super) struct HookMemory {
    /// States of the hooks that fired, by id.
    pub(super) states: BTreeMap<String, HookState>,
    turn: Option<i64>,
    last_compact_turn: Option<i64>,
    /// Hooks built last for each action.
    built: Vec<BuiltHooks>,
}

/// Hooks built for an action and its numbers.
#[derive(Clone, Debug)]
struct BuiltHooks {
    /// Address of the action.
    by: usize,
    numbers: Vec<(&'static str, f64)>,
    hooks: Arc<[Hook]>,
}

impl HookMemory {
    /// Returns the hooks of an action. Builds them again only if its numbers changed.
    fn hooks(&mut self, action: &Hooks, input: &RewriteInput<'_>) -> Arc<[Hook]> {
        let by = std::ptr::from_ref(action).addr();
        let is_current = |built: &&BuiltHooks| built.by == by && built.numbers == input.numbers;
        if let Some(built) = self.built.iter().find(is_current) {
            return Arc::clone(&built.hooks);
        }
        let built =
            BuiltHooks { by, numbers: input.numbers.to_vec(), hooks: action.all(input).into() };
        let hooks = Arc::clone(&built.hooks);
        self.built.retain(|built| built.by != by);
        self.built.push(built);
        hooks
    }

    /// Returns the state after the events of a turn.
    fn memory(&mut self, runner: &HookRunner<'_>, state: &TurnState) -> Memory {
        let states = runner.hooks().iter().zip(&runner.states);
        for (hook, state) in states.filter(|(_, state)| state.fire_count > 0) {
            self.states.insert(hook.id.clone(), *state);
        }
        self.turn = Some(state.turn);
        self.last_compact_turn = Some(state.last_compact_turn);
        Memory::default().with(MEMORY_KEY, std::mem::take(self))
    }
}

impl Hooks {
    fn of(settings: &toml::Table) -> Result<Self, String> {
        let reading = Reading::of(settings)?;
        let settings = crate::json::to_value(settings).map_err(|e| e.to_string())?;
        let list = |key: &str| match &settings[key] {
            Value::Null => Ok(&[][..]),
            Value::Array(items) => Ok(&**items),
            _ => Err(format!("`{key}` is a list")),
        };
        let hook = |hook: &Value| match reading {
            Reading::Code => Hook::from_json(hook),
            Reading::Document => Hook::from_json(&as_documented(hook)),
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(Self {
            own: list("hooks")?.iter().map(hook).collect(),
            setup_summary: list("setup_summary")?.iter().map(text).collect(),
            agent: text(&settings["agent"]),
            reading,
        })
    }

    /// Returns the application's hooks, and the injected one if the numbers enable it.
    fn all(&self, input: &RewriteInput<'_>) -> Vec<Hook> {
        let auto = (input.number("auto_compact") >= 1.0).then(|| {
            let strategy = if input.number("strategy") >= 1.0 { "summarize" } else { "truncate" };
            let mut hook = Hook::auto_compact(
                &json!(input.number("compression_trigger")),
                strategy,
                input.number("keep_recent") as i64,
                input.count("summary_max_tokens") as u64,
            );
            hook.cooldown = input.number("cooldown");
            let turns = input.number("cooldown_turns");
            if turns != DEFAULT_COOLDOWN_TURNS {
                let turns = json!(turns as i64);
                hook.action.params.insert("cooldown_turns".to_owned(), turns);
            }
            hook
        });
        in_order(self.own.clone(), auto)
    }

    /// Returns the events to raise, in order.
    fn events(input: &RewriteInput<'_>) -> &'static [&'static str] {
        match input.at {
            At::AfterTools | At::TurnEnd => &["turn_end"],
            _ if input.call_in_turn == 0 => &["session_start", "turn_start"],
            _ => &["turn_start"],
        }
    }

    /// Returns the turn. It restarts at every user message; in the document it does not.
    fn turn(&self, input: &RewriteInput<'_>, stored: &HookMemory) -> i64 {
        if self.reading == Reading::Document {
            return signed(input.call) + 1;
        }
        let call = i64::from(input.call_in_turn);
        match input.at {
            // Results join before the next call or the next user message.
            At::AfterTools => stored.turn.unwrap_or(call - 1).max(0),
            _ => call,
        }
    }

    fn wording(&self) -> Wording {
        match self.reading {
            Reading::Code => Wording::Shipped,
            Reading::Document => Wording::Document,
        }
    }

    fn state(&self, input: &mut RewriteInput<'_>, stored: &HookMemory) -> TurnState {
        let (max_tokens, reserved) = (input.number("max_tokens"), input.number("output_reserved"));
        let mode = mode_of(input, max_tokens as i64);
        let tool_calls = calls_of_turn(&input.messages);
        let turn = self.turn(input, stored);
        let messages = std::mem::take(&mut input.messages);
        let mut state = TurnState::new(messages, max_tokens as i64, reserved as i64);
        state.start_event(turn, tool_calls);
        state.max_turns = input.number("max_turns") as i64;
        state.trigger = input.number("compression_trigger");
        state.agent_id.clone_from(&self.agent);
        state.is_plain_estimate = self.reading == Reading::Document;
        state.tool_injection = match self.reading {
            Reading::Code => mode,
            Reading::Document => documented(mode),
        };
        state.last_compact_turn = stored.last_compact_turn.unwrap_or(NEVER_COMPACTED);
        state
    }
}

impl Rewrite for Hooks {
    fn rewrite(
        &self,
        mut input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let stored = input.memory.shared::<HookMemory>(MEMORY_KEY);
        let mut stored = stored.cloned().unwrap_or_default();
        let hooks = stored.hooks(self, &input);
        let states = hooks.iter().map(|hook| stored.states.get(&hook.id));
        let states = states.map(|state| state.copied().unwrap_or_default());
        let clock = Clock::at(input.number("uptime") + input.now);
        let mut runner = HookRunner::new(&hooks, states.collect(), clock);
        runner.raises_pre_compact = true;
        runner.emits_status = false;
        let mut state = self.state(&mut input, &stored);
        let index = ToolIndex::of_definitions(input.tools);
        let around = Surroundings {
            has_provider: true,
            reminder: reminder_inputs(&index, &self.setup_summary),
            wording: self.wording(),
        };
        let before = (state.token_pressure(), state.last_compact_turn);
        let mut fired = Vec::new();
        for event in Self::events(&input) {
            state.start_event(state.turn, state.tool_calls);
            fired.extend(runner.run(event, &mut state, around, replies)?);
        }
        let pressure_after = state.token_pressure();
        let mut shown = terms(&[
            ("pressure", before.0.unwrap_or(0.0)),
            ("pressure_after", pressure_after.unwrap_or(0.0)),
            ("usable", state.effective_max_tokens() as f64),
            ("turn", state.turn as f64),
            ("last_compact_turn", before.1 as f64),
            ("hooks_fired", fired.len() as f64),
        ]);
        let acting = hooks.iter().filter(|hook| fired.contains(&hook.id));
        shown.extend(acting.clone().filter_map(threshold));
        let mut log = std::mem::take(&mut runner.log);
        log.extend(runner.events.iter().filter_map(log_line));
        Ok(Rewritten {
            compared: None,
            repeats: false,
            // A hook that only logs does not count.
            fired: acting.clone().any(|hook| hook.action.kind != "log"),
            terms: shown,
            memory: stored.memory(&runner, &state),
            log,
            messages: state.is_changed.then(|| state.messages.into_vec()),
            edits: Edits::default(),
            files: Vec::new(),
            halt: None,
        })
    }
}

/// Returns the threshold of a hook's condition, named after the hook.
fn threshold(hook: &Hook) -> Option<(String, f64)> {
    let params = &hook.condition.params;
    let threshold = params.get("threshold").or(params.get("every"))?.as_f64()?;
    Some((format!("{} {}", hook.id, hook.condition.kind), threshold))
}

/// Returns the log line of the event of a hook that ran.
fn log_line(event: &HookEvent) -> Option<String> {
    let has_ended = matches!(event.phase, "end" | "error");
    has_ended.then(|| {
        let (hook, action, phase) = (&event.hook_id, &event.action_type, event.phase);
        let details = python_dumps(&Value::Object(event.details.clone()), Layout::UNICODE);
        format!("[hook] {hook} {action} {phase} {details}")
    })
}

const CALLS_OF_TURN: Rule = Rule::new("digitorn: calls of the turn");

/// Returns the tool calls since the last user message. Looks only at messages added since the last call.
pub(super) fn calls_of_turn(messages: &Messages) -> i64 {
    /// Number of messages read, and of calls in them.
    #[derive(Clone, Default)]
    struct Calls(usize, i64);
    let calls = messages.updated_state(CALLS_OF_TURN, |Calls(n_read, calls), messages| {
        for message in &messages[*n_read..] {
            if message.is("user") {
                *calls = 0;
            } else {
                *calls += signed(message.calls().len());
            }
        }
        *n_read = messages.len();
    });
    calls.1
}
