//! `compact --resumable`: adds a session to the store of the agent that recorded it and changes nothing else.
#![expect(clippy::print_stderr, reason = "a skipped test says so, and a table is printed")]

use crate::real_sessions;
use plimsoll::formats::{self, Input, NewSession};
use plimsoll::json::Value;
use plimsoll::session::Session;
use plimsoll::units::Millis;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Creates a home folder in which both agents ran before.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    for store in [".claude", ".codex"] {
        fs::create_dir(home.path().join(store)).expect("a new folder");
    }
    home
}

fn compact(home: &Path, file: &Path, args: &[&str]) -> Output {
    command(home, file, args).output().expect("the program starts")
}

fn command(home: &Path, file: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command
        .arg("compact")
        .arg(file)
        .args(["--json", "--no-state"])
        .args(args)
        .stdin(Stdio::null())
        .current_dir(home)
        .env("HOME", home)
        .env_remove("CODEX_HOME")
        .env_remove("CLAUDE_CONFIG_DIR");
    command
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions").join(name)
}

fn done(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rejected(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the paths of all files in a folder and its folders.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it");
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn text_of<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn parse(bytes: Vec<u8>) -> Session {
    let input = Input { name: "x".to_owned(), bytes: bytes.into() };
    formats::parse(&input).expect("a session").sessions.remove(0)
}

const TRUNCATE: [&str; 4] = ["--policy", "truncate", "--force", "--resumable"];

#[test]
fn a_codex_session_is_added_as_a_fork_of_the_recorded_one() {
    let home = home();
    let file = sample("many-tool-results.jsonl");
    let printed = done(&compact(home.path(), &file, &TRUNCATE));
    let checks = printed["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["ok"] == true), "{checks:?}");
    assert_eq!(checks.last().map(|check| &check["name"]), Some(&"resumable".into()));

    let (id, path) = (text_of(&printed, "/resumable/id"), text_of(&printed, "/resumable/path"));
    assert_eq!(text_of(&printed, "/output"), path);
    assert_eq!(
        text_of(&printed, "/resumable/command"),
        format!("cd {} && codex resume {id}", current(home.path()).display())
    );
    let written = files(home.path());
    let [name] = &written[..] else { panic!("{written:?}") };
    assert!(home.path().join(name).ends_with(path) || path.ends_with(&**name), "{path}");
    let parts: Vec<&str> = name.split('/').collect();
    let [".codex", "sessions", year, month, day, rollout] = parts[..] else { panic!("{name}") };
    assert!(
        rollout.starts_with(&format!("rollout-{year}-{month}-{day}T"))
            && rollout.ends_with(&format!("-{id}.jsonl"))
    );

    let (source, copy) =
        (fs::read_to_string(&file).expect("text"), fs::read_to_string(path).expect("text"));
    let head =
        |text: &str| plimsoll::json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(text_of(&head(&copy), "/payload/id"), id);
    assert_eq!(head(&copy)["payload"]["forked_from_id"], head(&source)["payload"]["id"]);
    let lines = source.lines().count();
    assert!(source.lines().skip(1).eq(copy.lines().skip(1).take(lines - 1)), "a line changed");

    let opened = parse(copy.into_bytes());
    assert_eq!(opened.compactions.len(), 1);
    assert_eq!(opened.calls, parse(source.into_bytes()).calls);
    let again = done(&compact(home.path(), Path::new(path), &TRUNCATE));
    assert_eq!(
        (&again["tokens_before"], &again["changed"]),
        (&printed["tokens_after"], &false.into())
    );
    assert_eq!(again["resumable"], Value::Null);
    assert_eq!(files(home.path()), written);
}

#[test]
fn a_claude_code_session_is_added_to_the_folder_of_its_project() {
    let home = home();
    let file = sample("slow-growth.jsonl");
    let printed = done(&compact(home.path(), &file, &TRUNCATE));
    let id = text_of(&printed, "/resumable/id");
    let here = current(home.path());
    let folder = here.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    assert_eq!(files(home.path()), [format!(".claude/projects/{folder}/{id}.jsonl")]);
    assert_eq!(
        text_of(&printed, "/resumable/command"),
        format!("cd {} && claude --resume {id}", here.display())
    );
    let note = format!(
        "the recorded project /home/dev/ledger is not on this machine; the session continues in {}",
        here.display()
    );
    assert!(printed["notes"].to_string().contains(&note));
    let copy = fs::read_to_string(text_of(&printed, "/resumable/path")).expect("text");
    for line in copy.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(record["sessionId"], id);
        assert_eq!(record["forkedFrom"]["messageUuid"], record["uuid"]);
        assert_ne!(record["forkedFrom"]["sessionId"], id);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        let path = Path::new(text_of(&printed, "/resumable/path"));
        assert_eq!((mode(path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
    }
}

/// Returns the path of a folder without links, as the program finds its current folder.
fn current(folder: &Path) -> PathBuf {
    folder.canonicalize().expect("a folder")
}

fn files_in(folder: &Path) -> usize {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: PathBuf| if path.is_dir() { files_in(&path) } else { 1 };
    inside.map(|entry| count(entry.path())).sum()
}

#[test]
fn files_of_a_policy_are_written_to_the_folder_of_the_recorded_session() {
    let home = home();
    let source = home.path().join("many.jsonl");
    fs::copy(sample("many-tool-results.jsonl"), &source).expect("the sample can be copied");
    let args = [
        "--policy",
        "gemini-cli",
        // Masks results before it summarizes.
        "--set",
        "prune_protect=2000",
        "--set",
        "prune_minimum=1000",
        "--schedule",
        "replay",
        "--resumable",
    ];
    let result = done(&compact(home.path(), &source, &args));
    let beside = home.path().join("many-managed-1.files");
    assert!(beside.is_dir(), "{result}");
    let notes = result["notes"].to_string();
    // How many are masked depends a little on how long the folder's name is.
    let n = files_in(&beside);
    let wrote = format!("the policy wrote {n} files to ");
    assert!(n > 50 && notes.contains(&wrote), "{n}: {notes}");
    assert!(notes.contains("many-managed-1.files"), "{notes}");
    let written = fs::read_to_string(text_of(&result, "/resumable/path")).expect("it is there");
    assert!(written.contains(&*beside.to_string_lossy()));
}

#[test]
fn stores_named_by_the_environment_have_precedence() {
    let home = home();
    for (variable, name) in
        [("CODEX_HOME", "many-tool-results.jsonl"), ("CLAUDE_CONFIG_DIR", "slow-growth.jsonl")]
    {
        let other = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(home.path(), &sample(name), &TRUNCATE);
        let output = command.env(variable, other.path()).output().expect("the program starts");
        done(&output);
        assert_eq!((files(other.path()).len(), files(home.path()).len()), (1, 0), "{variable}");
    }
}

#[test]
fn nothing_is_written_if_the_agent_never_ran_or_cannot_resume() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let error = rejected(&compact(empty.path(), &sample("slow-growth.jsonl"), &TRUNCATE));
    assert!(
        error.contains("CLAUDE_CONFIG_DIR") && error.contains("run Claude Code once"),
        "{error}"
    );
    let error = rejected(&compact(empty.path(), &sample("many-tool-results.jsonl"), &TRUNCATE));
    assert!(error.contains("CODEX_HOME"), "{error}");
    assert!(fs::read_dir(empty.path()).expect("a folder").next().is_none());

    let home = home();
    let error = rejected(&compact(home.path(), &sample("handoff.json"), &TRUNCATE));
    assert!(error.contains("--to") && error.contains("codex"), "{error}");
    let with_output = [&TRUNCATE[..], &["-o", "x.jsonl"]].concat();
    let error = rejected(&compact(home.path(), &sample("slow-growth.jsonl"), &with_output));
    assert!(error.contains("-o"), "{error}");
    let as_openai = [&TRUNCATE[..], &["--format", "openai_chat"]].concat();
    rejected(&compact(home.path(), &sample("slow-growth.jsonl"), &as_openai));
    assert_eq!(files(home.path()), Vec::<String>::new());
}

#[test]
fn without_the_option_nothing_is_added_to_a_store() {
    let home = home();
    let file = sample("many-tool-results.jsonl");
    let printed = done(&compact(
        home.path(),
        &file,
        &["--policy", "truncate", "--force", "-o", "copy.jsonl"],
    ));
    assert_eq!(
        (&printed["resumable"], &printed["format"]),
        (&Value::Null, &"codex_rollout".into())
    );
    assert_eq!(files(home.path()), ["copy.jsonl", "copy.manifest.json", "copy.removed.jsonl"]);
    let bytes = fs::read(home.path().join("copy.jsonl")).expect("it is there");
    assert!(
        bytes.starts_with(&fs::read(&file).expect("it is there")),
        "the rollout is no longer as it was"
    );
}

#[test]
fn the_managed_conversation_of_a_codex_session_keeps_its_token_count() {
    let home = home();
    let file = sample("many-tool-results.jsonl");
    for policy in ["truncate", "prune", "summarize"] {
        for schedule in ["now", "replay"] {
            let out = format!("{policy}-{schedule}.jsonl");
            let args = ["--policy", policy, "--schedule", schedule, "-o", &out];
            let printed = done(&compact(home.path(), &file, &args));
            let copy = home.path().join(&out);
            let again =
                done(&compact(home.path(), &copy, &["--policy", policy, "-o", "again.jsonl"]));
            assert_eq!(
                (&again["tokens_before"], &again["changed"]),
                (&printed["tokens_after"], &false.into()),
                "{out}"
            );
        }
    }
}

fn to_new_session(format: &str, bytes: &[u8]) -> formats::Resumable {
    let resume =
        formats::by_name(format).and_then(|f| f.resume.as_ref()).expect("it can be resumed");
    let new_session = NewSession {
        now: Millis(1_795_323_000_123),
        random: [0x5a; 16],
        folder: "/here".to_owned(),
        replaces_recorded: false,
        project_folder: None,
    };
    (resume.to_new_session)(bytes, &new_session).expect("a session")
}

#[test]
fn a_session_without_a_folder_uses_the_current_one() {
    let claude = |cwd: &str| {
        format!(
            r#"{{"uuid":"a","parentUuid":null,"sessionId":"old",{cwd}"type":"user","message":{{"role":"user","content":"hi"}}}}"#
        )
    };
    let named = claude(r#""cwd":"","#) + "\n" + &claude(r#""cwd":"/there","#);
    let codex = |cwd: &str| {
        format!(r#"{{"type":"session_meta","payload":{{"id":"old",{cwd}"cli_version":"1"}}}}"#)
    };
    for (format, file, folder) in [
        ("claude_code", claude(r#""cwd":"","#), "/here"),
        ("claude_code", claude(""), "/here"),
        ("claude_code", named, "/there"),
        ("codex_rollout", codex(r#""cwd":"","#), "/here"),
        ("codex_rollout", codex(""), "/here"),
    ] {
        let new = to_new_session(format, file.as_bytes());
        assert_eq!(new.project.as_deref(), Some(folder), "{file}");
        let relative_path = new.relative_path.join("/");
        assert!(
            format == "codex_rollout"
                || relative_path.starts_with(&folder.replace('/', "projects/-")),
            "{relative_path}"
        );
    }
}

#[test]
fn records_of_claude_code_change_only_in_their_ids() {
    let file = concat!(
        r#"{"type":"summary","summary":"s","leafUuid":"b"}"#,
        "\n",
        r#"{"uuid":"a","parentUuid":null,"sessionId":"old","n":1.50,"cwd":"/a b","type":"user","message":{"role":"user","content":"\"sessionId\":\"old\" \ud83d"}}"#,
        "\n",
        r#"{"uuid":"b","forkedFrom":{"sessionId":"older","messageUuid":"b"},"parentUuid":"a","type":"assistant","message":{"role":"assistant","content":[]},"sessionId":"old"}"#,
        r#"{"type":"mode","sessionId":"old"}"#,
        "\n",
        "torn {\"sessionId\":\"old\"",
    );
    let new = to_new_session("claude_code", file.as_bytes());
    let id = "5a5a5a5a-5a5a-4a5a-9a5a-5a5a5a5a5a5a";
    assert_eq!((&*new.id, new.relative_path.join("/")), (id, format!("projects/-a-b/{id}.jsonl")));
    let expected = file
        .replacen(
            r#""sessionId":"old","n""#,
            &format!(
                r#""sessionId":"{id}","forkedFrom":{{"sessionId":"old","messageUuid":"a"}},"n""#
            ),
            1,
        )
        .replacen(
            r#"{"sessionId":"older","messageUuid":"b"}"#,
            r#"{"sessionId":"old","messageUuid":"b"}"#,
            1,
        )
        .replacen(r#","sessionId":"old"}{"#, &format!(r#","sessionId":"{id}"}}{{"#), 1)
        .replacen(r#""mode","sessionId":"old""#, &format!(r#""mode","sessionId":"{id}""#), 1);
    assert_eq!(String::from_utf8_lossy(&new.bytes), expected);
}

#[test]
fn real_sessions_are_added_and_pass_every_check() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let folder = &folder;
    std::thread::scope(|scope| {
        for kind in ["codex_rollout", "claude_code"] {
            scope.spawn(move || real_kind(&folder.join(kind)));
        }
    });
}

fn real_kind(folder: &Path) {
    let home = home();
    let entries = fs::read_dir(folder).expect("a folder");
    let mut sources: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    sources.sort();
    let mut written = 0;
    for file in sources {
        let source = fs::read(&file).expect("readable");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for policy in ["truncate", "prune", "summarize"] {
            let args = ["--policy", policy, "--force", "--resumable"];
            let printed = done(&compact(home.path(), &file, &args));
            let checks = printed["checks"].as_array().expect("checks");
            let names: Vec<_> = checks.iter().filter_map(|c| c["name"].as_str()).collect();
            let row = format!(
                "{name:<40} {policy:<9} {:>7} → {:<7} {}",
                printed["tokens_before"],
                printed["tokens_after"],
                names.join(", ")
            );
            eprintln!("{row}");
            assert!(checks.iter().all(|check| check["ok"] == true), "{row}: {checks:?}");
            assert_eq!(printed["resumable"].is_null(), printed["changed"] == false, "{row}");
            written += usize::from(printed["changed"] == true);
        }
        assert!(fs::read(&file).expect("readable") == source, "the source changed");
    }
    assert_eq!(files(home.path()).len(), written);
}
