//! A conversation from the clipboard as a source.

use std::fmt;
use std::sync::Arc;

/// A pasted text. Copies share the text, and only copies compare as equal, since it may be large.
#[derive(Clone)]
pub struct PastedText(Arc<String>);

impl PastedText {
    /// Creates a pasted text.
    pub fn new(text: String) -> Self {
        Self(Arc::new(text))
    }

    /// Returns the text as bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl PartialEq for PastedText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for PastedText {}

impl fmt::Debug for PastedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PastedText({} bytes)", self.0.len())
    }
}

/// Display name of a pasted session.
pub const NAME: &str = "Pasted";
