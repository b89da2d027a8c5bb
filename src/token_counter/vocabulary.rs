//! `OpenAI`'s published vocabularies, from the folder `vocabularies`.

use super::ranks::Ranks;
use std::sync::OnceLock;

/// A published vocabulary of `OpenAI`.
///
/// ```
/// use token_counter::Vocabulary;
///
/// assert_eq!(Vocabulary::O200kBase.count("hello world"), 2);
/// assert_eq!(Vocabulary::O200kBase.name(), "o200k_base");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5, Codex and the o models.
    O200kBase,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100kBase,
}

/// Vocabularies of models by name prefix; the first match wins.
/// <https://github.com/openai/tiktoken/blob/main/tiktoken/model.py>
const MODELS: &[(&str, Vocabulary)] = &[
    ("gpt-4o", Vocabulary::O200kBase),
    ("chatgpt-4o", Vocabulary::O200kBase),
    ("gpt-4.1", Vocabulary::O200kBase),
    ("gpt-4.5", Vocabulary::O200kBase),
    ("gpt-5", Vocabulary::O200kBase),
    ("gpt-oss", Vocabulary::O200kBase),
    ("codex", Vocabulary::O200kBase),
    ("o1", Vocabulary::O200kBase),
    ("o3", Vocabulary::O200kBase),
    ("o4", Vocabulary::O200kBase),
    ("gpt-4", Vocabulary::Cl100kBase),
    ("gpt-3.5", Vocabulary::Cl100kBase),
    ("gpt-35", Vocabulary::Cl100kBase),
];

/// Ranks by vocabulary.
static RANKS: [OnceLock<Ranks>; 2] = [const { OnceLock::new() }; 2];

impl Vocabulary {
    /// All vocabularies.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// Returns the published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// Returns the vocabulary of a model of `OpenAI`, given its name with or without a provider, in any case. Returns
    /// `None` for other models.
    ///
    /// ```
    /// use token_counter::Vocabulary;
    ///
    /// assert_eq!(Vocabulary::of_model("openai/gpt-5.1"), Some(Vocabulary::O200kBase));
    /// assert_eq!(Vocabulary::of_model("claude-sonnet-4-5"), None);
    /// ```
    pub fn of_model(model: &str) -> Option<Self> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let name = name.to_ascii_lowercase();
        let row = MODELS.iter().find(|(prefix, _)| name.starts_with(prefix));
        row.map(|(_, vocabulary)| *vocabulary)
    }

    /// Iterates over the bytes of the tokens, in the order of their ranks from 0. Special tokens are not included.
    ///
    /// ```
    /// use token_counter::Vocabulary;
    ///
    /// assert_eq!(Vocabulary::O200kBase.tokens().next(), Some(&b"!"[..]));
    /// ```
    pub fn tokens(self) -> impl Iterator<Item = &'static [u8]> {
        let mut rest: &[u8] = match self {
            Self::O200kBase => include_bytes!("vocabularies/o200k_base.tokens"),
            Self::Cl100kBase => include_bytes!("vocabularies/cl100k_base.tokens"),
        };
        std::iter::from_fn(move || {
            let (len, rest_after) = rest.split_first()?;
            let (token, rest_after) = rest_after.split_at_checked(usize::from(*len))?;
            rest = rest_after;
            Some(token)
        })
    }

    /// Returns the ranks of the tokens. Loads them once.
    pub(super) fn ranks(self) -> &'static Ranks {
        RANKS[self as usize].get_or_init(|| Ranks::of(self.tokens()))
    }

    /// Returns an independent implementation of the same vocabulary for comparison.
    #[cfg(test)]
    pub(super) fn reference(self) -> &'static bpe_openai::Tokenizer {
        match self {
            Self::O200kBase => bpe_openai::o200k_base(),
            Self::Cl100kBase => bpe_openai::cl100k_base(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_match_the_library() {
        for vocabulary in Vocabulary::ALL {
            let reference = vocabulary.reference();
            assert_eq!(vocabulary.tokens().count(), reference.bpe.num_tokens());
            for (rank, token) in (0..).zip(vocabulary.tokens()) {
                assert_eq!(token, reference.bpe.token_bytes(rank), "{vocabulary:?} {rank}");
            }
        }
    }
}
