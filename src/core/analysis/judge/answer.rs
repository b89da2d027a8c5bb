//! Answers of the judge and the check of their quotes.

use crate::json::{self, Value};

/// Minimum length of a quote in bytes. Shorter ones are in every context.
const MIN_QUOTE: usize = 6;

/// Whether a context supports an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The context contains what the action rests on.
    Supported,
    /// The context contains the opposite.
    Contradicted,
    /// The context contains neither.
    Missing,
}

/// The judgement of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedAction {
    /// Whether the context supports it, after the check of the quote.
    pub support: Support,
    /// The judge gave a quote that is not in the context, so that it counts as missing.
    pub has_false_quote: bool,
}

/// Parses an answer about `n` actions. `contains` tells whether the context contains a quote byte for byte. An action
/// that the answer does not judge is `None`.
pub fn parse(text: &str, n: usize, contains: impl Fn(&str) -> bool) -> Vec<Option<JudgedAction>> {
    let mut judged = vec![None; n];
    for entry in entries(text) {
        let number =
            entry["action"].as_u64().or_else(|| entry["action"].as_str()?.trim().parse().ok());
        let slot = number.and_then(|number| judged.get_mut((number as usize).checked_sub(1)?));
        if let (Some(slot), Some(action)) = (slot, judge(&entry, &contains)) {
            slot.get_or_insert(action);
        }
    }
    judged
}

/// Returns the objects of the array in an answer, which may be within other text or cut off.
fn entries(text: &str) -> Vec<Value> {
    let start = text.find('[').unwrap_or(0);
    let end = text.rfind(']').map_or(text.len(), |end| end + 1);
    if let Some(Ok(Value::Array(entries))) = text.get(start..end).map(json::from_str) {
        return entries;
    }
    // One object after the other, as far as they are complete.
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        match json::leading_value(rest) {
            Some((value, after)) => {
                found.push(value);
                rest = after;
            }
            None => rest = &rest[1..],
        }
    }
    found
}

fn judge(entry: &Value, contains: impl Fn(&str) -> bool) -> Option<JudgedAction> {
    let support = match entry["status"].as_str()?.trim().to_lowercase().as_str() {
        "supported" => Support::Supported,
        "contradicted" => Support::Contradicted,
        "missing" => Support::Missing,
        _ => return None,
    };
    if support == Support::Missing {
        return Some(JudgedAction { support, has_false_quote: false });
    }
    let quote = entry["quote"].as_str().unwrap_or_default();
    let is_there = quote.trim().len() >= MIN_QUOTE && contains(quote);
    Some(JudgedAction {
        support: if is_there { support } else { Support::Missing },
        has_false_quote: !is_there,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "The limit is 4096.\nEdit src/ledger.rs only.";

    fn judged(text: &str, n: usize) -> Vec<Option<(Support, bool)>> {
        let judged = parse(text, n, |quote| CONTEXT.contains(quote));
        judged.into_iter().map(|j| j.map(|j| (j.support, j.has_false_quote))).collect()
    }

    #[test]
    fn quotes_are_checked_byte_for_byte() {
        let answer = r#"Here it is: [
            {"action": 1, "status": "supported", "quote": "src/ledger.rs"},
            {"action": 2, "status": "supported", "quote": "src/Ledger.rs"},
            {"action": "3", "status": "Contradicted", "quote": "The limit is 4096."},
            {"action": 4, "status": "missing", "quote": ""},
            {"action": 5, "status": "supported", "quote": "is"},
            {"action": 6, "status": "perhaps", "quote": "src/ledger.rs"},
            {"action": 99, "status": "missing"}]"#;
        assert_eq!(
            judged(answer, 7),
            [
                Some((Support::Supported, false)),
                Some((Support::Missing, true)),
                Some((Support::Contradicted, false)),
                Some((Support::Missing, false)),
                Some((Support::Missing, true)),
                None,
                None,
            ]
        );
    }

    #[test]
    fn a_cut_off_or_odd_answer_gives_what_it_has() {
        let cut = r#"[{"action": 1, "status": "missing"}, {"action": 2, "status": "supp"#;
        assert_eq!(judged(cut, 2), [Some((Support::Missing, false)), None]);
        let lines = "{\"action\": 2, \"status\": \"missing\"}\n{\"action\": 1, \"status\": \"supported\", \"quote\": \"Edit src/\"}";
        assert_eq!(judged(lines, 2)[0], Some((Support::Supported, false)));
        for text in
            ["", "I cannot judge this.", "[", "[1, 2]", "{\"action\": 0, \"status\": \"missing\"}"]
        {
            assert_eq!(judged(text, 1), [None], "{text}");
        }
    }
}
