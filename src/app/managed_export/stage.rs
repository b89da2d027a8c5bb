//! How far an export is.

use super::Line;
use crate::app::background::Background;
use crate::exec::{ExportJob, Exported, Preview, RequestRecord, Resumed, Sending};
use crate::providers::Endpoint;
use std::path::PathBuf;
use std::sync::Arc;

/// How far an export is.
#[derive(Debug)]
pub enum Stage {
    /// It is being described.
    Form,
    /// Before anything is sent: what would be, and whether the person agrees.
    Consent(Box<Consent>),
    /// Summaries are being written.
    Asking(Line, Background<Result<Preview, String>>),
    /// Summaries are there, and may be written over.
    Review(Review),
    /// Before anything goes into a program's store: where, and whether the person agrees.
    Store(Box<StoreConsent>),
    /// Files are being written.
    Writing(Background<Result<Written, String>>),
    /// It was written, or there was nothing to write.
    Done(Box<Written>),
    /// Nothing was written, and why.
    Failed(String),
}

/// What would be sent, and to whom.
#[derive(Clone, Debug)]
pub struct Consent {
    /// How much.
    pub sending: Sending,
    /// Where to.
    pub endpoint: Endpoint,
    /// Where it is logged.
    pub log: Option<PathBuf>,
    pub(super) job: ExportJob,
    pub(super) line: Line,
}

/// What would go into a program's store.
#[derive(Debug)]
pub struct StoreConsent {
    /// The program.
    pub program: &'static str,
    /// The folder, or why there is none; none while it is looked for.
    pub folder: Option<Result<PathBuf, String>>,
    pub(super) looking: Option<Background<Result<PathBuf, String>>>,
    pub(super) job: ExportJob,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Written {
    /// What was written.
    pub exported: Exported,
    /// The session that a program can resume, if that was asked for.
    pub resumed: Option<Resumed>,
}

/// Summaries before they are written.
#[derive(Clone, Debug)]
pub struct Review {
    /// What came of the run.
    pub preview: Preview,
    /// The summaries as they are now, by request; none where there is no answer.
    pub texts: Vec<Option<String>>,
}

impl Stage {
    /// The stage after this one, where its work is over.
    pub(super) fn polled(self) -> Self {
        match self {
            Self::Asking(line, work) => match work.take() {
                Ok(Some(Ok(preview))) => Self::Review(Review::new(preview)),
                Ok(Some(Err(why))) => Self::Failed(why),
                Ok(None) => Self::Failed("Asking stopped unexpectedly.".to_owned()),
                Err(work) => Self::Asking(line, work),
            },
            Self::Writing(work) => match work.take() {
                Ok(Some(Ok(written))) => Self::Done(Box::new(written)),
                Ok(Some(Err(why))) => Self::Failed(why),
                Ok(None) => {
                    Self::Failed("Writing stopped unexpectedly; nothing was exported.".to_owned())
                }
                Err(work) => Self::Writing(work),
            },
            Self::Store(mut consent) => {
                consent.look();
                Self::Store(consent)
            }
            stage => stage,
        }
    }
}

impl StoreConsent {
    fn look(&mut self) {
        let Some(looking) = self.looking.take() else {
            return;
        };
        match looking.take() {
            Ok(found) => {
                let lost = || Err("The store could not be looked for.".to_owned());
                self.folder = Some(found.unwrap_or_else(lost));
            }
            Err(looking) => self.looking = Some(looking),
        }
    }
}

impl Review {
    fn new(preview: Preview) -> Self {
        let text = |request: &RequestRecord| request.text.as_deref().map(str::to_owned);
        Self {
            texts: preview.requests.iter().map(text).collect(),
            preview,
        }
    }

    /// A person has written this one over.
    pub fn is_edited(&self, request: usize) -> bool {
        let was = self.preview.requests[request].text.as_deref();
        self.texts[request].as_deref() != was
    }

    /// The answers as they are now.
    pub(super) fn given(&self) -> Vec<RequestRecord> {
        let requests = self.preview.requests.iter().enumerate();
        let now = requests.map(|(idx, request)| RequestRecord {
            is_edited: self.is_edited(idx),
            text: self.texts[idx].as_deref().map(Arc::from),
            ..request.clone()
        });
        now.collect()
    }
}
