//! The storage folder: a session, its messages and their parts, each in a file of its own.

use crate::formats::folder::{FolderFile, json_list, json_object};
use std::collections::BTreeMap;

/// Combines these files into an export, in the order of their ids.
pub(super) fn combined(files: &[FolderFile]) -> Option<Vec<u8>> {
    let is_of = |file: &&FolderFile, start: &str| file.file_name().starts_with(start);
    let session = files.iter().find(|file| is_of(file, "ses_"))?;
    let mut parts: BTreeMap<&str, BTreeMap<&str, &FolderFile>> = BTreeMap::new();
    for part in files.iter().filter(|file| is_of(file, "prt_")) {
        parts.entry(part.folder_name()).or_default().insert(part.file_name(), part);
    }
    let mut messages: Vec<&FolderFile> = files.iter().filter(|f| is_of(f, "msg_")).collect();
    messages.sort_by_key(|file| file.file_name());
    let message = |file: &&FolderFile| {
        let id = file.file_name().trim_end_matches(".json");
        let own_parts = parts.remove(id).into_iter().flat_map(BTreeMap::into_values);
        let parts = json_list(own_parts.map(FolderFile::value));
        json_object([("info", file.value()), ("parts", parts)].into_iter())
    };
    let messages = json_list(messages.iter().map(message));
    let members = [("info", session.value()), ("messages", messages)];
    Some(json_object(members.into_iter()))
}
