//! A tool of the server: its parameters, with errors for a model, and its answer, within bounds.

use crate::cli::args::GlobalOptions;
use crate::cli::output::json_line;
use crate::exec::mcp::JsonObject;
use crate::names::unknown;
use crate::progress::Progress;
use crate::safe_text::head;
use anyhow::{Context as _, bail};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// Number of rows of a list if a call does not choose it.
const DEFAULT_ROWS: usize = 10;
/// Maximum number of rows of a list. Chosen: with a line for each, an answer stays below 10,000 tokens, above which
/// Claude Code warns.
const MAX_ROWS: usize = 100;
/// Maximum bytes of a text in a list. The tool `message` returns whole texts.
const MAX_LISTED_TEXT: usize = 400;
/// Maximum bytes of another text, such as a title or a verdict.
const MAX_TEXT: usize = 2_000;
/// Significant digits of a fraction.
const DIGITS: usize = 6;
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
    for (name, argument) in arguments {
        let Some(parameter) = known.and_then(|known| known.get(name)) else {
            let known: Vec<&String> = known.into_iter().flat_map(JsonObject::keys).collect();
            bail!("{}", unknown("no parameter is named", name, &known));
        };
        check_type(name, argument, parameter)?;
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_given = |name: &&str| arguments.get(*name).is_some_and(|given| !given.is_null());
    if let Some(name) = required.filter_map(Value::as_str).find(|name| !is_given(name)) {
        bail!("the parameter {name} is missing");
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

/// Rejects an argument of another JSON type than its parameter.
fn check_type(name: &str, argument: &Value, parameter: &Value) -> anyhow::Result<()> {
    let (fits, expected) = match parameter["type"].as_str() {
        Some("string") => (argument.is_string(), "a text"),
        Some("integer") => (argument.is_u64(), "a whole number"),
        Some("boolean") => (argument.is_boolean(), "true or false"),
        _ => (true, ""),
    };
    if fits || argument.is_null() {
        return Ok(());
    }
    bail!("{name} must be {expected}, not {}", head(&argument.to_string(), MAX_LISTED_TEXT))
}

/// Number of rows of each list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RowLimit {
    /// Maximum number of rows of each list. Default: 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

impl RowLimit {
    pub(super) fn rows(&self) -> anyhow::Result<usize> {
        limited(self.limit, DEFAULT_ROWS, MAX_ROWS)
    }
}

/// A page of a list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Page {
    #[serde(flatten)]
    pub(super) limit: RowLimit,
    /// Number of rows to skip. Default: 0.
    skip: Option<usize>,
}

impl Page {
    /// Returns the rows of the page, and the number of those after it.
    pub(super) fn of<'l, T>(&self, list: &'l [T]) -> anyhow::Result<(&'l [T], usize)> {
        let rest = &list[self.skip.unwrap_or(0).min(list.len())..];
        let (shown, after) = rest.split_at(self.limit.rows()?.min(rest.len()));
        Ok((shown, after.len()))
    }
}

/// Returns the `limit` of a call.
pub(super) fn limited(given: Option<usize>, default: usize, max: usize) -> anyhow::Result<usize> {
    match given {
        None => Ok(default),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(limit) => bail!("limit {limit} is out of range: 1 to {max}"),
    }
}

/// The answer to a call: fields of the JSON output of commands, with shortened lists.
pub(super) struct Answer {
    fields: JsonObject,
    /// Maximum number of rows of each list.
    rows: usize,
    /// Number of rows after those of a list, by its name.
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
        round(&mut value);
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

    /// Counts rows after those of a list.
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

/// Rounds fractions, whose further digits are tokens without information.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|number| format!("{number:.0$e}", DIGITS - 1));
            let rounded = rounded.and_then(|text| Number::from_f64(text.parse().ok()?));
            *number = rounded.unwrap_or_else(|| number.clone());
        }
        Value::Array(list) => list.iter_mut().for_each(round),
        Value::Object(object) => object.values_mut().for_each(round),
        _ => {}
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
