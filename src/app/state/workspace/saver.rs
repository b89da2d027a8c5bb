//! Saves workspaces in order on one thread, some time after the last change.

use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::config::Config;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::selection::Selection;
use crate::app::state::workspace::contents::{KeptView, Workspace};
use crate::exec::{OwnPresets, SessionKey, Workspaces, policy_text, write_workspace};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Time without a change after which a workspace is saved.
const DELAY: Duration = Duration::from_secs(1);
/// Maximum wait for the last save when the window closes.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// A notice for the user, if any, or the reason why nothing was saved.
pub(crate) type SaveResult = Result<Option<String>, String>;

/// The state of the window that a workspace contains.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkspaceState {
    pub(crate) config: Config,
    pub(crate) selection: Selection,
    pub(crate) view: KeptView,
}

/// Saves the workspace of the open session.
#[derive(Debug)]
pub(crate) struct Saver {
    store: Workspaces,
    /// The state as saved or opened.
    saved: Option<WorkspaceState>,
    /// The last change and its time.
    changed: Option<(WorkspaceState, Instant)>,
    worker: Option<Worker>,
    sender: Sender<SaveResult>,
    results: Receiver<SaveResult>,
}

/// The thread that writes.
#[derive(Debug)]
struct Worker {
    jobs: Sender<SaveJob>,
    thread: Background<()>,
}

/// A policy that is not bundled.
#[derive(Debug)]
pub(crate) struct OwnPolicy {
    pub(crate) name: String,
    /// Its name on the command line: a saved preset, or a file.
    pub(crate) word: String,
}

/// A workspace to write.
#[derive(Debug)]
pub(crate) struct SaveJob {
    pub(crate) document: Arc<Document>,
    pub(crate) workspace: Workspace,
    /// Policies of the lanes whose text is added to the workspace.
    pub(crate) own_policies: Vec<OwnPolicy>,
    pub(crate) own_presets: OwnPresets,
    pub(crate) output: Output,
}

/// The file to write.
#[derive(Debug)]
pub(crate) enum Output {
    /// The workspace kept with the session.
    Kept(Workspaces),
    /// A new portable file.
    Portable(PathBuf),
}

impl Saver {
    /// Creates a saver for this folder.
    pub(crate) fn new(store: Workspaces) -> Self {
        let (sender, results) = channel();
        Self { store, saved: None, changed: None, worker: None, sender, results }
    }

    /// Returns the folder of kept workspaces.
    pub(crate) fn store(&self) -> &Workspaces {
        &self.store
    }

    /// Takes the next state as unchanged.
    pub(crate) fn reset(&mut self) {
        self.saved = None;
        self.changed = None;
    }

    /// Returns the state to save, once it has not changed for a while.
    pub(crate) fn due(&mut self, repaint: &Repaint, now: WorkspaceState) -> Option<WorkspaceState> {
        let saved = self.saved.get_or_insert_with(|| now.clone());
        if *saved == now {
            self.changed = None;
            return None;
        }
        let since = match &self.changed {
            Some((changed, since)) if *changed == now => since.elapsed(),
            _ => {
                self.changed = Some((now.clone(), Instant::now()));
                Duration::ZERO
            }
        };
        if since < DELAY {
            repaint.after(DELAY.saturating_sub(since));
            return None;
        }
        self.unsaved(now)
    }

    /// Returns the state to save, if it differs from the saved one.
    pub(crate) fn unsaved(&mut self, now: WorkspaceState) -> Option<WorkspaceState> {
        self.changed = None;
        let saved = self.saved.get_or_insert_with(|| now.clone());
        if *saved == now {
            return None;
        }
        self.saved = Some(now.clone());
        Some(now)
    }

    /// Writes a workspace, on the thread unless all work is in the frame.
    pub(crate) fn write(&mut self, repaint: &Repaint, at: WorkMode, job: SaveJob) {
        let results = self.sender.clone();
        if at == WorkMode::InFrame {
            // The receiver is in `self`.
            let _ = results.send(job.run(&mut None));
            return;
        }
        let worker = self.worker.get_or_insert_with(|| {
            let (jobs, waiting) = channel::<SaveJob>();
            let again = repaint.clone();
            let work = move || {
                let mut last_key = None;
                for job in waiting {
                    let _ = results.send(job.run(&mut last_key));
                    again.now();
                }
            };
            let thread = task::start("workspace", repaint, work);
            Worker { jobs, thread }
        });
        if worker.jobs.send(job).is_err() {
            // The thread ended by a panic; the next change starts another one.
            self.worker = None;
        }
    }

    /// Returns the results since the last frame.
    pub(crate) fn results(&self) -> Vec<SaveResult> {
        self.results.try_iter().collect()
    }

    /// Waits until all workspaces are written.
    pub(crate) fn finish(&mut self) {
        let Some(Worker { jobs, mut thread }) = self.worker.take() else {
            return;
        };
        drop(jobs);
        let since = Instant::now();
        while since.elapsed() < MAX_WAIT {
            match thread.take() {
                Ok(_) => return,
                Err(running) => thread = running,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl SaveJob {
    /// Writes the workspace. `last_key` is the key of the last document by its ID, since keys are expensive to compute.
    fn run(mut self, last_key: &mut Option<(u64, SessionKey)>) -> SaveResult {
        let document = &*self.document;
        let path = document.origin.beside().map(PathBuf::from);
        let path = path.ok_or("pasted text has no workspace; save it to a file first")?;
        let key = match last_key {
            Some((id, key)) if *id == document.id => key.clone(),
            _ => SessionKey::of(&path, document.session(), document.conversation),
        };
        *last_key = Some((document.id, key.clone()));
        let is_portable = matches!(self.output, Output::Portable(_));
        for OwnPolicy { name, word } in std::mem::take(&mut self.own_policies) {
            match policy_text(&word, &self.own_presets) {
                Ok(toml) => drop(self.workspace.policies.insert(name, toml)),
                // On this machine the policy may return.
                Err(error) if is_portable => return Err(error.to_string()),
                Err(_) => {}
            }
        }
        let text = self.workspace.text(key)?;
        let written = match self.output {
            Output::Kept(store) => match &document.origin {
                Origin::Path(path) => store.save(path, document.conversation, &text),
                Origin::Example(_) | Origin::Pasted(_) => Ok(()),
            }
            .map(|()| None),
            Output::Portable(output) => write_workspace(&output, &text)
                .map(|()| Some(format!("Saved the workspace as {}", output.display()))),
        };
        written.map_err(|error| error.to_string())
    }
}
