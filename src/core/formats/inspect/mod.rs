//! Logs of Inspect AI: `.json` files, and `.eval` archives, whose files are joined into such a document.
//!
//! - Every sample is a conversation, and every agent or scorer in it that holds one of its own.
//! - A `model` event records the exact request of a call, with the usage. Its messages are listed in the event, or named
//!   by their numbers in a list that the sample's events share (`events_data`, earlier `message_pool`).
//! - Long texts are stored once, as attachments.
//! - A sample without such events records only its messages at the end.
//!
//! <https://inspect.aisi.org.uk/eval-logs.html>

mod attachments;
mod message;
mod pool;
mod sample;
mod track;

use super::folder::{FolderFile, json_list};
use super::read_log::ReadLog;
use super::rows;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;

pub(super) const FORMAT: Format = Format {
    name: "inspect",
    label: "Inspect AI log",
    detect,
    combine_archive: Some(combine),
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

/// Member of the document with the samples.
const SAMPLES: &str = "samples";

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let task = json::at(document, &["eval", "task"])?;
    let samples = document.get(SAMPLES)?.as_array()?;
    let is_sample = |v: &Value| v.get("epoch").is_some() && v.get("target").is_some();
    (task.is_string() && samples.iter().any(is_sample))
        .then(|| "a document with `eval` and `samples`".to_owned())
}

/// Joins the files of an archive: the header and a file for each sample. A log that was interrupted has no header yet.
fn combine(files: &[FolderFile]) -> Option<Vec<u8>> {
    let named = |name: &str| files.iter().find(|file| file.name == name);
    let header = named("header.json").or_else(|| named("_journal/start.json"))?.value();
    let header = json::document_span(&header).len().checked_sub(1).map(|end| &header[..end])?;
    let is_sample = |file: &&FolderFile| file.name.starts_with("samples/");
    let samples = json_list(files.iter().filter(is_sample).map(FolderFile::value));
    Some([header, b",\n\"samples\": ", &samples, b"\n}\n"].concat())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let around = rows::members_except(bytes, &whole, &[SAMPLES, "reductions"]);
    let task = json::str_at(&around, &["eval", "task"]).unwrap_or_default();
    let task = task.rsplit('/').next().unwrap_or_default();
    let samples = json::member(bytes, &whole, SAMPLES);
    let samples = samples.and_then(|list| json::elements(bytes, &list)).unwrap_or_default();
    let mut sessions = Vec::new();
    for span in &samples {
        progress.check_cancelled()?;
        progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
        let place = sample::SampleSource {
            input,
            bytes,
            span,
            task,
            n_before: sessions.len(),
            is_one_of_many: samples.len() > 1,
        };
        let found = sample::read(&place, &mut log);
        log.report.count_record("sample", !found.is_empty());
        sessions.extend(found);
    }
    log.finish(input, sessions, "an Inspect AI log without a sample that has messages")
}
