//! Folders that contain links, cycles of links, devices and pipes without a writer. They are skipped or rejected without
//! waiting.
#![cfg(unix)]

use plimsoll::exec::stores::find_in;
use plimsoll::exec::{LoadOptions, load, restore};
use plimsoll::progress::Progress;
use plimsoll::tokens::by_name;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TASK: &str = r#"[{"role":"user","content":[{"type":"text","text":"Fix it."}],"ts":1770000000000},{"role":"assistant","content":[{"type":"text","text":"Done."}],"ts":1770000001000}]"#;

fn options() -> LoadOptions {
    LoadOptions {
        counter: by_name("chars/4").expect("the counter exists"),
        window: None,
        conversation: 0,
    }
}

/// Creates a pipe without a writer.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "{}", path.display());
}

#[test]
fn listing_a_folder_skips_everything_but_files() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    fs::write(at("talk.json"), TASK).unwrap();
    fs::create_dir(at("deep")).unwrap();
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink("/dev/stdin", at("deep/input.jsonl")).unwrap();
    symlink(at("talk.json"), at("deep/again.json")).unwrap();
    symlink(here.path(), at("deep/round")).unwrap();
    symlink(at("a.json"), at("b.json")).unwrap();
    symlink(at("b.json"), at("a.json")).unwrap();
    pipe(&at("pipe.jsonl"));
    pipe(&at("deep/pipe.md"));
    let found = find_in(here.path(), &Progress::default()).unwrap();
    let paths: Vec<_> = found.files.iter().map(|f| &f.path).collect();
    assert_eq!(paths, [&at("talk.json")]);
}

#[test]
fn opening_anything_but_a_file_is_an_error_with_its_path() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink(at("ring.json"), at("ring.json")).unwrap();
    fs::create_dir(at("folder.json")).unwrap();
    for (name, says) in [
        ("zero.json", "is a device"),
        ("ring.json", "is a broken link"),
        ("folder.json", "is a folder"),
    ] {
        let refused = load(&at(name), &options(), &Progress::default()).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains(says) && message.contains(name), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_session_folder_is_read_without_links_and_pipes() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    fs::create_dir(at("task")).unwrap();
    fs::write(at("task/api_conversation_history.json"), TASK).unwrap();
    fs::write(at("secret.json"), r#"{"key":"do not read"}"#).unwrap();
    symlink(at("secret.json"), at("task/ui_messages.json")).unwrap();
    symlink("/dev/zero", at("task/history_item.json")).unwrap();
    pipe(&at("task/task_metadata.json"));
    let loaded = load(&at("task"), &options(), &Progress::default()).unwrap();
    assert_eq!(loaded.case.session.source.format, "cline");
    let bytes = loaded.case.session.source.bytes.whole();
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(!bytes.contains("do not read"), "{bytes}");

    fs::create_dir_all(at("talk/events")).unwrap();
    let event = r#"{"id":0,"source":"user","action":"message","args":{"content":"a"}}"#;
    fs::write(at("talk/events/0.json"), event).unwrap();
    pipe(&at("talk/events/1.json"));
    symlink("/dev/zero", at("talk/events/2.json")).unwrap();
    let loaded = load(&at("talk"), &options(), &Progress::default()).unwrap();
    assert_eq!(loaded.case.session.messages.len(), 1);
}

#[test]
fn endless_files_named_on_the_command_line_are_rejected() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    fs::write(at("talk.json"), TASK).unwrap();
    fs::write(at("managed.json"), TASK).unwrap();
    pipe(&at("pipe"));
    fs::create_dir_all(at("data/plimsoll")).unwrap();
    pipe(&at("data/plimsoll/state.json"));
    pipe(&at("data/plimsoll/sessions.json"));
    let run = |args: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(args)
            .current_dir(here.path())
            .env("XDG_DATA_HOME", at("data"))
            .env("HOME", here.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_mins(1);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("it waits: {args:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), errors)
    };
    let model = ["--summarizer", "openai", "--model", "m", "--base-url"];
    let model = [&model[..], &["http://127.0.0.1:1", "--model-window", "9"]].concat();
    let compact = ["compact", "talk.json", "-o", "out", "--policy"];
    for endless in ["pipe", "/dev/zero", "/dev/random"] {
        for manifest in [endless, "talk.json"] {
            for name in ["managed.json", "managed.manifest.json", "managed.removed.jsonl"] {
                let _ = fs::remove_file(at(name));
                symlink(here.path().join(endless), at(name)).unwrap();
            }
            let _ = fs::remove_file(at("managed.manifest.json"));
            symlink(here.path().join(manifest), at("managed.manifest.json")).unwrap();
            let (code, errors) = run(&["restore", "managed.json"]);
            assert_eq!(code, Some(2), "{errors}");
        }
        let summarize = [&compact[..], &["summarize"]].concat();
        for args in [
            [&summarize[..], &["--replay-log", endless]].concat(),
            [&summarize[..], &model, &["--prompt", endless]].concat(),
            [&compact[..], &[&format!("./{endless}.toml")]].concat(),
            vec!["replay", "talk.json", "--prices", endless],
        ] {
            let (code, errors) = run(&args);
            assert_eq!(code, Some(2), "{args:?}: {errors}");
            assert_eq!(errors.lines().count(), 1, "{errors}");
        }
    }
    assert_eq!(run(&["sessions", "."]).0, Some(0));
}

#[test]
fn a_manifest_with_a_forged_size_is_rejected() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    let managed = vec![b' '; 8 << 20];
    fs::write(at("m.json"), &managed).unwrap();
    fs::write(at("m.removed.jsonl"), "").unwrap();
    let mark = |name: &str, bytes: usize, of: &[u8]| plimsoll::json::json!({"name": name, "bytes": bytes, "sha256": plimsoll::exec::fingerprint(of)});
    let take = plimsoll::json::json!({"managed": [0, managed.len()]}).to_string();
    let takes = vec![take; 125_000].join(",");
    for (stated, why) in [(1 << 20, "more than the"), (1 << 40, "too large")] {
        let manifest = plimsoll::json::json!({
            "source": mark("s.json", stated, b""),
            "managed": mark("m.json", managed.len(), &managed),
            "removed": mark("m.removed.jsonl", 0, b""),
            "restore": [],
        });
        let manifest = manifest.to_string();
        let manifest = manifest.replace(r#""restore":[]"#, &format!(r#""restore":[{takes}]"#));
        fs::write(at("m.manifest.json"), manifest).unwrap();
        let refused = restore(&at("m.json"), None).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}
