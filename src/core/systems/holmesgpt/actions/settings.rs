//! A preset's settings for a stage of this system, parsed and checked once.

use super::super::count::Llm;
use super::super::limits::{Limits, Overrides, Reserve};
use crate::engine::RewriteInput;
use crate::systems::litellm::Tokenizer;
use crate::systems::stage_settings::{check_keys, choice_setting, text_setting};

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
        check_keys(table, &[&common[..], known].concat())?;
        let versions =
            [("0.45", Version::V045), ("0.38", Version::V038), ("legacy", Version::Legacy)];
        let version = choice_setting(table, "version", &versions)?.unwrap_or(Version::V045);
        let name = text_setting(table, "tokenizer")?.unwrap_or("cl100k_base");
        let tokenizer = Tokenizer::named(name);
        let tokenizer = tokenizer.ok_or_else(|| format!("unknown counter `{name}`"))?;
        Ok(Self { version, tokenizer })
    }

    /// Returns the model of an input, with limits from its numbers.
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
        Llm { keeps_all_counts: false, ..llm }
    }
}
