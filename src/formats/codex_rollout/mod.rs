//! Codex rollouts: what Codex CLI and Codex Desktop write down of a session, JSON Lines.
//!
//! - The context is made of response items, nothing else; events mirror them for the screen, and other lines are
//!   Codex's own memory. `session_meta` adds the system prompt and the tools that are not deferred.
//! - A call's answer is a run of items that only a model writes; the `token_count` behind it says what it took.
//!   Tools' results may stand between the two. Totals that did not change mean that an event was repeated, and
//!   no input at all that Codex only guesses.
//! - A fork's file begins with its own `session_meta` (`forked_from_id`) and a copy of its parent's lines, all
//!   stamped with the time of the fork. The copy is what the fork's first call saw, so it is history; but its
//!   calls were the parent's: they are no steps here, and its compactions only say which of it was still in
//!   context at step 0. The copy ends with the first turn whose id is younger than the file's.
//! - A sub-agent has a file of its own, which names the thread that started it (`parent_thread_id`); the result of the
//!   call names the sub-agent's (`agent_id`).
//! - `compacted` lines hold the whole new context. An item of it that was there before, byte for byte, is the same
//!   message. Codex sets up instructions anew right behind some of them; these copies belong to what was kept, too.
//! - Reasoning is sealed; it weighs what the provider reported for its call. Going by reported inputs, the
//!   provider leaves the reasoning of earlier turns out for gpt-5.4 and keeps it from gpt-5.5 on; here it always
//!   counts, but for what a fork copied, of which nothing is reported.
//! - A compaction's sealed summary stands as reasoning, too. Nobody reports its weight. Where reasoning has both,
//!   its tokens are close to 0.15 times the bytes of its sealed form, less 124.

mod around;
mod compaction;
mod export;
mod fork;
mod items;
mod identity;
mod known;
mod lines;
mod reader;
mod record;
mod resume;
mod tools;
mod usage;

pub(super) use identity::identity;

use super::jsonl::map_records;
use super::{RecordedData, Format, Input, Parsed, Probe, ParseError, jsonl};
use crate::progress::Progress;
use lines::Line;
use serde_json::Value;

pub(super) const FORMAT: Format = Format {
    name: "codex_rollout",
    label: "Codex rollout",
    detect,
    in_pieces: true,
    parse,
    export: Some(export::export),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    kept: Some(record::kept),
    resume: Some(resume::RESUME),
};

/// This share of the records must be of a rollout, in percent.
const ENOUGH: usize = 80;

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let kind = |value: &Value| {
        value
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let wrapped = |v: &Value| {
        v.get("payload").is_some_and(Value::is_object) && lines::TYPES.contains(&kind(v).as_str())
    };
    let bare = |v: &Value| v.get("payload").is_none() && items::TYPES.contains(&kind(v).as_str());
    let is_head = |v: &Value| v.get("instructions").is_some() && v.get("timestamp").is_some();
    let enough = |n: usize| n > 0 && n * 100 >= records.len() * ENOUGH;

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
    let mut warnings = Vec::new();
    let lines = map_records(&input.bytes, progress, 1, &mut warnings, Line::read)?;
    let mut parsed = reader::read(input, lines, progress, warnings)?;
    if let Some(main) = parsed.sessions.first() {
        parsed.report.sub_agents = identity::started(main);
    }
    let head = jsonl::opening(&input.bytes, 1);
    parsed.report.parent = identity(&head).and_then(|identity| identity.parent.map(String::from));
    Ok(parsed)
}
