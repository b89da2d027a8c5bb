//! The stage `spill`: one tool result against its cap.

use super::super::{Answer, Case, object};
use super::small::uncounted_json;
use super::{Version, is, llm, storage};
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::holmesgpt::{
    SpilledContent, SpilledFile, Status, ToolData, ToolImage, ToolResult, refuse_oversized_result,
    spill_oversized_result,
};

/// Maximum characters of a text that a case repeats.
const MAX_REPEATED_CHARS: usize = 4000;

pub(super) fn spill(case: &Case) -> Answer {
    let llm = llm(case)?;
    let mut result = result(&case.input);
    let is_legacy = is(case, Version::Legacy);
    let message = |result: &ToolResult| {
        if is_legacy { result.to_legacy_message() } else { result.to_message() }
    };
    let before = llm.count_message(&mut message(&result));
    let (returned, files) = if is_legacy {
        refuse_oversized_result(&llm, &mut result);
        (Value::Null, Vec::new())
    } else {
        let spilling = spill_oversized_result(&llm, &mut result, storage(case));
        (json!(spilling.tokens), spilling.files)
    };
    let mut now = message(&result);
    let data = result.data.to_json();
    let is_long = data.to_string().chars().count() > MAX_REPEATED_CHARS;
    let after = llm.count_message(&mut now);
    Ok(object([
        ("returned_token_count", returned),
        ("message", uncounted_json(&[now])[0].clone()),
        ("status", json!(result.status.name())),
        ("data", if is_long { json!("see message.content") } else { data }),
        ("error", json!(result.error)),
        ("files", files.iter().map(file).collect::<Map<_, _>>().into()),
        ("tokens_before", json!(before)),
        ("tokens_after", json!(after)),
    ]))
}

fn file(file: &SpilledFile) -> (String, Value) {
    let content = match &file.content {
        SpilledContent::Text(text) if text.chars().count() <= MAX_REPEATED_CHARS => json!(text),
        _ => json!({"bytes": file.n_bytes()}),
    };
    (file.path.clone(), content)
}

fn result(input: &Value) -> ToolResult {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let image = |image: &Value| {
        let mime = image["mimeType"].as_str().unwrap_or("image/png");
        ToolImage::new(mime, image["data"].as_str().unwrap_or_default())
    };
    ToolResult {
        tool_name: text("tool_name").into(),
        call_id: text("tool_call_id").into(),
        status: Status::named(text("status")),
        error: input["error"].as_str().map(str::to_owned),
        data: ToolData::from_json(&input["data"]),
        part: None,
        images: input["images"].as_array().into_iter().flatten().map(image).collect(),
        params: input["params"].clone(),
        url: input["url"].as_str().map(Into::into),
    }
}
