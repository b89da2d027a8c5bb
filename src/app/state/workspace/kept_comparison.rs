//! The second session, as a workspace keeps it.

use crate::app::state::model::document::{Document, Origin};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The file of the second session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptComparison {
    /// Path, relative to the folder of the first session if the file is in it, with `/` between its parts.
    path: String,
    /// Index of the conversation, from 0.
    conversation: usize,
    /// The curve of B has the length of A.
    pub(crate) is_by_share: bool,
}

impl KeptComparison {
    /// Returns the second session with its conversation; `None` if it has no file.
    pub(crate) fn new(
        first: &Document,
        (second, conversation): (&Origin, usize),
        is_by_share: bool,
    ) -> Option<Self> {
        let Origin::Path(path) = second else {
            return None;
        };
        // One of the two paths may be relative.
        let path = std::path::absolute(path).ok()?;
        let first = first.origin.path();
        let first = first.and_then(|first| std::path::absolute(first).ok());
        let folder = first.as_deref().and_then(Path::parent);
        let path = match folder.and_then(|folder| path.strip_prefix(folder).ok()) {
            Some(inside) => portable(inside)?,
            None => path.to_str()?.to_owned(),
        };
        Some(Self { path, conversation, is_by_share })
    }

    /// Returns whether the file is in the folder of the first session. A workspace of another machine opens no other
    /// files.
    pub(crate) fn is_inside(&self) -> bool {
        let mut parts = Path::new(&self.path).components();
        !self.path.contains('\\') && parts.all(|part| matches!(part, Component::Normal(_)))
    }

    /// Returns the path and the index of the conversation.
    pub(crate) fn place(&self, first: &Document) -> (PathBuf, usize) {
        let folder = first.origin.folder().unwrap_or(Path::new(""));
        (folder.join(&self.path), self.conversation)
    }
}

/// Returns a relative path with `/` between its parts.
fn portable(path: &Path) -> Option<String> {
    let parts = path.iter().map(|part| part.to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_folder_of_the_session_are_inside() {
        let is_inside = |path: &str| {
            let kept =
                KeptComparison { path: path.to_owned(), conversation: 0, is_by_share: false };
            kept.is_inside()
        };
        assert!(["b.jsonl", "runs/b.jsonl"].into_iter().all(is_inside));
        let outside = ["/etc/b", "../b.jsonl", "runs/../../b", "\\\\host\\b", "C:\\b"];
        assert!(!outside.into_iter().any(is_inside));
    }
}
