//! Loads a session on a thread: reads, parses and counts, with progress and cancellation.

use super::document::{Document, Origin};
use super::{examples, paste};
use crate::app::background::latest_result::Where;
use crate::app::background::task::{self, Background};
use crate::exec::{self, LoadError, LoadOptions};
use crate::progress::{Phase, Progress};
use crate::units::Share;
use std::sync::Arc;
use std::time::Instant;

/// A session that is being loaded.
#[derive(Debug)]
pub struct Loading {
    /// Display name of the file.
    pub name: String,
    since: Instant,
    progress: Arc<Progress>,
    work: Background<Result<Document, LoadError>>,
}

/// Progress of loading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Current phase.
    pub phase: Phase,
    /// Completed share of the phase; `None` if its size is unknown.
    pub share: Option<Share>,
}

impl Loading {
    /// Starts to load `origin`.
    pub fn start(ctx: &egui::Context, at: Where, origin: Origin, options: LoadOptions) -> Self {
        let name = name(&origin);
        let progress = Arc::new(Progress::default());
        let shared = Arc::clone(&progress);
        let work = move || open(origin, &options, &shared);
        let work = match at {
            Where::AsNeeded => task::start_awaited("load", ctx, work),
            Where::InFrame => task::done(work),
        };
        Self {
            name,
            since: Instant::now(),
            progress,
            work,
        }
    }

    /// Returns the elapsed seconds.
    pub fn seconds(&self) -> u64 {
        self.since.elapsed().as_secs()
    }

    /// Returns the progress.
    pub fn stage(&self) -> Stage {
        Stage {
            phase: self.progress.phase(),
            share: self.progress.share(),
        }
    }

    /// Asks the thread to stop soon.
    pub fn cancel(&self) {
        self.progress.cancel();
    }

    /// Returns the document or a one-line error; returns itself while it is running.
    pub fn take(self) -> Result<Result<Document, String>, Box<Self>> {
        let Self {
            name,
            since,
            progress,
            work,
        } = self;
        match work.take() {
            Ok(Some(opened)) => Ok(opened.map_err(|error| error.to_string())),
            Ok(None) => Ok(Err(format!(
                "{name} could not be read: the reader stopped unexpectedly. Please report this file's format."
            ))),
            Err(work) => Err(Box::new(Self {
                name,
                since,
                progress,
                work,
            })),
        }
    }
}

fn open(origin: Origin, options: &LoadOptions, progress: &Progress) -> Result<Document, LoadError> {
    let mut loaded = match &origin {
        Origin::Path(path) => exec::load(path, options, progress)?,
        Origin::Example(name) => {
            let bytes = examples::by_name(name)
                .map(|e| e.bytes.to_vec())
                .unwrap_or_default();
            exec::load_bytes(name, bytes, options, progress)?
        }
        Origin::Pasted(text) => {
            exec::load_bytes(paste::NAME, text.bytes().to_vec(), options, progress)?
        }
    };
    loaded.pack();
    Ok(Document::new(origin, loaded, options.conversation))
}

fn name(origin: &Origin) -> String {
    match origin {
        Origin::Path(path) => path.file_name().map_or_else(
            || path.display().to_string(),
            |n| n.to_string_lossy().into_owned(),
        ),
        Origin::Example(name) => (*name).to_owned(),
        Origin::Pasted(_) => paste::NAME.to_owned(),
    }
}
