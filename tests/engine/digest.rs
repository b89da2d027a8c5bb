//! Content that the offline digest keeps.

use crate::conversation::{Talk, case, part, text};
use plimsoll_core::engine::{Case, Request, digest};
use plimsoll_core::session::{Body, Role};
use plimsoll_core::units::Tokens;

fn call(id: &str, tool: &str, arguments: &str) -> plimsoll_core::session::Part {
    part(Body::ToolCall { call: id.into(), tool: tool.into(), arguments: arguments.into() })
}

fn result(id: &str, is_error: bool, content: &str) -> plimsoll_core::session::Part {
    part(Body::ToolResult { call: id.into(), tool: "".into(), is_error, text: content.into() })
}

fn story() -> Case {
    let mut talk = Talk::new();
    talk.message(
        Role::User,
        vec![text(
            "Add rounding to the ledger. Never touch the migrations folder! Always run the tests.",
        )],
    );
    talk.message(
        Role::Assistant,
        vec![call("1", "Read", r#"{"file_path":"src/ledger/money.py"}"#)],
    );
    talk.message(Role::Tool, vec![result("1", false, "def parse_amount(raw): ...")]);
    talk.message(Role::Assistant, vec![call("2", "TodoWrite", r#"{"todos":[{"content":"Round halves to even","status":"completed"},{"content":"Fix the report","status":"in_progress"}]}"#)]);
    talk.message(Role::Tool, vec![result("2", false, "ok")]);
    talk.message(
        Role::Assistant,
        vec![call(
            "3",
            "Edit",
            r#"{"file_path":"src/ledger/money.py","old_string":"a","new_string":"b"}"#,
        )],
    );
    talk.message(Role::Tool, vec![result("3", false, "edited")]);
    talk.message(
        Role::Assistant,
        vec![call("4", "Bash", r#"{"command":"pytest -q tests/test_money.py"}"#)],
    );
    talk.message(
        Role::Tool,
        vec![result(
            "4",
            true,
            "collected 3 items\nE   AssertionError: 2.675 became 2.67\n1 failed in 0.1s",
        )],
    );
    talk.message(
        Role::Assistant,
        vec![text("The failure is in quantize_half_even; I will look at it.")],
    );
    case(&talk, 100_000)
}

fn digest_of(case: &Case, cap: u64) -> String {
    let end = case.session.messages.len();
    let request = Request {
        prompt: String::new(),
        verbatim: None,
        call: 0,
        stage: "summarize".to_owned(),
        messages: std::iter::once(1..end).collect(),
        covers: std::iter::once(1..end).collect(),
        written: Vec::new(),
        input: case.ledger.total(),
        prefix: "[Summary]\n".to_owned(),
        max_tokens: Tokens(cap),
        predicted: Tokens(cap),
    };
    let text = digest(case, &request);
    assert!(request.fits(case, &text), "{text}");
    text
}

#[test]
fn the_digest_keeps_request_instructions_plan_failure_and_files() {
    let text = digest_of(&story(), 1_024);
    for expected in [
        "First request:\nAdd rounding to the ledger.",
        "- Never touch the migrations folder!",
        "- Always run the tests.",
        "- [x] Round halves to even",
        "- [~] Fix the report",
        "- pytest -q tests/test_money.py: 1 failed in 0.1s",
        "- src/ledger/money.py (Edit)",
        "quantize_half_even",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in:\n{text}");
    }
    assert_eq!(text.matches("money.py (").count(), 1, "only the last operation counts:\n{text}");
}

#[test]
fn a_small_cap_keeps_the_most_important_lines() {
    let text = digest_of(&story(), 64);
    assert!(text.starts_with("First request:\nAdd rounding"), "{text}");
    assert!(!text.contains("Identifiers"), "{text}");
    assert_eq!(
        digest_of(&story(), 12),
        "",
        "a cap that holds nothing gives nothing rather than a scrap"
    );
}

#[test]
fn the_same_conversation_gives_the_same_digest() {
    assert_eq!(digest_of(&story(), 512), digest_of(&story(), 512));
}
