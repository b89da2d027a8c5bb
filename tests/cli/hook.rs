//! `plimsoll hook`: events of agents. `tests/hooks/run.py` runs the real programs.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, stderr, stdout};
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

/// Returns a record of a session of Claude Code.
fn claude_record(kind: &str, parent: Option<&str>, id: &str, message: &Value) -> Value {
    value!({"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "sessionId": "s",
            "version": "2.1.332", "cwd": "/p", "timestamp": "2026-11-28T14:45:36.967Z", "message": message})
}

/// Writes a session of Claude Code in which the user gave these instructions.
fn claude_session(home: &Path, instructions: &[String]) -> PathBuf {
    let user = value!({"role": "user", "content": instructions.join("\n")});
    let block = value!({"type": "text", "text": "Understood."});
    let usage = value!({"input_tokens": 10, "output_tokens": 3});
    let answer = value!({"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                         "content": [block], "usage": usage});
    let path = home.join("session.jsonl");
    let (user, answer) = (
        claude_record("user", None, "u", &user),
        claude_record("assistant", Some("u"), "a", &answer),
    );
    let text = format!("{user}\n{answer}\n");
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
fn keys_are_neither_printed_nor_kept() {
    let home = folder();
    let key = "sk-made-up-for-a-test";
    let said = [
        format!("Never print {key} anywhere."),
        "Always send Authorization: Bearer opened to postgres://app:opened@db/x.".to_owned(),
        "Only run it with --password opened, never with password: opened.".to_owned(),
    ];
    let transcript = claude_session(home.path(), &said);
    let request = handled(home.path(), "claude-code", &claude_event("PreCompact", &transcript));
    let back = handled(home.path(), "claude-code", &claude_event("SessionStart", &transcript));
    for text in [&request, &back] {
        assert!(!text.contains(key) && !text.contains("opened"), "{text}");
        assert_eq!(text.matches("[key left out]").count(), 5, "{text}");
    }
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

/// Adds a record to a session.
fn append(path: &Path, record: &Value) {
    let mut file = fs::File::options().append(true).open(path).expect("it can be opened");
    file.write_all(format!("{record}\n").as_bytes()).expect("it can be written");
}

#[test]
fn an_unhandled_compaction_takes_nothing_from_an_earlier_one() {
    let user = || value!({"role": "user", "content": CONSTRAINTS[1]});
    let cancelled: &[&str] = &["PreCompact"];
    // Without PostCompact, only the session shows that the compaction is over.
    let unfinished: &[&str] = &["PreCompact", "SessionStart"];
    let finished: &[&str] = &["PreCompact", "SessionStart", "PostCompact"];
    for earlier in [cancelled, unfinished, finished] {
        let home = folder();
        let transcript = claude_session(home.path(), &[CONSTRAINTS[0].to_owned()]);
        let send = |name: &str| {
            let mut event = claude_event(name, &transcript);
            event["compact_summary"] = value!("Nothing.");
            handled(home.path(), "claude-code", &event)
        };
        for name in earlier {
            drop(send(name));
        }
        append(&transcript, &claude_record("user", Some("a"), "u2", &user()));
        let back = context_of(&send("SessionStart"), "SessionStart");
        assert!(CONSTRAINTS.iter().all(|text| back.contains(text)), "{earlier:?}: {back}");
        assert_eq!(send("SessionStart"), "", "it came back already");
    }
}

#[test]
fn a_summary_is_compared_with_the_constraints_of_its_own_compaction() {
    let home = folder();
    let transcript = claude_session(home.path(), &CONSTRAINTS.map(str::to_owned));
    let send = |name: &str| {
        let mut event = claude_event(name, &transcript);
        event["compact_summary"] = value!("Nothing.");
        handled(home.path(), "claude-code", &event)
    };
    for name in ["PreCompact", "PostCompact", "PostCompact"] {
        send(name);
    }
    let log = log(home.path());
    assert!(log.contains("lacks 2 of 2 constraints; 2 to follow"), "{log}");
    assert!(log.contains("the constraints before the compaction are not known"), "{log}");
    // A new compaction that cannot be read hands back nothing of the one before.
    let mut event = claude_event("PreCompact", &transcript);
    event["transcript_path"] =
        value!(home.path().join("missing.jsonl").to_string_lossy().into_owned());
    assert_eq!(handled(home.path(), "claude-code", &event), "");
    assert_eq!(send("UserPromptSubmit"), "");
}

#[test]
fn sentences_that_count_are_printed_for_a_session() {
    let home = folder();
    let kept = [
        "Please use pnpm for the packages.",
        "Make sure that the tests pass.",
        "Rename it, and make sure the docs say so.",
        "From now on, ask before each commit.",
        "Whenever you edit a file, run the linter.",
        "Follow the style of the module.",
        "Leave the public functions unchanged.",
        "Write all comments in English.",
        "You may only edit the tests.",
        "Never print the password: [key left out]",
    ];
    let tasks = [
        "Please fix the bug in the parser.",
        "Use the search tool to find the caller.",
        "Please keep going until it is done.",
        "I always forget it and make sure it is committed.",
        "Could you make sure that it works?",
        "Now write a test for the parser.",
    ];
    let said = kept.map(|text| text.replace("[key left out]", "opened"));
    let said: Vec<String> = said.into_iter().chain(tasks.map(str::to_owned)).collect();
    let path = claude_session(home.path(), &said).to_string_lossy().into_owned();
    let found = json(&plimsoll(home.path(), &["hook", "constraints", &path, "--json"]));
    assert_eq!(found["constraints"], value!(kept.to_vec()));
    let text = stdout(&plimsoll(home.path(), &["hook", "constraints", &path]));
    assert_eq!(text, kept.map(|text| format!("- {text}\n")).concat());
    let path = claude_session(home.path(), &tasks.map(str::to_owned));
    let path = path.to_string_lossy().into_owned();
    let none = stdout(&plimsoll(home.path(), &["hook", "constraints", &path]));
    assert_eq!(none, "no standing instructions\n");
}

/// Returns an event of `OpenCode` after a compaction of a session with this message of the user.
fn opencode_event(said: &str, summary: &str) -> Value {
    let message = |id: &str, role: &str, is_summary: bool, part: Value| {
        let info = value!({"id": id, "role": role, "sessionID": "s", "summary": is_summary,
                           "time": {"created": 1, "completed": 2}});
        value!({"info": info, "parts": [part]})
    };
    let text = |text: &str| value!({"id": "p", "type": "text", "text": text});
    let compaction = value!({"id": "c", "type": "compaction", "auto": true});
    let messages = [
        message("m1", "user", false, text(said)),
        message("m2", "assistant", false, text("Understood.")),
        message("m3", "user", false, compaction),
        message("m4", "assistant", true, text(summary)),
    ];
    let info = value!({"id": "s", "title": "T", "directory": "/p", "version": "1.18.33",
                       "time": {"created": 1, "updated": 2}});
    value!({"hook_event_name": "experimental.chat.messages.transform", "session_id": "s",
            "session": {"info": info, "messages": messages.to_vec()}})
}

#[test]
fn opencode_tells_a_failure_from_a_compaction_that_lost_nothing() {
    let home = folder();
    let send = |event: &Value| handled(home.path(), "opencode", event);
    let lost = send(&opencode_event(CONSTRAINTS[0], "Nothing."));
    assert!(lost.contains(CONSTRAINTS[0]), "{lost} {}", log(home.path()));
    assert_eq!(send(&opencode_event(CONSTRAINTS[0], CONSTRAINTS[0])), "\n");
    let mut unreadable = opencode_event(CONSTRAINTS[0], "Nothing.");
    unreadable["session"] = value!({});
    assert_eq!(send(&unreadable), "");
}

/// Runs the plugin with Node, if there is one, and a program that fails at first.
#[cfg(unix)]
#[test]
fn the_plugin_of_opencode_asks_again_after_a_failure() {
    use std::os::unix::fs::PermissionsExt as _;
    const SCRIPT: &str = r#"
import { Plimsoll } from "./plugin.mjs"
const get = async () => ({ data: {} })
const hooks = await Plimsoll({ client: { session: { get, messages: get } } })
const texts = []
for (let n = 0; n < 4; n++) {
  const info = { id: "m", sessionID: "s", role: "assistant", summary: true, time: { completed: 1 } }
  const messages = [{ info, parts: [{ type: "text", text: "S" }] }]
  await hooks["experimental.chat.messages.transform"]({}, { messages })
  texts.push(messages[0].parts[0].text)
}
console.log(JSON.stringify(texts))
"#;
    if Command::new("node").arg("--version").output().is_err() {
        return;
    }
    let home = folder();
    let installed = json(&plimsoll(home.path(), &["hook", "install", "opencode", "--json"]));
    let plugin = fs::read_to_string(installed["path"].as_str().expect("a path")).expect("a text");
    let fake = home.path().join("fake");
    let program = fake.to_string_lossy();
    let plugin = plugin.replace(env!("CARGO_BIN_EXE_plimsoll"), &program);
    let calls = home.path().join("calls");
    // The first call fails, later ones answer.
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho x >> '{0}'\n[ $(wc -l < '{0}') -gt 1 ] && echo Keep it.\nexit 0\n",
        calls.display()
    );
    fs::write(&fake, script).expect("it can be written");
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).expect("permissions");
    fs::write(home.path().join("plugin.mjs"), plugin).expect("it can be written");
    fs::write(home.path().join("run.mjs"), SCRIPT).expect("it can be written");
    let output = Command::new("node").arg(home.path().join("run.mjs")).output().expect("it runs");
    let texts = stdout(&output);
    let kept = r#""S\n\nKeep it.""#;
    assert_eq!(texts, format!("[\"S\",{kept},{kept},{kept}]\n"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&calls).expect("a text"), "x\nx\n");
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
