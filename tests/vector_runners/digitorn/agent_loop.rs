//! The sequence for one user message: events, model calls, tool results.
//!
//! Source: `agent_turn` of `runtime/agent_loop.py`, mbathe/digitorn-bridge @8d8eb4a6.

use plimsoll::chat::{Call, Calls, ChatMessage, Content, PendingRequest, Replies};
use plimsoll::languages::python::PythonError;
use plimsoll::systems::digitorn::clock::Clock;
use plimsoll::systems::digitorn::compact::Surroundings;
use plimsoll::systems::digitorn::runner::HookRunner;
use plimsoll::systems::digitorn::stop::Stop;
use plimsoll::systems::digitorn::tool_result::{cut_result, max_result_chars};
use plimsoll::systems::digitorn::turn_limit::turn_limit_warning;
use plimsoll::systems::digitorn::turn_state::TurnState;

/// A user message and the turns until its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exchange {
    /// The user's text.
    pub(crate) user: String,
    /// Turns in which the model called tools.
    pub(crate) tool_turns: Vec<ToolTurn>,
    /// The final answer.
    pub(crate) answer: String,
    /// Seconds before each turn.
    pub(crate) seconds: f64,
}

/// A turn in which the model called tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolTurn {
    /// The calls.
    pub(crate) calls: Vec<Call>,
    /// The result of each call.
    pub(crate) results: Vec<String>,
}

/// Measurements at the start of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    /// The turn, from 0 for every user message.
    pub(crate) turn: i64,
    /// The clock.
    pub(crate) clock: f64,
    /// Pressure before the hooks.
    pub(crate) pressure_before: f64,
    /// The estimate before the hooks.
    pub(crate) tokens_before: i64,
    /// The estimate after the hooks.
    pub(crate) tokens_after: i64,
    /// The hooks that fired.
    pub(crate) fired: Vec<String>,
    /// Messages after the hooks.
    pub(crate) n_messages: usize,
    /// The turn of the last compaction.
    pub(crate) last_compact_turn: i64,
}

/// An agent over its lifetime.
#[derive(Clone, Debug)]
pub(crate) struct AgentLoop<'a> {
    /// Its hooks.
    pub(crate) runner: HookRunner<'a>,
    /// Its state, which persists between user messages except for turn and calls.
    pub(crate) state: TurnState,
    /// The clock.
    pub(crate) clock: f64,
}

impl AgentLoop<'_> {
    /// Answers one user message.
    ///
    /// # Errors
    /// [`Stop`] if a summary is needed first or an estimate raises.
    pub(crate) fn answer(
        &mut self,
        exchange: &Exchange,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Vec<Trace>, Stop> {
        let mut traces = Vec::new();
        let user = ChatMessage::new("user", exchange.user.as_str());
        self.state.messages.push(user);
        self.state.tool_calls = 0;
        for turn in 0..self.state.max_turns {
            self.clock += exchange.seconds;
            self.runner.clock = Clock::at(self.clock);
            self.state.start_event(turn, self.state.tool_calls);
            traces.push(self.start(around, replies)?);
            let Some(tool_turn) = exchange.tool_turns.get(turn as usize) else {
                // A turn without tool calls ends without the event `turn_end`.
                let answer = ChatMessage::new("assistant", exchange.answer.as_str());
                self.state.messages.push(answer);
                break;
            };
            self.call_tools(tool_turn, around, replies)?;
        }
        Ok(traces)
    }

    /// Runs the events before the model call.
    fn start(
        &mut self,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Trace, Stop> {
        let state = &mut self.state;
        if let Some(warning) = turn_limit_warning(state.turn, state.max_turns, state.tool_calls) {
            state.messages.push(warning);
        }
        let (pressure_before, tokens_before) = measure(state)?;
        if state.turn == 0 {
            self.runner.run("session_start", state, around, replies)?;
            state.forget_estimate();
        }
        let fired = self.runner.run("turn_start", state, around, replies)?;
        state.forget_estimate();
        Ok(Trace {
            turn: state.turn,
            clock: self.clock,
            pressure_before,
            tokens_before,
            tokens_after: state.estimated_tokens()?,
            fired,
            n_messages: state.messages.len(),
            last_compact_turn: state.last_compact_turn,
        })
    }

    /// Runs the calls, adds their truncated results, and ends the turn.
    fn call_tools(
        &mut self,
        tool_turn: &ToolTurn,
        around: Surroundings<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<(), PendingRequest> {
        let state = &mut self.state;
        let mut assistant = ChatMessage::new("assistant", "");
        assistant.content = Content::Missing;
        assistant.calls = Calls::List(tool_turn.calls.clone());
        state.messages.push(assistant);
        state.tool_calls += i64::try_from(tool_turn.calls.len()).unwrap_or(i64::MAX);
        let most = max_result_chars(state.max_tokens, state.output_reserved);
        for (call, result) in tool_turn.calls.iter().zip(&tool_turn.results) {
            let tool = tool_name(call);
            let cut = cut_result(result, most, tool, false);
            let mut message = ChatMessage::new("tool", cut.unwrap_or_else(|| result.clone()));
            message.call_id.clone_from(&call.id);
            state.messages.push(message);
        }
        state.forget_estimate();
        self.runner.run("turn_end", state, around, replies)?;
        Ok(())
    }
}

fn measure(state: &mut TurnState) -> Result<(f64, i64), PythonError> {
    Ok((state.token_pressure()?, state.estimated_tokens()?))
}

/// Returns the tool name of a call; empty if it has none.
fn tool_name(call: &Call) -> &str {
    call.function.as_ref().map_or("", |function| &function.name)
}
