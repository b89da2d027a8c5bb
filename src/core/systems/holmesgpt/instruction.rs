//! Summary instructions: our own text, with exactly the size of the builtin ones.
//!
//! The size matters, since it is subtracted from the budget of a request: 2179 characters, 418 tokens in `o200k_base`,
//! 421 in `cl100k_base` in release 0.45; 2008, 386, 389 in 0.38; 4875 characters in the legacy version.

/// Instruction of release 0.45: no tool, a draft in `<analysis>`, then a `<summary>` of eight sections.
pub const V045_INSTRUCTION: &str = include_str!("prompt/v045.txt");

/// Instruction of release 0.38.
pub const V038_INSTRUCTION: &str = include_str!("prompt/v038.txt");

/// Instruction of the legacy version.
pub const LEGACY_INSTRUCTION: &str = include_str!("prompt/legacy.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::by_name;

    #[test]
    fn instructions_are_of_the_size_of_the_builtin_ones() {
        let tokens = |name: &str, text: &str| by_name(name).map(|c| (c.count)(text));
        let sizes = |text: &str| {
            let tokens = (tokens("o200k_base", text), tokens("cl100k_base", text));
            (text.chars().count(), tokens)
        };
        assert_eq!(sizes(V045_INSTRUCTION), (2179, (Some(418), Some(421))));
        assert_eq!(sizes(V038_INSTRUCTION), (2008, (Some(386), Some(389))));
        assert_eq!(LEGACY_INSTRUCTION.chars().count(), 4875);
    }
}
