//! What the calls of session files used, cached: a file that has not changed is not read again.

use super::cache::{FileKey, file_key};
use super::{Cache, FoundFile};
use crate::analysis::cost::Billing;
use crate::analysis::usage::{RecordedUsage, recorded_usage};
use crate::engine::{Case, recorded};
use crate::exec::files::{read_bounded, replace_private};
use crate::exec::state::State;
use crate::presets::models;
use crate::presets::prices::Prices;
use crate::session::Track;
use crate::units::{Millis, Tokens};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Version of the cached usage, increased when that of the same file changes.
const USAGE_VERSION: u32 = 1;

/// Maximum size of the cache file, in bytes. A call takes about 50, so these are 20 million calls.
const MAX_BYTES: u64 = 1 << 30;

/// What the calls of a file used, by conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileUsage {
    /// The conversations, in the order of their numbers.
    pub conversations: Vec<ConversationUsage>,
}

/// What the calls of a conversation used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationUsage {
    /// Index in the file.
    pub number: usize,
    /// Title of the conversation.
    pub title: String,
    /// Relation to the other conversations of the file.
    pub relation: Relation,
    /// Number of messages of the history.
    pub messages: usize,
    /// Time of the first and of the last call with a time.
    pub times: Option<(Millis, Millis)>,
    /// Tokens of the context at the end, which no call has sent yet, and the context window.
    pub end: (Tokens, Tokens),
    /// The calls in compact form: most lists need sums only.
    #[serde(with = "serde_bytes")]
    packed: Vec<u8>,
}

/// Relation of a conversation to the others of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// A session of its own.
    Main,
    /// The conversation of a sub-agent, with the recorded kind.
    SubAgent(Option<String>),
    /// An abandoned branch.
    Branch,
}

impl FileUsage {
    /// Returns the usage of a single conversation.
    pub(super) fn of(number: usize, case: &Case) -> Self {
        Self { conversations: vec![ConversationUsage::new(number, case)] }
    }
}

impl ConversationUsage {
    /// Returns what a conversation used.
    pub(super) fn new(number: usize, case: &Case) -> Self {
        let session = &case.session;
        let outcome = recorded(case, Tokens::ZERO, None);
        let usage = recorded_usage(case, Billing::at(Prices::in_use()), &outcome);
        let times = || usage.calls.iter().filter_map(|call| call.time);
        Self {
            number,
            title: session.title.clone(),
            relation: match &session.track {
                Track::Main => Relation::Main,
                Track::SubAgent(agent) => Relation::SubAgent(agent.kind.as_deref().map(Into::into)),
                Track::Branch => Relation::Branch,
            },
            messages: session.n_history(),
            times: times().min().zip(times().max()),
            end: (outcome.end, case.windows.at(outcome.samples.len())),
            // Writing to memory does not fail.
            packed: postcard::to_allocvec(&usage).unwrap_or_default(),
        }
    }

    /// Returns the calls.
    pub fn usage(&self) -> RecordedUsage {
        // The cache has a version, and its bytes are those that were written.
        postcard::from_bytes(&self.packed).unwrap_or_default()
    }
}

/// Usage of session files by path.
#[derive(Clone, Debug, Default)]
pub struct UsageCache {
    /// The cache file; `None` with `--no-state`.
    path: Option<PathBuf>,
    files: HashMap<String, CachedUsage>,
    is_changed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CachedUsage {
    key: FileKey,
    usage: Arc<FileUsage>,
}

/// Content of the cache file.
#[derive(Serialize, Deserialize)]
struct UsageFile {
    /// Versions of what the usage depends on. Others may read, count or price a file differently.
    version: String,
    files: HashMap<String, CachedUsage>,
}

impl UsageCache {
    /// Reads the cache next to the program's state; empty if the file is missing or unreadable.
    pub fn load() -> Self {
        let path = Self::path();
        let read = path.as_deref().and_then(|path| read_bounded(path, MAX_BYTES).ok());
        let kept = read.and_then(|bytes| postcard::from_bytes::<UsageFile>(&bytes).ok());
        let kept = kept.filter(|kept| kept.version == version());
        Self { path, files: kept.map(|kept| kept.files).unwrap_or_default(), is_changed: false }
    }

    fn path() -> Option<PathBuf> {
        Some(State::path()?.with_file_name("usage.bin"))
    }

    /// Returns the cache file if it exists.
    pub fn kept() -> Option<PathBuf> {
        Self::path().filter(|path| path.exists())
    }

    /// Removes the cache file. Returns false if there was none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn clear() -> io::Result<bool> {
        Cache::remove(Self::path())
    }

    /// Returns the usage of an unchanged file, or of the session with this id and version in a file with several.
    pub(super) fn get(
        &self,
        found: &FoundFile,
        (id, version): (&str, u64),
    ) -> Option<Arc<FileUsage>> {
        let (path, key) = file_key(found, id, version)?;
        let known = self.files.get(&path)?;
        (known.key == key).then(|| Arc::clone(&known.usage))
    }

    pub(super) fn put(
        &mut self,
        found: &FoundFile,
        (id, version): (&str, u64),
        usage: &Arc<FileUsage>,
    ) {
        if let Some((path, key)) = file_key(found, id, version) {
            self.is_changed = true;
            self.files.insert(path, CachedUsage { key, usage: Arc::clone(usage) });
        }
    }

    /// Writes a changed cache, without files that no longer exist.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or written.
    pub fn save(&mut self) -> io::Result<()> {
        let Some(path) = self.path.clone().filter(|_| self.is_changed) else {
            return Ok(());
        };
        self.files.retain(|key, _| super::cache::path_of(key).exists());
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let kept = UsageFile { version: version(), files: std::mem::take(&mut self.files) };
        let bytes = postcard::to_allocvec(&kept).map_err(io::Error::other);
        self.files = kept.files;
        replace_private(&path, &bytes?)?;
        self.is_changed = false;
        Ok(())
    }
}

/// Returns the versions of the program, of its usage, and of the tables of context windows and prices.
fn version() -> String {
    let program = env!("CARGO_PKG_VERSION");
    let (windows, prices) = (models::fingerprint(), Prices::in_use().fingerprint());
    format!("{program}/{USAGE_VERSION}/{windows:x}/{prices:x}")
}
