//! A preset's settings for a stage of this system, parsed and checked once.

use super::super::count::Llm;
use super::super::limits::{Limits, Overrides, Reserve};
use super::super::tokenizer::Tokenizer;
use crate::engine::RewriteInput;

/// A version of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V045,
    V038,
    Legacy,
}

/// The settings common to all stages.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) version: Version,
    tokenizer: Tokenizer,
}

impl Settings {
    /// Reads `version` and `tokenizer`; keys other than these and `known` are errors.
    pub(super) fn read(table: &toml::Table, known: &[&str]) -> Result<Self, String> {
        let common = ["version", "tokenizer"];
        let mut keys = table.keys().map(String::as_str);
        if let Some(key) = keys.find(|key| !common.contains(key) && !known.contains(key)) {
            return Err(format!("unknown setting `{key}`"));
        }
        let version = match text(table, "version")? {
            None | Some("0.45") => Version::V045,
            Some("0.38") => Version::V038,
            Some("legacy") => Version::Legacy,
            Some(other) => return Err(format!("unknown version `{other}`")),
        };
        let name = text(table, "tokenizer")?.unwrap_or("cl100k_base");
        let tokenizer = Tokenizer::named(name);
        let tokenizer = tokenizer.ok_or_else(|| format!("unknown counter `{name}`"))?;
        Ok(Self { version, tokenizer })
    }

    /// Returns the model of a input, with limits from its numbers.
    pub(super) fn llm(&self, input: &RewriteInput<'_>) -> Llm {
        let overrides = Overrides {
            max_context_size: input.number("window_override") as i64,
            max_output_token: input.number("output_override") as i64,
            tool_pct: input.number("tool_pct"),
            tool_tokens: input.number("tool_tokens") as i64,
        };
        let llm = if self.version == Version::Legacy {
            let limits = Limits::of(input.model, &overrides, Reserve::Smaller);
            Llm::legacy(input.model, self.tokenizer, limits)
        } else {
            let limits = Limits::of(input.model, &overrides, Reserve::Larger);
            Llm::new(input.model, self.tokenizer, limits)
        };
        Llm {
            keeps_all_counts: false,
            ..llm
        }
    }
}

/// Returns a text of the preset.
pub(super) fn text<'t>(table: &'t toml::Table, key: &str) -> Result<Option<&'t str>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is a text")),
    }
}
