//! `plimsoll hook install` and `uninstall`: the hooks in the settings of agents, and what is kept of them.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, stderr, stdout};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

/// Settings with other hooks, in several notations.
const SETTINGS: [&str; 11] = [
    "",
    " \n",
    "\u{feff}",
    "\u{feff}{\n  \"model\": \"opus\"\n}\n",
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
            assert_eq!(dry["action"], "changed");
            assert_eq!(run("install", &[])["written"], true);
            let installed = read();
            let object = installed.trim_start_matches('\u{feff}');
            assert!(plimsoll::json::from_str(object).is_ok(), "{installed}");
            assert_eq!(installed.starts_with('\u{feff}'), settings.starts_with('\u{feff}'));
            assert_eq!(run("install", &[])["changed"], false, "it is installed");
            assert_eq!(read(), installed);
            assert_eq!(run("uninstall", &["--dry-run"])["changed"], true);
            assert_eq!(run("uninstall", &[])["action"], "restored");
            assert_eq!(read(), settings, "{agent}");
            assert_eq!(run("uninstall", &[])["action"], "unchanged");
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
    plimsoll(home.path(), &["hook", "install", "claude-code"]);
    let installed = fs::read_to_string(&path).expect("it is installed");
    let installed: Value = plimsoll::json::from_str(&installed).expect("JSON");
    for settings in ["{\n  // mine\n  \"a\": 1\n}", "[]", "{\"hooks\": []}"] {
        fs::write(&path, settings).expect("it can be written");
        let error = rejected(home.path(), &["hook", "install", "claude-code"]);
        assert!(error.contains("must be JSON without comments"), "{error}");
        // The error lists what an installation adds.
        let (_, entries) = error.split_once("add these hooks yourself: ").expect("the hooks");
        let entries: Value = plimsoll::json::from_str(entries.trim()).expect("JSON");
        assert_eq!(entries, installed);
        assert_eq!(fs::read_to_string(&path).expect("a text"), settings);
    }
    fs::write(&path, "{} // mine").expect("it can be written");
    let error = rejected(home.path(), &["hook", "uninstall", "claude-code"]);
    assert!(
        error.contains("remove the hooks with the command `plimsoll hook claude-code`"),
        "{error}"
    );
    let plugin = home.path().join(".config/opencode/plugins/plimsoll.js");
    fs::create_dir_all(plugin.parent().expect("a folder")).expect("it can be created");
    fs::write(&plugin, "// mine").expect("it can be written");
    let error = rejected(home.path(), &["hook", "install", "opencode"]);
    assert!(error.contains("is another plugin"), "{error}");
    let error = rejected(home.path(), &["hook", "install", "emacs"]);
    assert!(error.contains("claude-code"), "{error}");
}

#[test]
fn the_output_says_what_happened_to_the_file() {
    let home = folder();
    let path = home.path().join(".claude/settings.json");
    let run = |action: &str, more: &[&str]| {
        let output = plimsoll(home.path(), &[&["hook", action, "claude-code"], more].concat());
        let text = stdout(&output);
        let first = text.lines().next().expect("a line").to_owned();
        first.replace(&*path.to_string_lossy(), "FILE")
    };
    assert_eq!(run("install", &["--dry-run"]), "would create FILE");
    assert_eq!(run("install", &[]), "created FILE");
    assert_eq!(run("install", &[]), "FILE: nothing to change");
    assert_eq!(run("uninstall", &["--dry-run"]), "would remove FILE");
    assert_eq!(run("uninstall", &[]), "removed FILE");
    fs::write(&path, "{\"a\": 1}").expect("it can be written");
    assert_eq!(run("install", &[]), "changed FILE");
    assert_eq!(run("uninstall", &["--dry-run"]), "would restore FILE");
    assert_eq!(run("uninstall", &[]), "restored FILE");
    run("install", &[]);
    let installed = fs::read_to_string(&path).expect("a text");
    fs::write(&path, installed.replace("\"a\": 1", "\"a\": 2")).expect("it can be written");
    assert_eq!(run("uninstall", &[]), "changed FILE");
    assert_eq!(fs::read_to_string(&path).expect("a text"), "{\"a\": 2}");
}

#[test]
fn without_state_an_installation_leaves_nothing() {
    for (agent, file) in FILES {
        let home = folder();
        let path = home.path().join(file);
        let run = |action: &str| {
            json(&plimsoll(home.path(), &["--no-state", "hook", action, agent, "--json"]))
        };
        assert_eq!(run("install")["action"], "created");
        assert_eq!(run("uninstall")["action"], "removed");
        assert!(!path.exists());
        // Other settings stay, and so do those without hooks.
        for settings in ["{}\n", "{\"a\": 1}\n"] {
            fs::write(&path, settings).expect("it can be written");
            assert_eq!(run("uninstall")["action"], "unchanged");
            assert_eq!(fs::read_to_string(&path).expect("a text"), settings);
        }
        run("install");
        assert_eq!(run("uninstall")["action"], "changed");
        assert_eq!(fs::read_to_string(&path).expect("a text"), "{\"a\": 1}\n");
        assert!(!home.path().join(".local").exists());
    }
}

/// Returns the files below a folder, without the folder itself.
fn files_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files_below(&path),
        path => vec![path.to_string_lossy().into_owned()],
    });
    let mut files: Vec<String> = files.collect();
    files.sort();
    files
}

#[test]
fn the_state_lists_all_files_of_hooks_and_clearing_it_keeps_the_record_of_installed_ones() {
    let home = folder();
    let kept = home.path().join(".local/share/plimsoll/hooks");
    let record = kept.join("installed.json").to_string_lossy().into_owned();
    let settings = home.path().join(".claude/settings.json");
    plimsoll(home.path(), &["hook", "install", "claude-code"]);
    let event = home.path().join("event.json");
    let text = r#"{"hook_event_name": "PreCompact", "session_id": "s", "transcript_path": "none"}"#;
    fs::write(&event, text).expect("it can be written");
    let output = command(home.path(), &["hook", "claude-code"])
        .stdin(fs::File::open(&event).expect("readable"))
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let files = files_below(&kept);
    // The record, the log, and a file of the session with its lock.
    assert_eq!(files.len(), 4, "{files:?}");
    let listed = || json(&plimsoll(home.path(), &["state", "list", "--json"]));
    let hooks = listed();
    let hooks = hooks["hooks"].as_array().expect("a list");
    let mut hooks: Vec<&str> = hooks.iter().filter_map(Value::as_str).collect();
    hooks.sort_unstable();
    assert_eq!(hooks, files);
    let cleared = stdout(&plimsoll(home.path(), &["state", "clear", "hooks"]));
    let expected = format!(
        "removed 3 files of hooks\nkept {record}; `plimsoll hook uninstall AGENT` needs it\n"
    );
    assert_eq!(cleared, expected);
    assert_eq!(files_below(&kept), [record]);
    let removed = json(&plimsoll(home.path(), &["hook", "uninstall", "claude-code", "--json"]));
    assert_eq!(removed["action"], "removed");
    assert!(!settings.exists());
    assert_eq!(files_below(&kept), [""; 0]);
    assert_eq!(listed()["hooks"].as_array().map(Vec::len), Some(0));
}
