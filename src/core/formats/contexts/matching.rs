//! Matches the context of a call with that of the previous call.

use super::summaries::{UsedSummary, contains};
use super::{ContextEntry, Track, text_len};
use crate::session::{Body, Draft, Part, Role};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The context of a call after matching it with the previous one.
pub(super) struct Rebuilt {
    pub(super) context: Vec<ContextEntry>,
    /// The program removed messages of the previous context.
    pub(super) is_managed: bool,
}

impl Track {
    /// Matches a context with the previous one and adds the new messages. After their equal beginning, each message
    /// takes the first equal message of the previous context behind the last match, so that the order is kept in linear
    /// time.
    /// `summary` is one that the context contains.
    pub(super) fn rebuilt(
        &mut self,
        context: Vec<Draft>,
        keys: &[u64],
        summary: Option<&UsedSummary>,
    ) -> Rebuilt {
        let same =
            self.current.iter().zip(keys).take_while(|(entry, key)| entry.key == **key).count();
        let mut later: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, entry) in self.current.iter().enumerate().skip(same).rev() {
            later.entry(entry.key).or_default().push(at);
        }
        // Each list of places is in descending order, so that the next place is at its end and passed ones are popped.
        // Previous index of each message. The indices ascend.
        let mut next = same;
        let mut found: Vec<Option<usize>> = (0..same).map(Some).collect();
        for key in &keys[same..] {
            let places = later.get_mut(key);
            let track_of = places.and_then(|places| {
                while places.last().is_some_and(|at| *at < next) {
                    places.pop();
                }
                places.pop()
            });
            next = track_of.map_or(next, |at| at + 1);
            found.push(track_of);
        }
        let n_found = found.iter().flatten().count();
        let is_managed = n_found < self.current.len();
        let first_new = first_new(&context, &found, is_managed);
        let before = std::mem::take(&mut self.current);
        let is_edit = is_edit(&found, before.len(), first_new);
        let mut rebuilt = Vec::with_capacity(context.len());
        // Rewritten messages come first, because they belong to the context after a compaction.
        for (idx, ((draft, track_of), key)) in context.into_iter().zip(found).zip(keys).enumerate()
        {
            let (len, role) = (text_len(&draft), draft.role);
            let message = if let Some(at) = track_of {
                before[at].message
            } else {
                let is_summary = summary.is_some_and(|summary| contains(&draft, &summary.line));
                let is_rewritten = is_managed && (idx < first_new || is_summary);
                let is_of_user = role == Role::User && !draft.is_injected && !is_edit;
                self.transcript.add_message(Draft {
                    in_history: !is_rewritten,
                    is_summary: is_rewritten && (is_of_user || is_summary),
                    ..draft
                })
            };
            rebuilt.push(ContextEntry::new(message, *key, len, role));
        }
        Rebuilt { context: rebuilt, is_managed }
    }
}

/// Returns whether each message that is gone has another one in its place: the program changed messages, and summarized
/// none.
fn is_edit(found: &[Option<usize>], n_before: usize, first_new: usize) -> bool {
    let is_kept = |at: usize| found.get(at) == Some(&Some(at));
    let is_replaced = |at: usize| found.get(at) == Some(&None);
    n_before <= first_new && (0..n_before).all(|at| is_kept(at) || is_replaced(at))
}

/// Returns the index of the first new message of a context. If messages were removed, only tool results and the last
/// message can be new; any other unknown message replaces removed ones.
fn first_new(context: &[Draft], found: &[Option<usize>], is_managed: bool) -> usize {
    let last_known = found.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
    if !is_managed {
        return last_known;
    }
    let tail = context.iter().enumerate().rev().take_while(|(idx, draft)| {
        *idx >= last_known && (*idx + 1 == context.len() || draft.role == Role::Tool)
    });
    tail.last().map_or(context.len(), |(idx, _)| idx)
}

/// Returns the hashes of the leading instructions and the keys of all messages. Instructions that change between calls
/// count as the same message, and tool definitions may be missing from a call. Neither is a compaction.
pub(super) fn context_keys(context: &[Draft]) -> (Vec<u64>, Vec<u64>) {
    let head = context.iter().take_while(|draft| draft.role == Role::System).count();
    let texts = context[..head].iter().filter(|draft| !is_tools(draft)).map(message_key).collect();
    let mut n = 0;
    let all = context.iter().enumerate().map(|(at, draft)| {
        if at >= head {
            return message_key(draft);
        }
        if is_tools(draft) {
            return TOOLS;
        }
        n += 1;
        n
    });
    (texts, all.collect())
}

/// Key of all tool definitions.
pub(super) const TOOLS: u64 = 0;

fn is_tools(draft: &Draft) -> bool {
    let is_tool = |part: &Part| matches!(part.body, Body::ToolDefinition { .. });
    draft.parts.iter().any(is_tool)
}

/// Returns a hash of a message's content without ids and thoughts, which change between calls.
pub(super) fn message_key(draft: &Draft) -> u64 {
    let mut hasher = DefaultHasher::new();
    let role = match draft.role {
        Role::Tool => Role::User,
        role => role,
    };
    role.hash(&mut hasher);
    // Streams split a text into parts that the program joins.
    let mut text = String::new();
    for part in &draft.parts {
        match &part.body {
            Body::Thinking { .. } => continue,
            Body::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            _ => {}
        }
        std::mem::take(&mut text).trim().hash(&mut hasher);
        match &part.body {
            Body::ToolCall { tool, arguments, .. } => {
                // Some libraries write empty arguments as an empty text in answers and as `{}` in later contexts.
                let arguments = match arguments.trim() {
                    "" | "null" => "{}",
                    other => other,
                };
                let arguments = crate::json::from_str(arguments)
                    .map_or_else(|_| arguments.to_owned(), |value| value.to_string());
                (tool, arguments).hash(&mut hasher);
            }
            Body::Media { bytes, .. } => bytes.hash(&mut hasher),
            body => body.text().trim().hash(&mut hasher),
        }
    }
    text.trim().hash(&mut hasher);
    hasher.finish()
}
