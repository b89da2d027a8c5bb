//! Actions of presets.

use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest, n_system, newest_request};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[SUMMARIZE];

/// Acts if at most `threshold` tokens of the window are left.
const SUMMARIZE: NamedAction = NamedAction::new(
    "crush.summarize",
    ActionKind::Summarize,
    "Replaces the whole history with a summary, and repeats the request of an unfinished turn.",
    |settings| summarizing(settings, summarize),
)
.with_numbers(&["total", "threshold", "is_on"]);

const SYSTEM: &str = include_str!("prompt.txt");
const PROMPT: &str = "Provide a detailed summary of our conversation above.";

/// `sessionAgent.Summarize`.
fn summarize(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let total = input.number("total").max(0.0);
    let mut done = Rewritten {
        compared: (input.call > 0).then_some(total as u64),
        terms: vec![("used".to_owned(), total)],
        ..Rewritten::default()
    };
    // Its checks follow answers.
    let is_full = input.window as f64 - total <= input.number("threshold");
    if input.call == 0 || input.window == 0 || !is_full || !input.flag("is_on") {
        return Ok(done);
    }
    let all = &input.messages;
    let newest = newest_request(all);
    // A finished turn was summarized before the request that begins the next one.
    let is_first = input.call_in_turn == 0;
    let end = newest.filter(|_| is_first).unwrap_or(all.len());
    let start = n_system(all);
    if start >= end {
        return Ok(done);
    }
    done.fired = true;
    let summary = match replies.reply_to(request(&all[start..end]))?.into_text() {
        Ok(summary) => summary,
        Err(why) => {
            // The error ends the turn.
            done.log.push(why.clone());
            done.halt = (!is_first).then_some(why);
            return Ok(done);
        }
    };
    let mut messages = all[..start].to_vec();
    if !summary.is_empty() {
        messages.push(ChatMessage::summary("user", summary));
    }
    messages.extend_from_slice(&all[end..]);
    if !is_first {
        let request = newest.map(|at| all[at].joined_text("")).unwrap_or_default();
        let text = format!(
            "The previous session was interrupted because it got too long, the initial user request was: `{request}`"
        );
        messages.push(ChatMessage::notice("user", text));
    }
    Ok(Rewritten { messages: Some(messages), ..done })
}

/// Returns the request for a summary of a history.
fn request(history: &[ChatMessage]) -> SummaryRequest {
    let system = [ChatMessage::new("system", SYSTEM)];
    SummaryRequest::new([&system, history, &[ChatMessage::new("user", PROMPT)]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SummaryReply;
    use crate::systems::testing::{Played, play, texts};

    /// Plays the action at a call in turn 2 of a conversation whose last answer left `left` of 100,000 tokens.
    fn played(left: f64, call_in_turn: u32, reply: SummaryReply) -> Played {
        let mut messages = vec![
            ChatMessage::new("system", "S"),
            ChatMessage::new("user", "first"),
            ChatMessage::new("assistant", "answer"),
            ChatMessage::new("user", "second"),
        ];
        if call_in_turn > 0 {
            messages.push(ChatMessage::new("assistant", "step"));
            messages.push(ChatMessage::new("tool", "result"));
        }
        let numbers = [("total", 100_000.0 - left), ("threshold", 20_000.0), ("is_on", 1.0)];
        play(&SUMMARIZE, &numbers, (2, call_in_turn), messages, &[reply])
    }

    fn summary() -> SummaryReply {
        SummaryReply::Text("SUMMARY".into())
    }

    #[test]
    fn acts_when_the_threshold_is_left() {
        assert!(!played(20_001.0, 1, summary()).done.fired);
        assert!(played(20_000.0, 1, summary()).done.fired);
    }

    #[test]
    fn within_a_turn_the_request_is_repeated() {
        let after = played(0.0, 1, summary()).after();
        let repeated = "The previous session was interrupted because it got too long, the initial user request was: `second`";
        assert_eq!(texts(&after), ["S", "SUMMARY", repeated]);
        assert!(after[1].is("user") && after[2].is("user"));
    }

    #[test]
    fn between_turns_the_new_request_is_kept() {
        let played = played(0.0, 0, summary());
        assert_eq!(texts(&played.after()), ["S", "SUMMARY", "second"]);
        let asked = &played.requests[0].messages;
        assert_eq!(texts(asked), [SYSTEM, "first", "answer", PROMPT]);
    }

    #[test]
    fn a_failed_summary_ends_the_turn() {
        let played = played(0.0, 1, SummaryReply::Failed("no".into()));
        assert_eq!(played.done.halt.as_deref(), Some("no"));
        assert!(played.done.messages.is_none());
        let between = self::played(0.0, 0, SummaryReply::Failed("no".into()));
        assert_eq!((between.done.halt, between.done.log), (None, vec!["no".to_owned()]));
    }
}
