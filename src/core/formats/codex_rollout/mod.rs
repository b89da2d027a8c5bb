//! Codex rollouts: session files of Codex CLI and Codex Desktop in JSON Lines.
//!
//! - Only response items are in the context. Events mirror them for display, and other lines are Codex's own state.
//!   `session_meta` adds the system prompt and the tools that are not deferred.
//! - A call's answer is a run of consecutive model items, and the following `token_count` reports its usage. Tool
//!   results may occur between the two. Unchanged totals mean that the event was repeated, and a zero input means that
//!   Codex only estimated the size.
//! - A fork's file begins with its own `session_meta` (`forked_from_id`) and a copy of its parent's lines, all with the
//!   time of the fork. The copy is part of the fork's history. Its calls were made by the parent and do not count here,
//!   and its compactions only determine the context of the first call. The copy ends with the first turn whose id is
//!   younger than the file's.
//! - A sub-agent has a separate file, which names the thread that started it (`parent_thread_id`). The result of the
//!   call names the sub-agent's file (`agent_id`).
//! - `compacted` lines hold the whole new context. An item equal to an earlier one, byte for byte, is the same message.
//!   After some compactions Codex repeats the instructions. These copies belong to the new context as well.
//! - Reasoning is encrypted. Its token count is the one that the provider reported for its call. According to reported
//!   inputs, the provider drops the reasoning of earlier turns for gpt-5.4 and keeps it from gpt-5.5 on. Here it always
//!   counts, except in a fork's copy, for which no counts are reported.
//! - A compaction's encrypted summary is read as reasoning. Its token count is not reported. For reasoning with both
//!   values, the token count is close to 0.15 times the bytes of the encrypted form, minus 124.

mod blocks;
mod compaction;
mod export;
mod fork;
mod handoff;
mod identity;
mod items;
mod lines;
mod message_index;
mod neighbors;
mod reader;
mod record;
mod reported_usage;
mod resume;
mod tools;
mod usage;

use super::jsonl::map_records;
use super::read_log::ReadLog;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, ResultPosition, SubAgentFiles, jsonl,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::ModelVendor;
use lines::RolloutLine;

pub(super) const FORMAT: Format = Format {
    name: "codex_rollout",
    label: "Codex rollout",
    detect,
    reads_in_pieces: true,
    parse,
    write_own: Some(export::export),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    vendor: Some(ModelVendor::OpenAi),
    result_position: ResultPosition::AnywhereAfter,
    identity: Some(identity::read),
    sub_agent_files: Some(SubAgentFiles::DayFolders),
    extension: Some("jsonl"),
    kept: Some(record::kept),
    resume: Some(resume::RESUME),
    ..Format::READ_ONLY
};

/// Minimum share of records with known types for detection, in percent.
// Chosen: later versions of Codex add types, and damaged lines occur. Files of other programs have hardly any in
// common.
const MIN_PERCENT: usize = 80;

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let kind =
        |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let wrapped = |v: &Value| {
        v.get("payload").is_some_and(Value::is_object) && lines::TYPES.contains(&kind(v).as_str())
    };
    let bare = |v: &Value| v.get("payload").is_none() && items::TYPES.contains(&kind(v).as_str());
    let is_head = |v: &Value| v.get("instructions").is_some() && v.get("timestamp").is_some();
    let enough = |n: usize| n > 0 && n * 100 >= records.len() * MIN_PERCENT;

    let n = records.iter().filter(|r| wrapped(&r.value)).count();
    if enough(n) {
        return Some(format!(
            "{n} of the first {} records are of a rollout's types, with a payload",
            records.len()
        ));
    }
    let (head, rest) = records.split_first()?;
    let n = rest.iter().filter(|r| bare(&r.value)).count();
    (is_head(&head.value) && n > 0 && enough(n + 1))
        .then(|| "a head with instructions, then bare response items".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let lines = map_records(&input.bytes, progress, 1, &mut log.warnings, RolloutLine::read)?;
    let mut parsed = reader::read(input, lines, progress, log)?;
    if let Some(main) = parsed.sessions.first() {
        parsed.report.sub_agents = identity::started(main);
    }
    let head = jsonl::opening(&input.bytes, 1);
    parsed.report.parent =
        identity::read(&head).and_then(|identity| identity.parent.map(String::from));
    Ok(parsed)
}
