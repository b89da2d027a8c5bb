//! `LangSmith` runs. A trace is a tree of runs. Runs of type `llm` are the model calls, each with its whole context.
//! Runs are stored as a list, one per line, or under `runs` and `child_runs`.

use super::messages;
use crate::formats::content::tool_definitions;
use crate::formats::contexts::{Contexts, LoggedCall};
use crate::formats::contexts::{Enclosing, Nesting, SpanKind};
use crate::formats::notes::Notes;
use crate::formats::read_log::ReadLog;
use crate::formats::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json, jsonl,
    message_list, rows,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Span, Usage};
use crate::units::Tokens;

pub(crate) const RUNS: Format = Format {
    name: "langsmith",
    label: "LangSmith runs",
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

/// Members that list runs.
const LISTS: [&str; 2] = ["runs", "child_runs"];
/// Maximum nesting depth of runs.
// Chosen: graphs nest a chain, a node, an agent and a model at each level of sub-agents. It bounds the recursion.
const MAX_DEPTH: usize = 40;

fn detect(probe: &Probe) -> Option<String> {
    let is_run =
        |v: &Value| v.get("run_type").is_some_and(Value::is_string) && v.get("inputs").is_some();
    let listed = |list: &[Value]| !list.is_empty() && list.iter().all(is_run);
    let is_langsmith = match probe.document() {
        Some(Value::Array(list)) => listed(list),
        Some(one) => {
            is_run(one)
                || one.get("runs").and_then(Value::as_array).is_some_and(|list| listed(list))
        }
        None => !probe.records().is_empty() && probe.records().iter().all(|r| is_run(&r.value)),
    };
    is_langsmith.then(|| "runs with a `run_type` and `inputs`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let mut spans = Vec::new();
    let whole = json::document_span(bytes);
    if json::is_one_value(&bytes[whole.clone()]) {
        collect_runs(bytes, &whole, MAX_DEPTH, &mut spans);
    } else {
        for span in jsonl::map_records(bytes, progress, 1, &mut log.warnings, |r| r.span)? {
            collect_runs(bytes, &span, MAX_DEPTH, &mut spans);
        }
    }
    let mut calls = Vec::new();
    let mut nesting = Nesting::default();
    for span in spans {
        progress.check_cancelled()?;
        let run = rows::members_except(bytes, &span, &LISTS);
        let kind = json::str_at(&run, &["run_type"]).unwrap_or("other");
        let parent = json::str_at(&run, &["parent_run_id"]).map(Into::into);
        let call = (kind == "llm").then(|| call(&run, &span, &mut log.notes)).flatten();
        log.report.count_record(&format!("run/{kind}"), call.is_some());
        if let Some(id) = json::str_at(&run, &["id"]) {
            nesting.add(id.into(), enclosing(&run, kind, parent.clone()));
        }
        calls.extend(call.map(|call| (call.recorded.time, span.start, parent, call)));
    }
    calls.sort_by_key(|(time, at, ..)| (*time, *at));
    let mut contexts = Contexts::new(input, RUNS.name);
    for (.., parent, call) in calls {
        let agent = nesting.sub_agent(parent.as_deref());
        contexts.add(LoggedCall { agent, ..call });
    }
    log.warnings.extend(contexts.warnings());
    let sessions = contexts.finish();
    log.finish(input, sessions, "LangSmith runs without a model call that has messages")
}

/// Collects the runs of a value, outer runs first.
fn collect_runs(bytes: &[u8], span: &Span, depth: usize, found: &mut Vec<Span>) {
    if depth == 0 {
        return;
    }
    if let Some(elements) = json::elements(bytes, span) {
        for element in elements {
            collect_runs(bytes, &element, depth - 1, found);
        }
        return;
    }
    let members = json::members(bytes, span).unwrap_or_default();
    if members.iter().any(|(key, _)| key == "run_type") {
        found.push(span.clone());
    }
    for (_, list) in members.iter().filter(|(key, _)| LISTS.contains(&&**key)) {
        collect_runs(bytes, list, depth - 1, found);
    }
}

/// Converts a run to an entry that other runs may be nested in.
fn enclosing(run: &Value, kind: &str, parent: Option<Box<str>>) -> Enclosing {
    let call = ["tool_call_id", "id"].iter().find_map(|key| json::str_at(run, &["inputs", key]));
    Enclosing {
        parent,
        kind: if kind == "tool" { SpanKind::Tool } else { SpanKind::Other },
        name: json::str_at(run, &["name"]).unwrap_or_default().into(),
        call: call.map(Into::into),
    }
}

fn call(run: &Value, span: &Span, notes: &mut Notes) -> Option<LoggedCall> {
    let inputs = run.get("inputs").unwrap_or(&Value::Null);
    let outputs = run.get("outputs").unwrap_or(&Value::Null);
    let mut context: Vec<Draft> = Vec::new();
    let settings = json::at(run, &["extra", "invocation_params"]).unwrap_or(inputs);
    context.extend(
        tool_definitions(settings, &["tools", "functions"])
            .map(|draft| Draft { raw: vec![span.clone()], ..draft }),
    );
    let system = inputs.get("system").map(content::parts).filter(|parts| !parts.is_empty());
    context.extend(
        system.map(|parts| Draft { raw: vec![span.clone()], ..Draft::new(Role::System, parts) }),
    );
    let messages = messages_of(inputs);
    let messages = messages.iter().filter_map(|m| content::any_message::read(m, span));
    let n_setup = context.len();
    context.extend(messages);
    let continues = context.len() == n_setup;
    let output = answer_of(outputs);
    let answer = output.and_then(|message| content::any_message::read(message, span));
    let time =
        content::first(run, &["start_time", "end_time"]).and_then(crate::formats::json::millis);
    let own = output.and_then(messages::call);
    let usage = own.as_ref().and_then(|s| s.usage).or_else(|| usage(run, outputs));
    if continues && answer.is_none() && usage.is_none() {
        return None;
    }
    let paths: [&[&str]; 5] = [
        &["extra", "metadata", "ls_model_name"],
        &["extra", "invocation_params", "model"],
        &["extra", "invocation_params", "model_name"],
        &["inputs", "model"],
        &["outputs", "model"],
    ];
    let model = paths.iter().find_map(|path| json::str_at(run, path)).map(str::to_owned);
    let group = content::first(run, &["trace_id", "session_id", "id"]).map(content::text_or_json);
    let thread = ["thread_id", "session_id", "conversation_id"]
        .iter()
        .find_map(|key| json::str_at(run, &["extra", "metadata", key]));
    Some(LoggedCall {
        error: None,
        group: thread.map_or_else(|| group.unwrap_or_default(), Into::into),
        agent: None,
        context,
        continues,
        recorded: CallDraft {
            model: own.and_then(|s| s.model).or(model),
            usage: notes.usage(span.start, usage),
            time,
            ..CallDraft::default()
        },
        answer: answer.map(|draft| Draft { role: Role::Assistant, time, ..draft }),
    })
}

/// Returns the messages of a call. They are stored as a list or as a list of one list.
fn messages_of(inputs: &Value) -> Vec<Value> {
    let list = content::first(inputs, &["messages", "input", "prompts"]).and_then(Value::as_array);
    let list: Vec<Value> = list.cloned().unwrap_or_default();
    match &list[..] {
        [Value::Array(inner)] => inner.clone(),
        _ => list.into_iter().filter(Value::is_object).collect(),
    }
}

/// Returns the answer's message, from any of the places where the library stores it.
fn answer_of(outputs: &Value) -> Option<&Value> {
    let generation =
        outputs.pointer("/generations/0/0").or_else(|| outputs.pointer("/generations/0"));
    generation
        .and_then(|g| g.get("message"))
        .or_else(|| outputs.pointer("/choices/0/message"))
        .or_else(|| outputs.pointer("/messages/0"))
        .or_else(|| outputs.get("message"))
        .or_else(|| outputs.get("output").filter(|o| o.is_object()))
        .or_else(|| {
            (outputs.get("role").is_some() && outputs.get("content").is_some()).then_some(outputs)
        })
}

/// Returns the usage that the run itself reports.
fn usage(run: &Value, outputs: &Value) -> Option<Usage> {
    let metadata = outputs
        .get("usage_metadata")
        .or_else(|| json::at(run, &["extra", "metadata", "usage_metadata"]));
    let count = |value: Option<&Value>, key: &str| value.and_then(|v| counts::tokens_at(v, &[key]));
    if let Some(input) = count(metadata, "input_tokens").filter(|n| *n > Tokens::ZERO) {
        let detail =
            |key| metadata.and_then(|m| counts::tokens_at(m, &["input_token_details", key]));
        return Some(Usage {
            input,
            cache_read: detail("cache_read"),
            cache_write: detail("cache_creation"),
            output: count(metadata, "output_tokens"),
            ..Usage::default()
        });
    }
    let of = |value: &Value| message_list::of_usage(value);
    let in_outputs = outputs
        .get("usage")
        .and_then(of)
        .or_else(|| of(outputs.pointer("/llm_output/token_usage")?));
    in_outputs.or_else(|| {
        let input = counts::tokens_at(run, &["prompt_tokens"])?;
        (input > Tokens::ZERO).then(|| Usage {
            input,
            output: counts::tokens_at(run, &["completion_tokens"]),
            ..Usage::default()
        })
    })
}
