//! `plimsoll mcp`: the server and its tools, spoken to through standard input and output.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, sample, stdout, write_conversation};
use plimsoll::json::{Value, from_str, json as value};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A connection to a server, like that of an agent.
struct Agent {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Agent {
    /// Starts a server in a folder, as the agent with this name.
    fn new(folder: &Path, name: &str) -> Self {
        Self::with_options(folder, name, &[])
    }

    fn with_options(folder: &Path, name: &str, options: &[&str]) -> Self {
        Self::started(command(folder, &[&["mcp"], options].concat()), name)
    }

    fn started(mut command: Command, name: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the server starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut agent = Self { server, input, output, last_id: 0 };
        let begun = agent.request(
            "initialize",
            &value!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}),
        );
        assert_eq!(begun["result"]["serverInfo"]["name"], "plimsoll");
        agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        agent
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("an open pipe"), "{line}").expect("the server reads");
    }

    fn receive_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        line
    }

    /// Sends a request and returns its id.
    fn begin(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last_id += 1;
        let request =
            value!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters});
        self.send(&request.to_string());
        self.last_id
    }

    /// Sends a request and returns the next message, which must be its response.
    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.begin(method, parameters);
        let line = self.receive_line();
        let response = from_str(&line).expect("a message is a line of JSON");
        assert_eq!(response["id"], id, "{line}");
        response
    }

    fn result(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let response = self.request("tools/call", &value!({"name": tool, "arguments": arguments}));
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        (result["isError"] == true, text)
    }

    /// Returns the answer of a tool.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let (is_error, text) = self.result(tool, arguments);
        assert!(!is_error, "{text}");
        from_str(&text).expect("an answer is JSON")
    }

    /// Returns the error of a tool.
    fn error(&mut self, tool: &str, arguments: &Value) -> String {
        let (is_error, text) = self.result(tool, arguments);
        assert!(is_error, "{text}");
        text
    }

    /// Closes standard input, after which the server ends without another message.
    fn end(mut self) {
        self.input = None;
        assert_eq!(self.receive_line(), "");
        assert_eq!(self.server.wait().expect("the server ends").code(), Some(0));
    }
}

/// Rounds the fractions of a command's output as the tools do.
fn rounded(value: &Value) -> Value {
    fn round(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Number(number) if number.is_f64() => {
                let text = format!("{:.5e}", number.as_f64().expect("a fraction"));
                *value = text.parse::<f64>().expect("a number").into();
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(round),
            serde_json::Value::Object(object) => object.values_mut().for_each(round),
            _ => {}
        }
    }
    let mut rounded = serde_json::from_str(&value.to_string()).expect("JSON");
    round(&mut rounded);
    from_str(&rounded.to_string()).expect("JSON")
}

#[test]
fn the_tools_are_stable() {
    let here = folder();
    let mut agent = Agent::new(here.path(), "test");
    let response = agent.request("tools/list", &value!({}));
    agent.end();
    let tools = response["result"]["tools"].as_array().expect("a list");
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
    }
    let text = serde_json::to_string_pretty(&tools).expect("it is JSON") + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/mcp_tools.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &text).expect("it can be written");
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        text == known,
        "tools or parameters changed: UPDATE_DOCS=1 cargo test --test cli mcp\n{text}"
    );
}

#[test]
fn figures_are_those_of_the_commands() {
    let here = folder();
    let mut agent = Agent::new(here.path(), "test");
    for name in
        ["compacted.jsonl", "handoff.json", "images-and-cjk.json", "many-tool-results.jsonl"]
    {
        let file = sample(name);
        let printed =
            |args: &[&str]| rounded(&json(&plimsoll(here.path(), &[args, &["--json"]].concat())));

        let answer = agent.call("inspect", &value!({"file": file.as_str(), "limit": 100}));
        let inspect = printed(&["inspect", &file]);
        for list in answer["not_listed"].as_object().into_iter().flat_map(|lists| lists.keys()) {
            assert_eq!(list, "in_context", "{name}");
        }
        let rows = answer["in_context"].as_array().expect("a list");
        let sum: u64 = rows.iter().filter_map(|row| row["tokens"].as_u64()).sum();
        assert!(
            !rows.is_empty() && sum <= answer["end_tokens"].as_u64().expect("tokens"),
            "{name}"
        );
        let shown = agent.call(
            "message",
            &value!({"file": file.as_str(), "message": rows[0]["message"].as_u64()}),
        );
        assert_eq!(shown["status"], rows[0]["status"], "{name}");
        assert_ne!(shown["status"], "summarized", "{name}");
        for field in [
            "verdict",
            "calls",
            "end_tokens",
            "peak_share",
            "recorded",
            "tokens",
            "attribution",
            "largest",
        ] {
            assert_eq!(answer[field], inspect[field], "{name}: {field}");
        }

        let answer =
            agent.call("find", &value!({"file": file.as_str(), "query": "the", "limit": 100}));
        let find = printed(&["find", &file, "the", "--limit", "100"]);
        for field in ["messages", "matches", "found"] {
            assert_eq!(answer[field], find[field], "{name}: {field}");
        }

        let answer =
            agent.call("lost", &value!({"file": file.as_str(), "all": true, "limit": 100}));
        let evaluate = printed(&["evaluate", &file, "--policy", "prune"]);
        let recorded = &evaluate["sessions"][0]["lanes"][0];
        assert_eq!(recorded["lane"], "recorded");
        for field in ["compactions", "context_tokens", "total", "survival"] {
            assert_eq!(answer[field], recorded[field], "{name}: {field}");
        }
        let lost = recorded["lost"].as_array().expect("a list");
        assert_eq!(answer["lost_facts"], lost.len(), "{name}");
        let listed = answer["lost"].as_array().expect("a list");
        assert_eq!(listed.len(), lost.len().min(100), "{name}");
        for fact in listed {
            let is_fact = |expected: &Value| {
                ["kind", "message", "span", "left_at_call"].iter().all(|f| fact[f] == expected[f])
            };
            assert!(lost.iter().any(is_fact), "{fact}");
        }

        let answer = agent.call("cost", &value!({"file": file.as_str(), "limit": 100}));
        let diagnose = printed(&["diagnose", &file, "--policy", "prune"]);
        let recorded = &diagnose["lanes"][0];
        for field in
            ["usd", "source", "cache_read", "cache_write", "uncached", "output", "summaries"]
        {
            assert_eq!(answer["cost"][field], recorded["cost"][field], "{name}: {field}");
        }
        assert_eq!(answer["break_even"], recorded["break_even"], "{name}");
        assert_eq!(answer["models"], diagnose["models"], "{name}");
        assert_eq!(answer["tokens_sent"], diagnose["tokens_sent"], "{name}");
        assert_eq!(answer["cache_audit"]["misses"], diagnose["cache_audit"]["misses"], "{name}");
    }
    agent.end();
}

#[test]
fn a_removed_message_is_found_and_read() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let mut agent = Agent::new(here.path(), "test");
    let lost = agent.call("lost", &value!({"file": file.as_str(), "limit": 3}));
    assert_eq!(lost["lost"].as_array().expect("a list").len(), 3);
    let n_after = lost["not_listed"]["lost"].as_u64().expect("a number") as usize;
    assert!(n_after > 0);
    // Facts of the user come first. The next pages continue, up to one after which no row is left.
    let mut kinds = Vec::new();
    for skip in (0..3 + n_after).step_by(3) {
        let page = agent.call("lost", &value!({"file": file.as_str(), "limit": 3, "skip": skip}));
        let left = n_after.saturating_sub(skip);
        assert_eq!(page["not_listed"]["lost"].as_u64().unwrap_or(0) as usize, left, "{page}");
        let facts = page["lost"].as_array().expect("a list");
        kinds.extend(facts.iter().map(|fact| fact["kind"].as_str().expect("a kind").to_owned()));
    }
    assert_eq!(kinds.len(), 3 + n_after);
    let of_user = ["constraint", "decision"];
    let place = |kind: &String| of_user.iter().position(|known| known == kind).unwrap_or(2);
    assert!(kinds.is_sorted_by_key(place), "{kinds:?}");
    let fact = &lost["lost"][0];
    // The number of a message is the same in all tools.
    let query = format!("message:{}", fact["message"]);
    let found = agent.call("find", &value!({"file": file.as_str(), "query": query.as_str()}));
    assert_eq!(found["found"][0]["message"], fact["message"]);
    assert_eq!(fact["gone"], true);
    let message = agent.call(
        "message",
        &value!({"file": file.as_str(), "message": fact["message"].clone(), "part": fact["part"].clone(), "limit": 40000}),
    );
    assert!(message["status"] != "kept", "{message}");
    let part = &message["parts"][0];
    let span = |idx: usize| fact["span"][idx].as_u64().expect("a number") as usize;
    let text = part["text"].as_str().expect("a text");
    assert!(text.get(span(0)..span(1)).is_some(), "{fact} {part}");

    // The text continues where an answer ends.
    let whole = text;
    let half = whole.floor_char_boundary(whole.len() / 2);
    let of = |agent: &mut Agent, from: usize, limit: usize| {
        let part = agent.call(
            "message",
            &value!({"file": file.as_str(), "message": fact["message"].clone(), "part": fact["part"].clone(), "from": from, "limit": limit}),
        )["parts"][0]
            .clone();
        (
            part["text"].as_str().expect("a text").to_owned(),
            part["rest"].as_u64().expect("a number"),
        )
    };
    let (first, rest) = of(&mut agent, 0, half);
    assert_eq!(rest as usize, whole.len() - half);
    let (second, _) = of(&mut agent, half, 40_000);
    assert_eq!(first + &second, whole);
    agent.end();
}

/// Stores a copy of a sample session for Claude Code in `home`, recorded in `project`.
fn store(home: &Path, name: &str, project: &Path, age: u64) {
    let store = home.join(".claude/projects/-somewhere");
    fs::create_dir_all(&store).expect("a folder");
    let text = fs::read_to_string(sample("compacted.jsonl")).expect("a sample");
    let project = project.to_string_lossy();
    let text = text.replace("/home/dev/ledger", &project);
    let path = store.join(name);
    fs::write(&path, text).expect("it can be written");
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
    fs::File::options()
        .append(true)
        .open(&path)
        .expect("a file")
        .set_modified(time)
        .expect("a time");
}

#[test]
fn without_a_file_the_newest_session_of_the_project_is_read() {
    let here = folder();
    let home = here.path().canonicalize().expect("a folder");
    let mut agent = Agent::new(&home, "claude-code");
    let nothing = agent.error("inspect", &value!({}));
    assert!(nothing.starts_with("no session of Claude Code was recorded in "), "{nothing}");
    store(&home, "old.jsonl", &home, 300);
    store(&home, "new.jsonl", &home, 200);
    store(&home, "other.jsonl", &home.join("elsewhere"), 100);
    let file = |agent: &mut Agent, tool: &str, arguments: &Value| {
        let file = agent.call(tool, arguments)["session"]["file"].clone();
        file.as_str().expect("a path").rsplit('/').next().map(str::to_owned)
    };
    assert_eq!(file(&mut agent, "inspect", &value!({})).as_deref(), Some("new.jsonl"));
    assert_eq!(
        file(&mut agent, "find", &value!({"query": "ledger"})).as_deref(),
        Some("new.jsonl")
    );
    store(&home, "newest.jsonl", &home, 50);
    assert_eq!(file(&mut agent, "cost", &value!({})).as_deref(), Some("newest.jsonl"));
    agent.end();
    // Another agent has none; a program that is no known agent sees the sessions of all.
    let mut agent = Agent::new(&home, "codex-mcp-client");
    let nothing = agent.error("inspect", &value!({}));
    assert!(nothing.starts_with("no session of Codex was recorded in "), "{nothing}");
    agent.end();
    let mut agent = Agent::new(&home, "test");
    assert_eq!(file(&mut agent, "inspect", &value!({})).as_deref(), Some("newest.jsonl"));
    agent.end();
}

#[test]
fn a_folder_of_a_project_has_the_sessions_of_the_project() {
    let here = folder();
    let home = here.path().canonicalize().expect("a folder");
    let project = home.join("project");
    let below = project.join("src/deep");
    fs::create_dir_all(&below).expect("folders");
    let started = |folder: &Path| {
        let mut command = command(&home, &["mcp"]);
        command.current_dir(folder);
        Agent::started(command, "claude-code")
    };
    // A session of the home folder is one of no project.
    store(&home, "home.jsonl", &home, 10);
    let mut agent = started(&below);
    let nothing = agent.error("inspect", &value!({}));
    assert!(nothing.contains("or a folder above it; give the path"), "{nothing}");
    store(&home, "project.jsonl", &project, 300);
    let newest = |agent: &mut Agent| {
        let file = agent.call("inspect", &value!({}))["session"]["file"].clone();
        file.as_str().and_then(|file| file.rsplit('/').next()).expect("a path").to_owned()
    };
    assert_eq!(newest(&mut agent), "project.jsonl");
    // The nearest folder counts, not the newest session.
    store(&home, "src.jsonl", &project.join("src"), 400);
    assert_eq!(newest(&mut agent), "src.jsonl");
    agent.end();
    let mut agent = started(&home);
    assert_eq!(newest(&mut agent), "home.jsonl");
    agent.end();
}

#[test]
fn invalid_messages_and_calls_are_answered_and_the_server_goes_on() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    fs::write(here.path().join("no.json"), "{}").expect("it can be written");
    let mut agent = Agent::new(here.path(), "test");
    for line in ["garbage", "", "{", "\u{0}", "[]", "\"text\"", "{\"jsonrpc\":\"2.0\",\"id\":null}"]
    {
        agent.send(line);
    }
    // Some of them are answered with an error without an id, others are ignored.
    let id = agent.begin("ping", &value!({}));
    loop {
        let line = agent.receive_line();
        let message = from_str(&line).expect("a message is a line of JSON");
        if message["id"] == id {
            break;
        }
        assert_eq!(
            (&message["id"], message["error"]["code"].as_i64()),
            (&Value::Null, Some(-32600)),
            "{line}"
        );
    }
    let unknown = agent.request("no/such/method", &value!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(
        unknown["error"]["message"],
        "no method is named \"no/such/method\"; use tools/list and tools/call"
    );
    let invalid = agent.request("tools/call", &value!({"name": "inspect", "arguments": []}));
    assert_eq!(invalid["error"]["code"], -32602);
    assert_eq!(
        invalid["error"]["message"],
        "a call has `name`, one of inspect, find, lost, message, cost, and `arguments`, an object"
    );
    let unknown = agent.request("tools/call", &value!({"name": "delete", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(
        unknown["error"]["message"],
        "no tool is named \"delete\"; the tools are inspect, find, lost, message, cost"
    );
    let cases = [
        ("inspect", value!({"file": "missing.jsonl"}), "missing.jsonl"),
        ("inspect", value!({"file": "no.json"}), "no.json: "),
        ("inspect", value!({"file": "-"}), "standard input belongs to the protocol"),
        ("inspect", value!({"file": "c.json", "conversation": 9}), "conversation"),
        ("inspect", value!({"fil": "c.json"}), "no parameter is named \"fil\"; did you mean file?"),
        ("inspect", value!({"file": 7}), "file must be a text, not 7"),
        ("inspect", value!({"x": 7}), "choose from file, conversation, limit"),
        ("inspect", value!({"file": "c.json", "limit": 0}), "limit 0 is out of range: 1 to 100"),
        ("cost", value!({"file": "c.json", "limit": 101}), "limit 101 is out of range: 1 to 100"),
        (
            "find",
            value!({"file": "c.json", "query": "a", "skip": -1}),
            "skip must be a whole number, not -1",
        ),
        ("find", value!({"file": "c.json"}), "the parameter query is missing"),
        ("find", value!({"file": "c.json", "query": "tokens>x"}), "the query `tokens>x`"),
        ("lost", value!({"file": "c.json", "kind": "fil"}), "no kind of facts is named"),
        ("message", value!({"file": "c.json", "message": 0}), "the session has messages 1 to "),
        ("message", value!({"file": "c.json", "message": 1, "part": 5}), "has parts 1 to 1"),
        ("message", value!({"file": "c.json", "message": 1, "limit": 40001}), "1 to 40000"),
        (
            "message",
            value!({"file": "c.json", "message": 1, "from": 99999}),
            "part 1 of message 1 has ",
        ),
    ];
    for (tool, arguments, expected) in cases {
        let error = agent.error(tool, &arguments);
        assert!(error.contains(expected), "{tool} {arguments}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(
        agent.call("inspect", &value!({"file": "c.json", "conversation": null}))["messages"],
        27
    );
    agent.end();
}

#[test]
fn text_of_a_session_stays_within_bounds_and_controls_nothing() {
    let here = folder();
    let hostile = format!("\u{1b}[2J\u{202e}{}", "long ".repeat(5_000));
    let messages = value!([{"role": "user", "content": hostile.as_str()}, {"role": "assistant", "content": "yes"}]);
    fs::write(here.path().join("c.json"), messages.to_string()).expect("it can be written");
    let mut agent = Agent::new(here.path(), "test");
    let (_, text) = agent.result("message", &value!({"file": "c.json", "message": 1}));
    assert!(text.starts_with(r#"{"session":{"file":"c.json","#), "{text}");
    assert!(text.contains(r"\u001b[2J\u202elong"), "{text}");
    assert!(text.len() < 5_000, "{} bytes", text.len());
    let message = from_str(&text).expect("JSON");
    assert_eq!(message["parts"][0]["text"].as_str().map(str::len), Some(4_000));
    assert_eq!(message["parts"][0]["rest"], hostile.len() - 4_000);
    assert_eq!(message["status"], "kept");
    let (_, text) = agent.result("inspect", &value!({"file": "c.json"}));
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.len() < 8_000, "{text}");
    let inspect =
        agent.call("inspect", &value!({"file": sample("compacted.jsonl").as_str(), "limit": 1}));
    assert_eq!(inspect["largest"].as_array().map(Vec::len), Some(1));
    let tools = inspect["tokens"]["by_tool"].as_object().expect("an object");
    assert_eq!(tools.len(), 1);
    assert_eq!(inspect["not_listed"]["largest"], 9);
    agent.end();
}

#[test]
#[cfg(unix)]
fn a_cancelled_call_is_not_answered_and_blocks_no_other() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let pipe = here.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let mut agent = Agent::new(here.path(), "test");
    // Reading a pipe waits until something is written to it.
    let id = agent
        .begin("tools/call", &value!({"name": "inspect", "arguments": {"file": "pipe.jsonl"}}));
    agent.request("ping", &value!({}));
    let cancelled = value!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    agent.send(&cancelled.to_string());
    assert_eq!(agent.call("inspect", &value!({"file": "c.json"}))["messages"], 27);
    agent.end();
}

#[test]
fn options_apply_to_every_tool() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let mut agent = Agent::with_options(here.path(), "test", &["--window", "8k", "--no-state"]);
    assert_eq!(agent.call("inspect", &value!({"file": "c.json"}))["window"], 8_000);
    agent.end();
    rejected(here.path(), &["mcp", "--conversation", "2"]);
    rejected(here.path(), &["mcp", "--json"]);
}

#[test]
fn commands_that_add_the_server_are_printed() {
    let here = folder();
    let text = stdout(&plimsoll(here.path(), &["mcp", "--install"]));
    let listed = json(&plimsoll(here.path(), &["mcp", "--install", "--json"]));
    let program = listed["program"].as_str().expect("a path");
    for command in ["claude mcp add ", "codex mcp add ", "gemini mcp add ", "opencode mcp add "] {
        let line = text.lines().find(|line| line.trim().starts_with(command)).expect(command);
        assert!(line.ends_with(&format!("{program} mcp")), "{line}");
    }
}
