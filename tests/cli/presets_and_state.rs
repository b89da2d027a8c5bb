//! `plimsoll presets` and `plimsoll state`.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, stdout};
use plimsoll::json::Value;
use std::fs;

#[test]
fn a_configuration_is_read_from_standard_input() {
    let here = folder();
    let path = here.path().join("app.py");
    fs::write(&path, "config=EventsCompactionConfig(token_threshold=50_000)").expect("written");
    let output = command(here.path(), &["presets", "import", "-", "--json"])
        .stdin(fs::File::open(&path).expect("readable"))
        .output()
        .expect("the program starts");
    let imported = json(&output);
    assert_eq!(imported["preset"], "adk");
    assert_eq!(imported["settings"]["token_threshold"], 50_000);
}

#[test]
fn an_exported_configuration_is_written_and_is_not_a_policy() {
    let here = folder();
    let export = ["presets", "export", "codex"];
    let printed = stdout(&plimsoll(here.path(), &export));
    let written = [&export[..], &["-o", "own.toml"]].concat();
    let text = stdout(&plimsoll(here.path(), &written));
    assert!(text.starts_with("written to own.toml ("), "{text}");
    let path = here.path().join("own.toml");
    assert_eq!(fs::read_to_string(path).expect("a file"), printed);
    assert!(rejected(here.path(), &written).contains("already exists and is never overwritten"));
    let error = rejected(here.path(), &["replay", "talk.json", "--policy", "own.toml"]);
    assert!(
        error.contains("a system's own configuration use `plimsoll presets import own.toml`"),
        "{error}"
    );
    let error = rejected(here.path(), &["presets", "list", "--bogus"]);
    assert!(!error.contains("as a value"), "{error}");
}

#[test]
fn presets_are_found_by_words() {
    let here = folder();
    let names = |words: &[&str]| -> Vec<String> {
        let list = json(&plimsoll(here.path(), &[&["presets", "list", "--json"], words].concat()));
        let list = list.as_array().expect("a list").iter();
        list.map(|preset| preset["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert!(names(&["coding_agent", "gemini"]).contains(&"gemini-cli".to_owned()));
    assert!(names(&["PROVEN", "framework"]).contains(&"adk".to_owned()));
    assert!(!names(&["proven"]).contains(&"openhands-v0".to_owned()));
    assert_eq!(names(&["no such preset"]), [""; 0]);
}

#[test]
fn presets_can_be_listed_and_shown() {
    let here = folder();
    let list = json(&plimsoll(here.path(), &["presets", "--json"]));
    for preset in list.as_array().expect("a list") {
        let name = preset["name"].as_str().expect("a name");
        let shown = json(&plimsoll(here.path(), &["presets", "show", name, "--json"]));
        let text = stdout(&plimsoll(here.path(), &["presets", "show", name]));
        for setting in shown["settings"].as_array().expect("settings") {
            assert!(text.contains(setting["help"].as_str().expect("help")), "{name}: {setting}");
        }
        assert_eq!(
            shown["stages"].as_array().map(Vec::len),
            preset["stages"].as_array().map(Vec::len)
        );
    }
    assert_eq!(
        stdout(&plimsoll(here.path(), &["presets", "list"])),
        stdout(&plimsoll(here.path(), &["presets"]))
    );
}

#[test]
fn the_state_can_be_listed_and_cleared() {
    let here = folder();
    let kept = here.path().join("data/plimsoll/state.json");
    let state = |args: &[&str]| {
        let args = [&["state", "--json"][..], args].concat();
        let mut command = command(here.path(), &args);
        command.env("XDG_DATA_HOME", here.path().join("data"));
        json(&command.output().expect("the program starts"))
    };
    assert_eq!(state(&[])["exists"], false);
    assert_eq!(state(&["clear"])["cleared"], false);
    fs::create_dir_all(kept.parent().expect("a folder")).expect("a folder");
    fs::write(&kept, r#"{"recent":["/a/b.jsonl"],"theme":"dark"}"#).expect("it can be written");
    let listed = state(&["list"]);
    assert_eq!(listed["path"], kept.to_str().expect("Unicode"));
    assert_eq!(
        (&listed["recent"][0], &listed["theme"]),
        (&Value::from("/a/b.jsonl"), &Value::from("dark"))
    );
    assert_eq!(state(&["clear"])["cleared"], true);
    assert!(!kept.exists());
    state(&["enable", "index"]);
    assert_eq!(state(&["disable", "index"])["index_cleared"], true);
    assert!(state(&["list"])["index"].is_null());
}

#[test]
fn workspaces_are_listed_and_cleared() {
    let here = folder();
    let state = |args: &[&str]| {
        let args = [&["state", "--json"][..], args].concat();
        let mut command = command(here.path(), &args);
        command.env("XDG_DATA_HOME", here.path().join("data"));
        json(&command.output().expect("the program starts"))
    };
    assert_eq!(state(&[])["workspaces"], Value::Null);
    let kept = here.path().join("data/plimsoll/workspaces");
    fs::create_dir_all(&kept).expect("a folder");
    for digit in ["a", "b"] {
        let path = kept.join(format!("{}.json", digit.repeat(64)));
        fs::write(path, "12345").expect("it can be written");
    }
    let diary = kept.join("diary.json");
    fs::write(&diary, "mine").expect("it can be written");
    let listed = plimsoll::json::json!({"path": kept.to_str(), "count": 2, "bytes": 10});
    assert_eq!(state(&["list"])["workspaces"], listed);
    assert_eq!(state(&["clear", "logs"])["workspaces_cleared"], 0);
    assert_eq!(state(&["clear", "workspaces"])["workspaces_cleared"], 2);
    assert_eq!(state(&[])["workspaces"], Value::Null);
    assert!(diary.exists());
}

#[test]
fn own_presets_are_part_of_the_state_and_cleared_only_on_request() {
    let here = folder();
    let run = |args: &[&str]| {
        let mut command = command(here.path(), args);
        command.env("XDG_DATA_HOME", here.path().join("data"));
        command.output().expect("the program starts")
    };
    let state = |args: &[&str]| json(&run(&[&["state", "--json"][..], args].concat()));
    assert_eq!(state(&[])["presets"], Value::Null);
    let save = |name: &str| run(&["presets", "save", "prune", "--as", name]);
    assert!(save("mine").status.success() && save("yours").status.success());
    let presets = here.path().join("data/plimsoll/presets");
    let diary = presets.join("diary.toml");
    fs::write(&diary, "no preset").expect("it can be written");
    let listed = plimsoll::json::json!({"path": presets.to_str(), "count": 2});
    assert_eq!(state(&["list"])["presets"], listed);
    for args in [&["clear"][..], &["clear", "logs"]] {
        assert_eq!(state(args)["presets_cleared"], 0);
        assert_eq!(state(&[])["presets"], listed);
    }
    let text = stdout(&run(&["state", "clear"]));
    assert!(text.contains("kept 2 presets of your own in "), "{text}");
    assert_eq!(state(&["clear", "presets"])["presets_cleared"], 2);
    assert_eq!(state(&[])["presets"], Value::Null);
    assert!(diary.exists());
}

#[test]
fn no_state_saves_and_removes_no_preset() {
    let here = folder();
    let save = ["presets", "save", "prune", "--as", "mine"];
    let refused = rejected(here.path(), &[&save[..], &["--no-state"]].concat());
    assert!(refused.contains("--no-state keeps nothing"), "{refused}");
    assert!(plimsoll(here.path(), &save).status.success());
    rejected(here.path(), &["presets", "remove", "mine", "--no-state"]);
    assert!(plimsoll(here.path(), &["presets", "show", "mine"]).status.success());
}
