//! Captures of requests to a model's API with their answers, as proxies, browsers and tracers record them.
//!
//! - A container holds exchanges: a HAR file, flows of mitmproxy, or a record for each exchange (claude-trace, claude-tap,
//!   logs of gateways).
//! - A wire is the API of an exchange: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini. It reads
//!   whole and streamed answers.
//! - Every request repeats its whole context, so that nothing has to be guessed. A program also sends other requests:
//!   titles, quota checks, summaries. They become conversations of their own, after the agent's.
//! - The sessions refer to a document of the exchanges that this reader writes ([`document`]): requests and whole answers.
//!   Headers and addresses, which contain keys, are left out.

mod agents;
mod batch;
mod calls;
mod containers;
mod document;
mod events;
mod exchange;
mod response;
mod wires;

pub(super) use batch::BATCH_RESULTS;

use super::contexts::Contexts;
use super::read_log::ReadLog;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData};
use crate::progress::Progress;
use crate::session::FileBytes;

pub(super) const FORMAT: Format = Format {
    name: "request_capture",
    label: "Request capture",
    detect: |probe: &Probe| containers::detect(probe),
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

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let lines = containers::read(input, progress, &mut log)?;
    let (text, places) = document::write(lines, &mut log);
    let mut bytes: FileBytes = text.into();
    let whole = bytes.whole();
    let (calls, warnings) = calls::read(&whole, &places, progress)?;
    drop(whole);
    bytes.pack();
    log.warnings.extend(warnings);
    let document = Input { name: input.name.clone(), bytes };
    let mut contexts = Contexts::new(&document, FORMAT.name);
    contexts.add_all(calls);
    log.warnings.extend(contexts.warnings());
    let mut sessions = contexts.finish();
    agents::link(&mut sessions);
    log.finish(input, sessions, "a capture without a request to a model")
}
