//! `plimsoll hook`: events of agents, and the hooks in their settings. `tests/hooks/run.py` runs the real programs.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, stderr, stdout};
use plimsoll::json::{Value, json as value};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const CONSTRAINTS: [&str; 2] =
    ["Never touch the file harbour.txt.", "Always log the cranes in English."];

/// Time in which an event must be handled, with a margin for a busy machine.
const LIMIT: Duration = Duration::from_secs(4);

/// Handles an event.
fn send(home: &Path, agent: &str, event: &str) -> Output {
    let mut child = command(home, &["hook", agent])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may end before it read everything.
    let _ = stdin.write_all(event.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

/// Handles an event that must succeed and returns the output.
fn handled(home: &Path, agent: &str, event: &Value) -> String {
    let output = send(home, agent, &event.to_string());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    stdout(&output)
}

/// Returns the text that the output of an event adds to the context.
fn context_of(output: &str, event: &str) -> String {
    let output: Value = plimsoll::json::from_str(output).expect("JSON");
    let specific = &output["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], event);
    specific["additionalContext"].as_str().expect("a text").to_owned()
}

fn log(home: &Path) -> String {
    stdout(&plimsoll(home, &["hook", "log"]))
}

/// Writes a session of Claude Code in which the user gave these instructions.
fn claude_session(home: &Path, instructions: &[String]) -> PathBuf {
    let line = |kind: &str, id: &str, message: Value| {
        value!({"type": kind, "uuid": id, "parentUuid": null, "isSidechain": false, "sessionId": "s",
                "version": "2.1.332", "cwd": "/p", "timestamp": "2026-11-28T14:45:36.967Z", "message": message})
        .to_string()
    };
    let user = value!({"role": "user", "content": instructions.join("\n")});
    let block = value!({"type": "text", "text": "Understood."});
    let usage = value!({"input_tokens": 10, "output_tokens": 3});
    let answer = value!({"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                         "content": [block], "usage": usage});
    let path = home.join("session.jsonl");
    let text = format!("{}\n{}\n", line("user", "u", user), line("assistant", "a", answer));
    fs::write(&path, text).expect("it can be written");
    path
}

fn claude_event(name: &str, transcript: &Path) -> Value {
    value!({"hook_event_name": name, "session_id": "s", "transcript_path": transcript.to_string_lossy().into_owned(),
            "cwd": "/p", "trigger": "auto", "custom_instructions": null, "source": "compact"})
}

#[test]
fn claude_code_receives_constraints_in_the_summary_request_and_once_after_the_compaction() {
    let home = folder();
    let transcript = claude_session(home.path(), &CONSTRAINTS.map(str::to_owned));
    let send = |event: &Value| handled(home.path(), "claude-code", event);
    let event = |name: &str| claude_event(name, &transcript);
    let request = send(&event("PreCompact"));
    assert!(CONSTRAINTS.iter().all(|text| request.contains(&format!("- {text}\n"))), "{request}");
    assert!(!request.contains('{'), "it is plain text: {request}");
    let back = context_of(&send(&event("SessionStart")), "SessionStart");
    assert!(CONSTRAINTS.iter().all(|text| back.contains(text)), "{back}");
    assert_eq!(send(&event("SessionStart")), "", "it came back already");
    let mut after = event("PostCompact");
    after["compact_summary"] = value!("The cranes must always be logged in English.");
    assert_eq!(send(&after), "");
    for later in ["UserPromptSubmit", "PostToolUse", "Stop"] {
        assert_eq!(send(&event(later)), "");
    }
    let log = log(home.path());
    assert!(log.contains("PreCompact s: 2 constraints added to the summary request"), "{log}");
    assert!(
        log.contains("PostCompact s: the summary lacks 1 of 2 constraints; 0 to follow"),
        "{log}"
    );
    assert!(!log.contains("harbour"), "{log}");
}

#[test]
fn lost_constraints_that_did_not_fit_come_back_at_the_next_events() {
    let home = folder();
    let many: Vec<String> = (0..120)
        .map(|n| format!("Never touch the file number{n}.txt in {}.", "x".repeat(80)))
        .collect();
    let transcript = claude_session(home.path(), &many);
    let send = |event: &Value| handled(home.path(), "claude-code", event);
    let event = |name: &str| claude_event(name, &transcript);
    assert!(send(&event("PreCompact")).len() < 10_000);
    let mut came = context_of(&send(&event("SessionStart")), "SessionStart");
    assert!(came.len() < 10_000 && came.contains("number119."));
    assert!(!came.contains("number0."), "the newest come first");
    let mut after = event("PostCompact");
    after["compact_summary"] = value!("Nothing.");
    send(&after);
    for name in ["PostToolUse", "UserPromptSubmit", "PostToolUse"] {
        let output = send(&event(name));
        if !output.is_empty() {
            came += &context_of(&output, name);
        }
    }
    for text in &many {
        assert_eq!(came.matches(text.as_str()).count(), 1, "{text}");
    }
    assert_eq!(send(&event("PostToolUse")), "");
}

#[test]
fn codex_receives_exactly_what_a_compaction_lost() {
    let rollout = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/pairs/codex/two-compactions/session.jsonl");
    let rollout = fs::read_to_string(rollout).expect("a session");
    let end = rollout.find("\"type\":\"compacted\"").expect("a compaction");
    let end = end + rollout[end..].find('\n').expect("lines");
    let first = "Log the cranes of the east quay.";
    // The compaction keeps the user's messages: first all, then all but the constraint.
    let (before, compaction) = rollout[..end].split_at(rollout[..end].rfind('\n').expect("lines"));
    let constraint = CONSTRAINTS[0];
    let kept = format!("{before}{compaction}\n").replace(first, constraint);
    let lost = format!("{}{compaction}\n", before.replace(first, constraint));
    for (text, is_lost) in [(kept, false), (lost, true)] {
        let home = folder();
        let path = home.path().join("rollout.jsonl");
        fs::write(&path, text).expect("it can be written");
        let event = |name: &str, source: &str| {
            value!({"hook_event_name": name, "session_id": "t", "source": source,
                    "transcript_path": path.to_string_lossy().into_owned()})
        };
        for (name, source) in [("PreCompact", "auto"), ("SessionStart", "startup")] {
            assert_eq!(handled(home.path(), "codex", &event(name, source)), "");
        }
        let compacted = event("SessionStart", "compact");
        let output = handled(home.path(), "codex", &compacted);
        assert_eq!(!output.is_empty(), is_lost, "{output} {}", log(home.path()));
        if is_lost {
            assert!(context_of(&output, "SessionStart").contains(constraint));
        }
        assert_eq!(handled(home.path(), "codex", &compacted), "");
    }
}

#[test]
fn a_failure_is_silent_and_logged() {
    let home = folder();
    let path = |name: &str| home.path().join(name);
    fs::write(path("notes.txt"), "no session").expect("it can be written");
    let missing = claude_event("PreCompact", &path("missing.jsonl")).to_string();
    let text = claude_event("PreCompact", &path("notes.txt")).to_string();
    let folder = claude_event("PreCompact", home.path()).to_string();
    let without =
        r#"{"hook_event_name": "PreCompact", "session_id": "s", "transcript_path": null}"#;
    let cases = [
        ("claude-code", "", "not a JSON object"),
        ("claude-code", "[1, 2", "not a JSON object"),
        ("codex", "{}", "no hook_event_name"),
        ("claude-code", &*missing, "no such file"),
        ("claude-code", &*text, "failed"),
        ("claude-code", &*folder, "is a folder"),
        ("claude-code", without, "records no session"),
        ("opencode", "{\"hook_event_name\": 7}", "not a JSON object"),
    ];
    for (n, (agent, event, reason)) in cases.into_iter().enumerate() {
        let output = send(home.path(), agent, event);
        assert_eq!(output.status.code(), Some(0), "{event}");
        assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()), "{event}");
        let log = log(home.path());
        let last = log.lines().last().expect("a line");
        assert_eq!(log.lines().count(), n + 1);
        assert!(last.contains("failed: ") && last.contains(reason), "{event}: {last}");
    }
    // Unknown events are no failures.
    assert_eq!(
        send(home.path(), "codex", r#"{"hook_event_name": "New", "session_id": "s"}"#).stdout,
        b""
    );
    assert_eq!(log(home.path()).lines().count(), cases.len());
}

#[test]
fn wrong_options_and_tables_do_not_disturb_an_agent() {
    let home = folder();
    let data = home.path().join(".local/share/plimsoll");
    fs::create_dir_all(&data).expect("a folder");
    fs::write(data.join("models.toml"), "not a table").expect("it can be written");
    for args in
        [&["hook", "codex"][..], &["hook", "claude-code", "--bogus"], &["hook", "codex", "x"]]
    {
        let output = plimsoll(home.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!((output.stdout, output.stderr), (Vec::new(), Vec::new()), "{args:?}");
    }
    let help = stdout(&plimsoll(home.path(), &["hook", "codex", "--help"]));
    assert!(help.contains("Codex runs this"), "{help}");
}

#[test]
fn without_state_nothing_is_kept_and_the_summary_request_is_still_extended() {
    let home = folder();
    let transcript = claude_session(home.path(), &CONSTRAINTS.map(str::to_owned));
    let event = home.path().join("event.json");
    fs::write(&event, claude_event("PreCompact", &transcript).to_string()).expect("written");
    let output = command(home.path(), &["hook", "claude-code", "--no-state"])
        .stdin(fs::File::open(&event).expect("readable"))
        .output()
        .expect("the program starts");
    assert!(stdout(&output).contains(CONSTRAINTS[0]));
    assert!(!home.path().join(".local").exists());
}

#[test]
fn keys_are_not_kept() {
    let home = folder();
    let key = "sk-made-up-for-a-test";
    let transcript = claude_session(home.path(), &[format!("Never print {key} anywhere.")]);
    handled(home.path(), "claude-code", &claude_event("PreCompact", &transcript));
    let folder = home.path().join(".local/share/plimsoll/hooks/sessions");
    let kept: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("a text"))
        .collect();
    assert!(kept.iter().any(|text| text.contains("Never print [key left out] anywhere.")));
    assert!(kept.iter().all(|text| !text.contains(key)));
}

#[cfg(unix)]
#[test]
fn an_event_that_takes_too_long_ends_after_two_seconds() {
    let home = folder();
    let pipe = home.path().join("pipe.jsonl");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let started = Instant::now();
    // Nobody writes to the pipe, so opening it never returns.
    assert_eq!(handled(home.path(), "claude-code", &claude_event("PreCompact", &pipe)), "");
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    let started = Instant::now();
    let mut child =
        command(home.path(), &["hook", "codex"]).stdin(Stdio::piped()).spawn().expect("starts");
    // Standard input stays open.
    let _stdin = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    let log = log(home.path());
    assert_eq!(log.matches("failed: it took too long").count(), 2, "{log}");
}

/// Settings with other hooks, in several notations.
const SETTINGS: [&str; 7] = [
    "{}",
    "{\n}\n",
    "{\n  \"model\": \"opus\",\n  \"env\": {\"A\": \"1\"}\n}\n",
    "{\r\n\t\"hooks\": {},\r\n\t\"z\": 1.0\r\n}\r\n",
    "{\"hooks\":{\"PreCompact\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"other\"}]}],\"Stop\":[]}}",
    "{\n    \"hooks\": {\n        \"SessionStart\": [\n            { \"matcher\": \"compact\", \"hooks\": [{ \"type\": \"command\", \"command\": \"echo plimsoll hook codex\" }] }\n        ],\n        \"PreCompact\": []\n    }\n}",
    "{ \"hooks\" : { \"PostToolUse\" : [ ] } }\n\n",
];

const FILES: [(&str, &str); 2] =
    [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")];

#[test]
fn an_uninstallation_restores_the_settings_byte_for_byte() {
    for (agent, file) in FILES {
        for settings in SETTINGS {
            let home = folder();
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
            fs::write(&path, settings).expect("it can be written");
            let run = |action: &str, more: &[&str]| {
                json(&plimsoll(home.path(), &[&["hook", action, agent, "--json"], more].concat()))
            };
            let read = || fs::read_to_string(&path).expect("a text");
            let dry = run("install", &["--dry-run"]);
            assert_eq!(
                (dry["changed"].as_bool(), dry["written"].as_bool()),
                (Some(true), Some(false))
            );
            assert_eq!(read(), settings);
            assert_eq!(run("install", &[])["written"], true);
            let installed = read();
            assert!(plimsoll::json::from_str(&installed).is_ok(), "{installed}");
            assert_eq!(run("install", &[])["changed"], false, "it is installed");
            assert_eq!(read(), installed);
            assert_eq!(run("uninstall", &["--dry-run"])["changed"], true);
            assert_eq!(run("uninstall", &[])["written"], true);
            assert_eq!(read(), settings, "{agent}");
            assert_eq!(run("uninstall", &[])["changed"], false);
        }
    }
}

#[test]
fn changes_after_the_installation_are_kept() {
    let home = folder();
    let path = home.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
    fs::write(&path, "{\n  \"model\": \"opus\"\n}\n").expect("it can be written");
    json(&plimsoll(home.path(), &["hook", "install", "claude-code", "--json"]));
    let installed = fs::read_to_string(&path).expect("a text");
    fs::write(&path, installed.replace("opus", "sonnet")).expect("it can be written");
    json(&plimsoll(home.path(), &["hook", "uninstall", "claude-code", "--json"]));
    assert_eq!(fs::read_to_string(&path).expect("a text"), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn files_that_an_installation_created_are_removed() {
    for (agent, file) in
        FILES.into_iter().chain([("opencode", ".config/opencode/plugins/plimsoll.js")])
    {
        let home = folder();
        let path = home.path().join(file);
        let installed = json(&plimsoll(home.path(), &["hook", "install", agent, "--json"]));
        assert!(path.is_file(), "{installed}");
        assert_eq!(installed["next_step"].is_null(), agent == "claude-code");
        let text = fs::read_to_string(&path).expect("a text");
        assert!(text.contains(env!("CARGO_BIN_EXE_plimsoll")), "{text}");
        json(&plimsoll(home.path(), &["hook", "uninstall", agent, "--json"]));
        assert!(!path.exists());
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = folder();
    let (dotfile, link) =
        (home.path().join("dotfile.json"), home.path().join("config/settings.json"));
    fs::create_dir(home.path().join("config")).expect("a folder");
    fs::write(&dotfile, "{}\n").expect("it can be written");
    fs::set_permissions(&dotfile, fs::Permissions::from_mode(0o640)).expect("permissions");
    std::os::unix::fs::symlink(&dotfile, &link).expect("a link");
    let output = command(home.path(), &["hook", "install", "claude-code"])
        .env("CLAUDE_CONFIG_DIR", home.path().join("config"))
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&dotfile).expect("a text").contains("PreCompact"));
    assert_eq!(dotfile.metadata().expect("metadata").permissions().mode() & 0o777, 0o640);
}

#[test]
fn settings_in_another_form_are_not_changed() {
    let home = folder();
    let path = home.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
    for settings in ["{\n  // mine\n  \"a\": 1\n}", "[]", "{\"hooks\": []}", ""] {
        fs::write(&path, settings).expect("it can be written");
        let error = rejected(home.path(), &["hook", "install", "claude-code"]);
        assert!(error.contains("it must be JSON without comments"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("a text"), settings);
    }
    let plugin = home.path().join(".config/opencode/plugins/plimsoll.js");
    fs::create_dir_all(plugin.parent().expect("a folder")).expect("it can be created");
    fs::write(&plugin, "// mine").expect("it can be written");
    let error = rejected(home.path(), &["hook", "install", "opencode"]);
    assert!(error.contains("is another plugin"), "{error}");
    let error = rejected(home.path(), &["hook", "install", "emacs"]);
    assert!(error.contains("claude-code"), "{error}");
}

/// Runs the hooks in the real programs if `PLIMSOLL_AGENTS` names the folder with their npm packages.
#[test]
fn real_programs_keep_constraints() {
    let Some(folder) = std::env::var_os("PLIMSOLL_AGENTS") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/run.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_plimsoll")).args(std::env::split_paths(&folder));
    assert!(command.status().expect("Python starts").success());
}
