//! Progress of an export.

use crate::app::state::model::background::task::Background;
use crate::app::state::model_form::run::RunHandle;
use crate::exec::{ExportJob, Exported, Preview, RequestCost, RequestRecord, Resumed};
use crate::providers::Endpoint;
use std::path::PathBuf;
use std::sync::Arc;

/// Progress of an export.
#[derive(Debug)]
pub enum Stage {
    /// The form is open.
    Form,
    /// Consent before data is sent to a model.
    Consent(Box<Consent>),
    /// Summaries are being written.
    Asking(RunHandle, Background<Result<Preview, String>>),
    /// Summaries are ready for review and can be edited.
    Review(Review),
    /// Consent before the export is added to a program's store.
    Store(Box<StoreConsent>),
    /// Files are being written.
    Writing(Background<Result<Box<Written>, String>>),
    /// Written, or nothing to write.
    Done(Box<Written>),
    /// Failed with this error; nothing was written.
    Failed(String),
}

/// The data to be sent, and its destination.
#[derive(Clone, Debug)]
pub struct Consent {
    /// Amount of data.
    pub sending: RequestCost,
    /// Destination.
    pub endpoint: Endpoint,
    /// Log file.
    pub log: Option<PathBuf>,
    pub(crate) job: ExportJob,
    pub(crate) run: RunHandle,
}

/// The change to a program's store.
#[derive(Debug)]
pub struct StoreConsent {
    /// The program.
    pub program: &'static str,
    /// The store folder or an error; `None` while it is being located.
    pub folder: Option<Result<PathBuf, String>>,
    pub(crate) search: Option<Background<Result<PathBuf, String>>>,
    pub(crate) job: ExportJob,
}

/// The result of an export.
#[derive(Clone, Debug)]
pub struct Written {
    /// The written files.
    pub exported: Exported,
    /// The session to resume, if requested.
    pub resumed: Option<Resumed>,
}

/// Summaries under review.
#[derive(Clone, Debug)]
pub struct Review {
    /// Result of the run.
    pub preview: Preview,
    /// Current texts of the summaries, by request; `None` without an answer.
    pub texts: Vec<Option<String>>,
}

impl Stage {
    /// Returns the next stage if its work is done.
    pub(crate) fn polled(self) -> Self {
        match self {
            Self::Asking(run, work) => match work.take() {
                Ok(Some(Ok(preview))) => Self::Review(Review::new(preview)),
                Ok(Some(Err(why))) => Self::Failed(why),
                Ok(None) => Self::Failed("The requests stopped unexpectedly.".to_owned()),
                Err(work) => Self::Asking(run, work),
            },
            Self::Writing(work) => match work.take() {
                Ok(Some(Ok(written))) => Self::Done(written),
                Ok(Some(Err(why))) => Self::Failed(why),
                Ok(None) => {
                    Self::Failed("Writing stopped unexpectedly; nothing was exported.".to_owned())
                }
                Err(work) => Self::Writing(work),
            },
            Self::Store(mut consent) => {
                consent.poll();
                Self::Store(consent)
            }
            stage => stage,
        }
    }
}

impl StoreConsent {
    /// Receives the folder of the store.
    fn poll(&mut self) {
        let Some(search) = self.search.take() else {
            return;
        };
        match search.take() {
            Ok(found) => {
                let stopped = || Err("The search for the folder stopped unexpectedly.".to_owned());
                self.folder = Some(found.unwrap_or_else(stopped));
            }
            Err(search) => self.search = Some(search),
        }
    }
}

impl Review {
    fn new(preview: Preview) -> Self {
        let text = |request: &RequestRecord| request.text.as_deref().map(str::to_owned);
        Self { texts: preview.requests.iter().map(text).collect(), preview }
    }

    /// Returns whether you edited this summary.
    pub fn is_edited(&self, request: usize) -> bool {
        let original = self.preview.requests[request].text.as_deref();
        self.texts[request].as_deref() != original
    }

    /// Returns the requests with the reviewed texts as answers.
    pub(crate) fn answers(&self) -> Vec<RequestRecord> {
        let requests = self.preview.requests.iter().enumerate();
        let answers = requests.map(|(idx, request)| RequestRecord {
            is_edited: self.is_edited(idx),
            text: self.texts[idx].as_deref().map(Arc::from),
            ..request.clone()
        });
        answers.collect()
    }
}
