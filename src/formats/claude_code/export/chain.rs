//! The chain of parents: records find one another although some between them are gone.
//!
//! A record of ours takes the id that the next kept record names as its parent; where we write nothing in a gap, an
//! empty `system` record, which no model sees, takes it. So kept records keep their bytes. Only where a record
//! names a parent that stands too far up (the order changed, or something of ours goes between the two) is the
//! parent's id in it replaced, and nothing else.

use super::Kept;
use crate::formats::json;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The file as far as it is written.
#[derive(Default)]
pub(super) struct Chain {
    pub out: Vec<u8>,
    /// Ids of the records that are written.
    written: HashSet<String>,
    /// Id of the last record.
    last: Option<String>,
    /// An entry of the conversation is written.
    has_entries: bool,
    /// Index of the message the last record belongs to; none behind a record of ours.
    last_message: Option<usize>,
    /// Largest index of a message so far.
    max_message: usize,
}

impl Chain {
    /// Writes a record of the session.
    pub(super) fn kept(&mut self, record: &Kept<'_>) {
        if let Some(missing) = self.missing(record) {
            let stand_in =
                json!({"type": "system", "subtype": "removed", "content": "", "isMeta": true});
            self.write_ours(missing, Some(&record.copied()), &stand_in);
        } else if !self.continues(record) && record.parent.is_some() && record.parent != self.last {
            self.write_adopted(&record.text);
            self.after(record);
            return;
        }
        self.out.extend_from_slice(&record.text);
        self.after(record);
    }

    /// Writes a record of ours that is no entry of the conversation.
    pub(super) fn boundary(&mut self, copied: Option<&Map<String, Value>>, own: &Value) {
        self.write_ours(self.own_id(own), copied, own);
    }

    /// Writes a record of ours; `next` is the kept one that follows it.
    pub(super) fn ours(
        &mut self,
        next: Option<&Kept<'_>>,
        copied: Option<&Map<String, Value>>,
        own: &Value,
    ) {
        let wanted = next.and_then(|record| self.missing(record));
        let id = wanted.unwrap_or_else(|| self.own_id(own));
        self.write_ours(id, copied, own);
        self.has_entries = true;
        self.last_message = None;
    }

    fn after(&mut self, record: &Kept<'_>) {
        self.out.push(b'\n');
        self.written.extend(record.uuid.clone());
        self.last = record.uuid.clone().or(self.last.take());
        self.has_entries = true;
        self.last_message = Some(record.message);
        self.max_message = self.max_message.max(record.message);
    }

    /// The record follows the one before it as it did in the session, so that its parent is the right one.
    fn continues(&self, record: &Kept<'_>) -> bool {
        match self.last_message {
            Some(last) => {
                record.message == last || last == self.max_message && record.message > last
            }
            None => !self.has_entries,
        }
    }

    /// The record's parent, if no record written so far is it.
    fn missing(&self, record: &Kept<'_>) -> Option<String> {
        let parent = record.parent.as_ref();
        parent
            .filter(|parent| !self.written.contains(*parent))
            .cloned()
    }

    /// Writes a record with the last one as its parent.
    fn write_adopted(&mut self, text: &[u8]) {
        let last = self
            .last
            .clone()
            .map_or(Value::Null, Value::String)
            .to_string();
        let span = json::member(text, &(0..text.len()), "parentUuid").unwrap_or(0..0);
        let new = if span.is_empty() { "" } else { &last };
        self.out.extend_from_slice(&text[..span.start]);
        self.out.extend_from_slice(new.as_bytes());
        self.out.extend_from_slice(&text[span.end..]);
    }

    fn write_ours(&mut self, id: String, copied: Option<&Map<String, Value>>, own: &Value) {
        let mut record = Map::new();
        record.insert(
            "parentUuid".into(),
            self.last.clone().map_or(Value::Null, Value::String),
        );
        record.insert("isSidechain".into(), Value::Bool(false));
        for fields in copied.into_iter().chain(own.as_object()) {
            record.extend(
                fields
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        record.insert("uuid".into(), Value::String(id.clone()));
        self.out
            .extend_from_slice(Value::Object(record).to_string().as_bytes());
        self.out.push(b'\n');
        self.written.insert(id.clone());
        self.last = Some(id);
    }

    /// An id made of what is said and of its place: the same conversation always gives the same file.
    fn own_id(&self, own: &Value) -> String {
        let seed = format!("{}\n{own}", self.written.len());
        let (high, low) = (
            fnv(seed.as_bytes(), 0xcbf2_9ce4_8422_2325),
            fnv(seed.as_bytes(), 0x9e37_79b9_7f4a_7c15),
        );
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }
}

/// FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>, from a start of our choice.
fn fnv(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
