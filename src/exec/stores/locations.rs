//! Resolves the table of stores to folders of this machine.

use super::{Base, STORES, Store};
use std::env;
use std::path::PathBuf;

/// Returns every location: the store, the folder where the search starts, and the path segments below it.
pub(super) fn all() -> impl Iterator<Item = (&'static Store, PathBuf, Vec<&'static str>)> {
    let locations = STORES.iter().flat_map(|store| {
        store
            .locations
            .iter()
            .map(move |location| (store, location))
    });
    locations.filter_map(|(store, location)| {
        let mut folder = location.base.folder()?;
        let mut segments: Vec<_> = location.path.split('/').collect();
        let n_fixed = segments.iter().take_while(|s| !s.contains('*')).count();
        folder.extend(segments.drain(..n_fixed));
        Some((store, folder, segments))
    })
}

/// Returns the folders of agents' own sessions, whether they exist or not.
pub(in crate::exec) fn folders() -> Vec<PathBuf> {
    all().map(|(_, folder, _)| folder).collect()
}

/// Returns the agents and their existing folders, to tell the user where sessions were searched.
pub fn existing_folders() -> Vec<(&'static str, PathBuf)> {
    let mut found: Vec<(&str, PathBuf)> = Vec::new();
    for (store, folder, _) in all() {
        if folder.is_dir() && !found.iter().any(|(_, known)| *known == folder) {
            found.push((store.agent, folder));
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
