//! From the table of stores to folders of this machine.

use super::{Base, STORES, Store};
use std::env;
use std::path::PathBuf;

/// Every place of every store that this machine could have: the agent, the folder that it begins at, and the segments
/// below.
pub(super) fn all() -> impl Iterator<Item = (&'static Store, PathBuf, Vec<&'static str>)> {
    let places = STORES
        .iter()
        .flat_map(|store| store.places.iter().map(move |place| (store, place)));
    places.filter_map(|(store, place)| {
        let mut folder = place.base.folder()?;
        let mut segments: Vec<_> = place.path.split('/').collect();
        let n_fixed = segments.iter().take_while(|s| !s.contains('*')).count();
        folder.extend(segments.drain(..n_fixed));
        Some((store, folder, segments))
    })
}

/// Folders in which agents keep and look for their own sessions.
pub(in crate::exec) fn folders() -> Vec<PathBuf> {
    all().map(|(_, folder, _)| folder).collect()
}

/// The agents and the folders of theirs that are there, to tell a person where sessions were looked for.
pub fn looked_into() -> Vec<(&'static str, PathBuf)> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (store, folder, _) in all() {
        if folder.is_dir() && !seen.iter().any(|(_, known)| *known == folder) {
            seen.push((store.agent, folder));
        }
    }
    seen
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
