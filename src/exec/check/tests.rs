//! Each check holds for a faithful export and can be made to fail.

use super::*;
use crate::engine::{WindowPlan, WindowSource};
use crate::session::WrittenKind;
use crate::tokens::Progress;

const SOURCE: &str = r#"[
 {"role": "user", "content": "Read a and b."},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]},
 {"role": "tool", "tool_call_id": "c1", "content": "one two three four five six seven"},
 {"role": "assistant", "content": "Both are read."}
]"#;

fn case() -> Case {
    let input = Input {
        name: "c.json".to_owned(),
        bytes: Arc::from(SOURCE.as_bytes()),
    };
    let session = formats::parse(&input)
        .expect("a conversation")
        .sessions
        .remove(0);
    let counter = crate::tokens::default_counter();
    let ledger =
        TokenLedger::count(&session, counter, &Progress::default()).expect("nobody cancels");
    let windows = WindowPlan::constant(Tokens(1_000), session.steps.len(), WindowSource::ByHand);
    Case::new(Arc::new(session), ledger, windows)
}

/// Everything is kept.
fn whole(case: &Case) -> Managed {
    Managed {
        entries: (0..case.session.messages.len())
            .map(|message| ManagedEntry::Kept { message })
            .collect(),
    }
}

/// What the checks say about these bytes, where the whole conversation was promised.
fn said_of(written: &str) -> Vec<(&'static str, bool)> {
    let (case, format) = (
        case(),
        formats::by_name("openai_chat").expect("a format of ours"),
    );
    let (managed, tokens) = (whole(&case), case.ledger.total());
    let promise = Promise {
        case: &case,
        managed: &managed,
        tokens,
        overhead: case.ledger.overhead,
        format,
    };
    all(&promise, written.as_bytes().to_vec())
        .into_iter()
        .map(|check| (check.name, check.ok))
        .collect()
}

fn failed(written: &str) -> Vec<&'static str> {
    said_of(written)
        .into_iter()
        .filter(|(_, ok)| !ok)
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn a_faithful_export_passes_every_check() {
    let names = ["pairs", "roles", "kept bytes", "tokens", "ids unique"];
    assert_eq!(said_of(SOURCE), names.map(|name| (name, true)));
}

#[test]
fn what_cannot_be_read_back_fails() {
    assert_eq!(failed("[{\"role\": \"user\""), ["reads back"]);
    assert_eq!(
        failed(
            r#"{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#
        ),
        ["reads back"]
    );
}

#[test]
fn a_result_without_its_call_fails() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let torn = [lines[0], lines[1], lines[3], lines[4], lines[5]].join("\n");
    assert!(failed(&torn).contains(&"pairs"), "{:?}", failed(&torn));
}

#[test]
fn a_conversation_that_begins_with_the_assistant_fails() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let headless = [lines[0], lines[2], lines[3], lines[4], lines[5]].join("\n");
    assert!(
        failed(&headless).contains(&"roles"),
        "{:?}",
        failed(&headless)
    );
}

#[test]
fn an_empty_message_fails() {
    assert!(failed(&SOURCE.replace("Both are read.", " ")).contains(&"roles"));
}

#[test]
fn a_changed_byte_in_an_untouched_message_fails_even_if_the_meaning_is_the_same() {
    assert_eq!(
        failed(&SOURCE.replace("\"role\": \"tool\", ", "\"role\":\"tool\", ")),
        ["kept bytes"]
    );
}

#[test]
fn another_weight_than_promised_fails() {
    let heavier = SOURCE.replace("Both are read.", "Both are read, and both are rather long.");
    assert!(failed(&heavier).contains(&"tokens"));
}

#[test]
fn an_id_that_stands_for_two_calls_fails() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let doubled = [&lines[..4], &lines[2..]].concat().join("\n");
    assert!(
        failed(&doubled).contains(&"ids unique"),
        "{:?}",
        failed(&doubled)
    );
}

#[test]
fn in_another_format_reasoning_and_pictures_may_be_left_out_and_little_else() {
    let difference = |group, promised, measured| {
        Difference {
            group,
            promised,
            measured,
        }
        .is_explained(Tokens(10_000))
    };
    assert!(difference(THINKING, 5_000, 0) && difference(MEDIA, 5_000, 0));
    assert!(!difference(MEDIA, 0, 5_000) && !difference(0, 5_000, 0));
    assert!(difference(0, 5_000, 4_800) && !difference(0, 5_000, 4_799));
}

#[test]
fn the_promise_by_kind_adds_up_to_what_the_context_weighs() {
    let case = case();
    let format = formats::by_name("openai_chat").expect("a format of ours");
    let mut managed = whole(&case);
    let result = case.session.messages[2].parts.start;
    managed.entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![ManagedPart::Replaced {
            part: result,
            text: "gone".to_owned(),
        }],
    };
    managed.entries.push(ManagedEntry::Written {
        role: Role::User,
        text: "a notice".to_owned(),
        kind: WrittenKind::Notice,
        before_message: 0,
    });
    let promise = Promise {
        case: &case,
        managed: &managed,
        tokens: Tokens::ZERO,
        overhead: Tokens::ZERO,
        format,
    };
    let untouched: u64 = [0, 1, 3]
        .map(|message| case.ledger.message(message).0)
        .iter()
        .sum();
    let ours = case.ledger.weigh("gone").0 + case.ledger.weigh("a notice").0;
    assert_eq!(
        promised_groups(&promise).iter().sum::<u64>(),
        untouched + ours
    );
}
