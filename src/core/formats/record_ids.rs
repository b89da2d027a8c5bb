//! Ids of the records of a file, including those of records that are not messages.

use super::json;
use super::jsonl;
use crate::json::BorrowedValue;
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{FileBytes, Span};
use std::borrow::Cow;
use std::collections::HashSet;

/// Location of the ids that a program expects to be unique in a file.
#[derive(Debug)]
pub struct RecordIds {
    /// Member of a document that lists the records. JSON Lines have a record per line.
    pub(super) list: &'static str,
    /// Path of the id in a record.
    pub(super) path: &'static [&'static str],
    /// Member of a record that lists parts with an `id` of their own.
    pub(super) parts: Option<&'static str>,
}

/// Ids that new records may not have.
pub(super) struct TakenIds(HashSet<String>);

impl TakenIds {
    /// Takes the first free one of numbered ids.
    pub(super) fn free(&mut self, id: impl Fn(u64) -> String) -> String {
        let free = (0..u64::MAX).map(id).find(|id| !self.0.contains(id));
        let free = free.unwrap_or_default();
        self.0.insert(free.clone());
        free
    }
}

impl RecordIds {
    /// Returns the ids of the records of the file that will be written.
    pub(super) fn taken<'a>(&self, records: impl Iterator<Item = &'a [u8]>) -> TakenIds {
        TakenIds(records.flat_map(|record| self.of_record(record)).collect())
    }

    /// Returns the ids of all records of a file, in order.
    pub fn of_file(&self, bytes: &FileBytes) -> Vec<String> {
        let whole = bytes.whole();
        let document = json::document_span(&whole);
        let list = json::member(&whole, &document, self.list).unwrap_or_else(|| document.clone());
        if json::is_one_value(&whole[document])
            && let Some(records) = json::elements(&whole, &list)
        {
            let records = records.into_iter();
            return records.flat_map(|span| self.of_record(&whole[span])).collect();
        }
        let quick = |text: &[u8], _: &Span, _: usize| {
            let record = BorrowedValue::parse(std::str::from_utf8(text).ok()?)?;
            let id = record.str_at(self.path).map(Cow::into_owned);
            self.parts.is_none().then(|| id.into_iter().collect())
        };
        let parsed = |_: &[u8], record: jsonl::Record| self.of_value(&record.value);
        let (progress, mut warnings) = (Progress::default(), Vec::new());
        let ids = jsonl::map_texts(bytes, &progress, 1, &mut warnings, quick, parsed);
        ids.unwrap_or_default().into_iter().flatten().collect()
    }

    /// Returns the ids of a record and of its parts.
    pub fn of_record(&self, record: &[u8]) -> Vec<String> {
        json::parse_lenient(record).map_or_else(|_| Vec::new(), |value| self.of_value(&value))
    }

    fn of_value(&self, record: &Value) -> Vec<String> {
        let parts = self.parts.and_then(|parts| record.get(parts)?.as_array());
        let of_parts = parts.into_iter().flatten();
        let of_parts = of_parts.filter_map(|part| json::str_at(part, &["id"]));
        let own = json::str_at(record, self.path);
        own.into_iter().chain(of_parts).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_record_never_takes_the_id_of_another() {
        let ids = RecordIds { list: "messages", path: &["id"], parts: None };
        let existing: &[u8] = br#"{"id": "new-0"}"#;
        let mut taken = ids.taken([existing].into_iter());
        let id = |n: u64| format!("new-{n}");
        assert_eq!([taken.free(id), taken.free(id)], ["new-1", "new-2"]);
    }

    #[test]
    fn finds_the_ids_of_a_document_and_of_lines() {
        let ids = RecordIds { list: "messages", path: &["info", "id"], parts: Some("parts") };
        let document =
            r#"{"messages": [{"info": {"id": "m"}, "parts": [{"id": "p"}, {}]}, {"info": {}}]}"#;
        let of_file = |ids: &RecordIds, text: &str| ids.of_file(&text.as_bytes().to_vec().into());
        assert_eq!(of_file(&ids, document), ["m", "p"]);
        let lines = RecordIds { list: "", path: &["uuid"], parts: None };
        let text = "{\"uuid\": \"a\"}\n{\"other\": 1}\n{\"uuid\": \"a\"}{\"uuid\": \"b\"}\n";
        assert_eq!(of_file(&lines, text), ["a", "a", "b"]);
    }
}
