//! The agent's loop (`ToolCallingLLM.call_stream`): compact if needed, call the model, run its tools, repeat.

use super::repeat_guard::{RepeatGuard, refusal_of_repeat};
use plimsoll::chat::{
    Arguments, Call, ChatMessage, SummaryReply, SummaryRequest, run_with_replies,
};
use plimsoll::json::{Map, Value};
use plimsoll::systems::holmesgpt::{
    Event, Limited, RequestStats, RunError, Storage, Summarizer, Threshold, ToolResult,
    compact_if_necessary, compaction_start_event, forget_counts, spill_oversized_result,
};
use std::sync::Arc;

/// The model and the tools of the loop.
pub(crate) trait Environment {
    /// Returns the model's answer to a conversation with these tool definitions.
    fn complete(&mut self, messages: &[ChatMessage], tools: &[Value]) -> Completion;
    /// Returns a summary.
    fn summarize(&mut self, request: &SummaryRequest) -> SummaryReply;
    /// Returns a tool's result.
    fn run_tool(&mut self, tool: &str, call_id: &str, params: &Value) -> ToolResult;
}

/// An answer of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completion {
    /// Text and tool calls.
    pub(crate) message: ChatMessage,
    /// Its cost.
    pub(crate) usage: RequestStats,
}

/// A run's settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentLoop<'a> {
    /// The model, its tools and the summary instruction.
    pub(crate) summarizer: Summarizer<'a>,
    /// The threshold of compaction.
    pub(crate) threshold: Threshold,
    /// Destination of oversized results.
    pub(crate) storage: Storage<'a>,
    /// Maximum number of model calls; the last one is made without tools.
    pub(crate) max_steps: usize,
    /// `TOOL_CALL_SAFEGUARDS_ENABLED`.
    pub(crate) refuses_repeats: bool,
    /// `RESET_REPEATED_TOOL_CALL_CHECK_AFTER_COMPACTION`.
    pub(crate) forgets_at_compaction: bool,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Streamed {
    /// The conversation at its end.
    pub(crate) messages: Vec<ChatMessage>,
    /// Events sent to the client, in order.
    pub(crate) events: Vec<Event>,
    /// Number of model calls.
    pub(crate) n_calls: usize,
    /// Total cost.
    pub(crate) stats: RequestStats,
    /// The error that ended the run, if any.
    pub(crate) error: Option<RunError>,
}

impl AgentLoop<'_> {
    /// Runs a conversation until the model's answer.
    pub(crate) fn call_stream(
        &self,
        messages: Vec<ChatMessage>,
        environment: &mut dyn Environment,
    ) -> Streamed {
        let mut run = Streamed { messages, ..Streamed::default() };
        let mut guard = RepeatGuard::default();
        while run.n_calls < self.max_steps {
            run.n_calls += 1;
            let tools = if run.n_calls == self.max_steps { &[] } else { self.summarizer.tools };
            if let Err(error) = self.limit(&mut run, &mut guard, tools, environment) {
                run.error = Some(error);
                return run;
            }
            let mut sent = run.messages.clone();
            forget_counts(&mut sent);
            let answer = environment.complete(&sent, tools);
            run.stats.add(&answer.usage);
            run.messages.push(answer.message.clone());
            self.report_tokens(&mut run, tools);
            if answer.message.calls().is_empty() {
                run.events.push(Event::bare("ai_answer_end"));
                return run;
            }
            self.run_tools(&mut run, &mut guard, &answer.message, environment);
            self.report_tokens(&mut run, tools);
        }
        run.error = Some(RunError {
            kind: "Exception",
            text: format!(
                "Too many LLM calls - exceeded max_steps: {}/{}",
                run.n_calls, self.max_steps
            ),
        });
        run
    }

    /// Runs the check before a model call.
    fn limit(
        &self,
        run: &mut Streamed,
        guard: &mut RepeatGuard,
        tools: &[Value],
        environment: &mut dyn Environment,
    ) -> Result<(), RunError> {
        let summarizer = Summarizer { tools, ..self.summarizer };
        let (llm, threshold) = (summarizer.llm, self.threshold);
        run.events.extend(compaction_start_event(llm, threshold, &mut run.messages, tools));
        let limited: Limited = run_with_replies(
            |replies| compact_if_necessary(&summarizer, threshold, run.messages.clone(), replies),
            |request| environment.summarize(request),
        );
        run.events.extend(limited.events);
        if let Some(error) = limited.error {
            run.stats.add(&limited.usage);
            return Err(error);
        }
        run.messages = limited.messages;
        if limited.is_compacted {
            run.events.push(Event::bare("token_count"));
        }
        run.stats.add_compaction(&limited.usage);
        if limited.is_compacted && self.forgets_at_compaction {
            guard.forget(&limited.overflowing_call_ids);
        }
        Ok(())
    }

    /// Runs the calls of one answer. Upstream runs them in parallel and appends their results as they arrive. Here they
    /// are appended in the order of the calls, and no call sees the result of another.
    fn run_tools(
        &self,
        run: &mut Streamed,
        guard: &mut RepeatGuard,
        answer: &ChatMessage,
        environment: &mut dyn Environment,
    ) {
        let text = answer.text().filter(|text| !text.is_empty());
        if text.is_some() || answer.reasoning.is_some() {
            run.events.push(Event::message(text.unwrap_or_default()));
        }
        let earlier = guard.clone();
        for _ in answer.calls() {
            run.events.push(Event::bare("start_tool_calling"));
        }
        for call in answer.calls() {
            let result = self.run_tool(call, &earlier, environment);
            guard.record(&result);
            run.messages.push(result.to_message());
            run.events.push(Event::bare("tool_calling_result"));
        }
    }

    /// Reports the conversation's tokens to the client. Counting stores the counts in the messages.
    fn report_tokens(&self, run: &mut Streamed, tools: &[Value]) {
        self.summarizer.llm.count(&mut run.messages, tools);
        run.events.push(Event::bare("token_count"));
    }

    fn run_tool(
        &self,
        call: &Call,
        earlier: &RepeatGuard,
        environment: &mut dyn Environment,
    ) -> ToolResult {
        let (tool, params) = tool_and_params(call);
        let id = call.id.clone().unwrap_or_default();
        let mut result = if self.refuses_repeats && earlier.has_run(&tool, &params) {
            refusal_of_repeat(&tool, &id, &params)
        } else {
            environment.run_tool(&tool, &id, &params)
        };
        spill_oversized_result(self.summarizer.llm, &mut result, self.storage);
        result
    }
}

/// Arguments that are not valid JSON count as none.
fn tool_and_params(call: &Call) -> (Arc<str>, Value) {
    let Some(function) = &call.function else {
        return ("".into(), Value::Object(Map::new()));
    };
    let params = match &function.arguments {
        Arguments::Text(text) => serde_json::from_str(text).ok(),
        Arguments::Json(value) => Some((**value).clone()),
        Arguments::Missing => None,
    };
    let params = params.unwrap_or_else(|| Value::Object(Map::new()));
    (Arc::clone(&function.name), params)
}
