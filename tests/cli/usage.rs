//! `plimsoll usage` and the usage in `plimsoll sessions`, over the stores of agents and over folders.
#![cfg(unix)]

use crate::program::plimsoll;
use plimsoll::json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions").join(name)
}

fn run(home: &Path, args: &[&str]) -> Output {
    let output = plimsoll(home, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(home: &Path, args: &[&str]) -> String {
    String::from_utf8_lossy(&run(home, args).stdout).into_owned()
}

fn json(home: &Path, args: &[&str]) -> Value {
    let args = [args, &["--json"]].concat();
    serde_json::from_slice(&run(home, &args).stdout).expect("the output is JSON")
}

/// A record of an assistant of Claude Code.
struct Answer<'a> {
    session: &'a str,
    id: &'a str,
    time: &'a str,
    input: u64,
    read: u64,
    output: u64,
}

impl Answer<'_> {
    fn line(&self, uuid: &str, parent: &str) -> String {
        let Answer { session, id, time, input, read, output } = self;
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"{session}","cwd":"/home/me/ledger","version":"2.1.300","timestamp":"{time}","message":{{"id":"{id}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","stop_reason":"end_turn","content":[{{"type":"text","text":"The answer of {id}."}}],"usage":{{"input_tokens":{input},"cache_read_input_tokens":{read},"cache_creation_input_tokens":0,"output_tokens":{output}}}}}}}"#
        )
    }
}

/// Returns a session of Claude Code with these answers, each after a message of the user.
fn claude(session: &str, answers: &[Answer<'_>]) -> String {
    let (mut lines, mut last) = (Vec::new(), "null".to_owned());
    for (n, answer) in answers.iter().enumerate() {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"{last}\"") };
        let time = answer.time;
        lines.push(format!(
            r#"{{"type":"user","uuid":"u{n}","parentUuid":{parent},"sessionId":"{session}","cwd":"/home/me/ledger","version":"2.1.300","timestamp":"{time}","message":{{"role":"user","content":"Question {n}"}}}}"#
        ));
        last = format!("a{n}");
        lines.push(answer.line(&last, &format!("u{n}")));
    }
    lines.join("\n") + "\n"
}

fn put(home: &Path, path: &str, content: &str) {
    let path = home.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("it is written");
}

/// Creates a home folder with a session over midnight in UTC, a resumed copy with one more call, and a sub-agent.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let answer =
        |session, id, time, input, read| Answer { session, id, time, input, read, output: 50 };
    let first = |session| answer(session, "msg_1", "2026-03-01T23:50:00.000Z", 1_000, 0);
    let second = |session| answer(session, "msg_2", "2026-03-02T00:10:00.000Z", 200, 1_000);
    let third = answer("two", "msg_3", "2026-03-08T12:00:00.000Z", 300, 1_200);
    let folder = ".claude/projects/-home-me-ledger";
    put(
        home.path(),
        &format!("{folder}/one.jsonl"),
        &claude("one", &[first("one"), second("one")]),
    );
    let copy = claude("two", &[first("two"), second("two"), third]);
    put(home.path(), &format!("{folder}/two.jsonl"), &copy);
    let agent = answer("one", "msg_9", "2026-03-02T00:05:00.000Z", 5_000, 0);
    let of_agent =
        |kind: &str| format!("{{\"isSidechain\":true,\"agentId\":\"x1\",\"type\":\"{kind}\"");
    let agent = claude("one", &[agent])
        .replace("{\"type\":\"user\"", &of_agent("user"))
        .replace("{\"type\":\"assistant\"", &of_agent("assistant"));
    put(home.path(), &format!("{folder}/one/subagents/agent-x1.jsonl"), &agent);
    home
}

fn column<'a>(result: &'a Value, name: &str) -> Vec<&'a Value> {
    result["rows"].as_array().expect("rows").iter().map(|row| &row[name]).collect()
}

#[test]
fn a_call_counts_once_on_the_day_of_its_own_time() {
    let home = home();
    let days = json(home.path(), &["usage", "--timezone", "UTC"]);
    assert_eq!(column(&days, "key"), ["2026-03-01", "2026-03-02", "2026-03-08"]);
    assert_eq!(column(&days, "input_tokens"), [1_000, 1_200 + 5_000, 1_500]);
    assert_eq!(column(&days, "cache_read_input_tokens"), [0, 1_000, 1_200]);
    assert_eq!(column(&days, "output_tokens"), [50, 100, 50]);
    assert_eq!(days["repeated_calls"], 2);
    assert_eq!(days["total"]["calls"], 4);
    // The copy and the sub-agent belong to one session.
    assert_eq!(days["total"]["sessions"], 1);
    // 3 dollars for a million of input, 0.30 of cache reads, 15 of output.
    let usd = days["total"]["cost_usd"].as_f64().unwrap();
    let expected = (6_500.0 * 3.0 + 2_200.0 * 0.3 + 200.0 * 15.0) / 1e6;
    assert!((usd - expected).abs() < 1e-9, "{usd} {expected}");
    // The second call was before midnight in New York.
    let west = json(home.path(), &["usage", "--timezone", "America/New_York"]);
    assert_eq!(column(&west, "key"), ["2026-03-01", "2026-03-08"]);
    assert_eq!(column(&west, "calls"), [3, 1]);
}

#[test]
fn rows_are_periods_blocks_projects_models_or_agents() {
    let home = home();
    let by = |key| json(home.path(), &["usage", "--timezone", "UTC", "--by", key]);
    assert_eq!(column(&by("week"), "key"), ["2026-02-23", "2026-03-02"]);
    assert_eq!(column(&by("month"), "key"), ["2026-03-01"]);
    assert_eq!(column(&by("block"), "key"), ["2026-03-01 23:00", "2026-03-08 12:00"]);
    assert_eq!(column(&by("project"), "key"), ["/home/me/ledger"]);
    assert_eq!(column(&by("model"), "key"), ["claude-sonnet-4-5-20250929"]);
    assert_eq!(column(&by("agent"), "key"), ["Claude Code"]);
}

#[test]
fn days_are_bounded_and_the_sums_are_those_of_the_shown_calls() {
    let home = home();
    let range = ["usage", "--timezone", "UTC", "--since", "2026-03-02", "--until", "2026-03-07"];
    let result = json(home.path(), &range);
    assert_eq!(column(&result, "key"), ["2026-03-02"]);
    assert_eq!(result["total"]["calls"], 2);
    let newest = json(home.path(), &["usage", "--timezone", "UTC", "--limit", "1"]);
    assert_eq!(column(&newest, "key"), ["2026-03-08"]);
    assert_eq!(newest["total"]["calls"], 4, "the sums contain the other rows");
    for (args, part) in [
        (["--since", "soon"], "soon is no day"),
        (["--timezone", "Mars/Base"], "Mars/Base is no time zone"),
    ] {
        let output = plimsoll(home.path(), &[&["usage"], &args[..]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains(part) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn text_and_csv_have_one_line_a_row() {
    let home = home();
    let shown = text(home.path(), &["usage", "--timezone", "UTC"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("day") && lines[0].ends_with("overflows"), "{shown}");
    assert!(lines[4].starts_with("total"), "{shown}");
    assert_eq!(lines[5], "2 calls in two sessions: counted once");
    let csv = text(home.path(), &["usage", "--timezone", "UTC", "--csv"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("2026-03-01,1,1,0,1000,0,0,50,"), "{csv}");
}

#[test]
fn a_second_run_reads_the_cache_and_gives_the_same() {
    let home = home();
    let args = ["usage", "--timezone", "UTC"];
    let cache = home.path().join(".local/share/plimsoll/usage.bin");
    json(home.path(), &[&args[..], &["--no-state"]].concat());
    assert!(!cache.exists(), "--no-state keeps nothing");
    let first = json(home.path(), &args);
    assert!(cache.exists());
    assert_eq!(json(home.path(), &args), first);
    let mut grown =
        fs::read_to_string(home.path().join(".claude/projects/-home-me-ledger/one.jsonl")).unwrap();
    let answer = Answer {
        session: "one",
        id: "msg_4",
        time: "2026-03-09T00:00:00.000Z",
        input: 7,
        read: 0,
        output: 1,
    };
    grown.push_str(&(answer.line("a9", "a1") + "\n"));
    put(home.path(), ".claude/projects/-home-me-ledger/one.jsonl", &grown);
    assert_eq!(column(&json(home.path(), &args), "key").len(), 4);
    run(home.path(), &["state", "clear"]);
    assert!(!cache.exists());
}

#[test]
fn sessions_have_recorded_times_costs_and_trees() {
    let home = home();
    let listed = json(home.path(), &["sessions"]);
    let sessions = listed["sessions"].as_array().unwrap();
    let ends: Vec<&Value> = sessions.iter().map(|session| &session["end_time"]).collect();
    assert_eq!(ends, ["2026-03-08T12:00:00Z", "2026-03-02T00:10:00Z", "2026-03-02T00:05:00Z"]);
    let one = &sessions[1];
    assert_eq!(one["session_id"], "one");
    assert_eq!(one["start_time"], "2026-03-01T23:50:00Z");
    assert_eq!(one["agent_version"], "2.1.300");
    assert_eq!(one["models"][0], "claude-sonnet-4-5-20250929");
    let agents = one["tree"]["agents"].as_array().unwrap();
    let inputs: Vec<&Value> = agents.iter().map(|agent| &agent["input_tokens"]).collect();
    assert_eq!(inputs, [2_200, 1_500, 5_000]);
    assert_eq!(agents[2]["is_sub_agent"], true);
    let total = json(home.path(), &["usage"])["total"]["cost_usd"].clone();
    assert_eq!(one["tree"]["total"]["cost_usd"], total);
    assert_eq!(sessions[0]["tree"], Value::Null, "it belongs to the tree of the first");
    let shown = text(home.path(), &["sessions", "--usage"]);
    assert!(shown.contains("1 sub-agent"), "{shown}");
    assert!(shown.contains("with 2 other agents: 4 calls"), "{shown}");
}

#[test]
fn a_file_that_two_paths_name_counts_once() {
    let home = home();
    let folder = ".claude/projects/-home-me-ledger";
    let file = format!("{folder}/one.jsonl");
    let once = json(home.path(), &["usage", folder])["total"].clone();
    let list = format!("{folder}\n{file}\n./{file}\n");
    put(home.path(), "list", &list);
    for args in [&["usage", folder, &file, folder][..], &["usage", "--files-from", "list"]] {
        assert_eq!(json(home.path(), args)["total"], once, "{args:?}");
    }
}

/// A chat whose messages are numbered, as some programs number them.
fn numbered(question: &str) -> String {
    format!(
        r#"{{"messages":[{{"id":"1","role":"user","content":"{question}"}},{{"id":"2","role":"assistant","content":"Done."}}]}}"#
    )
}

#[test]
fn numbered_messages_of_different_sessions_are_no_copies() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (name, question) in [("a", "Port it"), ("b", "Test it"), ("copy", "Port it")] {
        put(home.path(), &format!("logs/{name}.json"), &numbered(question));
    }
    let found = json(home.path(), &["usage", "logs"]);
    assert_eq!((&found["total"]["calls"], &found["repeated_calls"]), (&2.into(), &1.into()));
}

#[test]
fn a_file_is_read_again_once_it_is_readable() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home();
    let folder = ".claude/projects/-home-me-ledger";
    let path = home.path().join(folder).join("two.jsonl");
    let mode = |mode: u32| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let calls = || json(home.path(), &["usage", folder])["total"]["calls"].clone();
    mode(0o000);
    // The superuser reads every file.
    if fs::read(&path).is_err() {
        assert_eq!(calls(), 3);
    }
    mode(0o644);
    assert_eq!(calls(), 4);
}

#[test]
fn sub_agents_with_a_description_and_hidden_stores_of_a_backup_count() {
    let home = home();
    let all = json(home.path(), &["usage"])["total"].clone();
    let agents = ".claude/projects/-home-me-ledger/one/subagents";
    let about = r#"{"agentType":"Explore","description":"Map it"}"#;
    put(home.path(), &format!("{agents}/agent-x1.meta.json"), about);
    assert_eq!(json(home.path(), &["usage", "--no-state"])["total"], all);
    let backup = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().to_str().unwrap();
    assert_eq!(json(backup.path(), &["usage", folder])["total"], all);
    let shown = text(home.path(), &["inspect", ".claude/projects/-home-me-ledger/one.jsonl"]);
    assert!(shown.contains("Map it (sub-agent Explore): 1 call, 5k in"), "{shown}");
}

#[test]
fn a_given_window_is_that_of_all_figures() {
    let home = home();
    let narrow = ["--window", "4000", "--output-reserve", "0"];
    let total = json(home.path(), &[&["usage"][..], &narrow].concat())["total"].clone();
    // 5,000 tokens of the sub-agent.
    assert_eq!((&total["peak_share"], &total["overflows"]), (&1.25.into(), &1.into()));
    let sessions = json(home.path(), &[&["sessions"][..], &narrow].concat());
    let tree = &sessions["sessions"][1]["tree"]["total"];
    assert_eq!((&tree["peak_share"], &tree["overflows"]), (&1.25.into(), &1.into()));
}

#[test]
fn a_session_says_what_its_agents_used_and_which_exceeded() {
    let home = home();
    let file = ".claude/projects/-home-me-ledger/one.jsonl";
    let shown = text(home.path(), &["inspect", file]);
    assert!(shown.contains("   all  3 calls, 7.2k in, 150 out"), "{shown}");
    let fullest = "No call was above the window; the largest context is of conversation 2,";
    assert!(shown.contains(fullest), "{shown}");
    let narrow = ["inspect", file, "--window", "4000", "--output-reserve", "0"];
    let shown = text(home.path(), &narrow);
    let above = "Above the window: conversation 2 (1 call, peak 125 %).";
    assert!(shown.contains(above), "{shown}");
    let inspected = json(home.path(), &narrow);
    assert_eq!(inspected["tree"]["overflows"], 1);
    assert_eq!(inspected["conversations"][1]["usage"]["peak_share"], 1.25);
    // The report has the same figures.
    let report = ["report", file, "--window", "4000", "--output-reserve", "0", "-o"];
    let page = text(home.path(), &[&report[..], &["-"]].concat());
    let rows: Vec<&str> = page.lines().filter(|line| line.ends_with("| 125 % | 1 |")).collect();
    assert!(rows.len() == 2 && rows[0].starts_with("| 2 | "), "{page}");
    assert!(page.contains(above), "{page}");
    run(home.path(), &[&report[..], &["r.html"]].concat());
    let html = fs::read_to_string(home.path().join("r.html")).unwrap();
    assert!(html.contains("<h2>Conversations</h2>") && html.contains(above), "{html}");
    let redacted = text(home.path(), &[&report[..], &["-", "--redact"]].concat());
    assert!(redacted.contains("## Conversations") && !redacted.contains("Question"), "{redacted}");
}

#[test]
fn costs_are_those_of_diagnose() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for name in ["compacted.jsonl", "many-tool-results.jsonl"] {
        let file = sample(name);
        let path = file.to_str().unwrap();
        let diagnosed = json(home.path(), &["diagnose", path]);
        let usage = json(home.path(), &["usage", path]);
        let cost = diagnosed["lanes"][0]["cost"]["usd"].as_f64();
        let total = usage["total"]["cost_usd"].as_f64();
        let difference = cost.zip(total).map(|(a, b)| (a - b).abs());
        assert!(
            difference.is_some_and(|difference| difference < 1e-9),
            "{name}: {cost:?} {total:?}"
        );
    }
}
