//! Resolves the table of stores to folders of this machine.

use super::{Base, STORES};
use std::env;
use std::path::PathBuf;

/// A location of sessions on this machine.
pub(super) struct SearchRoot {
    pub(super) agent: &'static str,
    /// The folder where the search starts, which need not exist.
    pub(super) folder: PathBuf,
    /// Path segments below the folder, which may contain `*`.
    pub(super) segments: Vec<&'static str>,
}

/// A folder of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFolder {
    /// Name of the agent.
    pub agent: &'static str,
    /// The folder.
    pub folder: PathBuf,
}

/// Returns the locations of all stores.
pub(super) fn all() -> impl Iterator<Item = SearchRoot> {
    let locations = STORES
        .iter()
        .flat_map(|store| store.locations.iter().map(move |location| (store, location)));
    locations.filter_map(|(store, location)| {
        let mut folder = location.base.folder()?;
        let mut segments: Vec<_> = location.path.split('/').collect();
        let n_fixed = segments.iter().take_while(|s| !s.contains('*')).count();
        folder.extend(segments.drain(..n_fixed));
        Some(SearchRoot { agent: store.agent, folder, segments })
    })
}

/// Returns the folders of agents' own sessions, whether they exist or not.
pub(crate) fn folders() -> Vec<PathBuf> {
    all().map(|root| root.folder).collect()
}

/// Returns the existing folders in which sessions are searched, each once.
pub fn existing_folders() -> Vec<AgentFolder> {
    let mut found: Vec<AgentFolder> = Vec::new();
    for SearchRoot { agent, folder, .. } in all() {
        if folder.is_dir() && found.iter().all(|known| known.folder != folder) {
            found.push(AgentFolder { agent, folder });
        }
    }
    found
}

impl Base {
    fn folder(self) -> Option<PathBuf> {
        let variable = |name: &str| {
            let value = env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let home = |under: &str| etcetera::home_dir().ok().map(|home| home.join(under));
        match self {
            Self::Variable(name) => variable(name),
            Self::Home => home(""),
            Self::Config | Self::Data if cfg!(windows) => variable("APPDATA"),
            Self::Config if cfg!(target_os = "macos") => home("Library/Application Support"),
            Self::Config => variable("XDG_CONFIG_HOME").or_else(|| home(".config")),
            Self::Data => variable("XDG_DATA_HOME").or_else(|| home(".local/share")),
        }
    }
}
