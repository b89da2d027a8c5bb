//! Keys and passwords in sentences of the user, which hooks neither print nor write to the disk.

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

/// Schemes before the value of an `Authorization` header.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "digest"];

/// Words after an option such as `--password` that are no value of it.
const NO_VALUES: [&str; 16] = [
    "a", "an", "and", "as", "at", "flag", "for", "from", "in", "is", "on", "option", "or", "the",
    "to", "with",
];

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
    if let Some(password) = password_of_url(word) {
        return Some(password);
    }
    let start = word.find(is_inside)?;
    let end = word[start..].find(|c| !is_inside(c)).map_or(word.len(), |at| start + at);
    // A key after its name in the same word: `token=abc`, `password:abc`.
    if let Some(sign) = word.find(['=', ':'])
        && (is_name(&word[..sign]) || is_header(&word[..=sign]))
        && !SCHEMES.contains(&&*plain(&word[sign + 1..]))
        && sign + 1 < word.len()
    {
        return Some(sign + 1..word.len());
    }
    let [earlier, previous] = before;
    let core = word[start..end].trim_end_matches(['.', '!', '=']);
    let is_option = previous.trim_start_matches(['`', '\'', '"', '(']).starts_with("--");
    let has_scheme = SCHEMES.iter().any(|scheme| plain(previous).ends_with(scheme));
    let is_value = previous.ends_with(['=', ':']) && is_name(previous)
        || ["=", ":", "is"].contains(&previous) && is_name(earlier)
        || is_option && is_option_name(previous) && !NO_VALUES.contains(&&*plain(core))
        || is_header(previous) && !SCHEMES.contains(&&*plain(core))
        || has_scheme && (is_header(earlier) || is_header(previous));
    let mut runs = core.split(|c: char| !c.is_ascii_alphanumeric());
    let is_random = runs.any(|run| {
        let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = run.bytes().any(|byte| byte.is_ascii_alphabetic());
        run.len() >= MIN_RANDOM && has_digit && has_letter
    });
    let is_known = core.len() >= 16 && PREFIXES.iter().any(|prefix| core.starts_with(prefix));
    (is_value || is_random || is_known).then_some(start..start + core.len())
}

/// Returns the bytes of the password in an address: `://user:password@host`.
fn password_of_url(word: &str) -> Option<std::ops::Range<usize>> {
    let start = word.find("://")? + 3;
    let end = word[start..].find(['/', '?', '#']).map_or(word.len(), |at| start + at);
    let at = start + word[start..end].rfind('@')?;
    let password = start + word[start..at].find(':')? + 1;
    (password < at).then_some(password..at)
}

/// Returns whether a word is the name of the header `Authorization:`, or begins with it.
fn is_header(word: &str) -> bool {
    plain(word).contains("authorization") && word.contains([':', '='])
}

/// Returns whether an option takes a secret. `--token-limit` and `--password=x` do not take the next word.
fn is_option_name(option: &str) -> bool {
    let option = plain(option).replace('-', "_");
    NAMES.iter().any(|name| option.ends_with(name)) || option.ends_with("key")
}

/// Returns a word in lower case without the signs around it.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
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
            ("Never log password: x1", "Never log password: [key left out]"),
            ("Use `--password hunter2` only", "Use `--password [key left out]` only"),
            ("Never pass --api-key x1 to it", "Never pass --api-key [key left out] to it"),
            (
                "Only use postgres://app:hunter2@db.local/main here",
                "Only use postgres://app:[key left out]@db.local/main here",
            ),
            (
                "Always send 'Authorization: Bearer abc' first",
                "Always send 'Authorization: Bearer [key left out]' first",
            ),
            (
                "Always send Authorization:Basic abc= first",
                "Always send Authorization:Basic [key left out]= first",
            ),
            ("Never print Authorization: abc", "Never print Authorization: [key left out]"),
            ("Never use 0123456789abcdef0123456789abcdef here", "Never use [key left out] here"),
        ] {
            assert_eq!(without_keys(sentence), expected);
        }
        for same in [
            "Never touch src/core/analysis/facts/extract2/constraints.rs",
            "Only push to feature-compaction-hooks-for-agents-2026-11-29",
            "Always keep the key order of the JSON.",
            "Don't print tokens.",
            "Never give --password on the command line.",
            "Always set --token-limit 5 and --key-order.",
            "Only clone from ssh://git@host:22/repository and https://host:80/a@b",
            "Always use bearer tokens and send the Authorization header.",
            "",
        ] {
            assert_eq!(without_keys(same), same);
        }
    }
}
