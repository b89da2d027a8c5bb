//! Who writes summaries: the offline digest, a person, or a model.

use crate::engine::{Answer, Case, Reply, Request, digest};
use crate::units::Tokens;
use serde::Serialize;
use std::sync::Arc;

/// Who writes summaries.
#[derive(Clone, Debug, PartialEq)]
pub enum Summarizer {
    /// The offline digest: no model, nothing leaves the machine.
    Digest,
    /// A text that the person pasted.
    Text(String),
}

/// One request that a run made, for the manifest.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Tokens sent and received as the provider reports them.
    pub usage: Option<(Option<u64>, Option<u64>)>,
    /// How long it took.
    pub millis: Option<u64>,
    /// Why nothing came of it.
    pub failed: Option<String>,
}

/// Meets a run's requests.
pub(super) struct Answers<'a> {
    summarizer: &'a Summarizer,
    /// Why requests failed, for the person.
    pub(super) failures: Vec<String>,
    /// What the person should know.
    pub(super) notes: Vec<String>,
    /// Every request.
    pub(super) records: Vec<RequestRecord>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(summarizer: &'a Summarizer) -> Self {
        Self {
            summarizer,
            failures: Vec::new(),
            notes: Vec::new(),
            records: Vec::new(),
        }
    }

    /// The same run is made once more.
    pub(super) fn again(&mut self) {
        self.failures.clear();
        self.notes.clear();
        self.records.clear();
    }

    /// A text that the person gave, if it is fit to be a summary.
    fn pasted(case: &Case, request: &Request, text: &str) -> Result<Arc<str>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the summary is empty; give its text or use the digest".to_owned());
        }
        if request.fits(case, text) {
            return Ok(Arc::from(text));
        }
        let weight = case.ledger.weigh(&request.message(text)).0;
        let most = request.max_tokens.0;
        Err(format!(
            "the summary weighs {weight} tokens and {most} are allowed; shorten it or raise summary_max_tokens"
        ))
    }
}

impl Answer for Answers<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        let (by, answer) = match self.summarizer {
            Summarizer::Digest => ("digest", Ok(Arc::from(digest(case, request)))),
            Summarizer::Text(text) => ("text", Self::pasted(case, request, text)),
        };
        self.records.push(RequestRecord {
            step: request.step + 1,
            stage: request.stage.clone(),
            by: by.to_owned(),
            input: request.input,
            max_tokens: request.max_tokens,
            usage: None,
            millis: None,
            failed: answer.as_ref().err().cloned(),
        });
        match answer {
            Ok(text) => Reply::Summary(text),
            Err(why) => {
                self.failures.push(why.clone());
                Reply::Failed(why)
            }
        }
    }
}
