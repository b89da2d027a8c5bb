use super::clock::Clock;
use super::compact::Surroundings;
use super::hook::{Hook, in_order};
use super::module_action::render;
use super::runner::HookRunner;
use super::tool_result::cut_result;
use super::turn_state::{ToolContext, TurnState};
use crate::chat::{ChatMessage, Replies};
use crate::json::{Value, json};
use crate::languages::python::format::format_text;

/// Returns the phases that hooks emit for an event on ten plain messages.
fn phases(hooks: &Value, event: &str, agent: &str) -> Vec<String> {
    let list: Vec<Hook> = hooks.as_array().unwrap().iter().map(Hook::from_json).collect();
    let hooks = in_order(list, None);
    let mut runner = HookRunner::new(&hooks, Vec::new(), Clock::at(1_000.0));
    runner.raises_pre_compact = true;
    let messages = vec![ChatMessage::new("user", "x"); 10];
    let mut state = TurnState::new(messages, 4_000, 500);
    agent.clone_into(&mut state.agent_id);
    let mut replies = Replies::new(&[]);
    runner.run(event, &mut state, Surroundings::default(), &mut replies).unwrap();
    let events = runner.events.iter().filter(|e| e.hook_id != "_system");
    events.map(|e| format!("{} {}", e.hook_id, e.phase)).collect()
}

#[test]
fn a_compaction_raises_pre_compact_between_its_start_and_its_end() {
    let hooks = json!([
        {"id": "compact", "on": "turn_start", "action": {"type": "compact_context", "strategy": "truncate", "keep_recent": 2}},
        {"id": "note", "on": "pre_compact", "action": {"type": "log", "message": "soon"}},
    ]);
    let phases = phases(&hooks, "turn_start", "a");
    assert_eq!(phases, ["compact start", "note start", "note end", "compact end"]);
}

#[test]
fn a_compaction_before_a_compaction_is_raised_once() {
    let compact = json!({"type": "compact_context", "strategy": "truncate", "keep_recent": 2});
    let hooks = json!([
        {"id": "compact", "on": "turn_start", "action": compact},
        {"id": "again", "on": "pre_compact", "action": compact},
    ]);
    assert_eq!(phases(&hooks, "turn_start", "a").len(), 4);
}

#[test]
fn a_bound_hook_acts_for_its_agent_only_and_by_either_name_of_its_event() {
    let hooks = json!([
        {"id": "late", "on": "user_prompt", "priority": 200, "action": {"type": "log"}},
        {"id": "mine", "on": "turn_start", "agent_id": "a", "action": {"type": "log"}},
        {"id": "yours", "on": "turn_start", "agent_id": "b", "action": {"type": "log"}},
        {"id": "off", "on": "turn_start", "enabled": false, "action": {"type": "log"}},
    ]);
    let phases = phases(&hooks, "turn_start", "a");
    assert_eq!(phases, ["mine start", "mine end", "late start", "late end"]);
}

#[test]
fn nothing_kept_is_an_error_of_the_hook() {
    let hooks = json!([{"id": "all", "on": "turn_start", "action": {"type": "compact_context", "keep_recent": 0}}]);
    assert_eq!(phases(&hooks, "turn_start", "a"), ["all start", "all error"]);
}

#[test]
fn placeholders_access_a_tool_s_parameters_and_result() {
    let tool = ToolContext {
        name: "fs.read".to_owned(),
        params: json!({"items": [{"id": 7}]}),
        result: json!({"ok": true}),
        error: None,
    };
    let value = json!(["{{ tool.params.items.0.id }}/{{tool.result.ok}}", {"e": "[{{tool.error}}]"}, "{{other}} {{{tool.name}}}", "{{tool.params.no.way}}"]);
    let rendered = render(&value, Some(&tool));
    assert_eq!(rendered, json!(["7/True", {"e": "[]"}, "{{other}} {fs.read}", ""]));
    assert_eq!(render(&value, None), value);
}

#[test]
fn a_list_is_read_and_written_as_python_does() {
    let items = r#"NaN,-Infinity,1E5,-0,1.50,"\ud83d\ude00\u0001",{"b":1,"a":2,"b":[ ]},"\ud800""#;
    let text = format!("[{items},{}]", vec!["\"filler\""; 1_000].join(" ,"));
    let cut = cut_result(&text, 4_000, "t", false).unwrap();
    let start =
        r#"[NaN, -Infinity, 100000.0, 0, 1.5, "😀\u0001", {"b": [], "a": 2}, "�", "filler", "#;
    assert!(cut.starts_with(start), "{cut:.120}");
    let deep = "[".repeat(5_000);
    assert!(cut_result(&deep, 4_000, "t", false).unwrap().starts_with("[[["));
}

#[test]
fn a_huge_sibling_of_entries_stays() {
    let text = json!({"entries": [1, 2, 3], "note": "n".repeat(9_000)}).to_string();
    let cut = cut_result(&text, 6_000, "ls", false).unwrap();
    assert!(cut.starts_with(r#"{"entries": [1], "note": "nnn"#));
    assert!(cut.contains("showing 1 of 3 results from ls"));
    let empty = json!({"entries": [], "note": "n".repeat(9_000)}).to_string();
    assert_eq!(cut_result(&empty, 6_000, "ls", false).unwrap().len(), 5_500);
}

#[test]
fn a_log_line_is_formatted_as_python_does() {
    let fields = [("turn", 7), ("tokens", 6_030)];
    let filled = |template| format_text(template, &fields).map_err(|raised| raised.to_string());
    assert_eq!(filled("{tokens:>8,}|{turn:03d}|{{x}}").unwrap(), "   6,030|007|{x}");
    assert_eq!(filled("{tokens:.1e} {turn!s:*^5}").unwrap(), "6.0e+03 **7**");
    assert_eq!(filled("{nope}").unwrap_err(), "KeyError: 'nope'");
    assert_eq!(
        filled("{}").unwrap_err(),
        "IndexError: Replacement index 0 out of range for positional args tuple"
    );
    assert_eq!(filled("{turn").unwrap_err(), "ValueError: expected '}' before end of string");
}
