//! Reads a span as a model call with its context and its answer, in any of the conventions.

use super::messages::{any_agent, event, instructions_and_tools, messages, vercel};
use super::spans::Span;
use super::usage::usage;
use crate::formats::content;
use crate::formats::contexts::{Enclosing, LoggedCall, SpanKind};
use crate::formats::notes::Notes;
use crate::session::{CallDraft, Draft, Role};

const INPUTS: [&str; 5] = [
    "gen_ai.input.messages",
    "gen_ai.prompt.messages",
    "ai.prompt.messages",
    "input.messages",
    "gen_ai.prompt",
];
const OUTPUTS: [&str; 3] =
    ["gen_ai.output.messages", "gen_ai.completion.messages", "gen_ai.completion"];
/// Operations that are model calls.
const CALLS: [&str; 5] = ["chat", "text_completion", "generate_content", "call_llm", "responses"];
/// Operations that are not model calls but contain them.
const NOT_CALLS: [&str; 8] = [
    "invoke_agent",
    "create_agent",
    "execute_tool",
    "embeddings",
    "invoke_workflow",
    "retrieval",
    "ai.generateText",
    "ai.streamText",
];
/// Span kinds of `OpenInference` and `OpenLLMetry` that are not model calls.
const NOT_CALL_KINDS: [&str; 9] =
    ["CHAIN", "AGENT", "TOOL", "RETRIEVER", "EMBEDDING", "workflow", "task", "agent", "tool"];
const TOOL_CALLS: [&str; 3] = ["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"];

/// Returns the operation that a span names.
fn operation(span: &Span) -> Option<&str> {
    let names = ["gen_ai.operation.name", "operation.name", "ai.operationId"];
    span.attributes.text(&names)
}

/// Returns the id of a span's conversation, or else of its trace.
pub(super) fn group(span: &Span) -> Box<str> {
    let names = ["gen_ai.conversation.id", "session.id", "gen_ai.thread.id"];
    span.attributes.text(&names).unwrap_or(&span.trace).into()
}

/// Converts a span to an entry that other spans may be nested in.
pub(super) fn enclosing(span: &Span) -> Enclosing {
    let own = &span.attributes;
    let operation = operation(span).unwrap_or(&span.name);
    let kind = span.kind.as_deref().unwrap_or_default();
    let names = ["gen_ai.agent.name", "agent.name", "gen_ai.tool.name", "tool.name"];
    Enclosing {
        parent: span.parent.clone(),
        kind: if is_tool(operation, kind) {
            SpanKind::Tool
        } else if operation == "invoke_agent" || kind.eq_ignore_ascii_case("agent") {
            SpanKind::Agent
        } else {
            SpanKind::Other
        },
        name: own.text(&names).unwrap_or(&span.name).into(),
        call: own.text(&TOOL_CALLS).map(Into::into),
    }
}

/// Returns whether a span declares itself a model call.
fn is_call(span: &Span) -> bool {
    let operation = operation(span);
    span.kind.as_deref() == Some("LLM")
        || span.attributes.first(&["llm.request.type"]).is_some()
        || operation.is_some_and(|name| CALLS.contains(&name) || name.contains(".do"))
}

fn is_tool(operation: &str, kind: &str) -> bool {
    matches!(operation, "execute_tool" | "ai.toolCall") || kind.eq_ignore_ascii_case("tool")
}

/// Returns the result that a tool's span records.
pub(super) fn tool_result(span: &Span) -> Option<Draft> {
    let kind = span.kind.as_deref().unwrap_or_default();
    if !is_tool(operation(span).unwrap_or(&span.name), kind) {
        return None;
    }
    let own = &span.attributes;
    let output = own.first(&[
        "gen_ai.tool.call.result",
        "gen_ai.output",
        "ai.toolCall.result",
        "traceloop.entity.output",
        "output.value",
    ])?;
    let name = own.text(&["gen_ai.tool.name", "tool.name", "ai.toolCall.name"]);
    let parts = content::result(0, (own.text(&TOOL_CALLS), name), false, output);
    Some(Draft { time: span.start, raw: vec![span.bytes.clone()], ..Draft::new(Role::Tool, parts) })
}

/// Reads a span. Returns `None` if it is not a model call, or has neither messages nor usage.
pub(super) fn read(span: &Span, notes: &mut Notes) -> Option<LoggedCall> {
    let own = &span.attributes;
    let kind = span.kind.as_deref().unwrap_or_default();
    let named = operation(span);
    if NOT_CALLS.contains(&named.unwrap_or(&span.name)) || NOT_CALL_KINDS.contains(&kind) {
        return None;
    }
    let details = span.events.iter().filter(|(name, _)| name.ends_with("operation.details"));
    let mut setup = Vec::new();
    let mut context = Vec::new();
    let mut answers = Vec::new();
    for attributes in std::iter::once(own).chain(details.map(|(_, attributes)| attributes)) {
        setup.extend(instructions_and_tools(attributes, span));
        context.extend(messages(
            attributes,
            &INPUTS,
            &["gen_ai.prompt", "llm.input_messages", "llm.prompts"],
            span,
        ));
        answers.extend(messages(
            attributes,
            &OUTPUTS,
            &["gen_ai.completion", "llm.output_messages"],
            span,
        ));
    }
    for (name, attributes) in &span.events {
        event(name, attributes, span, &mut context, &mut answers);
    }
    answers.extend(vercel(own, span));
    if answers.is_empty() {
        answers.extend(any_agent(own, span));
    }
    let usage = notes.usage(span.bytes.start, usage(own));
    let continues = context.is_empty();
    if continues && answers.is_empty() && !(is_call(span) && usage.is_some()) {
        return None;
    }
    setup.extend(context);
    let model = [
        "gen_ai.response.model",
        "gen_ai.request.model",
        "llm.model_name",
        "ai.response.model",
        "ai.model.id",
    ];
    let window = None;
    Some(LoggedCall {
        error: None,
        group: group(span),
        agent: None,
        context: setup,
        continues,
        recorded: CallDraft {
            model: own.text(&model).map(str::to_owned),
            window,
            usage,
            time: span.start,
            ..CallDraft::default()
        },
        answer: answers.into_iter().reduce(joined).map(|draft| Draft {
            role: Role::Assistant,
            time: span.start,
            ..draft
        }),
    })
}

/// Joins two messages of one answer.
fn joined(mut first: Draft, second: Draft) -> Draft {
    if first.parts != second.parts {
        first.parts.extend(second.parts);
    }
    first
}
