//! Kimi Code's `wire.jsonl`: one event per line, including events that only update the screen.
//!
//! - `context.append_message` and `context.append_loop_event` make up the context. Prompt, request and usage records
//!   repeat it.
//! - A Kimi step is one model call. Its parts and tool calls form one answer, and its end event reports the usage.
//! - `inputOther` excludes tokens read from and written to the cache.
//! - A compaction keeps the latest user messages and appends a summary.
//!
//! The log of the older Kimi CLI has the same file name but different events ([`cli_events`]).

use super::cli_events::CliEvent;
use super::wire_reader::WireReader;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json, jsonl};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Session, SubAgent, Track};

pub(crate) const WIRE: Format = Format {
    name: "kimi_wire",
    label: "Kimi wire log",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
        RecordedData::SubAgents,
    ],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let kind = |v: &Value| json::str_at(v, &["type"]).unwrap_or_default().to_owned();
    let mut records = probe.records().iter().map(|r| &r.value);
    let event = |v: &Value| CliEvent::of(v).map(|event| event.kind.to_owned());
    let is_begun = |v: &Value| {
        let kind = event(v).filter(|_| v.get("timestamp").is_some());
        kind.is_some_and(|kind| ["TurnBegin", "StepBegin"].contains(&&*kind))
    };
    let others = records.clone().filter(|v| event(v).is_none() && kind(v) != "metadata");
    // At most one in four may be unknown: later versions add events.
    if records.clone().any(is_begun) && others.count() * 4 <= records.len() {
        return Some("JSON Lines of `message`s with a `type` and a `payload`".to_owned());
    }
    let has_head =
        records.clone().any(|v| kind(v) == "metadata" && v.get("protocol_version").is_some());
    let has_context = records.any(|v| kind(v).starts_with("context."));
    (has_head && has_context)
        .then(|| "JSON Lines with a `protocol_version` and `context.` events".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = jsonl::map_records(&input.bytes, progress, 1, &mut log.warnings, Row::from)?;
    let mut reader = WireReader::new(Transcript::new(input, WIRE.name, None));
    let mut agents: Vec<Agent> = Vec::new();
    for row in rows {
        progress.check_cancelled()?;
        if let Some(event) = CliEvent::of(&row.value) {
            let n = agents.len() + 2;
            let transcript = || Transcript::new(input, WIRE.name, Some(n));
            let (target, branch) = match event.agent {
                None => (&mut reader, ""),
                Some(call) => (agent(&mut agents, call, &event, transcript), " (sub-agent)"),
            };
            let in_context = target.cli_event(&event, &row);
            log.report
                .count_record(&format!("{}{branch}", event.kind), in_context && branch.is_empty());
            continue;
        }
        let kind = json::str_at(&row.value, &["type"]).unwrap_or("other");
        let sub = json::str_at(&row.value, &["event", "type"]);
        let label = sub.map_or_else(|| kind.to_owned(), |sub| format!("{kind}/{sub}"));
        let in_context = reader.row(kind, &row);
        log.report.count_record(&label, in_context);
    }
    let mut sessions: Vec<Session> = reader.transcript.finish().into_iter().collect();
    log.warnings.extend(reader.notes.warnings(&input.bytes));
    for agent in agents {
        log.warnings.extend(agent.reader.notes.warnings(&input.bytes));
        sessions.extend(
            agent
                .reader
                .transcript
                .finish()
                .map(|session| Session { track: Track::SubAgent(agent.info), ..session }),
        );
    }
    log.finish(input, sessions, "a Kimi log without a message")
}

/// A sub-agent whose events are interleaved with those of the main conversation.
struct Agent {
    info: SubAgent,
    reader: WireReader,
}

/// Returns the reader of the sub-agent that `call` started and adds it if it is new.
fn agent<'a>(
    agents: &'a mut Vec<Agent>,
    call: &str,
    event: &CliEvent<'_>,
    transcript: impl FnOnce() -> Transcript,
) -> &'a mut WireReader {
    let is_started_by_call = |agent: &Agent| agent.info.call.as_deref() == Some(call);
    let index = agents.iter().position(is_started_by_call).unwrap_or_else(|| {
        agents.push(Agent {
            info: SubAgent {
                id: None,
                kind: event.agent_type.map(Into::into),
                call: Some(call.into()),
            },
            reader: WireReader::new(transcript()),
        });
        agents.len() - 1
    });
    &mut agents[index].reader
}
