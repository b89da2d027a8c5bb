//! Each check passes for a faithful export and fails for a changed one.

use super::*;
use crate::engine::{Case, WindowPlan, WindowSource};
use crate::formats;
use crate::session::{Managed, ManagedEntry, ManagedPart, Role, WrittenKind};
use crate::tokens::{Progress, TokenLedger};
use crate::units::Tokens;

const SOURCE: &str = r#"[
 {"role": "user", "content": "Read a and b."},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]},
 {"role": "tool", "tool_call_id": "c1", "content": "one two three four five six seven"},
 {"role": "assistant", "content": "Both are read."}
]"#;

fn case() -> Case {
    case_of(SOURCE)
}

fn case_of(source: &str) -> Case {
    let input = Input { name: "c.json".to_owned(), bytes: source.as_bytes().to_vec().into() };
    let session = formats::parse(&input).expect("a conversation").sessions.remove(0);
    let counter = crate::tokens::default_counter();
    let ledger =
        TokenLedger::count(&session, counter, &Progress::default()).expect("it is not cancelled");
    let windows = WindowPlan::constant(Tokens(1_000), session.calls.len(), WindowSource::User);
    Case::new(std::sync::Arc::new(session), ledger, windows)
}

/// Returns a managed conversation that keeps everything.
fn whole(case: &Case) -> Managed {
    Managed {
        entries: (0..case.session.messages.len())
            .map(|message| ManagedEntry::Kept { message })
            .collect(),
        ..Managed::default()
    }
}

/// Checks these bytes as an export that keeps the whole source.
fn checks_of(source: &str, format: &str, written: &str) -> Vec<Check> {
    let (case, format) = (case_of(source), formats::by_name(format).expect("a known format"));
    let (managed, tokens) = (whole(&case), case.ledger.total());
    let policy = crate::presets::by_name("truncate").expect("bundled");
    let mut knobs = policy.defaults();
    policy.set(&mut knobs, "output_reserve", 0.0).expect("inside the range");
    let promise = Promise {
        case: &case,
        managed: &managed,
        tokens,
        overhead: case.ledger.overhead,
        format,
        policy: &policy,
        knobs: &knobs,
        call: 0,
    };
    all(&promise, &written.as_bytes().to_vec().into())
}

/// Checks these bytes as an export of [`SOURCE`] and returns the outcomes by name.
fn outcomes(written: &str) -> Vec<(&'static str, bool)> {
    checks_of(SOURCE, "openai_chat", written)
        .into_iter()
        .map(|check| (check.name, check.ok))
        .collect()
}

fn failed(written: &str) -> Vec<&'static str> {
    outcomes(written).into_iter().filter(|(_, ok)| !ok).map(|(name, _)| name).collect()
}

#[test]
fn a_faithful_export_passes_every_check() {
    let names = ["pairs", "roles", "kept bytes", "tokens", "ids unique", "signatures", "again"];
    assert_eq!(outcomes(SOURCE), names.map(|name| (name, true)));
}

#[test]
fn an_unreadable_file_fails() {
    assert_eq!(failed("[{\"role\": \"user\""), ["reads back"]);
    // Another format is read as the one that was written, and lacks the messages.
    let other = r#"{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
    assert!(failed(other).contains(&"kept bytes"), "{:?}", failed(other));
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
    assert!(failed(&headless).contains(&"roles"), "{:?}", failed(&headless));
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
fn another_token_count_than_expected_fails() {
    let heavier = SOURCE.replace("Both are read.", "Both are read, and both are rather long.");
    assert!(failed(&heavier).contains(&"tokens"));
}

#[test]
fn two_calls_with_one_id_fail() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let doubled = [&lines[..4], &lines[2..]].concat().join("\n");
    assert!(failed(&doubled).contains(&"ids unique"), "{:?}", failed(&doubled));
}

#[test]
fn two_calls_with_one_id_in_the_source_are_a_warning() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let doubled = [&lines[..4], &lines[2..]].concat().join("\n");
    let checks = checks_of(&doubled, "openai_chat", &doubled);
    let ids = checks.iter().find(|check| check.name == "ids unique");
    assert!(ids.is_some_and(|check| check.ok && check.warning));
    assert!(checks_of(SOURCE, "openai_chat", SOURCE).iter().all(|check| !check.warning));
}

#[test]
fn untouched_messages_in_another_order_fail() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let [first, call, result, last] = [1, 2, 3, 4].map(|n| lines[n].trim_end_matches(','));
    let shuffled = format!("[\n{last},\n{first},\n{call},\n{result}]");
    assert!(failed(&shuffled).contains(&"kept bytes"));
    let shuffled = format!("[\n{first},\n{last},\n{call},\n{result}]");
    assert_eq!(failed(&shuffled), ["kept bytes"]);
}

#[test]
fn a_result_that_does_not_directly_follow_its_call_fails() {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let between = r#" {"role": "user", "content": "wait"},"#;
    let apart = [&lines[..3], &[between], &lines[3..]].concat().join("\n");
    assert!(failed(&apart).contains(&"pairs"), "{:?}", failed(&apart));
}

#[test]
fn a_call_without_result_in_the_source_is_a_warning() {
    let source = SOURCE.replace("\"tool\", \"tool_call_id\": \"c1\"", "\"user\"");
    let checks = checks_of(&source, "openai_chat", &source);
    let pairs = &checks[0];
    assert!(pairs.ok && checks.iter().all(|check| check.ok), "{checks:?}");
    assert!(pairs.warning && !checks[1].warning);
    assert_eq!(
        pairs.detail,
        "1 call, 1 without a result as in the source: providers reject this unless it is repaired"
    );
}

#[test]
fn an_unknown_role_fails() {
    let with_exit = SOURCE.replace("\n]", ",\n {\"role\": \"exit\", \"content\": \"done\"}\n]");
    assert_eq!(failed(&with_exit), ["roles"]);
}

#[test]
fn an_empty_text_beside_others_fails_unless_the_source_has_it() {
    let blank = SOURCE.replace(
        "\"Both are read.\"",
        r#"[{"type": "text", "text": "\n"}, {"type": "text", "text": "Both are read."}]"#,
    );
    assert!(failed(&blank).contains(&"roles"));
    let checks = checks_of(&blank, "openai_chat", &blank);
    assert!(checks.iter().all(|check| check.ok), "{checks:?}");
    assert!(checks[1].warning && !checks[0].warning);
    assert!(checks[1].detail.ends_with("1 empty text as in the source; providers reject this"));
}

/// [`SOURCE`] as Anthropic messages.
const ANTHROPIC: &str = r#"{"model": "m", "messages": [
 {"role": "user", "content": "Read a and b."},
 {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}]},
 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "one two three four five six seven"}]},
 {"role": "assistant", "content": "Both are read."}
]}"#;

#[test]
fn another_format_may_have_another_count_but_must_have_the_contents() {
    let failed = |written: &str| {
        let checks = checks_of(SOURCE, "anthropic_messages", written);
        let failed = checks.into_iter().filter(|check| !check.ok);
        failed.map(|check| (check.name, check.detail)).collect::<Vec<_>>()
    };
    assert_eq!(failed(ANTHROPIC), []);
    let spaced = ANTHROPIC.replace("{\"path\": \"a\"}", "{ \"path\" : \"a\" }");
    assert_eq!(failed(&spaced), []);
    for (what, instead) in [
        ("Both are read.", "Both are."),
        ("\"a\"}", "\"b\"}"),
        ("three four", "three"),
        ("Read a and b.", "Read a and b. Now."),
    ] {
        let found = failed(&ANTHROPIC.replace(what, instead));
        assert!(matches!(&found[..], [("tokens", _)]), "{what}: {found:?}");
    }
    let more = ANTHROPIC.replace(
        "\"content\": \"Both are read.\"",
        r#""content": [{"type": "text", "text": "Both are read."}, {"type": "text", "text": "Or so."}]"#,
    );
    assert!(matches!(&failed(&more)[..], [("tokens", _)]));
}

#[test]
fn the_expected_tokens_by_kind_add_up_to_the_context() {
    let case = case();
    let format = formats::by_name("openai_chat").expect("a known format");
    let mut managed = whole(&case);
    let result = case.session.messages[2].parts.start;
    managed.entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![ManagedPart::Replaced { part: result, text: "gone".to_owned() }],
    };
    managed.entries.push(ManagedEntry::Written {
        role: Role::User,
        text: "a notice".to_owned(),
        kind: WrittenKind::Notice,
        joins_next: false,
        answers: None,
        before_message: 0,
    });
    let policy = crate::presets::by_name("none").expect("bundled");
    let promise = Promise {
        case: &case,
        managed: &managed,
        tokens: Tokens::ZERO,
        overhead: Tokens::ZERO,
        format,
        policy: &policy,
        knobs: &policy.defaults(),
        call: 0,
    };
    let untouched: u64 = [0, 1, 3].map(|message| case.ledger.message(message).0).iter().sum();
    let ours = case.ledger.weigh("gone").0 + case.ledger.weigh("a notice").0;
    assert_eq!(tokens::promised_groups(&promise).iter().sum::<u64>(), untouched + ours);
}

#[test]
fn a_notice_between_kept_messages_only_changes_the_id_of_a_parent() {
    let record = |role: &str, n: usize| {
        let parent = n.checked_sub(1).map(|before| format!("r{before}"));
        let message = crate::json::json!({"role": role, "content": format!("words {n}")});
        let record = crate::json::json!({
            "parentUuid": parent, "type": role, "message": message, "uuid": format!("r{n}"), "sessionId": "s",
            "timestamp": "2026-01-02T03:04:05.000Z",
        });
        format!("{record}\n")
    };
    let roles = ["user", "assistant", "user", "assistant"].iter();
    let source: String = roles.enumerate().map(|(n, role)| record(role, n)).collect();
    let case = case_of(&source);
    let mut managed = whole(&case);
    managed.entries.insert(
        2,
        ManagedEntry::Written {
            role: Role::User,
            text: "Come to an end.".to_owned(),
            kind: WrittenKind::Notice,
            joins_next: false,
            answers: None,
            before_message: 2,
        },
    );
    let format = formats::by_name("claude_code").expect("a known format");
    let policy = crate::presets::by_name("none").expect("bundled");
    let promise = Promise {
        case: &case,
        managed: &managed,
        tokens: case.ledger.total(),
        overhead: case.ledger.overhead,
        format,
        policy: &policy,
        knobs: &policy.defaults(),
        call: 0,
    };
    let written = format.write(&case.session, &managed);
    let written = String::from_utf8(written.expect("a session of this format")).expect("text");
    let kept_bytes = |text: &str| {
        let (read, _) =
            read_back(&promise, &text.as_bytes().to_vec().into()).expect("it reads back");
        bytes::check(&promise, &read)
    };
    assert_eq!(
        kept_bytes(&written),
        Check::passed(
            "kept bytes",
            "4 untouched messages byte for byte, in the order of the source; 1 of them with changed surrounding fields"
        ),
        "{written}"
    );
    let other = written.replace("words 2", "words 9");
    assert!(!kept_bytes(&other).ok, "{other}");
}
