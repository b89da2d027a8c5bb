//! Names of models, which programs, hosts and vendors write in different ways.

/// Words at the end of a name that do not change a model: how it is served, or how long it thinks.
const NEUTRAL: [&str; 29] = [
    "latest",
    "preview",
    "exp",
    "experimental",
    "free",
    "cloud",
    "maas",
    "instruct",
    "it",
    "chat",
    "hf",
    "awq",
    "gptq",
    "gguf",
    "default",
    "us",
    "eu",
    "global",
    "high",
    "low",
    "medium",
    "minimal",
    "xhigh",
    "think",
    "thinking",
    "reasoning",
    "fp",
    "bf",
    "v",
];
/// Number formats, which a number follows: `fp8`, `int4`.
const FORMATS: [&str; 6] = ["fp", "bf", "nvfp", "mxfp", "int", "v"];

/// Returns a model's own name in lower case, without provider, region, route and window: `openrouter/openai/GPT-4o`,
/// `us.anthropic.claude-sonnet-4-5-20250929-v1:0`.
pub fn bare_model_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix("[1m]").unwrap_or(last);
    // Bedrock puts region and vendor before the name, separated by dots. A dot of a version precedes a digit.
    let vendor_end = last.match_indices('.').rev().find(|(at, _)| {
        let (before, after) = (&last[..*at], &last[at + 1..]);
        let is_vendor = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '.');
        after.starts_with(|c: char| c.is_ascii_lowercase()) && before.chars().all(is_vendor)
    });
    let Some((at, _)) = vendor_end else {
        return last.to_owned();
    };
    let (before, after) = (&last[..at], &last[at + 1..]);
    // `deepseek.v3.1` and `deepseek.r1` name only the version after the vendor.
    let is_version =
        after.starts_with(['v', 'r']) && after[1..].starts_with(|c: char| c.is_ascii_digit());
    match before.rsplit('.').next() {
        Some(vendor) if is_version => format!("{vendor}-{after}"),
        _ => after.to_owned(),
    }
}

/// Returns the words and numbers of a model's own name, joined with dashes. Two names of one model have the same key:
/// `gpt-4o` and `GPT.4o`, `llama3.1:8b` and `llama-3.1-8b`, `claude-4-5-sonnet` and `claude-sonnet-4.5`.
///
/// A name is cut wherever letters, digits and other signs meet, and the other signs are dropped. Spellings differ only
/// in these signs, except for Anthropic's two orders of version and family.
pub fn model_key(name: &str) -> String {
    let bare = bare_model_name(name);
    let mut parts: Vec<&str> = Vec::new();
    let mut begin = 0;
    let kind = |c: char| (c.is_ascii_alphabetic(), c.is_ascii_digit());
    for (at, c) in bare.char_indices() {
        let before = bare[begin..at].chars().next_back();
        if before.is_some_and(|before| kind(before) != kind(c)) {
            parts.push(&bare[begin..at]);
            begin = at;
        }
    }
    parts.push(&bare[begin..]);
    parts.retain(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let is_number = |part: &&str| part.bytes().all(|b| b.is_ascii_digit());
    let word = parts.iter().skip(1).position(|part| !is_number(part));
    // Anthropic has used two orders: `claude-3-5-sonnet`, `claude-sonnet-4-5`.
    if parts.first() == Some(&"claude")
        && let Some(word @ 1..) = word
    {
        parts[1..=word + 1].rotate_right(1);
    }
    parts.join("-")
}

/// Iterates over the keys by which a model is looked up: its own, then shorter ones without date, version and other
/// endings that do not change the model.
pub fn model_keys(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key), |key| Some(&key[..neutral_end(key)?]))
}

/// Returns the position at which an ending begins that does not change the model.
fn neutral_end(key: &str) -> Option<usize> {
    let (rest, last) = key.rsplit_once('-')?;
    if !last.bytes().all(|b| b.is_ascii_digit()) {
        return NEUTRAL.contains(&last).then_some(rest.len());
    }
    let digits = last.len();
    // A date (`20251101`, `0613`). Versions have fewer digits.
    if digits >= 4 {
        return Some(rest.len());
    }
    let (before, previous) = rest.rsplit_once('-')?;
    if FORMATS.contains(&previous) {
        return Some(before.len());
    }
    // `v1:0`, `2025-04-14`.
    let (first, earlier) = before.rsplit_once('-')?;
    let is_date =
        digits == 2 && previous.len() == 2 && earlier.len() == 4 && earlier.starts_with("20");
    let is_version = earlier == "v" && previous.bytes().all(|b| b.is_ascii_digit());
    (is_date || is_version).then_some(first.len())
}

/// Returns true if a key is a prefix of another with the boundary of a word or a number.
pub fn begins_with_key(key: &str, prefix: &str) -> bool {
    let rest = key.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_model_have_the_same_key() {
        for (a, b) in [
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4.5-20250929-v1:0"),
            ("openrouter/openai/GPT-4o", "gpt-4o"),
            ("llama3.1:8b", "meta.llama-3.1-8b"),
            ("claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("claude-3-5-sonnet-20241022", "claude-sonnet-3.5-20241022"),
            ("deepseek-v4-pro[1m]", "deepseek/deepseek-v4-pro"),
            ("deepseek.v3.1", "deepseek-v3.1"),
        ] {
            assert_eq!(model_key(a), model_key(b), "{a} {b}");
        }
        assert_eq!(model_key("gpt-6.1-sol"), "gpt-6-1-sol");
        assert_eq!(
            (model_key(""), model_key("<synthetic>")),
            (String::new(), "synthetic".to_owned())
        );
    }

    #[test]
    fn dates_versions_and_efforts_are_no_other_model() {
        let last = |name: &str| {
            let key = model_key(name);
            model_keys(&key).last().map(str::to_owned)
        };
        for (name, own) in [
            ("claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5.6-sol-xhigh", "gpt-5-6-sol"),
            ("qwen3.6-27b-fp8", "qwen-3-6-27-b"),
            ("gpt-5.9", "gpt-5-9"),
            ("o3", "o-3"),
        ] {
            assert_eq!(last(name).as_deref(), Some(own), "{name}");
        }
        assert!(begins_with_key("gpt-4-o-mini", "gpt-4-o") && !begins_with_key("gpt-41", "gpt-4"));
    }
}
