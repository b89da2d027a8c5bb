//! Loads a session on a thread: reads, parses and counts, with progress and cancellation.

use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::pasted;
use crate::app::state::open::examples;
use crate::app::state::open::examples::Example;
use crate::app::state::workspace::contents::Workspace;
use crate::app::state::workspace::reopened::Reopened;
use crate::exec;
use crate::exec::{LoadError, LoadOptions, Workspaces};
use crate::progress::{Phase, Progress};
use crate::session::FileBytes;
use crate::units::Share;
use std::sync::Arc;
use std::time::Instant;

/// A session that is being loaded.
#[derive(Debug)]
pub(crate) struct Loading {
    /// Display name of the file.
    pub name: String,
    origin: Origin,
    conversation: usize,
    since: Instant,
    progress: Arc<Progress>,
    work: Background<Result<(Document, Reopened), LoadError>>,
}

/// Progress of loading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stage {
    /// Current phase.
    pub phase: Phase,
    /// Completed share of the phase; `None` if its size is unknown.
    pub share: Option<Share>,
}

impl Loading {
    /// Starts to load `origin` with the state in which it was left.
    pub(crate) fn start(
        repaint: &Repaint,
        at: WorkMode,
        origin: Origin,
        options: LoadOptions,
        kept: KeptStates,
    ) -> Self {
        let name = name(&origin);
        let (source, conversation) = (origin.clone(), options.conversation);
        let progress = Arc::new(Progress::default());
        let shared = Arc::clone(&progress);
        let work = move || open(origin, options, &kept, &shared);
        let work = match at {
            WorkMode::AsNeeded => task::start_awaited("load", repaint, work),
            WorkMode::InFrame => task::run_now(work),
        };
        Self { name, origin: source, conversation, since: Instant::now(), progress, work }
    }

    /// Returns whether this loads a conversation of a source.
    pub(crate) fn is_from(&self, origin: &Origin, conversation: usize) -> bool {
        self.conversation == conversation && self.origin == *origin
    }

    /// Returns the elapsed seconds.
    pub(crate) fn seconds(&self) -> u64 {
        self.since.elapsed().as_secs()
    }

    /// Returns the progress.
    pub(crate) fn stage(&self) -> Stage {
        Stage { phase: self.progress.phase(), share: self.progress.share() }
    }

    /// Asks the thread to stop soon.
    pub(crate) fn cancel(&self) {
        self.progress.cancel();
    }

    /// Returns the document or a one-line error; returns itself while it is running.
    pub(crate) fn take(self) -> Result<Result<(Document, Reopened), String>, Box<Self>> {
        match self.work.take() {
            Ok(Some(opened)) => Ok(opened.map_err(|error| error.to_string())),
            Ok(None) => Ok(Err(format!(
                "{} could not be read: the reader stopped unexpectedly. Please report this file's format.",
                self.name
            ))),
            Err(work) => Err(Box::new(Self { work, ..self })),
        }
    }
}

/// The states of sessions that were open before.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptStates {
    /// Kept workspaces.
    pub(crate) workspaces: Workspaces,
    /// Content of the session when it was open before in this run.
    pub(crate) visited: Option<FileBytes>,
}

/// Loads a session, or the session of a workspace file, with the state in which it was left.
fn open(
    mut origin: Origin,
    mut options: LoadOptions,
    kept: &KeptStates,
    progress: &Progress,
) -> Result<(Document, Reopened), LoadError> {
    let opened = match &origin {
        Origin::Path(path) => exec::open_workspace(path)?,
        Origin::Example(_) | Origin::Pasted(_) => None,
    };
    if let Some(opened) = &opened {
        origin = Origin::Path(opened.session.clone());
        options.conversation = opened.key.conversation;
    }
    let options = &options;
    let mut loaded = match &origin {
        Origin::Path(path) => exec::load(path, options, progress)?,
        Origin::Example(name) => {
            let content = examples::by_name(name).map(Example::content);
            exec::load_bytes(name, content.unwrap_or_default(), options, progress)?
        }
        Origin::Pasted(text) => {
            exec::load_bytes(pasted::NAME, text.bytes().to_vec(), options, progress)?
        }
    };
    let bytes = &loaded.case.session.source.bytes;
    let reopened = match &opened {
        Some(opened) => {
            opened.check(bytes)?;
            let workspace = Workspace::parse(&opened.text).map_err(LoadError)?;
            Reopened { workspace: Some(Ok(workspace)), is_opened: true, ..Reopened::default() }
        }
        None => reopened(&origin, bytes, options.conversation, kept),
    };
    loaded.pack();
    let document = Document::new(origin, loaded, options.conversation);
    Ok((document, reopened))
}

/// Finds the state in which a session was left.
fn reopened(
    origin: &Origin,
    bytes: &FileBytes,
    conversation: usize,
    kept: &KeptStates,
) -> Reopened {
    let continues = |before: &FileBytes| bytes.starts_with(before);
    let continues_visit = kept.visited.as_ref().is_some_and(continues);
    let text = match origin {
        Origin::Path(path) if !continues_visit => kept.workspaces.find(path, bytes, conversation),
        _ => Ok(None),
    };
    let workspace = match text {
        Ok(text) => text.map(|text| Workspace::parse(&text)),
        Err(error) => Some(Err(error.to_string())),
    };
    Reopened { continues_visit, workspace, is_opened: false }
}

fn name(origin: &Origin) -> String {
    match origin {
        Origin::Path(path) => path
            .file_name()
            .map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned()),
        Origin::Example(name) => (*name).to_owned(),
        Origin::Pasted(_) => pasted::NAME.to_owned(),
    }
}
