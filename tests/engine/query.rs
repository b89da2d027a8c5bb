//! The query language over a session.

use crate::conversation::{Talk, part, text};
use plimsoll_core::analysis::query::{Direction, Hit, Hits, Query};
use plimsoll_core::session::{Body, Role, Session};
use plimsoll_core::tokens::{Progress, TokenLedger, default_counter};

fn result(tool: &str, text: &str, is_error: bool) -> Body {
    Body::ToolResult { call: "c".into(), tool: tool.into(), is_error, text: text.into() }
}

/// Returns a session: system, user, assistant call, result, answer; then a user message and a failed result.
fn session() -> (Session, TokenLedger) {
    let call = |tool: &str| Body::ToolCall {
        call: "c".into(),
        tool: tool.into(),
        arguments: "{\"command\":\"cargo test\"}".into(),
    };
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Run the tests, then the Tests again")]);
    talk.message(Role::Assistant, vec![part(call("Bash"))]);
    let long = "all tests passed ".repeat(400);
    talk.message(Role::Tool, vec![part(result("Bash", &long, false))]);
    talk.message(Role::Assistant, vec![text("Done.")]);
    talk.message(Role::User, vec![text("Now read it")]);
    talk.message(Role::Assistant, vec![part(call("mcp__read"))]);
    // Some formats send results as the user.
    talk.message(Role::User, vec![part(result("mcp__read", "no file", true))]);
    let session = talk.session();
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default());
    (session, ledger.expect("a count"))
}

#[test]
fn every_term_selects_its_messages() {
    let (session, ledger) = session();
    let found = |query: &str| -> Vec<u32> {
        let query = Query::parse(query).unwrap();
        query.matching(&session, &ledger)
    };
    assert_eq!(found(""), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(found("TESTS"), [1, 3]);
    // Names of tools are text, too.
    assert_eq!(found("bash"), [2, 3]);
    assert_eq!(found("tests -kind:result"), [1]);
    assert_eq!(found("kind:result"), [3, 7]);
    assert_eq!(found("role:user"), [1, 5]);
    assert_eq!(found("role:tool"), [3, 7]);
    assert_eq!(found("tool:bash"), [2, 3]);
    assert_eq!(found("tool:mcp*"), [6, 7]);
    assert_eq!(found("tool:*re*"), [6, 7]);
    assert_eq!(found("tool:mcp"), [0_u32; 0]);
    assert_eq!(found("tokens>800"), [3]);
    assert_eq!(found("is:error"), [7]);
    assert_eq!(found("message:2-3"), [1, 2]);
    assert_eq!(found("turn:2"), [5, 6, 7]);
    // The first call includes what precedes it and writes its answer.
    assert_eq!(found("call:1"), [0, 1, 2]);
    assert_eq!(found("-call:1 -turn:2"), [3, 4]);
}

#[test]
fn hits_are_counted_in_each_text_and_up_to_a_limit() {
    let (session, ledger) = session();
    let hits = |query: &str, most: usize| {
        let query = Query::parse(query).unwrap();
        query.hits(&session, &query.matching(&session, &ledger), most)
    };
    let places = |query: &str| -> Vec<(u32, u32)> {
        let place = |hit: &Hit| (hit.message, hit.nth);
        hits(query, 1_000).list.iter().map(place).collect()
    };
    assert_eq!(places("tests role:user"), [(1, 0), (1, 1)]);
    // Messages that match without a text.
    assert_eq!(places("role:user"), [(1, 0), (5, 0)]);
    assert_eq!(places(""), []);
    let cut = hits("tests", 100);
    assert!(cut.is_cut && cut.list.len() == 100);
    let all = hits("tests", 402);
    assert!(!all.is_cut && all.list.len() == 402);
}

#[test]
fn steps_go_round_and_start_at_the_selected_message() {
    let (session, ledger) = session();
    let query = Query::parse("role:user").unwrap();
    let hits = query.hits(&session, &query.matching(&session, &ledger), 9);
    let [first, last] = hits.list[..] else {
        panic!("{hits:?}");
    };
    assert_eq!(hits.step(None, None, Direction::Next), Some(first));
    assert_eq!(hits.step(None, None, Direction::Previous), Some(last));
    assert_eq!(hits.step(None, Some(3), Direction::Next), Some(last));
    assert_eq!(hits.step(None, Some(3), Direction::Previous), Some(first));
    assert_eq!(hits.step(Some(first), Some(1), Direction::Next), Some(last));
    assert_eq!(hits.step(Some(last), Some(5), Direction::Next), Some(first));
    assert_eq!(hits.step(Some(first), Some(1), Direction::Previous), Some(last));
    assert_eq!(Hits::default().step(Some(first), None, Direction::Previous), None);
}
