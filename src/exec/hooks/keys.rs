//! Keys and passwords in sentences of the user, which are not written to the disk.

use std::borrow::Cow;

/// Text in the place of a key.
const LEFT_OUT: &str = "[key left out]";

/// Starts of the keys of well-known services.
const PREFIXES: [&str; 16] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
];

/// Words before a value that must stay secret.
const NAMES: [&str; 7] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "api_key"];

/// Minimum length of letters and digits in a row that are taken for a key without a known start. Longer than the words of
/// names, such as the segments of a path.
const MIN_RANDOM: usize = 24;

/// Replaces keys and passwords.
pub(super) fn without_keys(sentence: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    let mut before = ["", ""];
    let mut at = 0;
    for piece in sentence.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let start = at;
        at += piece.len();
        if let Some(key) = key_in(word, before) {
            found.push(start + key.start..start + key.end);
        }
        before = [before[1], word];
    }
    if found.is_empty() {
        return Cow::Borrowed(sentence);
    }
    let mut text = sentence.to_owned();
    for range in found.into_iter().rev() {
        text.replace_range(range, LEFT_OUT);
    }
    Cow::Owned(text)
}

/// Returns the bytes of a key in a word. `before` are the two words before it.
fn key_in(word: &str, before: [&str; 2]) -> Option<std::ops::Range<usize>> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "-_.+/=~$!@#%^&*".contains(c);
    let start = word.find(is_inside)?;
    let end = word[start..].find(|c| !is_inside(c)).map_or(word.len(), |at| start + at);
    // A key after its name in the same word: `token=abc`, `password:abc`.
    if let Some(sign) = word.find(['=', ':'])
        && is_name(&word[..sign])
        && sign + 1 < word.len()
    {
        return Some(sign + 1..word.len());
    }
    let [earlier, previous] = before;
    let is_value = previous.ends_with(['=', ':']) && is_name(previous)
        || ["=", ":", "is"].contains(&previous) && is_name(earlier);
    let core = word[start..end].trim_end_matches(['.', '!', '=']);
    let mut runs = core.split(|c: char| !c.is_ascii_alphanumeric());
    let is_random = runs.any(|run| {
        let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = run.bytes().any(|byte| byte.is_ascii_alphabetic());
        run.len() >= MIN_RANDOM && has_digit && has_letter
    });
    let is_known = core.len() >= 16 && PREFIXES.iter().any(|prefix| core.starts_with(prefix));
    (is_value || is_random || is_known).then_some(start..start + core.len())
}

/// Returns whether a word names a secret.
fn is_name(word: &str) -> bool {
    let word = word.to_lowercase().replace('-', "_");
    NAMES.iter().any(|name| word.contains(name))
        || word.trim_end_matches([':', '=']).ends_with("key")
}

#[cfg(test)]
mod tests {
    use super::without_keys;

    #[test]
    fn keys_and_passwords_are_left_out() {
        for (sentence, expected) in [
            ("Never print sk-made-up-for-a-test!", "Never print [key left out]!"),
            ("Always use API_KEY=abc for it", "Always use API_KEY=[key left out] for it"),
            (
                "The password is hunter2, never log it",
                "The password is [key left out], never log it",
            ),
            ("Only with token: abc", "Only with token: [key left out]"),
            ("Never use 0123456789abcdef0123456789abcdef here", "Never use [key left out] here"),
        ] {
            assert_eq!(without_keys(sentence), expected);
        }
        for same in [
            "Never touch src/core/analysis/facts/extract2/constraints.rs",
            "Only push to feature-compaction-hooks-for-agents-2026-11-29",
            "Always keep the key order of the JSON.",
            "Don't print tokens.",
            "",
        ] {
            assert_eq!(without_keys(same), same);
        }
    }
}
