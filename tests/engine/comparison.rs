//! Comparison of two sessions.

use crate::conversation::{Talk, case, part, text};
use plimsoll_core::analysis::comparison::{
    ComparedSession, Comparison, MessageMatches, composition, figures,
};
use plimsoll_core::analysis::cost::Billing;
use plimsoll_core::analysis::facts::FactKind;
use plimsoll_core::engine::Case;
use plimsoll_core::presets::prices::Prices;
use plimsoll_core::session::{Body, Role};
use plimsoll_core::units::Tokens;
use std::time::{Duration, Instant};

fn compare(a: &Case, b: &Case) -> Comparison {
    let session = |case| ComparedSession {
        case,
        output_reserve: Tokens(1_000),
        billing: Billing::at(Prices::bundled()),
        records_compactions: false,
    };
    Comparison::new([session(a), session(b)])
}

fn said(texts: &[&str]) -> Talk {
    let mut talk = Talk::new();
    for (idx, said) in texts.iter().enumerate() {
        let role = if idx % 2 == 0 { Role::User } else { Role::Assistant };
        talk.message(role, vec![text(said)]);
    }
    talk
}

fn matches(a: &Talk, b: &Talk) -> MessageMatches {
    MessageMatches::new([&case(a, 100_000), &case(b, 100_000)])
}

#[test]
fn equal_sessions_differ_in_nothing() {
    let talk = Talk::turns(3, 4, 50);
    let case = case(&talk, 100_000);
    let found = compare(&case, &case);
    assert!(found.messages.changed.is_empty());
    assert_eq!(found.messages.only, [Vec::<u32>::new(), Vec::new()]);
    assert_eq!(found.messages.same_start, case.session.messages.len());
    assert!(found.facts.only.iter().all(Vec::is_empty));
    assert!(found.facts.shared > 0);
    for figure in figures(&found.sessions).iter().chain(&composition(&found.sessions)) {
        assert!(figure.difference().is_none_or(|d| d == 0.0), "{figure:?}");
    }
    assert_eq!(found.tools.len(), 1);
    assert_eq!(found.tools[0].uses[0].calls, 12);
}

#[test]
fn messages_match_by_content_each_at_most_once() {
    let a = said(&["one", "yes", "two", "yes", "three", "no"]);
    let b = said(&["zero", "yes", "two", "later", "three", "no"]);
    let found = matches(&a, &b);
    // The first message is the system prompt of both.
    assert_eq!(found.same, [[0, 0], [2, 2], [3, 3], [5, 5], [6, 6]]);
    assert_eq!(found.only, [vec![1, 4], vec![1, 4]]);
    assert_eq!(found.same_start, 1);
    assert_eq!(found.counts(), [7, 7]);
}

#[test]
fn a_message_that_moved_is_in_both_sessions() {
    let found = matches(&said(&["one", "x", "two", "y"]), &said(&["two", "y", "one", "x"]));
    assert_eq!(found.only, [Vec::<u32>::new(), Vec::new()]);
    assert_eq!(found.same, [[0, 0], [1, 3], [2, 4], [3, 1], [4, 2]]);
}

#[test]
fn the_same_text_of_another_author_is_another_message() {
    let found = matches(&said(&["go"]), &said(&["stop", "go"]));
    assert_eq!(found.only, [vec![1], vec![1, 2]]);
}

#[test]
fn a_shortened_result_is_a_change_of_its_message() {
    let (mut a, mut b) = (Talk::new(), Talk::new());
    a.call("c1", 500).call("c2", 20);
    b.call("c1", 5).call("c2", 20);
    let found = matches(&a, &b);
    assert_eq!(found.changed, [[2, 2]]);
    assert_eq!(found.only, [Vec::<u32>::new(), Vec::new()]);
}

#[test]
fn tools_and_facts_of_one_session_are_listed() {
    let call = |tool: &str, path: &str| {
        part(Body::ToolCall {
            call: path.into(),
            tool: tool.into(),
            arguments: format!("{{\"path\":\"{path}\"}}").into(),
        })
    };
    let (mut a, mut b) = (said(&["Never push to main."]), said(&["Never push to main."]));
    a.message(Role::Assistant, vec![call("read", "src/first.rs")]);
    b.message(Role::Assistant, vec![call("open", "src/second.rs")]);
    let (a, b) = (case(&a, 100_000), case(&b, 100_000));
    let found = compare(&a, &b);
    let files = found.facts.only.map(|facts| {
        assert!(facts.iter().all(|fact| fact.kind == FactKind::File));
        facts.iter().map(|fact| fact.text.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(files, [["src/first.rs"], ["src/second.rs"]]);
    let tools = found.tools.iter().map(|mix| (&*mix.tool, mix.uses.map(|u| u.calls)));
    assert_eq!(tools.collect::<Vec<_>>(), [("open", [0, 1]), ("read", [1, 0])]);
}

#[test]
fn sessions_of_ten_thousand_messages_are_compared_in_less_than_a_second() {
    // An optimized program is ten times as fast.
    let turns = if cfg!(debug_assertions) { 50 } else { 500 };
    let (a, b) = (Talk::turns(turns, 9, 40), Talk::turns(turns, 9, 41));
    let (a, b) = (case(&a, 1_000_000), case(&b, 1_000_000));
    assert_eq!(a.session.messages.len(), 20 * turns + 1);
    let since = Instant::now();
    let found = compare(&a, &b);
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    assert_eq!(found.messages.changed.len(), 9 * turns);
}
