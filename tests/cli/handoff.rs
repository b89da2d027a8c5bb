//! `convert --resumable` and `compact --resumable --to AGENT`: sessions of every agent become new sessions of every other
//! one, with every text, every call and every result. `tests/resume/run.py` resumes them with the real programs.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use plimsoll::exec::{LoadOptions, load};
use plimsoll::formats::{self, Input};
use plimsoll::json::Value;
use plimsoll::progress::Progress;
use plimsoll::session::{Body, Role, Session};
use plimsoll::tokens::default_counter;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Names of the agents on the command line, with their sessions in `tests/pairs`.
const AGENTS: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("opencode", "opencode"),
    ("gemini", "gemini-cli"),
    ("pi", "pi"),
];
const CASES: [&str; 3] = ["smoke", "parallel", "two-compactions"];
/// Project of the recorded sessions.
const PROJECT: &str = "/home/user/project";

/// Creates a home folder in which all agents ran before, Gemini CLI in the project and in the home folder.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    for store in [".claude", ".codex", ".gemini/tmp/project", ".gemini/tmp/home", ".pi/agent"] {
        fs::create_dir_all(home.path().join(store)).expect("a new folder");
    }
    let here = home.path().canonicalize().expect("a folder");
    for (folder, project) in [("project", Path::new(PROJECT)), ("home", &here)] {
        let marker = home.path().join(".gemini/tmp").join(folder).join(".project_root");
        fs::write(marker, project.to_string_lossy().as_bytes()).expect("a new file");
    }
    home
}

/// Copies a session to the home folder, where files that a program imports are written.
fn copied(home: &Path, file: &Path) -> String {
    let name = file.file_name().expect("a name");
    fs::copy(file, home.join(name)).expect("a copy");
    name.to_string_lossy().into_owned()
}

fn pair(folder: &str, case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs").join(folder).join(case);
    let entries = fs::read_dir(&folder).expect("a pair").flatten().map(|entry| entry.path());
    let is_session = |path: &PathBuf| {
        let ending = path.extension().is_some_and(|end| end == "jsonl" || end == "db");
        ending && !path.ends_with("requests.jsonl")
    };
    // A resume of Gemini CLI at another minute leaves a small file.
    let size = |path: &PathBuf| path.metadata().map_or(0, |data| data.len());
    entries.filter(is_session).max_by_key(size).expect("a session")
}

fn run(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(args).args(["--json", "--no-state"]).stdin(Stdio::null()).current_dir(home);
    for variable in ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR"] {
        command.env_remove(variable);
    }
    command.env("HOME", home).output().expect("the program starts")
}

fn done(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text_of<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn opened(path: &Path) -> Session {
    let options = LoadOptions { counter: default_counter(), window: None, conversation: 0 };
    let loaded = load(path, &options, &Progress::default()).expect("a session");
    Session::clone(&loaded.case.session)
}

fn parsed(path: &Path) -> Session {
    let bytes = fs::read(path).expect("the new file");
    let input = Input { name: "new".to_owned(), bytes: bytes.into() };
    formats::parse(&input).expect("a session").sessions.remove(0)
}

/// Texts in order, and calls with their results in order.
type Contents = (Vec<String>, Vec<(String, Value, Option<String>)>);

/// Returns the contents of messages after the instructions.
fn contents(session: &Session, messages: impl Iterator<Item = usize>) -> Contents {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    let mut ids: Vec<String> = Vec::new();
    for idx in messages.skip_while(|idx| session.messages[*idx].role == Role::System) {
        for part in session.parts_of(&session.messages[idx]) {
            match &part.body {
                Body::Text(text) if !text.trim().is_empty() => texts.push(text.to_string()),
                Body::ToolCall { call, tool, arguments } => {
                    ids.push(call.to_string());
                    let arguments = plimsoll::json::from_str(arguments).unwrap_or_default();
                    calls.push((tool.to_string(), arguments, None));
                }
                Body::ToolResult { call, text, .. } => {
                    let call = ids.iter().rposition(|id| **id == **call).expect("its call");
                    calls[call].2.get_or_insert(text.to_string());
                }
                _ => {}
            }
        }
    }
    (texts, calls)
}

fn history(session: &Session) -> Contents {
    let messages = session.messages.iter().enumerate();
    contents(session, messages.filter(|(_, m)| m.in_history).map(|(idx, _)| idx))
}

fn last_context(session: &Session) -> Contents {
    contents(session, session.real_context(session.messages.len()).into_iter())
}

/// Checks that all texts are there in their order, and all calls with their results.
fn assert_contains(label: &str, (texts, calls): &Contents, (found, found_calls): &Contents) {
    let mut rest = found.iter();
    for text in texts {
        assert!(rest.any(|found| found == text), "{label}: {text:?} is missing or misplaced");
    }
    assert_eq!(calls.len(), found_calls.len(), "{label}");
    for (call, found) in calls.iter().zip(found_calls) {
        assert_eq!(call, found, "{label}");
    }
    assert!(!texts.is_empty() && !calls.is_empty(), "{label}");
}

#[test]
fn sessions_of_every_agent_are_converted_to_every_agent() {
    for (source, folder) in AGENTS {
        for case in CASES {
            let file = pair(folder, case);
            let session = opened(&file);
            for (target, _) in AGENTS {
                let label = format!("{source} to {target}, {case}");
                let home = home();
                let path = copied(home.path(), &file);
                let result =
                    done(&run(home.path(), &["convert", &path, "--to", target, "--resumable"]));
                let written = text_of(&result, "/resumable/path");
                assert_eq!(text_of(&result, "/output"), written, "{label}");
                let written = Path::new(written);
                let (command, id) =
                    (text_of(&result, "/resumable/command"), text_of(&result, "/resumable/id"));
                assert!(command.contains(id) && command.contains(target), "{label}: {command}");
                assert!(!id.is_empty() && !id.starts_with("00000000"), "{label}: {id}");
                let read = parsed(written);
                assert_contains(&label, &history(&session), &history(&read));
                if source != target {
                    assert_eq!(result["complete"], false, "{label}: times and ids are new");
                    assert!(read.compactions.is_empty(), "{label}");
                }
                // Again: another session, and nothing is overwritten.
                let before = fs::read(written).expect("the new file");
                let again =
                    done(&run(home.path(), &["convert", &path, "--to", target, "--resumable"]));
                assert_ne!(text_of(&again, "/resumable/id"), id, "{label}");
                assert!(fs::read(written).expect("the new file") == before, "{label}");
            }
        }
    }
}

#[test]
fn a_managed_conversation_is_handed_to_every_agent() {
    for (source, folder) in AGENTS {
        let file = pair(folder, "two-compactions");
        let session = opened(&file);
        for (target, _) in AGENTS.iter().filter(|(target, _)| *target != source) {
            let label = format!("{source} to {target}");
            let home = home();
            let path = copied(home.path(), &file);
            // Without a policy the last context is written.
            let args = ["compact", &path, "--policy", "none", "--resumable", "--to", target];
            let result = done(&run(home.path(), &args));
            let read = parsed(Path::new(text_of(&result, "/resumable/path")));
            assert_contains(&label, &last_context(&session), &history(&read));
            assert!(result["resumable"]["losses"].is_array(), "{label}");
            let args = [
                "compact",
                &path,
                "--policy",
                "truncate",
                "--force",
                "--resumable",
                "--to",
                target,
            ];
            let result = done(&run(home.path(), &args));
            let checks = result["checks"].as_array().expect("checks");
            assert!(checks.iter().all(|check| check["ok"] == true), "{label}: {checks:?}");
        }
    }
}

#[test]
fn nothing_is_written_if_a_store_is_unknown() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let file = pair("codex", "smoke");
    let path = file.to_string_lossy();
    for (target, expected) in [
        ("claude", "run Claude Code once"),
        ("gemini", "run Gemini CLI once"),
        ("pi", "run Pi once"),
    ] {
        let output = run(empty.path(), &["convert", &path, "--to", target, "--resumable"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    // Gemini CLI ran, but not in the project.
    let store = empty.path().join(".gemini/tmp/other");
    fs::create_dir_all(&store).expect("a new folder");
    fs::write(store.join(".project_root"), "/elsewhere").expect("a new file");
    let output = run(empty.path(), &["convert", &path, "--to", "gemini", "--resumable"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("has no folder for the project"), "{error}");
    let home = home();
    let path = copied(home.path(), &file);
    for args in [
        &["convert", &*path, "--to", "openai_chat", "--resumable"][..],
        &["convert", &path, "--to", "claude"],
        &["convert", &path, "--to", "claude", "--resumable", "-o", "x.jsonl"],
        &["compact", &path, "--policy", "truncate", "--force", "--to", "claude"],
    ] {
        let output = run(home.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    }
    assert_eq!(fs::read_dir(store.parent().expect("a folder")).expect("a folder").count(), 1);
}

#[test]
fn messages_that_gemini_cli_would_leave_out_have_a_text_before_them() {
    let home = home();
    let file = home.path().join("chat.json");
    let chat = r#"{"messages":[{"role":"user","content":"/tmp is full"},{"role":"assistant","content":"I look."},
        {"role":"user","content":"? why"},{"role":"assistant","content":"Logs."}]}"#;
    fs::write(&file, chat).expect("a new file");
    let args = ["convert", "chat.json", "--to", "gemini", "--resumable"];
    let result = done(&run(home.path(), &args));
    let text = fs::read_to_string(text_of(&result, "/resumable/path")).expect("text");
    assert_eq!(text.matches(r#"[{"text":"Message:"},{"text":"#).count(), 2, "{text}");
}

#[test]
fn helps_and_errors_name_every_agent() {
    let home = home();
    let names: Vec<&str> =
        formats::resumable().filter_map(|(_, r)| Some(*r.names.first()?)).collect();
    assert_eq!(names.len(), AGENTS.len());
    let text = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_plimsoll")).args(args).output();
        let output = output.expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&text).into_owned()
    };
    let file = home.path().join("chat.json");
    fs::write(&file, r#"{"messages":[{"role":"user","content":"Hi"}]}"#).expect("a new file");
    let file = file.to_string_lossy();
    for args in [
        &["convert", "--help"][..],
        &["compact", "--help"],
        &["convert", &*file, "--to", "foo", "--resumable"],
        &["compact", &file, "--policy", "prune", "--to", "foo", "--resumable"],
        &["compact", &file, "--policy", "none", "--resumable"],
    ] {
        let text = text(args);
        for name in &names {
            assert!(text.contains(name), "{args:?}: {name} is missing: {text}");
        }
    }
}

#[test]
fn a_session_for_a_store_has_no_other_path() {
    let home = home();
    let path = copied(home.path(), &pair("codex", "smoke"));
    for (command, more) in [("convert", &[][..]), ("compact", &["--policy", "none"])] {
        let args = |target| {
            let out = ["--to", target, "--resumable", "-o"];
            let given = [&[command, &*path][..], more, &out].concat();
            given.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let run_to = |target, out: &str| {
            let args = [args(target), vec![out.to_owned()]].concat();
            run(home.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let rejected = run_to("claude", "x.jsonl");
        let error = String::from_utf8_lossy(&rejected.stderr).into_owned();
        assert!(error.contains("-o does not apply"), "{error}");
        let out = format!("{command}.json");
        let result = done(&run_to("opencode", &out));
        assert!(text_of(&result, "/resumable/path").ends_with(&out), "{result}");
        assert!(home.path().join(&out).is_file());
    }
    // Inside a session store.
    let store = home.path().join(".codex/sessions");
    fs::create_dir(&store).expect("a new folder");
    let path = copied(&store, &pair("codex", "smoke"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(["convert", &path, "--to", "claude", "--resumable", "--json", "--no-state"]);
    let command = command.current_dir(&store).env("HOME", home.path());
    for variable in ["CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
        command.env_remove(variable);
    }
    done(&command.output().expect("the program starts"));
}

#[test]
fn a_session_without_a_project_on_this_machine_continues_in_the_current_folder() {
    let home = home();
    let here = home.path().canonicalize().expect("a folder");
    let here = here.to_string_lossy();
    let chat =
        r#"{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi."}]}"#;
    fs::write(home.path().join("chat.json"), chat).expect("a new file");
    let codex = copied(home.path(), &pair("codex", "smoke"));
    for (file, has_note) in [("chat.json", false), (&*codex, true)] {
        for (target, _) in AGENTS {
            let label = format!("{file} to {target}");
            let args = ["convert", file, "--to", target, "--resumable"];
            let result = done(&run(home.path(), &args));
            let command = text_of(&result, "/resumable/command");
            assert!(command.starts_with(&format!("cd {here} && ")), "{label}: {command}");
            let note = format!(
                "the recorded project {PROJECT} is not on this machine; the session continues in {here}"
            );
            assert_eq!(result["notes"].to_string().contains(&note), has_note, "{label}");
            if target != "opencode" {
                continue;
            }
            let bytes = fs::read(text_of(&result, "/resumable/path")).expect("a file");
            let document: Value = serde_json::from_slice(&bytes).expect("JSON");
            let messages = document["messages"].as_array().expect("messages");
            let paths = messages.iter().filter_map(|message| message["info"].get("path"));
            let folders = paths.flat_map(|path| [&path["cwd"], &path["root"]]);
            let folders: Vec<_> = folders.chain([&document["info"]["directory"]]).collect();
            assert!(folders.len() > 2, "{label}");
            assert!(folders.iter().all(|folder| **folder == *here), "{label}: {folders:?}");
        }
    }
}

/// Resumes all sessions with the real programs if `PLIMSOLL_AGENTS` names the folder with their npm packages.
#[test]
fn real_programs_resume_the_sessions() {
    let Some(folder) = std::env::var_os("PLIMSOLL_AGENTS") else {
        eprintln!("skipped: PLIMSOLL_AGENTS is not set");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resume/run.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_plimsoll")).args(std::env::split_paths(&folder));
    let status = command.status().expect("Python starts");
    assert!(status.success());
}
