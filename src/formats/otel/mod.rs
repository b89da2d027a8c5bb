//! Traces of OpenTelemetry whose spans hold calls of models: OTLP as JSON, and what exporters print.
//!
//! - What a call saw and said stands in attributes or events, by several conventions: OpenTelemetry's own, that of
//!   `OpenLLMetry` (`gen_ai.prompt.0.content`), `OpenInference` (`llm.input_messages.0…`) and Vercel's (`ai.prompt.messages`).
//! - Every call repeats its whole context; spans of agents and tools tell of it again and are left out.
//!   <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>

mod attributes;
mod call;
mod spans;

use super::contexts::Contexts;
use super::notes::Notes;
use super::{Carried, Format, ImportReport, Input, Parsed, Probe, Refused, Unread, Warning};
use crate::progress::Progress;
use serde_json::Value;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "otel",
    label: "OpenTelemetry GenAI trace",
    detect,
    in_pieces: false,
    parse,
    export: None,
    carries: &[
        Carried::Usage,
        Carried::Times,
        Carried::SystemPrompt,
        Carried::Tools,
    ],
    kept: None,
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let values: Vec<&Value> = match probe.document() {
        Some(one) => vec![one],
        None => probe.records().iter().map(|r| &r.value).collect(),
    };
    let key = values.into_iter().find_map(spans::telling)?;
    Some(format!("a span with the attribute `{key}`"))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut notes = Notes::default();
    let mut report = ImportReport::default();
    let mut warnings = Vec::new();
    let mut calls = Vec::new();
    for span in spans::all(bytes, progress, &mut notes, &mut warnings)? {
        progress.go_on()?;
        let call = call::read(&span, &mut notes);
        report.note(&span.kind(), call.is_some());
        calls.extend(call.map(|call| (span.start, call)));
    }
    calls.sort_by_key(|(start, _)| *start);
    let mut contexts = Contexts::new(input, FORMAT.name);
    for (_, call) in calls {
        contexts.add(call);
    }
    if contexts.instructions_change {
        warnings.push(Warning {
            line: None,
            text: "the instructions differ from call to call; the first are shown".to_owned(),
        });
    }
    let sessions = contexts.finish();
    if sessions.is_empty() {
        let looks_like = "this looks like an OpenTelemetry trace whose model calls hold no messages: have the program \
                          record them (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true)";
        return Err(Refused {
            looks_like: looks_like.to_owned(),
        }
        .into());
    }
    warnings.extend(notes.warnings(&input.bytes));
    warnings.sort_by_key(|w| w.line);
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}
