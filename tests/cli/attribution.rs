//! Content of the context: `inspect`, `diagnose`, `--without` and `--tools`.

use crate::program::plimsoll;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes a session with two MCP servers, of which one is never used, and a memory file in the system prompt.
fn session(folder: &Path) {
    let tool = |name: &str| {
        json!({"name": name, "description": "Looks something up. ".repeat(40),
               "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}})
    };
    let mut tools: Vec<Value> = (0..20).map(|n| tool(&format!("mcp__harbor__tool_{n}"))).collect();
    tools.push(tool("mcp__tides__next"));
    let memory = "--- Context from: /home/ana/GEMINI.md ---\nUse metric units.\n--- End of Context from: /home/ana/GEMINI.md ---";
    let messages: Vec<Value> = (0..6)
        .flat_map(|n| {
            let call = json!([{"type": "tool_use", "id": format!("c{n}"), "name": "mcp__tides__next", "input": {"query": "Emden"}}]);
            let result = json!([{"type": "tool_result", "tool_use_id": format!("c{n}"), "content": "High tide at four."}]);
            [json!({"role": "assistant", "content": call, "model": "claude-sonnet-4-5",
                    "usage": {"input_tokens": 4000 + 60 * n, "output_tokens": 20}}),
             json!({"role": "user", "content": result})]
        })
        .collect();
    let mut all = vec![json!({"role": "user", "content": "When is high tide?"})];
    all.extend(messages);
    let session = json!({
        "model": "claude-sonnet-4-5",
        "system": format!("You watch the harbor.\n\n# Tone\nBe brief.\n\n# Memory\n{memory}\n"),
        "tools": tools,
        "messages": all,
    });
    fs::write(folder.join("harbor.json"), session.to_string()).expect("the session");
}

fn run(folder: &Path, args: &[&str]) -> (String, String) {
    let output = plimsoll(folder, &[args, &["--no-state"]].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn json_of(folder: &Path, args: &[&str]) -> Value {
    let (out, err) = run(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {err}"))
}

fn source<'a>(inspected: &'a Value, name: &str) -> &'a Value {
    let sources = inspected["attribution"]["sources"].as_array().expect("sources");
    sources.iter().find(|row| row["source"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn inspect_names_what_fills_the_context_and_what_was_never_used() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path());
    let inspected = json_of(folder.path(), &["inspect", "harbor.json"]);
    let harbor = source(&inspected, "mcp:harbor");
    assert_eq!(
        (&harbor["tools"], &harbor["uses"], &harbor["calls"]),
        (&json!(20), &json!(0), &json!(6))
    );
    assert_eq!(source(&inspected, "mcp:tides")["uses"], 6);
    assert_eq!(
        harbor["cumulative_tokens"].as_u64().expect("a number"),
        6 * harbor["tokens"].as_u64().expect("a number")
    );
    assert!(harbor["usd"].as_f64().expect("a price") > 0.0);
    let memory = source(&inspected, "memory:/home/ana/GEMINI.md");
    assert!(memory["tokens"].as_u64().expect("a number") > 10);
    assert!(source(&inspected, "section:Tone")["tokens"].as_u64().expect("a number") > 0);
    // The groups of the largest context add up to it.
    let groups = inspected["attribution"]["groups"].as_array().expect("groups");
    let sum: u64 = groups.iter().map(|group| group["tokens"].as_u64().expect("a number")).sum();
    let share: f64 = groups.iter().map(|group| group["share"].as_f64().expect("a number")).sum();
    assert!(sum > 3000 && (share - 1.0).abs() < 1e-9, "{sum} {share}");
    let verdict = inspected["verdict"].as_str().expect("a verdict");
    assert!(verdict.contains("20 tools of harbor"), "{verdict}");
    let (diagnosis, _) = run(folder.path(), &["diagnose", "harbor.json"]);
    assert!(diagnosis.contains("harbor: 20 tools, "), "{diagnosis}");
    assert!(diagnosis.contains("in 6 calls, never used: $"), "{diagnosis}");
}

#[test]
fn without_a_server_every_lane_and_price_is_smaller() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path());
    let whole = json_of(folder.path(), &["inspect", "harbor.json"]);
    let removed = source(&whole, "mcp:harbor")["tokens"].as_u64().expect("a number");
    let lanes = |options: &[&str]| {
        let args = [&["replay", "harbor.json", "--policy", "none"], options].concat();
        let lanes = json_of(folder.path(), &args)["lanes"].clone();
        let lanes = lanes.as_array().expect("lanes").clone();
        lanes.iter().map(|lane| lane["peak_tokens"].as_u64().expect("a peak")).collect::<Vec<_>>()
    };
    let (with, less) = (lanes(&[]), lanes(&["--without", "mcp:harbor"]));
    for (with, less) in with.iter().zip(&less) {
        assert_eq!(with - less, removed);
    }
    let usd = |options: &[&str]| {
        let args = [&["diagnose", "harbor.json"], options].concat();
        json_of(folder.path(), &args)["lanes"][0]["cost"]["usd"].as_f64().expect("a cost")
    };
    assert!(usd(&["--without", "mcp:harbor"]) < usd(&[]));
    let (_, note) =
        run(folder.path(), &["inspect", "harbor.json", "--without", "tool:mcp__tides__next"]);
    assert!(note.contains("still has 6 calls of these tools"), "{note}");
    let (_, error) = run(folder.path(), &["inspect", "harbor.json", "--without", "mcp:lighthouse"]);
    assert!(error.contains("no such source") && error.contains("mcp:harbor"), "{error}");
    let (_, error) = run(
        folder.path(),
        &["context", "harbor.json", "--at-call", "2", "--without", "mcp:harbor"],
    );
    assert!(error.contains("--without changes figures only"), "{error}");
}

#[test]
fn tools_that_the_file_lacks_can_be_given() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path());
    let whole: Value = serde_json::from_str(
        &fs::read_to_string(folder.path().join("harbor.json")).expect("the session"),
    )
    .expect("JSON");
    let mut bare = whole.clone();
    bare.as_object_mut().expect("an object").remove("tools");
    fs::write(folder.path().join("bare.json"), bare.to_string()).expect("a file");
    let tools = json!({"result": {"tools": whole["tools"]}});
    fs::write(folder.path().join("tools.json"), tools.to_string()).expect("a file");
    let lacking = json_of(folder.path(), &["inspect", "bare.json"]);
    let given = json_of(folder.path(), &["inspect", "bare.json", "--tools", "tools.json"]);
    assert_eq!(source(&given, "mcp:harbor")["tools"], 20);
    // They were sent, so they leave what is not recorded.
    let not_recorded = |of: &Value| of["tokens"]["not_recorded"].as_u64().expect("a number");
    assert!(not_recorded(&lacking) > 2000 && not_recorded(&given) < 600);
    let (_, error) = run(folder.path(), &["inspect", "harbor.json", "--tools", "tools.json"]);
    assert!(error.contains("the session records its tools"), "{error}");
}
