//! Parts and drafts that several dialects share.

use crate::formats::json;
use crate::json::Value;
use crate::session::{Body, Draft, EmptyContent, Part, Role, Usage};

/// Creates a part of a message with a single record.
pub(crate) fn part(block: usize, body: Body) -> Part {
    Part { body, record: 0, block: u32::try_from(block).unwrap_or(u32::MAX) }
}

/// Returns the form of a message's content if it is empty.
pub(crate) fn empty_content(message: &Value) -> Option<EmptyContent> {
    match message.get("content") {
        None => Some(EmptyContent::Missing),
        Some(Value::Null) => Some(EmptyContent::Null),
        Some(Value::String(text)) if text.is_empty() => Some(EmptyContent::Text),
        Some(Value::Array(blocks)) if blocks.is_empty() => Some(EmptyContent::List),
        Some(_) => None,
    }
}

/// Returns whether a part is a tool result or media in one.
pub(crate) fn is_of_result(part: &Part) -> bool {
    matches!(part.body, Body::ToolResult { .. } | Body::Media { within: Some(_), .. })
}

/// Assigns the provider's count of reasoning tokens to the first thought of an answer. The count includes the others,
/// which get zero.
pub(crate) fn assign_reasoning(parts: &mut [Part], usage: Option<&Usage>) {
    let tokens = usage.and_then(|usage| usage.reasoning);
    let tokens = tokens.and_then(|tokens| u32::try_from(tokens.0).ok());
    let Some(mut left) = tokens.filter(|tokens| *tokens > 0) else {
        return;
    };
    for part in parts {
        if let Body::Thinking { reported, .. } = &mut part.body {
            *reported = Some(std::mem::take(&mut left));
        }
    }
}

/// Creates the body for a block of an unknown type.
pub(crate) fn opaque(block: &Value) -> Body {
    let name = json::str_at(block, &["type"]).unwrap_or("unknown");
    Body::Opaque { name: name.into(), json: block.to_string().into() }
}

/// Reads tool definitions from members of a body into one message.
pub(crate) fn tool_definitions(body: &Value, keys: &[&str]) -> Option<Draft> {
    let listed = keys.iter().filter_map(|key| body.get(key)?.as_array()).flatten();
    let definition = |(block, tool): (usize, &Value)| {
        let name =
            json::str_at(tool, &["function", "name"]).or_else(|| json::str_at(tool, &["name"]));
        let name = name
            .or_else(|| json::str_at(tool, &["custom", "name"]))
            .or_else(|| json::str_at(tool, &["type"]));
        let body = Body::ToolDefinition {
            tool: name.unwrap_or_default().into(),
            json: tool.to_string().into(),
        };
        part(block, body)
    };
    let parts: Vec<Part> = listed.enumerate().map(definition).collect();
    (!parts.is_empty()).then(|| Draft::new(Role::System, parts))
}

/// Returns the tool definitions of a document: a list, or an object with a list of them (`tools`, also that of an MCP
/// server's `tools/list`, `functions`, `toolConfig`), in the form of any provider. Empty if there are none.
pub fn definitions_in(document: &Value) -> Vec<(String, String)> {
    const KEYS: [&str; 5] =
        ["tools", "functions", "functionDeclarations", "function_declarations", "toolSpec"];
    // Deeper lists belong to the schemas of tools.
    const MAX_DEPTH: usize = 4;
    fn collect(value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Value::Array(items) = value {
            for item in items {
                collect(item, depth + 1, found);
            }
            return;
        }
        let name = [&["name"][..], &["function", "name"], &["toolSpec", "name"]]
            .into_iter()
            .find_map(|path| json::str_at(value, path));
        if let Some(name) = name {
            found.push((name.to_owned(), value.to_string()));
            return;
        }
        let nested = ["result", "toolConfig", "body", "request"];
        for list in KEYS.iter().chain(&nested).filter_map(|key| value.get(*key)) {
            collect(list, depth + 1, found);
        }
    }
    let mut found = Vec::new();
    collect(document, 0, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use crate::units::Tokens;

    #[test]
    fn definitions_are_found_in_the_forms_of_all_providers() {
        let names = |document: Value| -> Vec<String> {
            definitions_in(&document).into_iter().map(|(name, _)| name).collect()
        };
        let schema = json!({"type": "object", "properties": {"tools": {"type": "array"}}});
        assert_eq!(names(json!([{"name": "a", "input_schema": schema}])), ["a"]);
        assert_eq!(
            names(json!({"tools": [{"type": "function", "function": {"name": "b"}}]})),
            ["b"]
        );
        assert_eq!(names(json!({"result": {"tools": [{"name": "c", "inputSchema": {}}]}})), ["c"]);
        assert_eq!(
            names(json!({"tools": [{"functionDeclarations": [{"name": "d"}, {"name": "e"}]}]})),
            ["d", "e"]
        );
        assert_eq!(names(json!({"toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}})), ["f"]);
        assert!(names(json!({"messages": []})).is_empty());
    }

    #[test]
    fn reasoning_tokens_of_an_answer_count_once() {
        let thought = || {
            let text = "hm".into();
            let body = Body::Thinking { text, sealed_bytes: 0, reported: None };
            part(0, body)
        };
        let assigned = |reasoning| {
            let mut parts = [thought(), part(1, Body::Text("a".into())), thought()];
            let usage = Usage { reasoning, ..Usage::default() };
            assign_reasoning(&mut parts, Some(&usage));
            parts.map(|part| match part.body {
                Body::Thinking { reported, .. } => reported,
                _ => None,
            })
        };
        assert_eq!(assigned(Some(Tokens(9))), [Some(9), None, Some(0)]);
        assert_eq!(assigned(Some(Tokens(0))), [None; 3]);
        assert_eq!(assigned(None), [None; 3]);
    }
}
