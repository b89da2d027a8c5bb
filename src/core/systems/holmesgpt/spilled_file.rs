//! The files that a spill writes: names and contents.

use super::tool_data::{Status, ToolImage};
use super::tool_result::ToolResult;
use crate::systems::litellm::image::decode;

/// Maximum length of a file name, in bytes: a longer one cannot be written, and the data is dropped.
// The limit of Linux file systems (`NAME_MAX`), on which HolmesGPT runs.
const MAX_NAME_BYTES: usize = 255;
/// Stored image types.
const EXTENSIONS: [(&str, &str); 4] =
    [("image/png", ".png"), ("image/jpeg", ".jpg"), ("image/gif", ".gif"), ("image/webp", ".webp")];

/// A file that a spill writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpilledFile {
    /// Path of the file.
    pub path: String,
    /// Content of the file.
    pub content: SpilledContent,
}

/// Content of a spilled file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpilledContent {
    /// The text of a result.
    Text(String),
    /// An image; empty if the session does not contain its payload.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its part of the session.
        part: Option<u32>,
    },
}

impl SpilledFile {
    /// Returns the size of the file in bytes.
    pub fn n_bytes(&self) -> usize {
        match &self.content {
            SpilledContent::Text(text) => text.len(),
            SpilledContent::Image { bytes, .. } => bytes.len(),
        }
    }
}

/// Returns the file with the text; `None` if its name is too long.
pub(super) fn text_file(folder: &str, result: &ToolResult) -> Option<SpilledFile> {
    let (mut text, is_json) = result.data.text(true);
    let error = result.error.as_deref().filter(|error| !error.is_empty());
    if let Some(error) = error.filter(|_| result.status != Status::Success) {
        text = format!("{error}\n{text}");
    }
    let extension = if is_json { ".json" } else { ".txt" };
    let path = path(folder, result, extension)?;
    Some(SpilledFile { path, content: SpilledContent::Text(text) })
}

/// Returns the files with the images; silently skips other types and broken ones.
pub(super) fn images(folder: &str, result: &ToolResult) -> Vec<SpilledFile> {
    let file = |(idx, image): (usize, &ToolImage)| {
        let (_, extension) = EXTENSIONS.iter().find(|(mime, _)| *mime == &*image.mime)?;
        Some(SpilledFile {
            path: path(folder, result, &format!("_img{idx}{extension}"))?,
            content: SpilledContent::Image {
                bytes: decode(&image.payload)?,
                part: image.block.part,
            },
        })
    };
    result.images.iter().enumerate().filter_map(file).collect()
}

fn path(folder: &str, result: &ToolResult, ending: &str) -> Option<String> {
    let name = format!("{}_{}{ending}", safe(&result.tool_name), safe(&result.call_id));
    (name.len() <= MAX_NAME_BYTES).then(|| format!("{}/{name}", folder.trim_end_matches('/')))
}

/// Keeps letters and digits of any script, `_` and `-`.
fn safe(name: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect()
}
