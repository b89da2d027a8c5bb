//! OpenTelemetry traces with spans of model calls: OTLP as JSON, and the output of exporters.
//!
//! - The context and answer of a call are stored in attributes or events, in one of several conventions:
//!   OpenTelemetry's own, `OpenLLMetry` (`gen_ai.prompt.0.content`), `OpenInference` (`llm.input_messages.0…`) and
//!   Vercel (`ai.prompt.messages`).
//! - Every call repeats its whole context. Spans of agents and tools repeat it too and are skipped, but they identify
//!   the calls of sub-agents. Tool results are read from them if the following calls record no messages.
//!   <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>

mod attributes;
mod call;
mod messages;
mod spans;
mod usage;

use super::contexts::Nesting;
use super::contexts::{Contexts, LoggedCall};
use super::read_log::ReadLog;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::Draft;
use spans::Span;
use std::collections::{HashMap, HashSet};

pub(super) const FORMAT: Format = Format {
    name: "otel",
    label: "OpenTelemetry GenAI trace",
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

fn detect(probe: &Probe) -> Option<String> {
    let values: Vec<&Value> = match probe.document() {
        Some(one) => vec![one],
        None => probe.records().iter().map(|r| &r.value).collect(),
    };
    let key = values.into_iter().find_map(spans::identifying_attribute)?;
    Some(format!("a span with the attribute `{key}`"))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let mut spans = spans::all(bytes, progress, &mut log.notes, &mut log.warnings)?;
    spans.sort_by_key(|span| span.start);
    let mut nesting = Nesting::default();
    for span in spans.iter().filter(|span| !span.id.is_empty()) {
        nesting.add(span.id.clone(), call::enclosing(span));
    }
    let mut read = Vec::with_capacity(spans.len());
    for span in &spans {
        progress.check_cancelled()?;
        read.push(call::read(span, &mut log.notes));
    }
    // Two libraries may record the same call, one span inside the other.
    let is_bare = |call: &LoggedCall| call.continues && call.answer.is_none();
    let calls = || spans.iter().zip(&read).filter_map(|(s, c)| Some((s, c.as_ref()?)));
    let ids: HashSet<Box<str>> = calls().map(|(span, _)| span.id.clone()).collect();
    let whole = calls().filter(|(_, call)| !is_bare(call));
    let parents: HashSet<Box<str>> = whole.filter_map(|(span, _)| span.parent.clone()).collect();
    let is_duplicate = |span: &Span, call: &LoggedCall| {
        let has_call_as_parent = || span.parent.as_ref().is_some_and(|id| ids.contains(id));
        is_bare(call) && (parents.contains(&span.id) || has_call_as_parent())
    };
    let mut contexts = Contexts::new(input, FORMAT.name);
    // Tool results until the next call, by group and sub-agent.
    let mut results: HashMap<_, Vec<Draft>> = HashMap::new();
    for (span, call) in spans.iter().zip(read) {
        let agent = nesting.sub_agent(span.parent.as_deref());
        let key = (call::group(span), agent.as_ref().and_then(|a| a.id.clone()));
        let call = call.filter(|call| !is_duplicate(span, call));
        log.report.count_record(&span.label(), call.is_some());
        if let Some(mut call) = call {
            let new_results = results.remove(&key);
            if call.continues {
                call.context.extend(new_results.into_iter().flatten());
            }
            contexts.add(LoggedCall { agent, ..call });
        } else if let Some(result) = call::tool_result(span) {
            results.entry(key).or_default().push(result);
        }
    }
    log.warnings.extend(contexts.warnings());
    let sessions = contexts.finish();
    let what = "an OpenTelemetry trace whose model calls have no messages: configure the program to record them \
                (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true)";
    log.finish(input, sessions, what)
}
