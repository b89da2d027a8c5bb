//! Attributes of a span or an event: dotted names with values of a few types.

use crate::formats::content;
use crate::json::{Map, Value};

/// Attributes by name.
#[derive(Debug, Default)]
pub(super) struct Attributes(Map<String, Value>);

/// Maximum length of a list that is spread over attributes.
// Chosen: a larger number in a name is an id rather than a position.
const MAX_LIST_LENGTH: usize = 100_000;

impl Attributes {
    /// Reads attributes: a list with types (OTLP) or an object (exporters).
    pub(super) fn read(value: Option<&Value>) -> Self {
        Self(match value {
            Some(Value::Array(list)) => list.iter().filter_map(pair).collect(),
            Some(Value::Object(members)) => {
                let mut all = Map::new();
                for (name, value) in members {
                    // Phoenix stores the lists of this convention as lists.
                    if name == "llm" || name.starts_with("llm.") {
                        spread(name, value, MAX_DEPTH, &mut all);
                    } else {
                        all.insert(name.clone(), value.clone());
                    }
                }
                all
            }
            _ => Map::new(),
        })
    }

    /// Merges two sets of attributes. `other` takes precedence.
    pub(super) fn merged(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Iterates over the names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the first of these attributes that exists.
    pub(super) fn first(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.0.get(*name).filter(|v| !v.is_null()))
    }

    /// Returns the first of these attributes that is a string.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }

    /// Returns the first of these attributes as JSON. Parses it if it is a string.
    pub(super) fn json(&self, names: &[&str]) -> Option<Value> {
        match self.first(names)? {
            Value::String(text) => crate::json::from_str(text).ok(),
            other => Some(other.clone()),
        }
    }

    /// Returns the attributes below a prefix as one value: `a.0.b` is the member `b` of the first element of `a`.
    pub(super) fn below(&self, prefix: &str) -> Option<Value> {
        let mut tree = Map::new();
        for (name, value) in &self.0 {
            if let Some(rest) = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')) {
                insert(&mut tree, rest, value);
            }
        }
        (!tree.is_empty()).then(|| numbered_to_lists(Value::Object(tree)))
    }
}

/// Spreads a value over attributes with dotted names.
fn spread(name: &str, value: &Value, depth: usize, all: &mut Map<String, Value>) {
    match value {
        Value::Object(members) if depth > 0 => {
            for (key, value) in members {
                spread(&format!("{name}.{key}"), value, depth - 1, all);
            }
        }
        Value::Array(list) if depth > 0 && list.iter().all(Value::is_object) => {
            for (at, value) in list.iter().enumerate() {
                spread(&format!("{name}.{at}"), value, depth - 1, all);
            }
        }
        Value::Null => {}
        value => {
            all.insert(name.to_owned(), value.clone());
        }
    }
}

fn pair(attribute: &Value) -> Option<(String, Value)> {
    let key = attribute.get("key")?.as_str()?;
    Some((key.to_owned(), plain(attribute.get("value")?)))
}

/// Converts an OTLP value: `{"intValue": "5"}` is 5.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|o| o.iter().next()) else {
        return value.clone();
    };
    match kind.as_str() {
        "intValue" => {
            let number = inner.as_str().and_then(|text| text.parse::<i64>().ok());
            number.map_or_else(|| inner.clone(), Value::from)
        }
        "arrayValue" => {
            let list = inner.get("values").and_then(Value::as_array);
            list.into_iter().flatten().map(plain).collect::<Vec<_>>().into()
        }
        "kvlistValue" => {
            let list = inner.get("values").and_then(Value::as_array);
            Value::Object(list.into_iter().flatten().filter_map(pair).collect())
        }
        _ => inner.clone(),
    }
}

/// Maximum depth of a dotted name.
// Chosen: the conventions reach eight (`0.message.contents.0.message_content.image.image.url`). It bounds the recursion
// over the tree.
const MAX_DEPTH: usize = 12;

fn insert(tree: &mut Map<String, Value>, path: &str, value: &Value) {
    let mut steps = path.splitn(MAX_DEPTH, '.').peekable();
    let mut here = tree;
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            here.insert(step.to_owned(), value.clone());
            return;
        }
        let next = here.entry(step.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if !next.is_object() {
            *next = Value::Object(Map::new());
        }
        let Value::Object(inner) = next else {
            return;
        };
        here = inner;
    }
}

/// Converts objects whose keys are all numbers to lists.
fn numbered_to_lists(value: Value) -> Value {
    let Value::Object(members) = value else {
        return value;
    };
    let number = |key: &String| key.parse::<usize>().ok().filter(|n| *n < MAX_LIST_LENGTH);
    if !members.keys().all(|key| number(key).is_some()) {
        return Value::Object(
            members.into_iter().map(|(k, v)| (k, numbered_to_lists(v))).collect(),
        );
    }
    let mut elements: Vec<(usize, Value)> = members
        .into_iter()
        .filter_map(|(k, v)| Some((number(&k)?, numbered_to_lists(v))))
        .collect();
    elements.sort_by_key(|(n, _)| *n);
    elements.into_iter().map(|(_, v)| v).collect::<Vec<_>>().into()
}

/// Parses the text of an attribute as JSON. Returns the value itself if that fails.
pub(super) fn parsed(value: &Value) -> Value {
    let text = content::text_or_json(value);
    crate::json::from_str(&text).unwrap_or_else(|_| value.clone())
}
