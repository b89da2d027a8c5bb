//! Writes records with a valid chain of parents, although some records between them are removed.
//!
//! A written record takes the id that the next kept record names as its parent. In a gap without a written record, an
//! empty `system` record, which is not sent to the model, takes it. Kept records thus keep their bytes. A parent id is
//! only replaced if the record's parent is not the directly preceding record any more, because the order changed or a
//! written record precedes it.

use super::Kept;
use crate::formats::json;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The file written so far.
#[derive(Default)]
pub(super) struct Chain {
    pub out: Vec<u8>,
    /// Ids of the written records.
    written: HashSet<String>,
    /// Id of the last record.
    last: Option<String>,
    /// Whether a record of the conversation is written.
    has_entries: bool,
    /// Index of the message of the last record, or `None` after a new record.
    last_message: Option<usize>,
    /// Largest message index so far.
    max_message: usize,
}

impl Chain {
    /// Writes a record of the session.
    pub(super) fn kept(&mut self, record: &Kept<'_>) {
        if let Some(missing) = self.missing(record) {
            let filler =
                json!({"type": "system", "subtype": "removed", "content": "", "isMeta": true});
            self.write_new(missing, Some(&record.copied()), &filler);
        } else if !self.continues(record) && record.parent.is_some() && record.parent != self.last {
            self.write_with_last_parent(&record.text);
            self.after(record);
            return;
        }
        self.out.extend_from_slice(&record.text);
        self.after(record);
    }

    /// Writes a new record that is not part of the conversation.
    pub(super) fn boundary(&mut self, copied: Option<&Map<String, Value>>, own: &Value) {
        self.write_new(self.own_id(own), copied, own);
    }

    /// Writes a new record. `next` is the kept record that follows it.
    pub(super) fn new_record(
        &mut self,
        next: Option<&Kept<'_>>,
        copied: Option<&Map<String, Value>>,
        own: &Value,
    ) {
        let wanted = next.and_then(|record| self.missing(record));
        let id = wanted.unwrap_or_else(|| self.own_id(own));
        self.write_new(id, copied, own);
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

    /// Whether the record follows the same record as in the session, so that its parent is valid.
    fn continues(&self, record: &Kept<'_>) -> bool {
        match self.last_message {
            Some(last) => {
                record.message == last || last == self.max_message && record.message > last
            }
            None => !self.has_entries,
        }
    }

    /// Returns the record's parent if it is not written yet.
    fn missing(&self, record: &Kept<'_>) -> Option<String> {
        let parent = record.parent.as_ref();
        parent
            .filter(|parent| !self.written.contains(*parent))
            .cloned()
    }

    /// Writes a record with the last written one as its parent.
    fn write_with_last_parent(&mut self, text: &[u8]) {
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

    fn write_new(&mut self, id: String, copied: Option<&Map<String, Value>>, own: &Value) {
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

    /// Returns an id derived from content and position, so that a conversation always gives the same file.
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

/// FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>) with a custom initial value.
fn fnv(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
