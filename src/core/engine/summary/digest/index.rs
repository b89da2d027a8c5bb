//! Selects the identifiers that later messages are most likely to need: rare ones, recent ones, and ones that the agent
//! used.

use crate::session::{Body, Session, identifiers};
use std::collections::HashMap;

/// Maximum number of identifiers. They are the last section, so the cap of the digest usually cuts them earlier.
/// Chosen: beyond this many, identifiers are about equally likely to be needed, and a list of them helps no reader.
const MAX_IDENTIFIERS: usize = 120;

/// Number of identifiers per line. A line that does not fit the cap is cut, so lines are short.
const PER_LINE: usize = 8;

#[derive(Default)]
struct Occurrences {
    /// Number of messages that contain it.
    messages: usize,
    /// Position of the last of them among the messages.
    last: usize,
    /// Whether the agent wrote it, in text or in a call.
    by_agent: bool,
}

/// Returns the index as lines, the most likely identifiers first.
pub(super) fn lines(session: &Session, messages: &[usize]) -> Vec<String> {
    let mut found: HashMap<&str, Occurrences> = HashMap::new();
    for (position, message) in messages.iter().enumerate() {
        for part in session.parts_of(&session.messages[*message]) {
            let by_agent = matches!(part.body, Body::ToolCall { .. })
                || session.messages[*message].call.is_some();
            for word in identifiers(part.body.text()) {
                let entry = found.entry(word).or_default();
                entry.messages += usize::from(entry.messages == 0 || entry.last != position);
                entry.last = position;
                entry.by_agent |= by_agent;
            }
        }
    }
    // An identifier that occurs nearly everywhere is not informative: the limits of names for references at risk.
    let too_common = (messages.len() / 25).max(12);
    let mut ranked: Vec<(f64, &str)> = found
        .iter()
        .filter(|(_, s)| s.messages <= too_common)
        .map(|(word, s)| (score(s, messages.len()), *word))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.truncate(MAX_IDENTIFIERS);
    ranked
        .chunks(PER_LINE)
        .map(|words| words.iter().map(|w| w.1).collect::<Vec<_>>().join(" "))
        .collect()
}

/// Returns how likely later messages need an identifier. Rarity is its information as in search engines (inverse
/// document frequency); the newest identifiers count five times as much as the oldest, and those that the agent itself
/// wrote twice as much.
fn score(found: &Occurrences, n_messages: usize) -> f64 {
    let rarity = (n_messages as f64 / found.messages as f64).ln() + 1.0;
    let recency = 0.25 + found.last as f64 / n_messages as f64;
    rarity * recency * if found.by_agent { 2.0 } else { 1.0 }
}
