//! Answers the summary requests of an export: with the offline digest, a text of the user, a model, or the log of an
//! earlier run.

mod log;
mod log_files;
mod model;
mod record;
mod repeats;
mod reply;
mod request;
mod responder;
mod summarizer;

pub use log::RunLog;
pub(super) use log::{Ending, Exchange, LogWriter, create_log};
pub use log_files::{LogFile, clear_logs, logs, logs_folder, logs_in, new_log, remove_log};
pub use model::{Model, ModelEvent};
pub use record::RequestRecord;
pub(super) use record::{digested, rejection};
pub(super) use request::planned_calls;
pub use request::read_prompt;
pub(super) use responder::{Exchanges, send};
pub use summarizer::Summarizer;

use crate::engine::{Answer, Case, Reply, Request, digest};
use crate::figure::tokens;
use crate::session::is_blank;
use reply::{ModelReply, SummaryFailure};
use responder::Responder;
use std::sync::Arc;

/// Answers the summary requests of a run and records them.
pub(super) struct SummaryAnswerer<'a> {
    summarizer: &'a Summarizer,
    responder: Option<Responder<'a>>,
    /// Answers of an earlier preview of the run, possibly edited by the user.
    given: &'a [RequestRecord],
    /// Reasons of failed requests.
    pub(super) failures: Vec<String>,
    /// Reason why the run cannot continue.
    pub(super) fatal: Option<String>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
    /// All requests.
    pub(super) records: Vec<RequestRecord>,
}

impl<'a> SummaryAnswerer<'a> {
    /// Creates the answers of a summarizer. The first requests get the given answers.
    pub(super) fn new(summarizer: &'a Summarizer, given: &'a [RequestRecord]) -> Self {
        Self {
            summarizer,
            responder: Responder::new(summarizer),
            given,
            failures: Vec::new(),
            fatal: None,
            notes: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Creates the answers of a run that sends prompts through a log of its own. `summarizer` only names the model.
    pub(super) fn through(summarizer: &'a Summarizer, exchanges: &'a dyn Exchanges) -> Self {
        Self { responder: Some(Responder::through(exchanges)), ..Self::new(summarizer, &[]) }
    }

    /// Prepares for a second run. Prompts of the first run get the same answers.
    pub(super) fn restart(&mut self) {
        self.failures.clear();
        self.notes.clear();
        self.records.clear();
    }

    /// Returns the log of a live run.
    pub(super) fn log(&self) -> Option<&LogWriter> {
        self.responder.as_ref().and_then(Responder::log)
    }

    fn reply(&mut self, case: &Case, request: &Request) -> Result<Reply, SummaryFailure> {
        if let Some(given) = self.given.get(self.records.len()) {
            return repeated(given, case, request);
        }
        match (self.summarizer, &mut self.responder) {
            (Summarizer::Text(text), _) => pasted(case, request, text),
            (Summarizer::Model(_) | Summarizer::Log(_), Some(responder)) => {
                let answer = request::answer(case, request, responder);
                let reply = answer.reply?;
                self.note(request, answer.note);
                Ok(match reply {
                    ModelReply::Text(text) => {
                        self.note(request, repeats::note(&text));
                        Reply::Summary(text)
                    }
                    ModelReply::ToolCall => Reply::ToolCall,
                })
            }
            _ => Ok(Reply::Summary(Arc::from(digest(case, request)))),
        }
    }

    /// Adds a note about a request.
    fn note(&mut self, request: &Request, note: Option<String>) {
        self.notes.extend(note.map(|note| {
            let (call, stage) = (request.call + 1, &request.stage);
            format!("call {call}, {stage}: {note}")
        }));
    }

    fn record(
        &mut self,
        request: &Request,
        answer: &Result<Reply, SummaryFailure>,
    ) -> RequestRecord {
        let spent = self.responder.as_mut().map(Responder::take_spent);
        let spent = spent.unwrap_or_default();
        let cut_off = "the summary was cut off at its limit";
        self.note(request, spent.is_cut_off.then(|| cut_off.to_owned()));
        RequestRecord {
            call: request.call + 1,
            stage: request.stage.clone(),
            summarizer: self.summarizer_name(),
            input: request.input,
            max_tokens: request.max_tokens,
            prompts: spent.prompts,
            sent: spent.sent,
            received: spent.received,
            millis: spent.millis,
            failed: match answer {
                Ok(Reply::ToolCall) => {
                    Some("the model called a tool instead of writing a summary".to_owned())
                }
                Ok(Reply::Summary(text)) if is_blank(text) => {
                    Some("the summary is empty".to_owned())
                }
                Ok(_) => None,
                Err(failure) => Some(failure.reason.clone()),
            },
            is_edited: false,
            called_tool: matches!(answer, Ok(Reply::ToolCall)),
            text: match answer {
                Ok(Reply::Summary(text)) => Some(Arc::clone(text)),
                _ => None,
            },
        }
    }

    /// Names the source of the answers.
    fn summarizer_name(&self) -> String {
        match self.summarizer {
            Summarizer::Digest => record::DIGEST.to_owned(),
            Summarizer::Text(_) => "text".to_owned(),
            Summarizer::Model(model) => model.name(),
            Summarizer::Log(log) => format!("{} (from a log)", log.model),
        }
    }
}

/// Repeats a given answer to the same request.
fn repeated(
    given: &RequestRecord,
    case: &Case,
    request: &Request,
) -> Result<Reply, SummaryFailure> {
    if (given.call, given.stage.as_str()) != (request.call + 1, request.stage.as_str()) {
        return Err(SummaryFailure::fatal(
            "the run changes with the edited summaries; request them again",
        ));
    }
    match (&given.text, &given.failed) {
        (Some(text), _) if given.is_edited => pasted(case, request, text),
        (Some(text), _) => Ok(Reply::Summary(Arc::clone(text))),
        (None, Some(reason)) if !given.called_tool => Err(SummaryFailure::unusable(reason.clone())),
        (None, _) => Ok(Reply::ToolCall),
    }
}

/// Accepts a text of the user as a summary if it is not empty and fits.
fn pasted(case: &Case, request: &Request, text: &str) -> Result<Reply, SummaryFailure> {
    let text = text.trim();
    if is_blank(text) {
        return Err(SummaryFailure::fatal("the summary is empty; give its text or use the digest"));
    }
    if request.fits(case, text) {
        return Ok(Reply::Summary(Arc::from(text)));
    }
    let weight = tokens(case.ledger.weigh(&request.message(text)));
    let most = tokens(request.max_tokens);
    Err(SummaryFailure::fatal(format!(
        "the summary has {weight} tokens and {most} are allowed; shorten it or raise summary_max_tokens"
    )))
}

impl Answer for SummaryAnswerer<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        if let Some(reason) = &self.fatal {
            return Reply::Failed(reason.clone());
        }
        let given = self.given.get(self.records.len());
        let answer = self.reply(case, request);
        let record = match given {
            Some(given) => RequestRecord {
                failed: given.failed.clone().filter(|_| !given.is_edited),
                ..given.clone()
            },
            None => self.record(request, &answer),
        };
        self.records.push(record);
        match answer {
            Ok(reply) => reply,
            Err(failure) => {
                self.failures.push(failure.reason.clone());
                if failure.is_fatal {
                    self.fatal = Some(failure.reason.clone());
                }
                Reply::Failed(failure.reason)
            }
        }
    }

    fn rejected(&mut self, why: &str) {
        if let Some(record) = self.records.last_mut() {
            record.failed.get_or_insert_with(|| why.to_owned());
        }
    }
}
