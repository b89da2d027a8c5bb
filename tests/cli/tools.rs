//! `plimsoll tools`.

use crate::program::plimsoll;
use crate::support::{folder, json, rejected, sample, samples, stdout};
use plimsoll::json::{Value, json};
use std::fs;
use std::path::Path;

/// A call with its result.
type Answered<'a> = (&'a str, &'a str, &'a str);

/// Writes a conversation in which each answer makes one call: tool, arguments and result.
fn session(folder: &Path, calls: &[Answered<'_>]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Look at the ledger."})];
    for (n, (tool, arguments, result)) in calls.iter().enumerate() {
        let function = json!({"name": tool, "arguments": arguments});
        let call = json!({"id": format!("c{n}"), "type": "function", "function": function});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": result}));
    }
    messages.push(json!({"role": "assistant", "content": "The ledger_total is in books.rs."}));
    let path = folder.join("c.json");
    fs::write(&path, json!({"messages": messages}).to_string()).expect("a file");
    path.to_string_lossy().into_owned()
}

fn tools(folder: &Path, args: &[&str]) -> Value {
    json(&plimsoll(folder, &[&["tools"], args, &["--json"]].concat()))
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().expect("a list").iter().filter_map(|row| row["name"].as_str()).collect()
}

#[test]
fn repeated_and_never_named_results_are_counted_by_tool_and_server() {
    let here = folder();
    let file = session(
        here.path(),
        &[
            ("mcp__files__read", r#"{"path":"a"}"#, "fn ledger_total in books.rs"),
            ("mcp__files__read", r#"{"path":"a"}"#, "fn ledger_total in books.rs"),
            ("mcp__files__list", "{}", "other_name.rs"),
            ("Bash", r#"{"command":"ls"}"#, "ok"),
            ("Bash", r#"{"command":"ls"}"#, "no"),
        ],
    );
    let found = tools(here.path(), &[&file, "--sort", "name"]);
    assert_eq!(names(&found["tools"]), ["Bash", "mcp__files__list", "mcp__files__read"]);
    let [bash, list, read] = [0, 1, 2].map(|n| &found["tools"][n]);
    assert_eq!(read["calls"], 2);
    assert_eq!(read["repeated"]["results"], 1);
    assert_eq!(read["never_named"]["results"], 0);
    assert_eq!(list["never_named"]["results"], 1);
    assert_eq!(list["never_named"]["tokens"], list["result_tokens"]);
    // Its results differ, and have no names.
    assert_eq!(
        (&bash["repeated"]["results"], &bash["never_named"]["results"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(names(&found["servers"]), ["files"]);
    let server = &found["servers"][0];
    for figure in ["calls", "results", "result_tokens", "cumulative_tokens"] {
        let sum = |rows: &[&Value]| rows.iter().filter_map(|row| row[figure].as_u64()).sum::<u64>();
        assert_eq!(server[figure], sum(&[list, read]), "{figure}");
        assert_eq!(found["total"][figure], sum(&[bash, list, read]), "{figure}");
    }
    assert_eq!(server["largest_result"]["message"], 3);
    assert_eq!(server["largest_result"]["call"], 2);
}

#[test]
fn the_tables_of_all_samples_agree_with_the_other_commands() {
    let here = folder();
    for path in samples() {
        let file = path.to_string_lossy();
        let found = tools(here.path(), &[&file]);
        let inspected = json(&plimsoll(here.path(), &["inspect", &file, "--json"]));
        let by_tool = inspected["tokens"]["by_tool"].as_object().expect("an object");
        let mut expected: Vec<&str> = by_tool.keys().map(String::as_str).collect();
        let mut listed = names(&found["tools"]);
        let shares = found["tools"].as_array().expect("a list").iter();
        let shares: Vec<f64> = shares.filter_map(|row| row["share_of_sent"].as_f64()).collect();
        assert!(shares.is_sorted_by(|a, b| a >= b), "{file}: {shares:?}");
        assert!(shares.iter().sum::<f64>() <= 1.0, "{file}: {shares:?}");
        expected.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, expected, "{file}");
        let replayed = json(&plimsoll(here.path(), &["replay", &file, "--json"]));
        assert_eq!(found["tokens_sent"], replayed["lanes"][0]["tokens_sent"], "{file}");
    }
}

#[test]
fn rows_are_sorted_by_a_column_and_limited() {
    let here = folder();
    let file = session(
        here.path(),
        &[("a", "{}", "1"), ("b", "{}", &"a long result ".repeat(20)), ("a", "{}", "2")],
    );
    for (column, first) in [("sent", "b"), ("results", "b"), ("calls", "a"), ("name", "a")] {
        let found = tools(here.path(), &[&file, "--sort", column, "--limit", "1"]);
        assert_eq!(names(&found["tools"]), [first], "{column}");
        assert_eq!(found["tools_not_listed"], 1);
        assert_eq!(found["total"]["calls"], 3);
    }
    let text = stdout(&plimsoll(here.path(), &["tools", &file, "--limit", "1"]));
    assert!(text.contains("1 more tool (--limit 0 lists all)"), "{text}");
    let error = rejected(here.path(), &["tools", &file, "--sort", "size"]);
    assert!(error.contains("never-named"), "{error}");
}

#[test]
fn text_and_csv_show_the_figures_of_the_json_output() {
    let here = folder();
    let file = sample("many-tool-results.jsonl");
    let found = tools(here.path(), &[&file]);
    let text = stdout(&plimsoll(here.path(), &["tools", &file]));
    let csv = stdout(&plimsoll(here.path(), &["tools", &file, "--csv"]));
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    for (row, line) in found["tools"].as_array().expect("a list").iter().zip(lines) {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |name: &str| {
            fields[header.iter().position(|column| *column == name).expect("a column")]
        };
        assert_eq!(field("name"), row["name"].as_str().expect("a name"));
        for figure in ["calls", "failed_results", "results", "result_tokens", "cumulative_tokens"] {
            assert_eq!(field(figure), row[figure].to_string(), "{figure}");
        }
        let is_row = |line: &&str| line.split_whitespace().next() == row["name"].as_str();
        assert!(text.lines().any(|line| is_row(&line)), "{text}");
    }
}

#[test]
fn a_session_without_tools_is_said_to_have_none() {
    let here = folder();
    let file = session(here.path(), &[]);
    let text = stdout(&plimsoll(here.path(), &["tools", &file]));
    assert_eq!(text, "no tool calls in 2 messages\n");
    assert_eq!(tools(here.path(), &[&file])["total"]["largest_result"], Value::Null);
}
