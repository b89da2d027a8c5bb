//! A tool of the server: its parameters, with errors for a model, and its answer, within bounds.

use crate::analysis::nearest;
use crate::cli::args::GlobalOptions;
use crate::cli::output::json_line;
use crate::exec::mcp::JsonObject;
use crate::progress::Progress;
use crate::safe_text::head;
use anyhow::{Context as _, bail};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Number of rows of a list if a call does not choose it.
const DEFAULT_ROWS: usize = 10;
/// Maximum number of rows of a list. Chosen: with a line for each, an answer stays below 10,000 tokens, above which
/// Claude Code warns.
const MAX_ROWS: usize = 100;
/// Maximum bytes of a text in a list. The tool `message` returns whole texts.
const MAX_LISTED_TEXT: usize = 400;
/// Maximum bytes of another text, such as a title or a verdict.
const MAX_TEXT: usize = 2_000;
/// Objects that list names: they are limited like lists.
const NAME_LISTS: [&str; 2] = ["tokens.by_tool", "tokens.by_kind"];

/// A tool of the server.
pub(super) struct SessionTool {
    /// Name of the tool.
    pub(super) name: &'static str,
    /// Name for people.
    pub(super) title: &'static str,
    /// Purpose and result, for the model.
    pub(super) description: &'static str,
    /// Returns the JSON schema of the parameters.
    pub(super) parameters: fn() -> JsonObject,
    /// Answers a call.
    pub(super) answer: fn(&JsonObject, &CallContext<'_>) -> anyhow::Result<Answer>,
}

/// Options and circumstances of a call.
pub(super) struct CallContext<'a> {
    /// The options of the server.
    pub(super) shared: &'a GlobalOptions,
    /// Name of the program that calls the tool, if it gave one.
    pub(super) client: Option<&'a str>,
    /// Cancellation of the call.
    pub(super) progress: &'a Progress,
}

/// Parses the arguments of a call.
pub(super) fn parameters<P: DeserializeOwned + JsonSchema>(
    arguments: &JsonObject,
) -> anyhow::Result<P> {
    let schema = schema::<P>();
    let known = schema.get("properties").and_then(Value::as_object);
    let known: Vec<String> = known.into_iter().flat_map(|known| known.keys().cloned()).collect();
    if let Some(name) = arguments.keys().find(|name| !known.contains(name)) {
        let hint = match nearest(name, &known) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the parameters are {}", known.join(", ")),
        };
        bail!("no parameter is named {name:?}; {hint}");
    }
    let parsed = serde_json::from_value(Value::Object(arguments.clone()));
    parsed.context("the arguments do not fit the tool's schema")
}

/// Returns the JSON schema of parameters, in the subset that all providers of models accept: without references, `null`,
/// and formats of numbers.
pub(super) fn schema<P: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<P>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    for name in ["$schema", "title", "description"] {
        schema.shift_remove(name);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flatten().filter_map(|(_, p)| p.as_object_mut()) {
        property.shift_remove("format");
        property.shift_remove("default");
        if let Some(Value::Array(types)) = property.get("type") {
            let first = types.first().cloned();
            property.extend(first.map(|first| ("type".to_owned(), first)));
        }
    }
    schema
}

/// Returns the number of rows that a call asks for.
pub(super) fn rows(limit: Option<usize>) -> usize {
    limit.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS)
}

/// The answer to a call: fields of the JSON output of commands, with shortened lists.
pub(super) struct Answer {
    fields: JsonObject,
    /// Maximum number of rows of each list.
    rows: usize,
    /// Number of rows that a list lacks, by its name.
    not_listed: JsonObject,
}

impl Answer {
    /// Creates an answer about a session.
    pub(super) fn new(session: &impl Serialize, rows: usize) -> anyhow::Result<Self> {
        let mut answer = Self { fields: JsonObject::new(), rows, not_listed: JsonObject::new() };
        answer.set("session", session)?;
        Ok(answer)
    }

    /// Adds a field.
    pub(super) fn set(&mut self, name: &str, value: impl Serialize) -> anyhow::Result<()> {
        let mut value = serde_json::to_value(value)?;
        self.shorten(&mut value, name);
        self.fields.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds a field that has bounds of its own.
    pub(super) fn set_whole(&mut self, name: &str, value: impl Serialize) -> anyhow::Result<()> {
        self.fields.insert(name.to_owned(), serde_json::to_value(value)?);
        Ok(())
    }

    /// Adds fields of a command's output, in this order.
    pub(super) fn take(&mut self, output: &impl Serialize, names: &[&str]) -> anyhow::Result<()> {
        let mut output = serde_json::to_value(output)?;
        for name in names {
            let value = output.get_mut(*name).map(Value::take);
            self.set(name, value.with_context(|| format!("the output has no field {name}"))?)?;
        }
        Ok(())
    }

    /// Counts rows that a list lacks.
    pub(super) fn leave_out(&mut self, list: &str, n: usize) {
        if n > 0 {
            self.not_listed.insert(list.to_owned(), n.into());
        }
    }

    /// Returns the answer as one line of JSON.
    pub(super) fn text(mut self) -> anyhow::Result<String> {
        if !self.not_listed.is_empty() {
            self.fields.insert("not_listed".to_owned(), self.not_listed.into());
        }
        json_line(&self.fields)
    }

    /// Shortens lists, and texts in them.
    fn shorten(&mut self, value: &mut Value, path: &str) {
        match value {
            Value::Array(list) => {
                self.leave_out(path, list.len().saturating_sub(self.rows));
                list.truncate(self.rows);
                for row in list {
                    shorten_texts(row, MAX_LISTED_TEXT);
                }
            }
            Value::Object(object) => {
                if NAME_LISTS.contains(&path) && object.len() > self.rows {
                    self.leave_out(path, object.len() - self.rows);
                    *object = std::mem::take(object).into_iter().take(self.rows).collect();
                }
                for (name, value) in object {
                    self.shorten(value, &format!("{path}.{name}"));
                }
            }
            _ => shorten_texts(value, MAX_TEXT),
        }
    }
}

/// Shortens long texts. `…` marks the missing rest.
fn shorten_texts(value: &mut Value, max: usize) {
    match value {
        Value::String(text) if text.len() > max => {
            text.truncate(head(text, max).len());
            text.push('…');
        }
        Value::Array(list) => list.iter_mut().for_each(|value| shorten_texts(value, max)),
        Value::Object(object) => object.values_mut().for_each(|value| shorten_texts(value, max)),
        _ => {}
    }
}
