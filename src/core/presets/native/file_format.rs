//! Notations of configurations: environment variables, a Python dict, JSON, YAML, TOML.

use super::{NativeSetting, python};
use crate::json::{AnyFormat, Value, json};
use std::fmt::Write as _;

/// A notation for settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// `KEY=value`, one per line.
    Environment,
    /// `"key": value,` in a Python dict.
    Python,
    /// `key=value,` in the call of a Python class.
    PythonCall,
    /// Nested objects.
    Json,
    /// One object whose keys have dots.
    FlatJson,
    /// Nested mappings.
    Yaml,
    /// `key = value`, one per line, with dotted keys.
    Toml,
}

impl FileFormat {
    /// Writes the settings in this form. `kind` is the class or the `type` that the configuration names, if any.
    /// `place` are the keys that enclose a JSON object; `*` is the item of a list.
    pub(super) fn write(
        self,
        kind: Option<&str>,
        settings: &[NativeSetting<'_>],
        place: &[&str],
    ) -> String {
        match self {
            Self::Environment => lines(settings, |key, value| format!("{key}={}", bare(value))),
            Self::Python => format!(
                "CONFIG = {{\n{}}}\n",
                lines(settings, |key, value| format!("    \"{key}\": {},", python::literal(value)))
            ),
            // Programs are written by `programs`.
            Self::PythonCall | Self::Json | Self::FlatJson => {
                let config =
                    place.iter().rev().fold(nested(kind, settings), |inner, key| match *key {
                        "*" => Value::from(vec![inner]),
                        key => json!({ key: inner }),
                    });
                format!("{config:#}\n")
            }
            Self::Yaml => yaml(settings),
            Self::Toml => lines(settings, |key, value| format!("{key} = {value}")),
        }
    }

    /// Parses the settings of a text in this form, by path. Skips comments. `kind` is as in [`Self::write`].
    ///
    /// # Errors
    /// A description of the syntax error.
    pub(super) fn read(self, kind: Option<&str>, text: &str) -> Result<Value, String> {
        let value = |AnyFormat(value)| value;
        match self {
            Self::PythonCall => {
                let class = kind.unwrap_or("CONFIG");
                python::arguments(text, class).ok_or_else(|| format!("no call of {class}"))
            }
            Self::Environment => Ok(pairs(text, '=')),
            Self::Python => Ok(pairs(text, ':')),
            Self::Json | Self::FlatJson => crate::json::from_str(text).map_err(|e| e.to_string()),
            Self::Toml => toml::from_str(text).map(value).map_err(|e| e.to_string()),
            Self::Yaml => serde_saphyr::from_str(text).map(value).map_err(|e| e.to_string()),
        }
    }
}

/// Writes one line per setting, followed by the reason if the setting is ignored.
fn lines(settings: &[NativeSetting<'_>], write: impl Fn(&str, &Value) -> String) -> String {
    let mut text = String::new();
    for setting in settings {
        let line = write(&setting.path.join("."), &setting.value);
        match setting.ignored {
            Some(why) => _ = writeln!(text, "{line}  # ignored: {why}"),
            None => _ = writeln!(text, "{line}"),
        }
    }
    text
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn nested(kind: Option<&str>, settings: &[NativeSetting<'_>]) -> Value {
    let kind = kind.map(|kind| ("type".to_owned(), Value::from(kind)));
    let mut root = Value::Object(kind.into_iter().collect());
    for setting in settings {
        let mut at = &mut root;
        for key in &setting.path {
            at = &mut at[*key];
        }
        *at = setting.value.clone();
    }
    root
}

/// Writes nested mappings, with the comment of a setting after it. Keys of one mapping are adjacent.
fn yaml(settings: &[NativeSetting<'_>]) -> String {
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    for setting in settings {
        let Some((key, parents)) = setting.path.split_last() else {
            continue;
        };
        let same = open.iter().zip(parents).take_while(|(a, b)| a == b).count();
        open.truncate(same);
        for parent in &parents[same..] {
            let _ = writeln!(text, "{}{parent}:", "  ".repeat(open.len()));
            open.push(parent);
        }
        let value = match setting.value.as_str() {
            Some(name) => name.to_owned(),
            None => setting.value.to_string(),
        };
        let _ = write!(text, "{}{key}: {value}", "  ".repeat(open.len()));
        if let Some(why) = setting.ignored {
            let _ = write!(text, "  # ignored: {why}");
        }
        text.push('\n');
    }
    text
}

/// Writes objects as items of a list: the first key of a setting becomes the `type` of its item.
pub(super) fn yaml_items(settings: &[NativeSetting<'_>], place: &[&str]) -> String {
    let mut text = String::new();
    for (depth, key) in place.iter().enumerate() {
        let _ = writeln!(text, "{}{key}:", "  ".repeat(depth));
    }
    let indent = "  ".repeat(place.len());
    for item in settings.chunk_by(|one, next| one.path[0] == next.path[0]) {
        let _ = writeln!(text, "{indent}- type: {}", item[0].path[0]);
        for setting in item {
            let key = setting.path[1..].join(".");
            let _ = writeln!(text, "{indent}  {key}: {}", setting.value);
        }
    }
    text
}

/// Parses `key SIGN value` of each line that has one, without quotes, trailing comma and comment.
fn pairs(text: &str, sign: char) -> Value {
    let pair = |line: &str| {
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
        if line.starts_with('#') {
            return None;
        }
        let (key, value) = line.trim_start_matches("export ").split_once(sign)?;
        let plain =
            |text: &str| text.trim().trim_end_matches(',').trim_matches(['"', '\'']).to_owned();
        let key = plain(key);
        let is_name = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
        let value = match &*plain(value) {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" | "{" | "" => return None,
            other => Value::from(other),
        };
        is_name.then_some((key, value))
    };
    Value::Object(text.lines().filter_map(pair).collect())
}
