//! Attributes of a span or an event: names with dots in them and values of a few types.

use crate::formats::content;
use serde_json::{Map, Value};

/// Attributes by their name.
#[derive(Debug, Default)]
pub(super) struct Attributes(Map<String, Value>);

/// No list of a convention is longer.
const LONGEST: usize = 100_000;

impl Attributes {
    /// OTLP lists them with their type, exporters print an object.
    pub(super) fn read(value: Option<&Value>) -> Self {
        Self(match value {
            Some(Value::Array(list)) => list.iter().filter_map(pair).collect(),
            Some(Value::Object(members)) => members.clone(),
            _ => Map::new(),
        })
    }

    /// Those of two places; the second counts where both have a name.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The first of these that is there.
    pub(super) fn first(&self, names: &[&str]) -> Option<&Value> {
        names
            .iter()
            .find_map(|name| self.0.get(*name).filter(|v| !v.is_null()))
    }

    /// The first of these that is a text.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }

    /// The first of these with its JSON: as it stands, or as the text that holds it.
    pub(super) fn json(&self, names: &[&str]) -> Option<Value> {
        match self.first(names)? {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        }
    }

    /// What stands below a prefix as one value: `a.0.b` is the member `b` of the first element of `a`.
    pub(super) fn below(&self, prefix: &str) -> Option<Value> {
        let mut tree = Map::new();
        for (name, value) in &self.0 {
            if let Some(rest) = name
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix('.'))
            {
                insert(&mut tree, rest, value);
            }
        }
        (!tree.is_empty()).then(|| listed(Value::Object(tree)))
    }
}

fn pair(attribute: &Value) -> Option<(String, Value)> {
    let key = attribute.get("key")?.as_str()?;
    Some((key.to_owned(), plain(attribute.get("value")?)))
}

/// OTLP writes `{"intValue": "5"}` for 5.
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
            list.into_iter()
                .flatten()
                .map(plain)
                .collect::<Vec<_>>()
                .into()
        }
        "kvlistValue" => {
            let list = inner.get("values").and_then(Value::as_array);
            Value::Object(list.into_iter().flatten().filter_map(pair).collect())
        }
        _ => inner.clone(),
    }
}

/// How deep a name may lead.
const DEEPEST: usize = 12;

fn insert(tree: &mut Map<String, Value>, path: &str, value: &Value) {
    let mut steps = path.splitn(DEEPEST, '.').peekable();
    let mut here = tree;
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            here.insert(step.to_owned(), value.clone());
            return;
        }
        let next = here
            .entry(step.to_owned())
            .or_insert_with(|| Value::Object(Map::new()));
        if !next.is_object() {
            *next = Value::Object(Map::new());
        }
        let Value::Object(inner) = next else {
            return;
        };
        here = inner;
    }
}

/// Objects whose names are all numbers are lists.
fn listed(value: Value) -> Value {
    let Value::Object(members) = value else {
        return value;
    };
    let number = |key: &String| key.parse::<usize>().ok().filter(|n| *n < LONGEST);
    if !members.keys().all(|key| number(key).is_some()) {
        return Value::Object(members.into_iter().map(|(k, v)| (k, listed(v))).collect());
    }
    let mut elements: Vec<(usize, Value)> = members
        .into_iter()
        .filter_map(|(k, v)| Some((number(&k)?, listed(v))))
        .collect();
    elements.sort_by_key(|(n, _)| *n);
    elements
        .into_iter()
        .map(|(_, v)| v)
        .collect::<Vec<_>>()
        .into()
}

/// A text of an attribute as a value that may be JSON.
pub(super) fn parsed(value: &Value) -> Value {
    let text = content::text_or_json(value);
    serde_json::from_str(&text).unwrap_or_else(|_| value.clone())
}
