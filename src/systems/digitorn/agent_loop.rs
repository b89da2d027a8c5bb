//! The sequence for one user message: events, model calls, tool results.
//!
//! Source: `agent_turn` of `runtime/agent_loop.py`, mbathe/digitorn-bridge @8d8eb4a6.

use super::clock::Clock;
use super::compact::Surroundings;
use super::fault::{Fault, signed};
use super::runner::HookRunner;
use super::tool_result::{cut_result, max_result_chars};
use super::turn_state::TurnState;
use crate::chat::{Calls, ChatMessage, Content, Dialogue, Wants};

/// Turns before the last at which the model is asked to finish.
const WARNS_BEFORE: i64 = 2;

const WARNING: &str = "You are approaching the turn limit. Stop calling tools and respond to the user now. Summarize \
    what you found from the tool results above.";

/// A user message and the turns until its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The user's text.
    pub user: String,
    /// Turns in which the model called tools.
    pub steps: Vec<Step>,
    /// The final answer.
    pub answer: String,
    /// Seconds before each turn.
    pub seconds: f64,
}

/// A turn in which the model called tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The calls.
    pub calls: Vec<crate::chat::Call>,
    /// The result of each call.
    pub results: Vec<String>,
}

/// Measurements at the start of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The turn, from 0 for every user message.
    pub turn: i64,
    /// The clock.
    pub clock: f64,
    /// Pressure before the hooks.
    pub pressure_before: f64,
    /// The estimate before the hooks.
    pub tokens_before: i64,
    /// The estimate after the hooks.
    pub tokens_after: i64,
    /// The hooks that fired.
    pub fired: Vec<String>,
    /// Messages after the hooks.
    pub n_messages: usize,
    /// The turn of the last compaction.
    pub last_compact_turn: i64,
}

/// Reason for a stop: a summary is needed first, or an estimate raised.
pub type LoopStop = super::fault::Stop;

/// An agent over its lifetime.
#[derive(Clone, Debug)]
pub struct AgentLoop<'a> {
    /// Its hooks.
    pub runner: HookRunner<'a>,
    /// Its state, which persists between user messages except for turn and calls.
    pub state: TurnState,
    /// The clock.
    pub clock: f64,
}

impl AgentLoop<'_> {
    /// Answers one user message.
    ///
    /// # Errors
    /// [`LoopStop`] if a summary is needed first or an estimate raises.
    pub fn answer(
        &mut self,
        exchange: &Exchange,
        around: Surroundings<'_>,
        dialogue: &mut Dialogue<'_>,
    ) -> Result<Vec<Trace>, LoopStop> {
        let mut traces = Vec::new();
        let user = ChatMessage::new("user", exchange.user.as_str());
        self.state.messages.push(user);
        self.state.tool_calls = 0;
        for turn in 0..self.state.max_turns {
            self.clock += exchange.seconds;
            self.runner.clock = Clock::at(self.clock);
            self.state.start_event(turn, self.state.tool_calls);
            traces.push(self.start(around, dialogue)?);
            let Some(step) = exchange.steps.get(turn as usize) else {
                // A turn without tool calls ends without the event `turn_end`.
                let answer = ChatMessage::new("assistant", exchange.answer.as_str());
                self.state.messages.push(answer);
                break;
            };
            self.call_tools(step, around, dialogue)?;
        }
        Ok(traces)
    }

    /// Runs the events before the model call.
    fn start(
        &mut self,
        around: Surroundings<'_>,
        dialogue: &mut Dialogue<'_>,
    ) -> Result<Trace, LoopStop> {
        let state = &mut self.state;
        if let Some(warning) = turn_limit_warning(state.turn, state.max_turns, state.tool_calls) {
            state.messages.push(warning);
        }
        let (pressure_before, tokens_before) = measure(state)?;
        if state.turn == 0 {
            self.runner.run("session_start", state, around, dialogue)?;
            state.forget_estimate();
        }
        let fired = self.runner.run("turn_start", state, around, dialogue)?;
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
        step: &Step,
        around: Surroundings<'_>,
        dialogue: &mut Dialogue<'_>,
    ) -> Result<(), Wants> {
        let state = &mut self.state;
        let mut assistant = ChatMessage::new("assistant", "");
        assistant.content = Content::Missing;
        assistant.calls = Calls::List(step.calls.clone());
        state.messages.push(assistant);
        state.tool_calls += signed(step.calls.len());
        let most = max_result_chars(state.max_tokens, state.output_reserved);
        for (call, result) in step.calls.iter().zip(&step.results) {
            let tool = super::estimate::name(call).unwrap_or_default();
            let cut = cut_result(result, most, tool, false);
            let mut message = ChatMessage::new("tool", cut.unwrap_or_else(|| result.clone()));
            message.call_id.clone_from(&call.id);
            state.messages.push(message);
        }
        state.forget_estimate();
        self.runner.run("turn_end", state, around, dialogue)?;
        Ok(())
    }
}

fn measure(state: &mut TurnState) -> Result<(f64, i64), Fault> {
    Ok((state.token_pressure()?, state.estimated_tokens()?))
}

/// Returns the message to the model shortly before its turns run out, if it called tools at all.
pub fn turn_limit_warning(turn: i64, max_turns: i64, tool_calls: i64) -> Option<ChatMessage> {
    let is_near = turn == max_turns - WARNS_BEFORE && tool_calls > 0;
    is_near.then(|| ChatMessage::notice("system", WARNING))
}
