//! `docs/json-output.md`, generated from the schemas that `plimsoll schema` prints.

use crate::program::plimsoll;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

const INTRODUCTION: &str = "# JSON output

<!-- Generated from the schemas. `UPDATE_DOCS=1 cargo test --test cli json_page` writes this page again. -->

`--json` prints the result of a command as one JSON value. `plimsoll schema COMMAND` prints its JSON schema (draft 2020-12), and
`plimsoll schema` lists the commands that have one.

- Calls, turns, messages and instructions are numbered from 1.
- Shares are 0 to 1. Money is in USD.
- An unknown value is `null`, never zero. Every field is always present.
- `a[].b` is the field `b` of every item of the list `a`.
";

/// Enumerations with more values than this get a list of their own.
const INLINE_VALUES: usize = 4;

#[test]
fn json_page_is_generated_from_the_schemas() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json-output.md");
    let commands = String::from_utf8(schema(&[])).expect("the list is UTF-8");
    let mut page = INTRODUCTION.to_owned();
    for command in commands.lines() {
        let words: Vec<&str> = command.split(' ').collect();
        let schema: Value = serde_json::from_slice(&schema(&words)).expect("the schema is JSON");
        section(&mut page, command, &schema);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    let added = page.lines().find(|line| !current.contains(line));
    assert!(
        current == page,
        "docs/json-output.md is out of date: run UPDATE_DOCS=1 cargo test --test cli json_page\n{}",
        added.unwrap_or("a line is no longer generated")
    );
}

/// Returns the output of `plimsoll schema`.
fn schema(words: &[&str]) -> Vec<u8> {
    let output = plimsoll(Path::new("."), &[&["schema"], words].concat());
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// Appends the section of a command.
fn section(page: &mut String, command: &str, schema: &Value) {
    let mut objects = Objects { schema, found: Vec::new() };
    objects.visit("", schema);
    let _ = write!(page, "\n## {command}\n");
    for object in &objects.found {
        let _ = writeln!(page, "\n{}\n", heading(object));
        table(page, schema, object);
    }
    for enumeration in objects.enumerations() {
        let _ = writeln!(page, "\nValues of `{}`:\n", enumeration.paths.join("`, `"));
        for value in enumeration.values {
            let _ = writeln!(page, "- `{}`: {}", value.name, value.description);
        }
    }
}

/// A value of an enumeration.
#[derive(PartialEq)]
struct EnumValue {
    name: String,
    description: String,
}

/// An enumeration and the paths of the fields that have it.
struct Enumeration {
    paths: Vec<String>,
    values: Vec<EnumValue>,
}

/// An object type and the paths of the fields that have it.
struct Object<'a> {
    name: &'a str,
    paths: Vec<String>,
    schema: &'a Value,
}

/// The object types of a schema, each followed by those of its fields.
struct Objects<'a> {
    schema: &'a Value,
    found: Vec<Object<'a>>,
}

impl<'a> Objects<'a> {
    /// Adds the object types of a value and of its fields.
    fn visit(&mut self, path: &str, value: &'a Value) {
        let (kind, path) = items(self.schema, value, path);
        let Some(fields) = kind["properties"].as_object() else {
            return;
        };
        let name = innermost_name(self.schema, value).unwrap_or_default();
        if let Some(known) = self.found.iter_mut().find(|known| known.name == name) {
            known.paths.push(path);
            return;
        }
        self.found.push(Object { name, paths: vec![path.clone()], schema: kind });
        for (field, value) in fields {
            let dot = if path.is_empty() { "" } else { "." };
            self.visit(&format!("{path}{dot}{field}"), value);
        }
    }

    /// Returns the long enumerations.
    fn enumerations(&self) -> Vec<Enumeration> {
        let mut found: Vec<Enumeration> = Vec::new();
        for object in &self.found {
            for (field, value) in object.schema["properties"].as_object().into_iter().flatten() {
                let dot = if object.paths[0].is_empty() { "" } else { "." };
                let path = format!("{}{dot}{field}", object.paths[0]);
                let (kind, path) = items(self.schema, value, &path);
                let values = values(self.schema, kind);
                if values.len() <= INLINE_VALUES {
                    continue;
                }
                match found.iter_mut().find(|known| known.values == values) {
                    Some(known) => known.paths.push(path),
                    None => found.push(Enumeration { paths: vec![path], values }),
                }
            }
        }
        found
    }
}

/// Returns the line above the table of an object type.
fn heading(object: &Object<'_>) -> String {
    let description = text(object.schema);
    let paths = object.paths.iter().filter(|path| !path.is_empty());
    let paths: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
    if paths.is_empty() {
        return description;
    }
    format!("{}: {description}", paths.join(", "))
}

/// Appends the table of the fields of an object type.
fn table(page: &mut String, root: &Value, object: &Object<'_>) {
    page.push_str("| field | type | meaning |\n|---|---|---|\n");
    for (field, value) in object.schema["properties"].as_object().into_iter().flatten() {
        let meaning = meaning(root, value);
        assert!(!meaning.is_empty(), "{}.{field} has no description", object.name);
        let kind = type_name(root, value);
        let is_nullable = kind.ends_with("or null");
        let says_when = meaning.to_lowercase().contains("null");
        assert!(!is_nullable || says_when, "{}.{field}: when is it null?", object.name);
        let _ = writeln!(page, "| `{field}` | {kind} | {} |", meaning.replace('|', "\\|"));
    }
}

/// Returns the description of a field, or that of its type, followed by the values of a short enumeration.
fn meaning(root: &Value, value: &Value) -> String {
    let (kind, _) = items(root, value, "");
    let mut meaning = match text(value) {
        own if own.is_empty() => text(kind),
        own => own,
    };
    let values = values(root, kind);
    if (1..=INLINE_VALUES).contains(&values.len()) {
        for value in values {
            let _ = write!(meaning, " `{}`: {}", value.name, value.description);
        }
    } else if !values.is_empty() {
        meaning.push_str(" Values below.");
    }
    meaning
}

/// Returns the description of a schema as one line.
fn text(schema: &Value) -> String {
    let description = schema["description"].as_str().unwrap_or_default();
    description.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the name of a field's type.
fn type_name(root: &Value, value: &Value) -> String {
    if let Some(inner) = nullable(value) {
        return format!("{} or null", type_name(root, inner));
    }
    if let Some(types) = value["type"].as_array() {
        let name = |name: &str| match name {
            "array" => format!("list of {}", plural(&type_name(root, &value["items"]))),
            name => name.to_owned(),
        };
        let types: Vec<String> = types.iter().filter_map(Value::as_str).map(name).collect();
        return types.join(" or ");
    }
    let kind = resolve(root, value);
    let values = values(root, kind);
    if values.iter().any(|value| value.name.starts_with('{')) {
        return "string or object".to_owned();
    }
    if !values.is_empty() {
        return "string".to_owned();
    }
    let name = kind["type"].as_str().unwrap_or_default();
    match name {
        "array" => format!("list of {}", plural(&type_name(root, &kind["items"]))),
        "object" if kind["properties"].is_null() => {
            format!("object of {}", plural(&type_name(root, &kind["additionalProperties"])))
        }
        "" => panic!("a field without a type: {value}"),
        name => name.to_owned(),
    }
}

fn plural(name: &str) -> String {
    match name.split_once(' ') {
        Some((first, rest)) => format!("{first}s {rest}"),
        None => format!("{name}s"),
    }
}

/// Returns the type of the items if the value is a list or an object of values, with the path of the items.
fn items<'a>(root: &'a Value, value: &'a Value, path: &str) -> (&'a Value, String) {
    let kind = resolve(root, nullable(value).unwrap_or(value));
    if kind["type"] == "array" {
        return items(root, &kind["items"], &format!("{path}[]"));
    }
    if kind["additionalProperties"].is_object() {
        return items(root, &kind["additionalProperties"], &format!("{path}.*"));
    }
    (kind, path.to_owned())
}

/// Returns the name of the innermost type of a value.
fn innermost_name<'a>(root: &'a Value, value: &'a Value) -> Option<&'a str> {
    let value = nullable(value).unwrap_or(value);
    let kind = resolve(root, value);
    match (kind["type"].as_str(), kind["additionalProperties"].is_object()) {
        (Some("array"), _) => innermost_name(root, &kind["items"]),
        (_, true) => innermost_name(root, &kind["additionalProperties"]),
        _ => reference(value),
    }
}

/// Returns the values of an enumeration, each once.
fn values(root: &Value, kind: &Value) -> Vec<EnumValue> {
    let alternatives = kind["oneOf"].as_array().or(kind["anyOf"].as_array());
    let mut found: Vec<EnumValue> = Vec::new();
    for alternative in alternatives.into_iter().flatten() {
        let with_field = alternative["properties"].as_object();
        let name = match (alternative["const"].as_str(), with_field) {
            (Some(name), _) => name.to_owned(),
            (None, Some(fields)) => {
                let field = fields.iter().next();
                let field =
                    field.map(|(name, value)| format!("\"{name}\": {}", type_name(root, value)));
                format!("{{{}}}", field.unwrap_or_default())
            }
            (None, None) => {
                found.extend(values(root, resolve(root, alternative)));
                continue;
            }
        };
        found.push(EnumValue { name, description: text(alternative) });
    }
    // Two kinds of insights share a name.
    let mut merged: Vec<EnumValue> = Vec::new();
    for value in found {
        match merged.iter_mut().find(|known| known.name == value.name) {
            Some(known) => {
                known.description = format!("{} {}", known.description, value.description);
            }
            None => merged.push(value),
        }
    }
    merged
}

/// Returns the type of a value that may be null.
fn nullable(value: &Value) -> Option<&Value> {
    let alternatives = value["anyOf"].as_array()?;
    let is_nullable = alternatives.iter().any(|a| a["type"] == "null");
    alternatives.iter().find(|a| is_nullable && a["type"] != "null")
}

/// Returns the name of the definition that a schema refers to.
fn reference(value: &Value) -> Option<&str> {
    value["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Follows a reference to a definition.
fn resolve<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    reference(value).map_or(value, |name| &root["$defs"][name])
}
