//! Typed texts and keys.

use std::fmt;
use std::path::PathBuf;

/// A key or password as typed: never shown, not even in debug output.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Returns the typed text; `None` if empty.
pub(crate) fn typed(text: &Secret) -> Option<&str> {
    Some(text.0.trim()).filter(|text| !text.is_empty())
}

/// Returns the typed path; `None` if empty.
pub(crate) fn typed_path(text: &str) -> Option<PathBuf> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(PathBuf::from)
}
