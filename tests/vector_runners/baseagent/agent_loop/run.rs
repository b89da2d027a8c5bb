//! The loop: manage the context, mark for the cache, call the model, run the tools, request verification, end.

use super::super::manage_context::manage_context;
use super::cache_marks::mark_for_cache;
use super::verification::verification_prompt;
use super::{Environment, Record, Reply, Request, Settings, Task, ToolCall, Usage};
use plimsoll::chat::{
    Arguments, Block, Call, Calls, ChatMessage, Content, Fields, Function, Rest, run_with_replies,
};
use plimsoll::json::{Map, Value};
use plimsoll::languages::python::python_str;
use plimsoll::systems::baseagent::{Failure, middle_out};

/// `run_agent_loop`.
pub(crate) fn run_agent_loop(
    task: &Task,
    settings: &Settings,
    environment: &mut dyn Environment,
) -> Record {
    let mut run = Run {
        settings,
        system: ChatMessage::new("system", task.system_prompt.as_str()),
        environment,
        record: Record::default(),
        messages: Vec::new(),
    };
    run.start(task);
    let mut is_pending = false;
    let mut iteration = 0;
    while iteration < settings.max_iterations {
        iteration += 1;
        run.log(format!("Iteration {iteration}/{}", settings.max_iterations));
        let reply = match run.ask_model() {
            Ok(reply) => reply,
            Err(failure) => return run.fail(&failure),
        };
        if !reply.text.is_empty() {
            run.emit("ItemCompletedEvent");
        }
        if !reply.calls.is_empty() {
            is_pending = false;
            run.execute(reply);
            continue;
        }
        run.log("No tool calls in response");
        if is_pending {
            run.log("Task completion confirmed after self-verification");
            break;
        }
        is_pending = true;
        run.ask_for_verification(&reply.text, &task.instruction);
    }
    run.finish(iteration)
}

struct Run<'a> {
    settings: &'a Settings,
    system: ChatMessage,
    environment: &'a mut dyn Environment,
    record: Record,
    messages: Vec<ChatMessage>,
}

impl Run<'_> {
    fn log(&mut self, line: impl AsRef<str>) {
        self.record.log.push(format!("[loop] {}", line.as_ref()));
    }

    fn emit(&mut self, event: &'static str) {
        self.record.events.push(event);
    }

    fn start(&mut self, task: &Task) {
        self.emit("ThreadStartedEvent");
        self.emit("TurnStartedEvent");
        self.log("Getting initial state...");
        let state = self.shortened(&task.initial_state);
        self.messages = vec![
            self.system.clone(),
            ChatMessage::new("user", task.instruction.as_str()),
            ChatMessage::new("user", format!("Current directory and files:\n```\n{state}\n```")),
        ];
    }

    fn shortened(&self, output: &str) -> String {
        middle_out(output, self.settings.max_output_tokens).unwrap_or_else(|| output.to_owned())
    }

    fn ask_model(&mut self) -> Result<Reply, Failure> {
        let context = self.manage()?;
        if context.len() < self.messages.len() {
            self.log(format!(
                "Context compacted: {} -> {} messages",
                self.messages.len(),
                context.len()
            ));
            // The history is replaced only here: cleared messages that are not a shorter list are sent once and
            // discarded.
            self.messages.clone_from(&context);
        }
        let context = if self.settings.is_caching {
            let (marked, line) = mark_for_cache(context);
            if let Some(line) = line {
                self.log(line);
            }
            marked
        } else {
            context
        };
        self.send(&context)
    }

    fn manage(&mut self) -> Result<Vec<ChatMessage>, Failure> {
        let Self { settings, system, environment, record, messages } = self;
        let managed = run_with_replies(
            |replies| manage_context(messages, system, &settings.limits, false, replies),
            |request| {
                record
                    .requests
                    .push(Request { is_compaction: true, messages: request.messages.clone() });
                environment.summarize(request)
            },
        );
        record.log.extend(managed.log);
        let context = managed.messages.map_err(Failure::Other)?;
        Ok(context.unwrap_or_else(|| messages.clone()))
    }

    fn send(&mut self, context: &[ChatMessage]) -> Result<Reply, Failure> {
        let mut attempt = 1;
        loop {
            self.record.requests.push(Request { is_compaction: false, messages: context.to_vec() });
            match self.environment.chat(context) {
                Ok(reply) => {
                    let usage = &mut self.record.usage;
                    usage.input += reply.usage.input;
                    usage.cached += reply.usage.cached;
                    usage.output += reply.usage.output;
                    return Ok(reply);
                }
                Err(failure) => {
                    if let Some(line) = failure.attempt_line(attempt) {
                        self.log(line);
                    }
                    let Some(seconds) = failure.wait_after(attempt) else {
                        return Err(failure);
                    };
                    self.log(format!("Retrying in {seconds} seconds..."));
                    self.record.log.push(format!("sleep {seconds}"));
                }
            }
            attempt += 1;
        }
    }

    fn ask_for_verification(&mut self, answer: &str, instruction: &str) {
        self.messages.push(ChatMessage::new("assistant", answer));
        let prompt = verification_prompt(instruction);
        self.messages.push(ChatMessage::new("user", prompt));
        self.log("Requesting self-verification before completion");
    }

    fn execute(&mut self, reply: Reply) {
        let calls = reply.calls.iter().map(stored_call).collect();
        self.messages.push(ChatMessage::from(Fields {
            calls: Calls::List(calls),
            ..ChatMessage::new("assistant", reply.text).into_fields()
        }));
        let none = Map::new();
        for call in &reply.calls {
            self.log(format!("Executing tool: {}", call.tool));
            self.emit("ItemStartedEvent");
            let arguments = call.arguments.as_object().unwrap_or(&none);
            let output = self.environment.execute(&call.tool, arguments);
            let text = self.shortened(&output.text);
            self.emit("ItemCompletedEvent");
            // The image is inserted before the result, between the call and its result.
            if let Some(image) = output.image {
                let title = Block::text(format!("Image from {}:", call.tool));
                self.messages.push(ChatMessage::from(Fields {
                    content: Content::Blocks(vec![title, image]),
                    ..ChatMessage::new("user", "").into_fields()
                }));
            }
            self.messages.push(ChatMessage::from(Fields {
                call_id: Some(call.id.as_str().into()),
                ..ChatMessage::new("tool", text).into_fields()
            }));
        }
    }

    fn fail(mut self, failure: &Failure) -> Record {
        self.log(failure.fatal_line());
        self.emit("TurnFailedEvent");
        self.record.is_done = true;
        self.record
    }

    fn finish(mut self, iterations: i64) -> Record {
        self.emit("TurnCompletedEvent");
        self.log(format!("Loop complete after {iterations} iterations"));
        let Usage { input, cached, output } = self.record.usage;
        self.log(format!("Tokens: {input} input, {cached} cached, {output} output"));
        self.record.is_done = true;
        self.record
    }
}

/// Converts a call to its form in the history: a dict of arguments becomes `str(dict)`, which is not JSON.
fn stored_call(call: &ToolCall) -> Call {
    let arguments = match &call.arguments {
        Value::String(text) => Arguments::Text(text.as_str().into()),
        object @ Value::Object(_) => Arguments::Text(python_str(object).into()),
        other => Arguments::Json(Box::new(other.clone())),
    };
    Call {
        part: None,
        id: Some(call.id.as_str().into()),
        function: Some(Function {
            name: call.tool.as_str().into(),
            arguments,
            rest: Rest::default(),
        }),
        rest: Rest::of_function_call(),
    }
}
