//! Files that texts are moved to.

use super::preview::{of_result, with_one_text};
use crate::chat::ChatMessage;
use crate::engine::{NewFile, Storage, short_name};

/// Returns the path of a file; `None` if files cannot be written.
pub(super) fn path(storage: &Storage, name: &str) -> Option<String> {
    match storage {
        Storage::AsSet => Some(format!("/{name}")),
        Storage::Folder(folder) => Some(format!("{folder}/{name}")),
        Storage::Missing => None,
    }
}

/// Returns a result whose text was moved to a file, and the file; `None` if files cannot be written.
pub(super) fn offloaded(storage: &Storage, result: &ChatMessage) -> Option<(ChatMessage, NewFile)> {
    let id = result.call_id.as_deref().unwrap_or_default();
    let name = short_name(id.replace(['.', '/', '\\'], "_"));
    let name = format!("large_tool_results/{name}");
    let text = result.joined_text("\n").into_owned();
    let path = path(storage, &name)?;
    let now = with_one_text(result, of_result(id, &path, &text));
    Some((now, NewFile::text(name, text)))
}
