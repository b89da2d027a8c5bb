//! Content blocks of messages and tool results.

use crate::formats::content;
use crate::formats::json::str_at;
use crate::json::Value;
use crate::session::Body;

/// Returns the body of a content block. `within` is the call whose result contains it.
pub(super) fn block_body(block: &Value, within: Option<&str>) -> Body {
    let url =
        |key| str_at(block, &[key]).or_else(|| str_at(block, &[key, "url"])).unwrap_or_default();
    match str_at(block, &["type"]).unwrap_or("text") {
        "input_image" => content::from_url("image/*", url("image_url"), within),
        "input_audio" => content::from_url("audio/*", url("audio_url"), within),
        "input_file" => content::from_url("application/*", url("file_data"), within),
        "encrypted_content" => encrypted(block),
        kind => str_at(block, &["text"])
            .or_else(|| str_at(block, &["refusal"]))
            .or_else(|| block.as_str())
            .map_or_else(|| opaque(kind, block), |text| Body::Text(text.into())),
    }
}

/// Returns a content of an unknown type.
pub(super) fn opaque(name: &str, value: &Value) -> Body {
    Body::Opaque { name: name.into(), json: value.to_string().into() }
}

/// Returns encrypted content, whose token count the file does not record.
pub(super) fn encrypted(value: &Value) -> Body {
    Body::Thinking { text: "".into(), sealed_bytes: sealed_bytes(value), reported: None }
}

/// Returns the size of an item's encrypted content.
pub(super) fn sealed_bytes(value: &Value) -> u32 {
    let len = str_at(value, &["encrypted_content"]).map_or(0, str::len);
    u32::try_from(len).unwrap_or(u32::MAX)
}
