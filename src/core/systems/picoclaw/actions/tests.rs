//! Tests of the mechanisms as run by a replay.

use super::ACTIONS;
use crate::chat::{ChatMessage, Content, Replies, SummaryReply, Text, message_from_json};
use crate::engine::{Hook, Memory, RewriteInput, Rewritten, Storage};
use crate::json::json;
use crate::systems::picoclaw::overflow::REFUSED;
use crate::systems::picoclaw::store::summary_part;

/// Makes one message per letter: instructions, user, assistant, call, tool; each is the part of its index.
fn messages_of(roles: &str) -> Vec<ChatMessage> {
    let message = |(idx, role): (usize, char)| {
        let mut message = match role {
            'i' => ChatMessage::new("system", ""),
            'u' => ChatMessage::new("user", ""),
            't' => message_from_json(&json!({"role": "tool", "tool_call_id": "a"})),
            'c' => message_from_json(&json!({"role": "assistant", "tool_calls": [{"id": "a"}]})),
            _ => ChatMessage::new("assistant", ""),
        };
        message.content =
            Content::Text(Text { text: format!("{role}{idx}").into(), part: Some(idx as u32) });
        message
    };
    roles.chars().enumerate().map(message).collect()
}

struct Play<'a> {
    options: &'a str,
    numbers: &'a [(&'static str, f64)],
    at: Hook,
    memory: Memory,
    replies: &'a [SummaryReply],
}

impl Default for Play<'_> {
    fn default() -> Self {
        Self {
            options: "",
            numbers: &[],
            at: Hook::BeforeCall,
            memory: Memory::default(),
            replies: &[],
        }
    }
}

impl Play<'_> {
    fn run(self, name: &str, messages: &[ChatMessage]) -> Rewritten {
        let action = ACTIONS.iter().find(|action| action.name == name).unwrap();
        let options = toml::from_str(self.options).unwrap();
        let input = RewriteInput {
            messages: messages.to_vec().into(),
            tools: &[],
            numbers: self.numbers,
            at: self.at,
            call: 0,
            turn: 1,
            call_in_turn: 0,
            now: 0.0,
            since: None,
            model: "",
            window: 0,
            memory: self.memory,
            error: "",
            storage: &Storage::AsSet,
        };
        let mut replies = Replies::new(self.replies);
        let rewrite = (action.make)(&options).unwrap();
        let mut done = rewrite.rewrite(input, &mut replies).unwrap();
        done.messages = done.after(messages);
        done
    }
}

fn texts(done: &Rewritten) -> Vec<&str> {
    let messages = done.messages.iter().flatten();
    messages.map(|m| m.text().unwrap_or("")).collect()
}

fn value(done: &Rewritten, name: &str) -> f64 {
    done.terms.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn the_current_message_is_kept_and_the_note_is_in_the_summary() {
    let play = Play {
        numbers: &[("context_window", 30.0), ("max_tokens", 1.0)],
        at: Hook::TurnStart,
        ..Play::default()
    };
    let done = play.run("picoclaw.compact_before_turn", &messages_of("iuauau"));
    let note = "[Emergency compression dropped 2 oldest messages due to context limit]";
    assert_eq!(texts(&done), ["i0", &summary_part(note), "u3", "a4", "u5"]);
    assert_eq!((value(&done, "dropped"), value(&done, "remaining")), (2.0, 2.0));
}

#[test]
fn a_request_that_fits_is_left_alone() {
    let play =
        Play { numbers: &[("context_window", 1000.0), ("max_tokens", 1.0)], ..Play::default() };
    let done = play.run("picoclaw.compact_before_turn", &messages_of("iuauau"));
    assert!(!done.fired && done.messages.is_none() && done.log.is_empty());
}

#[test]
fn messages_that_the_turn_adds_are_sent_unchanged() {
    let sanitize = |memory: Memory, roles: &str| {
        let play = Play { options: "edition = \"after\"", memory, ..Play::default() };
        play.run("picoclaw.sanitize", &messages_of(roles))
    };
    let first = sanitize(Memory::default(), "ituau");
    assert_eq!(texts(&first), ["i0", "u2", "a3", "u4"]);
    // A call that follows an answer would not be sent from the store.
    let second = sanitize(first.memory, "ituauact");
    assert_eq!(texts(&second), ["i0", "u2", "a3", "u4", "a5", "c6", "t7"]);
    let fresh = sanitize(Memory::default(), "ituauact");
    assert_eq!(texts(&fresh), ["i0", "u2", "a3", "u4", "a5"]);
}

#[test]
fn turns_left_out_at_first_stay_out_for_the_turn() {
    let trim = |memory: Memory, window: f64, roles: &str| {
        let play = Play {
            numbers: &[("context_window", window), ("max_tokens", 1.0)],
            memory,
            ..Play::default()
        };
        play.run("picoclaw.trim_to_fit", &messages_of(roles))
    };
    // Five tokens a message, thirteen for the system prompt.
    let first = trim(Memory::default(), 30.0, "iuauau");
    assert_eq!(texts(&first), ["i0", "u3", "a4", "u5"]);
    let later = trim(first.memory, 1000.0, "iuauaua");
    assert_eq!(texts(&later), ["i0", "u3", "a4", "u5", "a6"]);
}

#[test]
fn a_turn_that_does_not_fit_by_itself_is_given_up() {
    let play = |numbers| Play { numbers, at: Hook::OverflowError, ..Play::default() };
    let action = "picoclaw.rebuild_after_refusal";
    let done =
        play(&[("context_window", 15.0), ("max_tokens", 1.0)]).run(action, &messages_of("uauct"));
    assert_eq!(done.halt.as_deref(), Some(REFUSED));
    let done =
        play(&[("context_window", 1000.0), ("max_tokens", 1.0)]).run(action, &messages_of("uauct"));
    assert_eq!(done.halt, None);
    assert_eq!(texts(&done)[1..], ["u2", "c3", "t4"]);
}

#[test]
fn a_summary_takes_the_place_of_all_but_the_newest() {
    let play = Play {
        options: "edition = \"before\"",
        numbers: &[
            ("context_window", 1000.0),
            ("max_tokens", 1.0),
            ("message_threshold", 5.0),
            ("token_percent", 75.0),
            ("kept_messages", 4.0),
        ],
        at: Hook::TurnEnd,
        replies: &[SummaryReply::Text("S".into())],
        ..Play::default()
    };
    let done = play.run("picoclaw.summarize_session", &messages_of("iuauaua"));
    assert_eq!(texts(&done), ["i0", &summary_part("S"), "u3", "a4", "u5", "a6"]);
    assert_eq!(value(&done, "token_threshold"), 750.0);
}

#[test]
fn as_proposed_a_call_is_limited_by_the_history_budget() {
    let numbers: &[(&'static str, f64)] = &[
        ("context_window", 40.0),
        ("max_tokens", 5.0),
        ("message_threshold", 1.0),
        ("token_percent", 75.0),
        ("kept_messages", 4.0),
    ];
    let summarize = |numbers: &[(&'static str, f64)]| {
        let play = Play {
            options: "edition = \"proposed\"",
            numbers,
            replies: &[SummaryReply::Text("S".into())],
            ..Play::default()
        };
        play.run("picoclaw.summarize_session", &messages_of("iuauct"))
    };
    let done = summarize(numbers);
    // The system prompt has 13 tokens: 12 characters and 22 of its part, two tokens for five.
    assert_eq!(value(&done, "token_threshold"), 40.0 - 13.0 - 5.0);
    assert_eq!(texts(&done)[2..], ["a2", "u3", "c4", "t5"]);
    let wide = [&[("context_window", 60.0)], &numbers[1..]].concat();
    assert!(!summarize(&wide).fired);
}

#[test]
fn an_option_that_is_not_there_is_refused() {
    let make = |name: &str, options: &str| {
        let action = ACTIONS.iter().find(|action| action.name == name).unwrap();
        (action.make)(&toml::from_str(options).unwrap()).map(|_| ())
    };
    assert!(make("picoclaw.sanitize", "edition = \"after\"").is_ok());
    assert!(make("picoclaw.sanitize", "").is_err());
    assert!(make("picoclaw.sanitize", "edition = \"later\"").is_err());
    assert!(make("picoclaw.sanitize", "edition = \"after\"\nother = 1").is_err());
    assert!(make("picoclaw.trim_to_fit", "edition = \"after\"").is_err());
}
