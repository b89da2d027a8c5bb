//! Facts of small sessions, and what runs keep of them.

use crate::conversation::{Talk, case, part, text};
use plimsoll_core::analysis::facts::{FactKind, FactState, Facts, LaneSurvival, ScoredText};
use plimsoll_core::engine::{Case, Outcome, simulate};
use plimsoll_core::presets;
use plimsoll_core::session::{Body, Role};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Plays a policy with one stage before call 5.
fn play(case: &Case, take: &str, action: &str) -> Outcome {
    let toml = format!(
        "name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n[[stage]]\nid = \"s\"\nat = \"before_call\"\nwhen = \"call == 5\"\ntake = {{ {take} }}\ndo = {{ {action} }}"
    );
    let policy = presets::parse(&toml).unwrap_or_else(|why| panic!("{why}"));
    simulate(case, &policy, &policy.defaults(), None)
}

fn drop_all_but_last(case: &Case) -> Outcome {
    play(case, "what = \"messages\", keep = [\"last_messages(2)\"]", "drop = {}")
}

/// Adds a tool call with its result.
fn run_tool(talk: &mut Talk, tool: &str, arguments: &str, result: &str) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let id = format!("c{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let call =
        Body::ToolCall { call: id.as_str().into(), tool: tool.into(), arguments: arguments.into() };
    let result = Body::ToolResult {
        call: id.as_str().into(),
        tool: tool.into(),
        is_error: false,
        text: result.into(),
    };
    talk.message(Role::Assistant, vec![part(call)]);
    talk.message(Role::Tool, vec![part(result)]);
}

#[test]
fn sentences_that_begin_with_no_are_constraints_unless_they_only_answer() {
    let mut talk = Talk::new();
    let said = "No new dependencies please. No worries, that works fine. No it still fails with the same error. No emojis in the output.";
    talk.message(Role::User, vec![text(said)]);
    talk.call("Fine.", 1);
    let case = case(&talk, 100_000);
    let facts = Facts::new(&case.session);
    let found = texts(&facts, FactKind::Constraint);
    let found: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(found, ["No new dependencies please.", "No emojis in the output."]);
}

/// A session that states facts of every kind before call 5.
fn talk() -> Talk {
    let mut talk = Talk::new();
    let said = "Never push to the main branch. Use tabs instead of spaces. Is that fine?";
    talk.message(Role::User, vec![text(said)]);
    run_tool(&mut talk, "read_file", r#"{"path":"/home/dev/app/src/ledger.rs"}"#, "fn main() {}");
    let failed = "Exit code: 101\nerror[E0308]: mismatched types in ledger";
    run_tool(&mut talk, "bash", r#"{"command":"cargo test --lib"}"#, failed);
    let edit = r#"{"path":"src/ledger.rs","old_string":"fn main() {}","new_string":"fn balance_sheet() {}"}"#;
    run_tool(&mut talk, "edit", edit, "done");
    let asked = "The batch size is 4711. See https://example.org/spec?v=2 for the rest. Go on?";
    talk.message(Role::Assistant, vec![text(asked)]);
    talk.message(Role::User, vec![text("yes, with the smaller batch")]);
    let todos = r#"{"todos":[{"content":"Write the migration","status":"pending"},{"content":"Fix the rounding","status":"completed"}]}"#;
    run_tool(&mut talk, "todo", todos, "ok");
    run_tool(&mut talk, "bash", r#"{"command":"git status"}"#, "clean");
    run_tool(&mut talk, "bash", r#"{"command":"cat src/ledger.rs"}"#, "fn balance_sheet() {}");
    talk.message(Role::Assistant, vec![text("Done.")]);
    talk
}

fn texts(facts: &Facts, kind: FactKind) -> Vec<(String, String)> {
    let of_kind = facts.all().iter().filter(|fact| fact.kind == kind);
    of_kind.map(|fact| (fact.text.to_string(), fact.detail.to_string())).collect()
}

#[test]
fn facts_of_every_kind_are_found_with_their_place_and_state() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let found = |kind| texts(&facts, kind);
    let pair = |text: &str, detail: &str| (text.to_owned(), detail.to_owned());
    assert_eq!(
        found(FactKind::Constraint),
        [pair("Never push to the main branch.", ""), pair("Use tabs instead of spaces.", "")]
    );
    assert_eq!(found(FactKind::Decision), [pair("yes, with the smaller batch", "")]);
    assert_eq!(
        found(FactKind::Plan),
        [pair("Write the migration", "open"), pair("Fix the rounding", "done")]
    );
    assert_eq!(
        found(FactKind::File),
        [pair("src/ledger.rs", "read"), pair("src/ledger.rs", "edited")]
    );
    assert_eq!(found(FactKind::Command)[0], pair("cargo test --lib", "failed (exit code 101)"));
    assert_eq!(
        found(FactKind::Error),
        [pair("error[E0308]: mismatched types in ledger", "error[E0308]")]
    );
    assert_eq!(found(FactKind::Value), [pair("The batch size is 4711", "4711")]);
    assert_eq!(found(FactKind::Identifier), [pair("balance_sheet", "")]);
    assert_eq!(found(FactKind::Link), [pair("https://example.org/spec?v=2", "")]);
    for fact in facts.all() {
        let body = &case.session.parts[fact.part as usize].body;
        let said = match body {
            Body::ToolCall { arguments, .. } => arguments,
            other => other.text(),
        };
        assert!(said[fact.span.clone()].contains(&*fact.text), "{fact:?}");
    }
}

#[test]
fn facts_of_some_kinds_are_those_of_all_kinds() {
    let case = case(&talk(), 100_000);
    let all = Facts::new(&case.session);
    let kinds = [FactKind::Constraint, FactKind::Decision];
    let some = Facts::of_kinds(&case.session, &kinds);
    assert_eq!(some.all().len(), 3);
    let outcome = drop_all_but_last(&case);
    let survival = |facts: &Facts| LaneSurvival::new(facts, &case, &outcome);
    let (of_all, of_some) = (survival(&all), survival(&some));
    for kind in kinds {
        assert_eq!(texts(&some, kind), texts(&all, kind));
        assert_eq!(of_some.of(Some(kind)), of_all.of(Some(kind)));
    }
    assert_eq!(of_some.of(None).stated, 3);
    assert_eq!(of_some.of(Some(FactKind::Command)).stated, 0);
}

#[test]
fn a_run_that_removes_nothing_keeps_every_fact() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let none = presets::by_name("none").expect("a preset");
    let kept = LaneSurvival::new(&facts, &case, &simulate(&case, &none, &none.defaults(), None));
    let all = kept.of(None);
    assert!(all.stated > 8);
    assert_eq!((all.verbatim, all.gone, all.removed), (all.stated, 0, 0));
    assert!(kept.lost.is_empty() && !kept.has_removed);
}

#[test]
fn facts_of_removed_messages_are_gone_until_they_are_said_again() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let kept = LaneSurvival::new(&facts, &case, &drop_all_but_last(&case));
    assert_eq!(kept.of(Some(FactKind::Constraint)).gone, 2);
    let file = facts.all().iter().position(|fact| &*fact.detail == "edited").expect("a file");
    // The last call reads it again.
    let states: Vec<_> = kept.history.changes(file).iter().map(|change| change.state).collect();
    let back = [FactState::Verbatim, FactState::Gone, FactState::Verbatim];
    assert_eq!(states, back);
    let lost: Vec<_> = kept.lost.iter().map(|lost| &*facts.all()[lost.fact].text).collect();
    assert!(lost.contains(&"Never push to the main branch."));
}

#[test]
fn a_cleared_result_leaves_its_command_without_the_outcome() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let outcome = play(
        &case,
        "what = \"tool_results\", keep = [\"last_results(1)\"]",
        "clear = { marker = \"[gone]\" }",
    );
    let kept = LaneSurvival::new(&facts, &case, &outcome);
    let command =
        facts.all().iter().position(|fact| &*fact.text == "cargo test --lib").expect("a command");
    assert_eq!(kept.history.at(command, 4), Some(FactState::Partial));
    assert_eq!(kept.of(Some(FactKind::Error)).gone, 1);
}

#[test]
fn a_predicted_summary_makes_removed_facts_unknown() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let outcome = play(
        &case,
        "what = \"messages\", keep = [\"last_messages(2)\"]",
        "summarize = { max_tokens = \"50\", prefix = \"\", prompt = \"summarize\" }",
    );
    let constraints = LaneSurvival::new(&facts, &case, &outcome).of(Some(FactKind::Constraint));
    assert_eq!((constraints.unknown, constraints.share()), (2, None));
    let [low, high] = constraints.bounds().expect("facts");
    assert_eq!((low.0, high.0), (0.0, 1.0));
}

#[test]
fn text_that_anything_wrote_is_scored() {
    let case = case(&talk(), 100_000);
    let facts = Facts::new(&case.session);
    let summary = "- the user said: never push to the main branch\n- `cargo test --lib` failed\n- edited src/ledger.rs";
    let kept = LaneSurvival::of_texts(
        &facts,
        &case.session,
        &[ScoredText::plain(summary)],
        case.ledger.weigh(summary),
    );
    assert_eq!(kept.of(Some(FactKind::Constraint)).partial, 1);
    assert_eq!(kept.of(Some(FactKind::File)).verbatim, 1);
    let commands = kept.of(Some(FactKind::Command));
    assert_eq!((commands.stated, commands.verbatim), (3, 1));
}
