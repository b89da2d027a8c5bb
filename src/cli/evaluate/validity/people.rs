//! The person of each session: sessions of one person are not independent.

use crate::session::Session;
use std::collections::HashMap;
use std::path::Path;

/// The property by which sessions of different persons differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PersonBy {
    /// The working directory that the session records, or else the folder of the file.
    Repository,
    /// The folder of the file.
    Folder,
    /// A column of a table.
    Column(String),
}

impl PersonBy {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(match text {
            "repository" => Self::Repository,
            "folder" => Self::Folder,
            "" => anyhow::bail!("give repository, folder, or the name of a column"),
            name => Self::Column(name.to_owned()),
        })
    }
}

/// Numbers of the persons, in order of their first session.
pub(super) struct People {
    by: PersonBy,
    known: HashMap<String, u32>,
}

impl People {
    pub(super) fn new(by: PersonBy) -> Self {
        Self { by, known: HashMap::new() }
    }

    /// Returns the number of the person to whom a session belongs.
    pub(super) fn number(&mut self, file: &str, session: &Session) -> u32 {
        let folder = Path::new(file).parent();
        let folder =
            folder.map_or_else(String::new, |folder| folder.to_string_lossy().into_owned());
        let recorded = session.project.clone().filter(|_| self.by == PersonBy::Repository);
        let next = self.known.len() as u32;
        *self.known.entry(recorded.unwrap_or(folder)).or_insert(next)
    }
}
