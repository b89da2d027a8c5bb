//! Selection of the tokenizer for a model's text, by the model's name as litellm and tiktoken do.

use super::model_cost;
use crate::tokens;
use thiserror::Error;

/// A token counter of a text.
#[derive(Clone, Copy, Debug)]
pub struct Tokenizer {
    /// Its name.
    pub name: &'static str,
    count: fn(&str) -> u32,
    /// Characters that are counted at once; 0 for all.
    chunk: usize,
}

/// The error of a vocabulary that is not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("counts with {0}, which is not included")]
pub struct NotShipped(pub &'static str);

/// Prefixes of names known to tiktoken, in its order (<https://github.com/openai/tiktoken>, `model.py`).
const PREFIXES: [(&str, &str); 15] = [
    ("o1-", "o200k_base"),
    ("o3-", "o200k_base"),
    ("o4-mini-", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-4.5-", "o200k_base"),
    ("gpt-4.1-", "o200k_base"),
    ("chatgpt-4o-", "o200k_base"),
    ("gpt-4o-", "o200k_base"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-3.5-turbo-", "cl100k_base"),
    ("gpt-35-turbo-", "cl100k_base"),
    // tiktoken's name for o200k with other special tokens, which are ordinary text here.
    ("gpt-oss-", "o200k_base"),
    ("ft:gpt-4o", "o200k_base"),
    ("ft:gpt-4", "cl100k_base"),
    ("ft:gpt-3.5-turbo", "cl100k_base"),
];

/// Complete names known to tiktoken.
const NAMES: [&str; 5] = ["o1", "o3", "o4-mini", "gpt-4.1", "gpt-4o"];

impl Tokenizer {
    /// A quarter of the characters, rounded up; replaces a vocabulary.
    pub const CHARS_4: Self = Self { name: "chars/4", count: chars_4, chunk: 0 };

    /// Returns one of our own counters by its name.
    pub fn named(name: &str) -> Option<Self> {
        tokens::by_name(name).map(|counter| Self {
            name: counter.name,
            count: counter.count,
            chunk: 0,
        })
    }

    /// Counts pieces of 1,024 characters, as litellm does since 1.93.
    #[must_use]
    pub(crate) fn in_chunks(self) -> Self {
        Self { chunk: 1024, ..self }
    }

    /// Returns the tokenizer of a model.
    ///
    /// # Errors
    /// [`NotShipped`] if its vocabulary is published separately by its maker.
    pub fn of_model(model: &str) -> Result<Self, NotShipped> {
        let provider = model_cost::exact(model).map_or("", |row| row.provider);
        let lower = model.to_lowercase();
        if provider == "cohere" && model.contains("command-r") {
            return Err(NotShipped("Cohere's tokenizer"));
        }
        if provider == "anthropic" && !model.contains("claude-3") {
            return Err(NotShipped("Anthropic's old BPE"));
        }
        if lower.contains("llama-2") || lower.contains("replicate") {
            return Err(NotShipped("the tokenizer of Llama 2"));
        }
        if lower.contains("llama-3") {
            return Err(NotShipped("the tokenizer of Llama 3"));
        }
        // A name that litellm does not list for OpenAI counts like gpt-3.5-turbo; fine-tuned ones are not listed.
        let is_listed = provider == "openai" && !model.starts_with("ft:");
        let name = if is_listed { vocabulary(model) } else { "cl100k_base" };
        Self::named(name).ok_or(NotShipped("a vocabulary of OpenAI"))
    }

    /// Returns an id that differs between tokenizers with different counts.
    pub fn id(&self) -> usize {
        (self.count as usize).wrapping_add(self.chunk)
    }

    /// Returns the tokens of a text. A summary is counted again with every request that contains it.
    pub fn count(&self, text: &str) -> u64 {
        let count = |text: &str| u64::from(tokens::count_recent(self.count, text));
        if self.chunk == 0 || text.len() <= self.chunk {
            return count(text);
        }
        let (mut sum, mut rest) = (0, text);
        while !rest.is_empty() {
            let end = rest.char_indices().nth(self.chunk);
            let (chunk, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
            sum += count(chunk);
            rest = behind;
        }
        sum
    }
}

fn vocabulary(model: &str) -> &'static str {
    if model.contains("gpt-4o") || NAMES.contains(&model) {
        return "o200k_base";
    }
    let known = PREFIXES.iter().find(|(prefix, _)| model.starts_with(prefix));
    known.map_or("cl100k_base", |(_, vocabulary)| vocabulary)
}

fn chars_4(text: &str) -> u32 {
    u32::try_from(text.chars().count().div_ceil(4)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_name_as_given_decides() {
        let name = |model| Tokenizer::of_model(model).map(|t| t.name);
        assert_eq!(name("gpt-4o"), Ok("o200k_base"));
        assert_eq!(name("gpt-4"), Ok("cl100k_base"));
        assert_eq!(name("openai/gpt-4o"), Ok("cl100k_base"));
        assert_eq!(name("claude-3-opus-20240229"), Ok("cl100k_base"));
        assert_eq!(name("o3"), Ok("o200k_base"));
        assert!(name("claude-sonnet-4-5-20250929").is_err());
    }
}
