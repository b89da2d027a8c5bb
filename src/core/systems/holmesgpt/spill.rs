//! Moves a result over the cap to a file and leaves a pointer with a preview (`spill_oversized_tool_result`).
//!
//! Writes nothing here but returns the files. The pointer is not counted again, so it may have more tokens than the
//! result: its preview allows two characters a token, and CJK has more tokens.

use super::count::Llm;
use super::spilled_file::{SpilledContent, SpilledFile, images, text_file};
use super::tool_data::{Status, ToolData};
use super::tool_result::ToolResult;
use crate::languages::python::first_chars;

/// Maximum number of characters of a failed call's preview.
// As in holmesgpt 0.45.0, `ERROR_INLINE_PREVIEW_CHARS` (`core/tools_utils/tool_context_window_limiter.py`).
const ERROR_PREVIEW: usize = 500;

/// Destination of results.
#[derive(Clone, Copy, Debug)]
pub struct Storage<'a> {
    /// Folder of this conversation; `None` without the `bash` tools that could read it.
    pub folder: Option<&'a str>,
    /// `HOLMES_TOOL_RESULT_STORAGE_ENABLED`.
    pub is_enabled: bool,
    /// Up to 0.38 only results of successful calls are checked.
    pub spares_failures: bool,
}

/// Result of the check.
#[derive(Clone, Debug, PartialEq)]
pub struct Spilling {
    /// Tokens of the message.
    pub tokens: i64,
    /// Its cap in tokens.
    pub cap: i64,
    /// Whether the result was changed.
    pub is_changed: bool,
    /// Files to write.
    pub files: Vec<SpilledFile>,
}

/// Spills a result whose message has more tokens than the cap.
pub fn spill_oversized_result(
    llm: &Llm,
    result: &mut ToolResult,
    storage: Storage<'_>,
) -> Spilling {
    let mut spilling = Spilling {
        tokens: llm.count_message(&mut result.to_message()),
        cap: llm.limits.tool_cap,
        is_changed: false,
        files: Vec::new(),
    };
    let spared = storage.spares_failures && result.status != Status::Success;
    if spared || spilling.tokens <= spilling.cap {
        return spilling;
    }
    spilling.is_changed = true;
    let (tokens, cap) = (spilling.tokens, spilling.cap);
    if &*result.tool_name == "read_image_file" {
        // A pointer would only make the model read the same image again.
        drop_data(
            result,
            format!(
                "Image too large to display inline ({tokens} tokens, max {cap}). Try a smaller image or use a different \
             approach."
            ),
        );
        return spilling;
    }
    let size = format!("The tool call result is too large to return: {tokens}/{cap} tokens.\n");
    let folder = storage.folder.filter(|folder| !folder.is_empty() && storage.is_enabled);
    match folder.and_then(|folder| Some((folder, text_file(folder, result)?))) {
        Some((folder, file)) => {
            let images = images(folder, result);
            point(result, &size, &file, &images, cap);
            spilling.files = [file].into_iter().chain(images).collect();
        }
        None => drop_data(
            result,
            format!(
                "{size}\nTry to repeat the query but proactively narrow down the result so that the tool answer fits \
             within the allowed number of tokens."
            ),
        ),
    }
    spilling
}

fn drop_data(result: &mut ToolResult, error: String) {
    result.status = Status::Error;
    result.data = ToolData::None;
    result.images.clear();
    result.error = Some(error);
}

/// Replaces the data with the pointer. A failed call remains failed, without an error of its own.
fn point(
    result: &mut ToolResult,
    size: &str,
    file: &SpilledFile,
    images: &[SpilledFile],
    cap: i64,
) {
    let path = &file.path;
    let mut text = format!(
        "{size}\nSaved to: {path}\nUse `cat {path}` to read it (pre-approved, no user approval needed). You can pipe \
         the output into any command to filter, for example: `cat {path} | jq '.field'`, `cat {path} | grep -oP \
         'pattern'`, etc.\n"
    );
    if !images.is_empty() {
        let paths: String =
            images.iter().map(|image| ["  - ", &*image.path, "\n"].concat()).collect();
        let n_images = images.len();
        text = format!("{text}\nImages saved to disk ({n_images} file(s)):\n{paths}");
        text += "Use read_image_file to view any of these images.\n";
    }
    text += "\nPreview:\n";
    let room = cap.saturating_mul(2) - text.chars().count().cast_signed() as i64;
    let mut n_chars = room.max(0) as usize;
    if result.status != Status::Success {
        n_chars = n_chars.min(ERROR_PREVIEW);
        result.error = None;
    }
    if let SpilledContent::Text(saved) = &file.content {
        text += first_chars(saved, n_chars);
    }
    result.data = ToolData::Text(text.into());
    result.images.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Value, json};
    use crate::systems::holmesgpt::{Limits, Overrides, Reserve};
    use crate::systems::litellm::Tokenizer;

    fn spilled(tool: &str, data: &Value, folder: Option<&str>) -> (ToolResult, Spilling) {
        let overrides = Overrides { max_context_size: 4_000, ..Overrides::default() };
        let limits = Limits::of("gpt-4o", &overrides, Reserve::Larger);
        let llm = Llm::new("gpt-4o", Tokenizer::CHARS_4, limits);
        let mut result = ToolResult {
            tool_name: tool.into(),
            call_id: "a/b:1".into(),
            status: Status::Success,
            error: None,
            data: ToolData::from_json(data),
            part: None,
            images: Vec::new(),
            params: Value::Null,
            url: None,
        };
        let storage = Storage { folder, is_enabled: true, spares_failures: false };
        let spilling = spill_oversized_result(&llm, &mut result, storage);
        (result, spilling)
    }

    #[test]
    fn json_is_written_for_people_under_a_safe_name() {
        let data = json!({"k": ["v".repeat(4_000)]});
        let (result, spilling) = spilled("get \u{e9}", &data, Some("/tmp/x/"));
        assert_eq!(spilling.files[0].path, "/tmp/x/get_\u{e9}_a_b_1.json");
        let ToolData::Text(text) = result.data else {
            panic!("a pointer is text");
        };
        assert!(text.contains("Preview:\n{\n  \"k\": [\n    \"vvv"), "{text}");
    }

    #[test]
    fn a_picture_that_was_read_is_never_spilled() {
        let (result, spilling) =
            spilled("read_image_file", &json!("x".repeat(4_000)), Some("/tmp"));
        assert_eq!(result.status, Status::Error);
        assert!(spilling.files.is_empty());
        assert_eq!(
            result.error.as_deref(),
            Some(
                "Image too large to display inline (1033 tokens, max 600). Try a smaller image or use a different approach."
            )
        );
    }

    #[test]
    fn a_name_too_long_for_a_file_loses_the_data() {
        let (result, spilling) = spilled(&"n".repeat(250), &json!("x".repeat(4_000)), Some("/tmp"));
        assert!(spilling.files.is_empty());
        assert_eq!(result.data, ToolData::None);
    }
}
