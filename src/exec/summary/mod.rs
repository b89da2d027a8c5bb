//! Who writes summaries for an export: the offline digest, a person, a model, or the log of an earlier run.

mod log;
mod model;
mod prompts;
mod repeats;

pub use log::{LogFile, RunLog, clear_logs, logs, logs_folder, logs_in, new_log, remove_log};
pub use model::{Model, ModelNews};
pub(in crate::exec) use prompts::questions;
pub use prompts::read_prompt;

use crate::engine::{Answer, Case, Reply, Request, digest};
use crate::units::Tokens;
pub(super) use log::LogWriter;
use model::{Failed, Said, Voice};
use serde::Serialize;
use std::sync::Arc;

/// Who writes summaries.
#[derive(Clone, Debug)]
pub enum Summarizer {
    /// The offline digest: no model, nothing leaves the machine.
    Digest,
    /// A text that the person pasted.
    Text(String),
    /// A model behind HTTP.
    Model(Arc<Model>),
    /// What an earlier run was answered, from its log.
    Log(Arc<RunLog>),
}

/// One request that a run made, for the manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RequestRecord {
    /// The call before which it was made, from 1.
    pub step: usize,
    /// The stage that asked.
    pub stage: String,
    /// Who answered.
    pub by: String,
    /// True tokens of what is to be summarized.
    pub input: Tokens,
    /// Most true tokens of the answer.
    pub max_tokens: Tokens,
    /// Questions that it took: more than one where what was to be summarized did not fit the model.
    pub questions: usize,
    /// Tokens sent, as the provider reports them.
    pub sent: Option<u64>,
    /// Tokens received, as the provider reports them.
    pub received: Option<u64>,
    /// How long it took, in milliseconds.
    pub millis: Option<u64>,
    /// Why the answer was refused, or could not be had.
    pub failed: Option<String>,
    /// The answer is another than was given: a person wrote it over.
    pub is_edited: bool,
    /// The model called a tool in the place of an answer.
    #[serde(skip)]
    pub is_called: bool,
    /// The answer.
    #[serde(skip)]
    pub text: Option<Arc<str>>,
}

impl RequestRecord {
    /// The same answer to the same request once more.
    fn again(&self, case: &Case, request: &Request) -> Result<Reply, Failed> {
        if (self.step, self.stage.as_str()) != (request.step + 1, request.stage.as_str()) {
            return Err(Failed::fatal(
                "with these summaries the run changes; request them again",
            ));
        }
        match (&self.text, &self.failed) {
            (Some(text), _) if self.is_edited => pasted(case, request, text),
            (Some(text), _) => Ok(Reply::Summary(Arc::clone(text))),
            (None, Some(why)) if !self.is_called => Err(Failed::answer(why.clone())),
            (None, _) => Ok(Reply::Called),
        }
    }
}

/// Which answer was refused or could not be had, why, and how many more.
pub(super) fn refusal(requests: &[RequestRecord]) -> Option<String> {
    let mut refused = requests
        .iter()
        .enumerate()
        .filter_map(|(nth, request)| Some((nth + 1, request, request.failed.as_ref()?)));
    let (nth, first, why) = refused.next()?;
    let more = match refused.count() {
        0 => String::new(),
        1 => ", and so was 1 more".to_owned(),
        n => format!(", and so were {n} more"),
    };
    let (n, call, stage) = (requests.len(), first.step, &first.stage);
    Some(format!(
        "the answer to summary request {nth} of {n} (call {call}, {stage}) was refused ({why}){more}"
    ))
}

/// Meets a run's requests.
pub(super) struct Answers<'a> {
    summarizer: &'a Summarizer,
    voice: Option<Voice<'a>>,
    /// Answers that an earlier look at the same run got, perhaps written over by a person.
    given: &'a [RequestRecord],
    /// Why requests failed, for the person.
    pub(super) failures: Vec<String>,
    /// Why nothing can come of the run any more.
    pub(super) broken: Option<String>,
    /// What the person should know.
    pub(super) notes: Vec<String>,
    /// Every request.
    pub(super) records: Vec<RequestRecord>,
}

impl<'a> Answers<'a> {
    /// Answers by a summarizer, but for what was answered before.
    pub(super) fn new(summarizer: &'a Summarizer, given: &'a [RequestRecord]) -> Self {
        Self {
            summarizer,
            voice: Voice::of(summarizer),
            given,
            failures: Vec::new(),
            broken: None,
            notes: Vec::new(),
            records: Vec::new(),
        }
    }

    /// The same run is made once more: what was answered before is answered alike.
    pub(super) fn again(&mut self) {
        self.failures.clear();
        self.notes.clear();
        self.records.clear();
    }

    /// Where the requests and answers of a live run are logged.
    pub(super) fn log(&self) -> Option<&LogWriter> {
        self.voice.as_ref().and_then(Voice::log)
    }

    fn said(&mut self, case: &Case, request: &Request) -> Result<Reply, Failed> {
        if let Some(given) = self.given.get(self.records.len()) {
            return given.again(case, request);
        }
        match (self.summarizer, &mut self.voice) {
            (Summarizer::Text(text), _) => pasted(case, request, text),
            (Summarizer::Model(_) | Summarizer::Log(_), Some(voice)) => {
                let asked = prompts::ask(case, request, voice);
                let said = asked.answer?;
                self.notes.extend(asked.note.map(|note| {
                    let (step, stage) = (request.step + 1, &request.stage);
                    format!("call {step}, {stage}: {note}")
                }));
                Ok(match said {
                    Said::Text(text) => {
                        self.notes.extend(repeats::note(&text).map(|note| {
                            let (step, stage) = (request.step + 1, &request.stage);
                            format!("call {step}, {stage}: {note}")
                        }));
                        Reply::Summary(text)
                    }
                    Said::Called => Reply::Called,
                })
            }
            _ => Ok(Reply::Summary(Arc::from(digest(case, request)))),
        }
    }

    fn record(&mut self, request: &Request, answer: &Result<Reply, Failed>) -> RequestRecord {
        let spent = self.voice.as_mut().map(Voice::take_spent);
        let spent = spent.unwrap_or_default();
        if spent.is_cut_off {
            let (step, stage) = (request.step + 1, &request.stage);
            let note = format!("call {step}, {stage}: the summary was cut off at its limit");
            self.notes.push(note);
        }
        RequestRecord {
            step: request.step + 1,
            stage: request.stage.clone(),
            by: self.by(),
            input: request.input,
            max_tokens: request.max_tokens,
            questions: spent.questions,
            sent: spent.sent,
            received: spent.received,
            millis: spent.millis,
            failed: match answer {
                Ok(Reply::Called) => {
                    Some("the model called a tool instead of writing a summary".to_owned())
                }
                Ok(Reply::Summary(text)) if text.trim().is_empty() => {
                    Some("the summary is empty".to_owned())
                }
                Ok(_) => None,
                Err(failed) => Some(failed.why.clone()),
            },
            is_edited: false,
            is_called: matches!(answer, Ok(Reply::Called)),
            text: match answer {
                Ok(Reply::Summary(text)) => Some(Arc::clone(text)),
                _ => None,
            },
        }
    }

    fn by(&self) -> String {
        match self.summarizer {
            Summarizer::Digest => "digest".to_owned(),
            Summarizer::Text(_) => "text".to_owned(),
            Summarizer::Model(model) => model.name(),
            Summarizer::Log(log) => format!("{} (from a log)", log.model),
        }
    }
}

/// A text that the person gave, if it is fit to be a summary.
fn pasted(case: &Case, request: &Request, text: &str) -> Result<Reply, Failed> {
    let text = text.trim();
    if text.is_empty() {
        let why = "the summary is empty; give its text or use the digest";
        return Err(Failed::fatal(why));
    }
    if request.fits(case, text) {
        return Ok(Reply::Summary(Arc::from(text)));
    }
    let weight = case.ledger.weigh(&request.message(text)).0;
    let most = request.max_tokens.0;
    Err(Failed::fatal(format!(
        "the summary has {weight} tokens and {most} are allowed; shorten it or raise summary_max_tokens"
    )))
}

impl Answer for Answers<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        if let Some(why) = &self.broken {
            return Reply::Failed(why.clone());
        }
        let given = self.given.get(self.records.len());
        let answer = self.said(case, request);
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
            Err(failed) => {
                self.failures.push(failed.why.clone());
                if failed.breaks_the_run {
                    self.broken = Some(failed.why.clone());
                }
                Reply::Failed(failed.why)
            }
        }
    }

    fn refused(&mut self, why: &str) {
        if let Some(record) = self.records.last_mut() {
            record.failed.get_or_insert_with(|| why.to_owned());
        }
    }
}
