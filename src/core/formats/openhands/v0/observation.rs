//! Texts of observations as they are sent to the model.

use crate::formats::json;
use crate::json::Value;

/// Maximum number of characters of an observation that are sent to the model by default.
// As in OpenHands, `max_message_chars` of its configuration of models (`openhands/core/config/llm_config.py`).
const MAX_SENT_CHARS: usize = 30_000;
/// Text that replaces the middle of a longer observation.
const CUT_MARK: &str = "\n[... Observation truncated due to length ...]\n";
/// Warning about a truncated observation.
pub(super) const CUT: &str = "an observation exceeds the 30,000 characters that OpenHands sends by default; its middle is not counted";

/// Returns the beginning and the end of a long observation, as they are sent.
pub(super) fn as_sent(text: &str) -> Option<String> {
    let half = MAX_SENT_CHARS / 2;
    let place = |n: usize| text.char_indices().nth(n).map(|(at, _)| at);
    let n_chars = (text.len() > MAX_SENT_CHARS).then(|| text.chars().count())?;
    let (head, tail) = (place(half)?, place(n_chars - half)?);
    (n_chars > MAX_SENT_CHARS).then(|| format!("{}{CUT_MARK}{}", &text[..head], &text[tail..]))
}

/// Returns recalled content: repository instructions and the instructions that the message triggered.
pub(super) fn recalled(value: &Value) -> String {
    let extras = value.get("extras").unwrap_or(&Value::Null);
    let own = ["repo_instructions", "additional_agent_instructions", "conversation_instructions"]
        .iter()
        .filter_map(|key| json::str_at(extras, &[key]));
    let agents = extras.get("microagent_knowledge").and_then(Value::as_array);
    let agents = agents.into_iter().flatten().filter_map(|a| json::str_at(a, &["content"]));
    let texts: Vec<&str> = own.chain(agents).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::{CUT_MARK, MAX_SENT_CHARS, as_sent};

    #[test]
    fn truncates_the_middle_of_a_long_observation() {
        assert_eq!(as_sent(&"é".repeat(MAX_SENT_CHARS)), None);
        let text = format!("a{}z", "é".repeat(MAX_SENT_CHARS));
        let sent = as_sent(&text).unwrap();
        assert_eq!(sent.chars().count(), MAX_SENT_CHARS + CUT_MARK.len());
        assert!(sent.starts_with("aé") && sent.ends_with("éz") && sent.contains(CUT_MARK));
    }
}
