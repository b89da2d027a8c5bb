//! Tool definitions, converted between the shapes of the APIs.

use super::json::{member, text_at};
use crate::json::{Map, Value, json};

/// A tool that a model may call.
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    description: Option<&'a str>,
    schema: Value,
}

impl<'a> Tool<'a> {
    /// Reads a definition; `None` if it has no name, such as a built-in tool of a server.
    pub(super) fn read(value: &'a Value) -> Option<Self> {
        let function = member(value, "function").unwrap_or(value);
        let schema = ["parameters", "input_schema"].iter().find_map(|key| member(function, key));
        Some(Self {
            name: text_at(function, "name")?,
            description: text_at(function, "description"),
            schema: schema.cloned().unwrap_or_else(any_object),
        })
    }

    /// Creates a tool of which only the name is known.
    pub(super) fn named(name: &'a str) -> Self {
        Self { name, description: None, schema: any_object() }
    }

    /// Writes the definition with the schema under this key.
    pub(super) fn write(self, schema: &str) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("name".to_owned(), json!(self.name));
        if let Some(description) = self.description {
            object.insert("description".to_owned(), json!(description));
        }
        object.insert(schema.to_owned(), self.schema);
        object
    }
}

fn any_object() -> Value {
    json!({"type": "object", "properties": {}})
}
