//! Texts that a sample stores once and that its messages name by a hash.

use crate::json::{Map, Value};

/// Start of a reference to an attachment.
const REFERENCE: &str = "attachment://";
/// Bytes that references may add to a small sample.
// Chosen: no more than a usual session takes.
const HARMLESS: usize = 64 << 20;
/// Size of the resolved texts, as a multiple of the size of the sample.
// Chosen: an attachment is a prompt or a tool's description, which the pool of messages holds once.
const MOST_TIMES: usize = 4;

/// The attachments of a sample.
pub(super) struct Attachments {
    texts: Map<String, Value>,
    /// Bytes that may still be added.
    left: usize,
    /// The log lacks an attachment that a message refers to.
    pub(super) is_missing: bool,
    /// A reference was not resolved because of the limit.
    pub(super) is_over_limit: bool,
}

impl Attachments {
    /// Creates the attachments of a sample of this size from its member `attachments`.
    pub(super) fn new(texts: Option<Value>, size: usize) -> Self {
        let texts = match texts {
            Some(Value::Object(texts)) => texts,
            _ => Map::new(),
        };
        let left = HARMLESS.saturating_add(size.saturating_mul(MOST_TIMES));
        Self { texts, left, is_missing: false, is_over_limit: false }
    }

    /// Replaces the references within a value by the texts.
    pub(super) fn resolve(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let Some(hash) = text.strip_prefix(REFERENCE) else { return };
                match self.texts.get(hash).and_then(Value::as_str) {
                    Some(full) if full.len() <= self.left => {
                        self.left -= full.len();
                        *text = full.to_owned();
                    }
                    Some(_) => self.is_over_limit = true,
                    None => self.is_missing = true,
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.resolve(item)),
            Value::Object(members) => {
                for (_, member) in members.iter_mut() {
                    self.resolve(member);
                }
            }
            _ => {}
        }
    }
}
