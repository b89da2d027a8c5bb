//! Observations exported from `Langfuse`: a list of them, one on each line, or traces with their `observations`.
//!
//! - An observation of the type `GENERATION` is a model call with its whole context. Others identify sub-agents.
//! - Fields have the notation of the API (`traceId`) or of storage exports (`trace_id`). `input` and `output` may be JSON in
//!   a text.
//! - `usageDetails` counts cached tokens apart from `input`. Their sum is the `total`.
//!
//! <https://langfuse.com/docs/api-and-data-platform/features/export-from-ui>

use super::content::{self, tool_definitions};
use super::contexts::{Contexts, Enclosing, LoggedCall, Nesting, SpanKind};
use super::notes::Notes;
use super::read_log::ReadLog;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, counts, json, jsonl, message_list,
};
use crate::json::{Map, Value, json};
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Span, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "langfuse",
    label: "Langfuse observations",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
        RecordedData::SubAgents,
    ],
    ..Format::READ_ONLY
};

/// Members that list traces or observations.
const LISTS: [&str; 3] = ["observations", "data", "traces"];
/// Maximum nesting depth of these lists.
// Chosen: a response of the API with traces takes five, a list and an object each.
const MAX_DEPTH: usize = 6;

fn detect(probe: &Probe) -> Option<String> {
    let found = match probe.document() {
        Some(one) => has_generation(one, MAX_DEPTH),
        None => probe.records().iter().any(|r| has_generation(&r.value, MAX_DEPTH)),
    };
    found.then(|| "an observation of the type `GENERATION` with its trace".to_owned())
}

fn has_generation(value: &Value, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    if let Some(list) = value.as_array() {
        return list.iter().any(|value| has_generation(value, depth - 1));
    }
    is_generation(value)
        || LISTS.iter().any(|key| {
            value.get(key).is_some_and(|list| list.is_array() && has_generation(list, depth - 1))
        })
}

fn is_generation(value: &Value) -> bool {
    let kind = json::str_at(value, &["type"]);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("generation"))
        && ["traceId", "trace_id", "parentObservationId", "usageDetails", "usage_details"]
            .iter()
            .any(|key| value.get(key).is_some())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let mut spans = Vec::new();
    let whole = json::document_span(bytes);
    if json::is_one_value(&bytes[whole.clone()]) {
        collect(bytes, &whole, MAX_DEPTH, &mut spans);
    } else {
        for span in jsonl::map_records(bytes, progress, 1, &mut log.warnings, |r| r.span)? {
            collect(bytes, &span, MAX_DEPTH, &mut spans);
        }
    }
    let mut calls = Vec::new();
    let mut nesting = Nesting::default();
    for span in spans {
        progress.check_cancelled()?;
        let Some(observation) = json::parse_span(bytes, &span) else {
            log.notes.add(span.start, "this observation nests too deep to be read");
            continue;
        };
        let text = |keys: &[&str]| content::first(&observation, keys).and_then(Value::as_str);
        let kind = text(&["type"]).unwrap_or("other").to_ascii_uppercase();
        let parent: Option<Box<str>> =
            text(&["parentObservationId", "parent_observation_id"]).map(Into::into);
        let is_call = is_generation(&observation);
        let call = is_call.then(|| call(&observation, &span, &mut log.notes)).flatten();
        log.report.count_record(&format!("observation/{kind}"), call.is_some());
        if let Some(id) = text(&["id"]) {
            let kind = match &*kind {
                "TOOL" => SpanKind::Tool,
                "AGENT" => SpanKind::Agent,
                _ => SpanKind::Other,
            };
            let name = text(&["name"]).unwrap_or_default().into();
            nesting.add(id.into(), Enclosing { parent: parent.clone(), kind, name, call: None });
        }
        calls.extend(call.map(|call| (call.recorded.time, span.start, parent, call)));
    }
    calls.sort_by_key(|(time, at, ..)| (*time, *at));
    let mut contexts = Contexts::new(input, FORMAT.name);
    for (.., parent, call) in calls {
        let agent = nesting.sub_agent(parent.as_deref());
        contexts.add(LoggedCall { agent, ..call });
    }
    log.warnings.extend(contexts.warnings());
    let sessions = contexts.finish();
    log.finish(input, sessions, "Langfuse observations without a model call that has messages")
}

/// Collects the observations of a value.
fn collect(bytes: &[u8], span: &Span, depth: usize, found: &mut Vec<Span>) {
    if depth == 0 {
        return;
    }
    if let Some(elements) = json::elements(bytes, span) {
        for element in elements {
            collect(bytes, &element, depth - 1, found);
        }
        return;
    }
    let members = json::members(bytes, span).unwrap_or_default();
    let is_list = |(key, list): &&(String, Span)| {
        LISTS.contains(&&**key) && bytes.get(list.start) == Some(&b'[')
    };
    let is_observation = members.iter().any(|(key, _)| key == "type");
    if is_observation {
        found.push(span.clone());
    }
    for (_, list) in members.iter().filter(is_list).filter(|_| !is_observation) {
        collect(bytes, list, depth - 1, found);
    }
}

fn call(observation: &Value, span: &Span, notes: &mut Notes) -> Option<LoggedCall> {
    let text = |keys: &[&str]| content::first(observation, keys).and_then(Value::as_str);
    let input = parsed(observation.get("input"));
    let output = parsed(observation.get("output"));
    let with_source = |draft: Draft| Draft { raw: vec![span.clone()], ..draft };
    let messages = messages(&input);
    let (tools, messages): (Vec<Value>, Vec<Value>) = messages.into_iter().partition(is_tool);
    let tools: Vec<Value> = tools.iter().filter_map(|tool| tool.get("content").cloned()).collect();
    let body = if tools.is_empty() { input.clone() } else { json!({"tools": tools}) };
    let mut context: Vec<Draft> =
        tool_definitions(&body, &["tools", "functions"]).map(with_source).into_iter().collect();
    let system = input.get("system").map(content::parts).filter(|parts| !parts.is_empty());
    context.extend(system.map(|parts| with_source(Draft::new(Role::System, parts))));
    let n_setup = context.len();
    context.extend(messages.iter().filter_map(|m| content::any_message::read(m, span)));
    let continues = context.len() == n_setup;
    let time = content::first(observation, &["startTime", "start_time"]).and_then(json::millis);
    let answer = answer(&output).and_then(|message| content::any_message::read(&message, span));
    let usage = usage(observation);
    if continues && answer.is_none() && usage.is_none() {
        return None;
    }
    let group = text(&["sessionId", "session_id"]).or_else(|| text(&["traceId", "trace_id"]));
    Some(LoggedCall {
        group: group.unwrap_or_default().into(),
        agent: None,
        context,
        continues,
        recorded: CallDraft {
            model: text(&["model", "providedModelName", "provided_model_name"]).map(str::to_owned),
            usage: notes.usage(span.start, usage),
            time,
            ..CallDraft::default()
        },
        answer: answer.map(|draft| Draft { role: Role::Assistant, time, ..draft }),
        error: None,
    })
}

/// Returns a value that may be stored as JSON in a text.
fn parsed(value: Option<&Value>) -> Value {
    let text = value.and_then(Value::as_str).map(str::trim);
    let is_json = |text: &&str| text.starts_with(['{', '[']);
    let inner = text.filter(is_json).and_then(|text| crate::json::from_str(text).ok());
    inner.or_else(|| value.cloned()).unwrap_or_default()
}

/// Returns the messages of an input: a list, a request with one, one message, or a prompt.
fn messages(input: &Value) -> Vec<Value> {
    let listed = ["messages", "input", "contents", "prompt"]
        .iter()
        .find_map(|key| input.get(key)?.as_array());
    let list = input.as_array().or(listed);
    match list {
        // A list of one list.
        Some(list) => match &list[..] {
            [Value::Array(inner)] => inner.clone(),
            _ => list.clone(),
        },
        None if input.get("role").is_some() => vec![input.clone()],
        None => {
            let text = input.as_str().or_else(|| json::str_at(input, &["prompt"]));
            text.map(|text| json!({"role": "user", "content": text})).into_iter().collect()
        }
    }
}

/// Returns whether a message is a tool definition, which integrations list among the messages.
fn is_tool(message: &Value) -> bool {
    json::str_at(message, &["role"]) == Some("tool")
        && json::str_at(message, &["content", "type"]) == Some("function")
}

/// Returns the message of an output: a message, a response with one, a list of one, or a text.
fn answer(output: &Value) -> Option<Value> {
    let listed = output.as_array().and_then(|list| list.last());
    let choice = output.pointer("/choices/0/message");
    let message = choice.or(listed).unwrap_or(output);
    if let Some(text) = message.as_str() {
        return (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
    }
    let mut members: Map<String, Value> = message.as_object()?.clone();
    if !members.contains_key("role") && !members.contains_key("type") {
        let text =
            ["text", "completion", "output"].iter().find_map(|key| members.get(*key)?.as_str());
        let text = text.map(Value::from);
        if let Some(text) = text {
            members.insert("content".to_owned(), text);
        }
        members.insert("role".to_owned(), "assistant".into());
    }
    Some(members.into())
}

/// Reads the usage of a call. Details other than those of the output belong to the input.
fn usage(observation: &Value) -> Option<Usage> {
    let details = content::first(observation, &["usageDetails", "usage_details"]);
    let details = parsed(details);
    let Some(details) = details.as_object().filter(|details| !details.is_empty()) else {
        return legacy_usage(observation.get("usage")?);
    };
    let count = |value: &Value| value.as_number().map(counts::tokens_of);
    let is_output = |key: &str| {
        key.starts_with("output") || key.starts_with("completion") || key.starts_with("reasoning")
    };
    let sum = |is: &dyn Fn(&str) -> bool| -> Option<Tokens> {
        let counted =
            details.iter().filter(|(key, _)| is(key)).filter_map(|(_, value)| count(value));
        let counted: Vec<Tokens> = counted.collect();
        (!counted.is_empty()).then(|| counted.into_iter().sum())
    };
    let read = sum(&|key| key.contains("cache") && !is_cache_write(key) && !is_output(key));
    let write = sum(&is_cache_write);
    let output = sum(&is_output);
    let own = details.get("input").and_then(count).unwrap_or_default();
    let input = sum(&|key| key != "total" && !is_output(key)).unwrap_or_default();
    // Some integrations count cached tokens in the input.
    let total = details.get("total").and_then(count);
    let is_sum = total.is_none_or(|total| total >= input + output.unwrap_or_default());
    let input = if is_sum { input } else { own };
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read: read,
        cache_write: write,
        output,
        reasoning: sum(&|key| key.contains("reasoning")),
        ..Usage::default()
    })
}

fn is_cache_write(key: &str) -> bool {
    key.contains("cache") && (key.contains("creation") || key.contains("write"))
}

fn legacy_usage(usage: &Value) -> Option<Usage> {
    if let Some(usage) = message_list::of_usage(usage) {
        return Some(usage);
    }
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| counts::tokens_at(usage, &[key]));
    let input = count(["input", "promptTokens"]).filter(|input| *input > Tokens::ZERO)?;
    let output = count(["output", "completionTokens"]);
    Some(Usage { input, output, ..Usage::default() })
}
