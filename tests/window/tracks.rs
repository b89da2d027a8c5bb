//! Files with several conversations, the tab Import, and conversations from the clipboard.

use crate::repository::repository;
use crate::screen::{empty, large, paste};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    repository().join("tests/fixtures").join(name)
}

const CHAT: &str =
    r#"[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hello."}]"#;

#[test]
fn a_sub_agent_is_chosen_from_the_list() {
    let mut window = large(fixture("claude_code/sub-agents.jsonl"));
    window.get_by_label("main, 1 of 4 ⏷").click();
    window.run_ok();
    window.get_by_label("MAIN CONVERSATION");
    window.get_by_label("SUB-AGENTS");
    window.get_by_role_and_label(Role::RadioButton, "4  Count the tests").click();
    window.run_ok();
    window.get_by_label("sub-agent, 4 of 4 ⏷");
    let runs = window.state().runs().map(|runs| runs.case.session.calls.len());
    assert_eq!(runs, Some(2));
}

#[test]
fn the_list_says_what_the_conversations_used_and_which_exceeded() {
    let mut window = large(fixture("claude_code/sub-agents.jsonl"));
    window.get_by_label("main, 1 of 4 ⏷").click();
    window.run_ok();
    window.get_by_label_contains("All conversations: 8 calls, 611 tokens of prompts");
    let fullest = "No call was above the window; the largest context is of conversation 1";
    window.get_by_label_contains(fullest);
}

#[test]
fn a_branch_is_chosen_from_the_list() {
    let mut window = large(fixture("claude_code/branches.jsonl"));
    window.get_by_label("main, 1 of 2 ⏷").click();
    window.run_ok();
    window.get_by_role_and_label(Role::RadioButton, "2  Make it longer.").click();
    window.run_ok();
    window.get_by_label("branch, 2 of 2 ⏷");
}

#[test]
fn a_click_on_the_file_name_shows_the_import() {
    let mut window = large(fixture("claude_code/sub-agents.jsonl"));
    window.get_by_label_contains("sub-agents.jsonl").click();
    window.run_ok();
    window.get_by_label_contains("JSON Lines whose user and assistant records");
    window.get_by_label("progress/agent_progress");
    let n_lacking = window.get_all_by_label("not kept by this format").count();
    assert_eq!(n_lacking, 2, "system prompt and tool definitions");
    window.get_by_label("none in this file");
}

#[test]
fn data_that_a_format_lacks_is_unknown_in_the_import() {
    let mut window = empty();
    paste(&mut window, CHAT);
    window.get_by_label("Import").click();
    window.run_ok();
    assert_eq!(window.get_all_by_label("unknown").count(), 1, "compactions");
}

#[test]
fn a_pasted_conversation_opens_without_a_file_and_exports_need_a_path() {
    let mut window = empty();
    paste(&mut window, CHAT);
    window.get_by_label_contains("Pasted · OpenAI Chat");
    window.get_by_label("Export…").click();
    window.run_ok();
    let field = window.get_by_role_and_label(Role::TextInput, "write to");
    assert_eq!(field.value().unwrap_or_default(), "");
}

#[test]
fn pasted_text_without_a_conversation_is_reported() {
    let mut window = empty();
    paste(&mut window, "just some words");
    window.get_by_label_contains("Pasted: ");
    window.get_by_label("Open a file…");
    paste(&mut window, "   ");
    window.get_by_label_contains("Pasted is empty");
}

#[test]
fn text_pasted_into_a_field_opens_nothing() {
    let mut window = empty();
    window.get_by_role_and_label(Role::TextInput, "Path").focus();
    window.run_steps(2);
    paste(&mut window, "/nowhere/at-all.jsonl");
    let path = window.get_by_role_and_label(Role::TextInput, "Path");
    assert_eq!(path.value().as_deref(), Some("/nowhere/at-all.jsonl"));
    assert!(window.query_by_label_contains("Pasted").is_none());
}

#[test]
fn a_file_of_several_pasted_conversations_opens_each() {
    let mut window = empty();
    let line = format!("{{\"messages\":{CHAT}}}");
    paste(&mut window, &format!("{line}\n{line}\n"));
    window.get_by_label("1 of 2 ⏷").click();
    window.run_ok();
    window.get_by_role_and_label(Role::RadioButton, "2  Pasted #2").click();
    window.run_ok();
    window.get_by_label("2 of 2 ⏷");
}
