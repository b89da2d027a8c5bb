//! Reads a span as a model call with its context and its answer, in any of the conventions.

use super::attributes::{Attributes, parsed};
use super::spans::Span;
use crate::formats::contexts::Call;
use crate::formats::message_list::{part, tool_definitions};
use crate::formats::nesting::{Enclosing, SpanKind};
use crate::formats::notes::Notes;
use crate::formats::{any_message, content, counts};
use crate::session::{Draft, Role, StepDraft, Usage};
use crate::units::Tokens;
use serde_json::{Map, Value, json};

/// Operations that are model calls.
const CALLS: [&str; 5] = [
    "chat",
    "text_completion",
    "generate_content",
    "call_llm",
    "responses",
];
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
const NOT_CALL_KINDS: [&str; 9] = [
    "CHAIN",
    "AGENT",
    "TOOL",
    "RETRIEVER",
    "EMBEDDING",
    "workflow",
    "task",
    "agent",
    "tool",
];
const INPUTS: [&str; 5] = [
    "gen_ai.input.messages",
    "gen_ai.prompt.messages",
    "ai.prompt.messages",
    "input.messages",
    "gen_ai.prompt",
];
const OUTPUTS: [&str; 3] = [
    "gen_ai.output.messages",
    "gen_ai.completion.messages",
    "gen_ai.completion",
];
const SYSTEMS: [&str; 2] = ["gen_ai.system_instructions", "gen_ai.system.instructions"];
const TOOL_CALLS: [&str; 3] = ["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"];
const TOOLS: [&str; 4] = [
    "gen_ai.tool.definitions",
    "gen_ai.request.tools",
    "ai.prompt.tools",
    "llm.request.functions",
];

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
    let names = [
        "gen_ai.agent.name",
        "agent.name",
        "gen_ai.tool.name",
        "tool.name",
    ];
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
    Some(Draft {
        time: span.start,
        raw: vec![span.bytes.clone()],
        ..Draft::new(Role::Tool, parts)
    })
}

/// Reads a span. Returns `None` if it is not a model call, or has neither messages nor usage.
pub(super) fn read(span: &Span, notes: &mut Notes) -> Option<Call> {
    let own = &span.attributes;
    let kind = span.kind.as_deref().unwrap_or_default();
    let named = operation(span);
    if NOT_CALLS.contains(&named.unwrap_or(&span.name)) || NOT_CALL_KINDS.contains(&kind) {
        return None;
    }
    let details = span
        .events
        .iter()
        .filter(|(name, _)| name.ends_with("operation.details"));
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
    Some(Call {
        group: group(span),
        agent: None,
        context: setup,
        continues,
        step: StepDraft {
            model: own.text(&model).map(str::to_owned),
            window,
            usage,
            time: span.start,
        },
        answer: answers.into_iter().reduce(joined).map(|draft| Draft {
            role: Role::Assistant,
            time: span.start,
            ..draft
        }),
    })
}

/// Reads instructions and tool definitions.
fn instructions_and_tools(attributes: &Attributes, span: &Span) -> Vec<Draft> {
    let with_source = |draft: Draft| Draft {
        raw: vec![span.bytes.clone()],
        ..draft
    };
    let mut tools = attributes.json(&TOOLS);
    if tools.is_none() {
        let listed = attributes
            .below("llm.tools")
            .or_else(|| attributes.below("llm.request.functions"));
        let schema = |tool: &Value| {
            tool.pointer("/tool/json_schema")
                .map_or_else(|| tool.clone(), parsed)
        };
        tools = listed.and_then(|list| {
            Some(
                list.as_array()?
                    .iter()
                    .map(schema)
                    .collect::<Vec<_>>()
                    .into(),
            )
        });
    }
    let body = Value::Object(Map::from_iter([(
        "tools".to_owned(),
        tools.unwrap_or_default(),
    )]));
    let tools = tool_definitions(&body, &["tools"]).map(with_source);
    let system = attributes
        .first(&SYSTEMS)
        .map(parsed)
        .map(|value| content::parts(&value));
    let system = system.filter(|parts| !parts.is_empty());
    let system = system.map(|parts| with_source(Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

/// Reads messages stored as JSON in one attribute or spread over attributes below a prefix.
fn messages(attributes: &Attributes, names: &[&str], prefixes: &[&str], span: &Span) -> Vec<Draft> {
    let found = attributes
        .json(names)
        .filter(|v| v.is_array() || v.get("messages").is_some());
    let found = found.or_else(|| prefixes.iter().find_map(|prefix| attributes.below(prefix)));
    let found = found.unwrap_or_default();
    let list = found.get("messages").unwrap_or(&found).as_array();
    let list = list.into_iter().flatten();
    list.filter_map(|value| message(value, span)).collect()
}

fn message(value: &Value, span: &Span) -> Option<Draft> {
    let value = value
        .get("message")
        .filter(|v| v.is_object())
        .unwrap_or(value);
    // OpenInference wraps content blocks.
    let blocks = value.get("contents").and_then(Value::as_array);
    let blocks = blocks.map(|list| {
        let inner = |b: &Value| b.get("message_content").unwrap_or(b).clone();
        list.iter().map(inner).collect::<Vec<_>>()
    });
    match blocks {
        Some(blocks) => {
            let mut whole = value.clone();
            whole
                .as_object_mut()?
                .insert("content".to_owned(), blocks.into());
            any_message::read(&whole, &span.bytes)
        }
        None => any_message::read(value, &span.bytes),
    }
}

/// Reads an event of the older convention, which stores one message per event.
fn event(
    name: &str,
    attributes: &Attributes,
    span: &Span,
    context: &mut Vec<Draft>,
    answers: &mut Vec<Draft>,
) {
    let role = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" => "assistant",
        "gen_ai.tool.message" => "tool",
        "gen_ai.choice" => "choice",
        "gen_ai.content.prompt" => {
            context.extend(messages(attributes, &["gen_ai.prompt"], &[], span));
            return;
        }
        "gen_ai.content.completion" => {
            answers.extend(messages(attributes, &["gen_ai.completion"], &[], span));
            return;
        }
        _ => return,
    };
    let whole = match attributes.json(&["message", "gen_ai.event.content"]) {
        Some(message) if message.is_object() => message,
        _ => {
            let member = |key: &str| Some((key.to_owned(), parsed_list(attributes.first(&[key])?)));
            let keys = ["content", "tool_calls", "id", "tool_call_id", "name"];
            Value::Object(keys.iter().filter_map(|key| member(key)).collect())
        }
    };
    let mut whole = whole;
    let sender = if role == "choice" { "assistant" } else { role };
    if let Some(members) = whole.as_object_mut() {
        members.insert("role".to_owned(), sender.into());
    }
    let draft = message(&whole, span);
    if role == "choice" {
        answers.extend(draft);
    } else {
        context.extend(draft);
    }
}

/// Parses lists stored as JSON. Leaves texts unchanged.
fn parsed_list(value: &Value) -> Value {
    let found = parsed(value);
    if found.is_array() {
        found
    } else {
        value.clone()
    }
}

/// Reads an answer in Vercel's attributes.
fn vercel(attributes: &Attributes, span: &Span) -> Option<Draft> {
    let text = attributes.text(&["ai.response.text"]).unwrap_or_default();
    let calls = attributes
        .json(&["ai.response.toolCalls"])
        .unwrap_or_default();
    any_message::read(
        &json!({"role": "assistant", "content": text, "toolCalls": calls}),
        &span.bytes,
    )
}

/// Reads an answer that `any-agent` records: tool calls without ids, or a text.
fn any_agent(attributes: &Attributes, span: &Span) -> Option<Draft> {
    let output = attributes.first(&["gen_ai.output"])?;
    let called = parsed(output);
    let called = called.as_array().into_iter().flatten();
    let parts = called.filter_map(|call| {
        let tool = call.get("tool.name")?.as_str()?;
        let body = content::call(None, tool, call.get("tool.args"));
        Some(part(0, body))
    });
    let mut parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        parts.extend(content::text_part(0, &content::text_or_json(output)));
    }
    (!parts.is_empty()).then(|| Draft {
        raw: vec![span.bytes.clone()],
        ..Draft::new(Role::Assistant, parts)
    })
}

/// Joins two messages of one answer.
fn joined(mut first: Draft, second: Draft) -> Draft {
    if first.parts != second.parts {
        first.parts.extend(second.parts);
    }
    first
}

/// Reads the usage. Libraries disagree on whether the input includes cached tokens. If the cached tokens exceed the
/// input, it does not.
fn usage(attributes: &Attributes) -> Option<Usage> {
    let count = |names: &[&str]| {
        let value = attributes.first(names)?;
        counts::tokens_at(value, &[])
    };
    let input = count(&[
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.promptTokens",
        "ai.usage.inputTokens",
    ])?;
    let read = count(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
        "llm.usage.cache_read_input_tokens",
        "ai.usage.cachedInputTokens",
    ]);
    let write = count(&[
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "llm.token_count.prompt_details.cache_write",
        "llm.usage.cache_creation_input_tokens",
    ]);
    let input = counts::whole_input(input, read, write);
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "llm.usage.completion_tokens",
            "ai.usage.completionTokens",
            "ai.usage.outputTokens",
        ]),
        reasoning: count(&[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
        ]),
        ..Usage::default()
    })
}
