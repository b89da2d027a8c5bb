//! `OpenAI`'s published vocabularies, from `assets/vocabularies`.

use super::pieces::Rule;
use super::ranks::Ranks;
#[cfg(test)]
use bpe_openai::Tokenizer;
use std::sync::OnceLock;

/// Ranks by rule.
static RANKS: [OnceLock<Ranks>; 2] = [const { OnceLock::new() }; 2];

/// Returns the ranks of the vocabulary with this splitting rule. Loads them once, in about 20 ms.
pub(super) fn ranks(rule: Rule) -> &'static Ranks {
    RANKS[rule as usize].get_or_init(|| Ranks::of(tokens(rule)))
}

/// Iterates over the vocabulary's tokens by rank.
pub(super) fn tokens(rule: Rule) -> impl Iterator<Item = &'static [u8]> {
    let mut rest: &[u8] = match rule {
        Rule::Cl100k => include_bytes!("../../assets/vocabularies/cl100k_base.tokens"),
        Rule::O200k => include_bytes!("../../assets/vocabularies/o200k_base.tokens"),
    };
    std::iter::from_fn(move || {
        let (len, rest_after) = rest.split_first()?;
        let (token, rest_after) = rest_after.split_at_checked(usize::from(*len))?;
        rest = rest_after;
        Some(token)
    })
}

/// Returns an independent implementation of the same vocabulary for comparison.
#[cfg(test)]
pub(super) fn library(rule: Rule) -> &'static Tokenizer {
    match rule {
        Rule::O200k => bpe_openai::o200k_base(),
        Rule::Cl100k => bpe_openai::cl100k_base(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_match_the_library() {
        for rule in Rule::ALL {
            let library = library(rule);
            assert_eq!(tokens(rule).count(), library.bpe.num_tokens());
            for (rank, token) in (0..).zip(tokens(rule)) {
                assert_eq!(token, library.bpe.token_bytes(rank), "{rule:?} {rank}");
            }
        }
    }
}
