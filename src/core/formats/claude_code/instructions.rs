//! Instructions and tool definitions, as recorded for requests (`api-request-shape`) or to be sent again
//! (`prompt_snapshot`).

use super::attachment::SNAPSHOT;
use crate::formats::content;
use crate::formats::json;
use crate::json::BorrowedValue;
use crate::session::{Body, Draft, Part, Role, Span};

/// Instructions and tool definitions of a record.
#[derive(Debug, PartialEq)]
pub(super) struct Instructions {
    tools: Vec<Part>,
    texts: Vec<Part>,
}

impl Instructions {
    /// Reads a record.
    pub(super) fn read(record: &[u8]) -> Option<Self> {
        let record = BorrowedValue::parse(std::str::from_utf8(record).ok()?)?;
        let snapshot = record.get("attachment").filter(|it| it.is_str_at(&["type"], SNAPSHOT));
        let found = match snapshot {
            Some(snapshot) => Self::of_snapshot(snapshot),
            None => Self::of_shape(record.get("shape")?),
        };
        (!found.tools.is_empty() || !found.texts.is_empty()).then_some(found)
    }

    fn of_shape(shape: &BorrowedValue<'_>) -> Self {
        let texts = match shape.get("system") {
            Some(BorrowedValue::List(blocks)) => blocks.iter().map(text).collect(),
            Some(block @ BorrowedValue::Text(_)) => vec![text(block)],
            _ => Vec::new(),
        };
        let tools = shape.get("tools").map(BorrowedValue::elements).unwrap_or_default();
        Self { tools: parts(tools.iter().map(tool)), texts: parts(texts.into_iter()) }
    }

    /// The prompt is sent as one text, after the prefix of the command line.
    fn of_snapshot(snapshot: &BorrowedValue<'_>) -> Self {
        let prompt = snapshot.get("systemPrompt").map(BorrowedValue::elements).unwrap_or_default();
        let prompt: Vec<_> = prompt.iter().filter_map(BorrowedValue::as_str).collect();
        let texts =
            [snapshot.str_at(&["cliPrefix"]).unwrap_or_default(), prompt.join("\n\n").into()];
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        let tools = snapshot.get("tools").map(BorrowedValue::elements).unwrap_or_default();
        let tools = tools.iter().filter_map(|tool| tool.get("schema")).map(tool);
        Self { tools: parts(tools), texts: parts(texts.map(|text| Body::Text(text.into()))) }
    }

    /// Returns whether there are tool definitions.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns the messages: the tool definitions, then the instructions.
    pub(super) fn messages(self, record: &Span) -> impl Iterator<Item = Draft> {
        let messages = [self.tools, self.texts].into_iter().filter(|parts| !parts.is_empty());
        let raw = vec![record.clone()];
        messages.map(move |parts| Draft { raw: raw.clone(), ..Draft::new(Role::System, parts) })
    }
}

fn text(block: &BorrowedValue<'_>) -> Body {
    Body::Text(json::borrowed_text_of(block).into())
}

fn tool(definition: &BorrowedValue<'_>) -> Body {
    let name = definition.str_at(&["name"]).or_else(|| definition.str_at(&["type"]));
    Body::ToolDefinition {
        tool: name.unwrap_or_default().into(),
        json: definition.to_json().into(),
    }
}

fn parts(bodies: impl Iterator<Item = Body>) -> Vec<Part> {
    bodies.enumerate().map(|(idx, body)| content::part(idx, body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn reads_the_same_instructions_from_a_shape_and_a_snapshot() {
        let tool = json!({"name": "Read", "description": "Reads a file", "input_schema": {"type": "object"}});
        let shape = json!({"type": "api-request-shape", "shape": {
            "system": [{"type": "text", "text": "You are a pilot."}, {"type": "text", "text": "Be kind.\n\nBe brief."}],
            "tools": [tool]}});
        let snapshot = json!({"type": "attachment", "attachment": {
            "type": "prompt_snapshot", "systemPrompt": ["Be kind.", "Be brief."], "cliPrefix": "You are a pilot.",
            "tools": [{"name": "Read", "description": "Reads a file", "schema": tool}]}});
        let read = |record: &crate::json::Value| Instructions::read(record.to_string().as_bytes());
        let found = read(&shape).unwrap();
        assert_eq!(read(&snapshot).as_ref(), Some(&found));
        let messages: Vec<Draft> = found.messages(&(3..9)).collect();
        let texts: Vec<Vec<&str>> = messages
            .iter()
            .map(|message| message.parts.iter().map(|part| part.body.text()).collect())
            .collect();
        let definition = tool.to_string();
        assert_eq!(texts, [vec![&*definition], vec!["You are a pilot.", "Be kind.\n\nBe brief."]]);
        assert!(messages.iter().all(|message| message.raw.first() == Some(&(3..9))));
        assert_eq!(read(&json!({"type": "api-request-shape", "shape": {}})), None);
    }
}
