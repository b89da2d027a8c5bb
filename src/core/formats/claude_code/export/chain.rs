//! Writes records with a valid chain of parents, although some records between them are removed.
//!
//! A written record takes the id that the next kept record names as its parent. In a gap without a written record, an
//! empty `system` record, which is not sent to the model, takes it. Kept records thus keep their bytes. A parent id is
//! only replaced if the path to the record's parent is not that of the session any more, because the order changed, the
//! parent follows, or a written record precedes it. No new record takes the id of a kept record.

use super::Kept;
use crate::formats::json;
use crate::json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The file written so far.
#[derive(Default)]
pub(super) struct Chain<'a> {
    pub out: Vec<u8>,
    /// Ids of all kept records, also of those that are not written yet.
    kept: HashSet<&'a str>,
    /// Ids of the written records, with their number.
    written: HashMap<String, usize>,
    /// Id of the last record.
    last: Option<String>,
    /// Number of the last record of the conversation whose parent is not that of the session. Records that precede it
    /// are only reached through it.
    joint: usize,
    /// End of the kept records so far in the session.
    end: usize,
}

impl<'a> Chain<'a> {
    /// Creates an empty file that will contain records with these ids.
    pub(super) fn new(kept: impl Iterator<Item = &'a str>) -> Self {
        Self { kept: kept.collect(), ..Self::default() }
    }

    /// Writes a record of the session.
    pub(super) fn kept(&mut self, record: &Kept<'_>) {
        if let Some(missing) = self.missing(record) {
            let filler =
                json!({"type": "system", "subtype": "removed", "content": "", "isMeta": true});
            self.write_new(missing, Some(&record.copied()), &filler);
        } else if self.must_relink(record) {
            self.joint = self.written.len();
            self.write_with_last_parent(&record.text);
            self.after(record);
            return;
        }
        if record.start < self.end {
            self.joint = self.written.len();
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
        self.joint = self.written.len();
        self.write_new(id, copied, own);
    }

    fn after(&mut self, record: &Kept<'_>) {
        self.out.push(b'\n');
        self.number(record.uuid.clone());
        self.end = self.end.max(record.start + 1);
    }

    /// Numbers a written record.
    fn number(&mut self, id: Option<String>) {
        if let Some(id) = id {
            self.written.insert(id.clone(), self.written.len());
            self.last = Some(id);
        }
    }

    /// Returns whether the record's parent is not the last record, and the path to it is not that of the session.
    fn must_relink(&self, record: &Kept<'_>) -> bool {
        let Some(parent) = &record.parent else {
            // A second root would begin another conversation.
            return record.uuid.is_some() && self.last.is_some();
        };
        if Some(parent) == self.last.as_ref() {
            return false;
        }
        let number = self.written.get(parent);
        record.start < self.end || number.is_none_or(|number| *number < self.joint)
    }

    /// Returns the record's parent if it is neither written nor kept.
    fn missing(&self, record: &Kept<'_>) -> Option<String> {
        record.parent.clone().filter(|parent| !self.is_taken(parent))
    }

    /// Returns whether a record has this id.
    fn is_taken(&self, id: &str) -> bool {
        self.written.contains_key(id) || self.kept.contains(id)
    }

    /// Writes a record with the last written one as its parent.
    fn write_with_last_parent(&mut self, text: &[u8]) {
        let last = self.last.clone().map_or(Value::Null, Value::String).to_string();
        let span = json::member(text, &(0..text.len()), "parentUuid").unwrap_or(0..0);
        let new = if span.is_empty() { "" } else { &last };
        self.out.extend_from_slice(&text[..span.start]);
        self.out.extend_from_slice(new.as_bytes());
        self.out.extend_from_slice(&text[span.end..]);
    }

    fn write_new(&mut self, id: String, copied: Option<&Map<String, Value>>, own: &Value) {
        let mut record = Map::new();
        record.insert("parentUuid".into(), self.last.clone().map_or(Value::Null, Value::String));
        record.insert("isSidechain".into(), Value::Bool(false));
        for fields in copied.into_iter().chain(own.as_object()) {
            record.extend(fields.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        record.insert("uuid".into(), Value::String(id.clone()));
        self.out.extend_from_slice(Value::Object(record).to_string().as_bytes());
        self.out.push(b'\n');
        self.number(Some(id));
    }

    /// Returns a free id derived from content and position, so that a conversation always gives the same file.
    fn own_id(&self, own: &Value) -> String {
        (self.written.len()..usize::MAX)
            .map(|number| id(&format!("{number}\n{own}")))
            .find(|id| !self.is_taken(id))
            .unwrap_or_default()
    }
}

/// Returns an id in the notation of a UUID that depends only on the seed.
fn id(seed: &str) -> String {
    let (high, low) =
        (fnv(seed.as_bytes(), 0xcbf2_9ce4_8422_2325), fnv(seed.as_bytes(), 0x9e37_79b9_7f4a_7c15));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>) with a custom initial value.
fn fnv(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
