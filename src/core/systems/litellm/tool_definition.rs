//! Tool definitions in their counted form: like declarations in TypeScript.

use crate::json::{Map, Value};
use crate::languages::python::python_str;

/// Returns the text whose tokens the definitions count.
pub(super) fn format_function_definitions(tools: &[Value]) -> String {
    let mut lines = vec!["namespace functions {".to_owned(), String::new()];
    for tool in tools.iter().filter_map(Value::as_object) {
        function(tool, &mut lines);
    }
    lines.push("} // namespace functions".to_owned());
    lines.join("\n")
}

/// Writes a definition in OpenAI's or Anthropic's format; skips one without a name.
fn function(tool: &Map<String, Value>, lines: &mut Vec<String>) {
    let function = tool.get("function").and_then(Value::as_object);
    let described = function.unwrap_or(tool);
    let schema =
        tool.get("input_schema").filter(|schema| has_properties(schema) && function.is_none());
    let parameters = schema.or_else(|| described.get("parameters"));
    let Some(name) = filled(described.get("name")) else {
        return;
    };
    if let Some(description) = filled(described.get("description")) {
        lines.push(format!("// {description}"));
    }
    let parameters = parameters.filter(|p| has_properties(p));
    if let Some(parameters) = parameters {
        lines.push(format!("type {name} = (_: {{"));
        lines.push(object(parameters, 0));
        lines.push("}) => any;".to_owned());
    } else {
        lines.push(format!("type {name} = () => any;"));
    }
    lines.push(String::new());
}

fn has_properties(schema: &Value) -> bool {
    schema["properties"].as_object().is_some_and(|p| !p.is_empty())
}

fn object(schema: &Value, indent: usize) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        return String::new();
    };
    let is_required = |key: &str| match &schema["required"] {
        Value::Array(keys) => keys.iter().any(|k| k == key),
        _ => false,
    };
    let mut lines = Vec::new();
    for (key, property) in properties {
        if let Some(description) = filled(property.get("description")) {
            lines.push(format!("// {description}"));
        }
        let question = if is_required(key) { "" } else { "?" };
        lines.push(format!("{key}{question}: {},", kind(property, indent)));
    }
    let margin = " ".repeat(indent);
    let lines: Vec<_> = lines.iter().map(|line| format!("{margin}{line}")).collect();
    lines.join("\n")
}

fn kind(property: &Value, indent: usize) -> String {
    let choices = || {
        let items = property["enum"].as_array()?;
        let items: Vec<_> = items.iter().map(|i| format!("\"{}\"", python_str(i))).collect();
        Some(items.join(" | "))
    };
    match property["type"].as_str() {
        Some("string") => choices().unwrap_or_else(|| "string".to_owned()),
        Some("integer" | "number") => choices().unwrap_or_else(|| "number".to_owned()),
        Some("array") => format!("{}[]", kind(&property["items"], indent)),
        Some("object") => format!("{{\n{}\n}}", object(property, indent + 2)),
        Some("boolean") => "boolean".to_owned(),
        Some("null") => "null".to_owned(),
        _ => "any".to_owned(),
    }
}

/// Returns a value that is true in Python, as text.
fn filled(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.is_empty() => None,
        other => Some(python_str(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn nested_objects_are_indented_and_either_shape_is_read() {
        let tools = [
            json!({"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {
            "o": {"type": "object", "properties": {"a": {"type": ["string", "null"], "description": "x"}}},
            "b": {"type": "boolean"}}, "required": ["b"]}}),
            json!({"description": "nameless"}),
        ];
        assert_eq!(
            format_function_definitions(&tools),
            "namespace functions {\n\n// d\ntype f = (_: {\no?: {\n  // x\n  a?: any,\n},\nb: boolean,\n}) => any;\n\n\
             } // namespace functions"
        );
    }
}
