//! `plimsoll presets export --as FORM`: a tuned policy in every form that runs it.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, sample, stdout};
use plimsoll::json::Value;
use std::fs;
use std::process::Command;

const TUNED: [&str; 4] = ["--set", "prune_protect=4000", "--set", "protect_tools=0"];

fn export(form: &str, preset: &str, sets: &[&str]) -> String {
    let here = folder();
    let args = [&["presets", "export", preset, "--as", form], sets].concat();
    stdout(&plimsoll(here.path(), &args))
}

#[test]
fn a_policy_file_plays_as_the_settings_that_it_was_made_of() {
    let here = folder();
    fs::write(here.path().join("tuned.toml"), export("toml", "prune", &TUNED[..2]))
        .expect("written");
    let file = sample("many-tool-results.jsonl");
    let replay = |args: &[&str]| {
        let args = [&["replay", &file, "--json", "--window", "30k"], args].concat();
        let mut replayed = json(&plimsoll(here.path(), &args));
        let lanes = replayed["lanes"].as_array_mut().expect("lanes");
        let mut lane = lanes.pop().expect("one lane");
        for name in ["policy", "label", "lane", "name"] {
            lane.as_object_mut().expect("an object").shift_remove(name);
        }
        lane
    };
    let by_file = replay(&["--policy", "tuned.toml"]);
    let by_sets = replay(&["--policy", "prune", "--set", "prune_protect=4000"]);
    assert_eq!(by_file["peak"], by_sets["peak"]);
    assert_eq!(by_file["events"], by_sets["events"]);
    assert!(!by_file["events"].is_null() && by_file["events"] != Value::from(Vec::<Value>::new()));
}

#[test]
fn programs_state_the_policy_the_window_and_the_changed_settings() {
    for (form, begins) in [("python", "# pip install"), ("typescript", "// npm install")] {
        let text = export(form, "prune", &["--set", "prune_protect=4000", "--window", "64k"]);
        assert!(text.starts_with(begins), "{text}");
        for part in ["\"prune\"", "64000", "\"prune_protect\": 4000"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let plain = export(form, "prune", &[]);
        assert!(!plain.contains("settings") && plain.contains("200000"), "{plain}");
        assert!(plain.contains("the context window of your model"), "{plain}");
    }
}

#[test]
fn a_policy_of_the_users_own_is_written_into_the_program() {
    let here = folder();
    let toml = export("toml", "truncate", &["--set", "keep_recent=7"]);
    fs::write(here.path().join("mine.toml"), &toml).expect("written");
    let text =
        stdout(&plimsoll(here.path(), &["presets", "export", "mine.toml", "--as", "python"]));
    assert!(text.contains("POLICY = \"\"\"") && text.contains("truncate-tuned"), "{text}");
}

#[test]
#[cfg(unix)]
fn the_commands_for_hooks_install_them() {
    let here = folder();
    let text = export("hook", "claude-code", &[]);
    let program = command(here.path(), &[]);
    let folder_of_program = std::path::Path::new(program.get_program()).parent().expect("a folder");
    let path = format!("{}:/usr/bin:/bin", folder_of_program.display());
    let home = here.path();
    let mut shell = Command::new("sh");
    shell.args(["-c", &text]).env_clear().env("PATH", path).env("HOME", home).current_dir(home);
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let settings = fs::read_to_string(home.join(".claude/settings.json")).expect("settings");
    assert!(settings.contains("PreCompact") && settings.contains("hook claude-code"), "{settings}");
}

#[test]
fn a_form_that_does_not_fit_says_which_do() {
    let here = folder();
    let error = |args: &[&str]| rejected(here.path(), &[&["presets", "export"], args].concat());
    assert!(error(&["truncate", "--as", "hook"]).contains("claude-code, codex, opencode"));
    for form in ["toml", "python", "typescript"] {
        let text = error(&["none", "--as", form]);
        assert!(text.contains("never removes anything, so there is nothing to run"), "{text}");
    }
    assert!(error(&["none"]).contains("has no configuration format of its own; supported: "));
    assert!(error(&["truncate", "--for", "langchain", "--as", "settings"]).contains("--as"));
    assert!(error(&["prune", "--as", "yaml"]).contains("settings, toml, python, typescript, hook"));
}

#[test]
fn options_without_effect_are_rejected() {
    let here = folder();
    let error = |args: &[&str]| rejected(here.path(), &[&["presets", "export"], args].concat());
    for form in ["settings", "toml", "hook"] {
        let text = error(&["claude-code", "--as", form, "--window", "64k"]);
        assert!(text.contains("--window has no effect on --as"), "{form}: {text}");
    }
    // The preset is an argument: no setting selects another one.
    let text = error(&["prune", "--set", "strategy=truncate"]);
    assert!(text.contains("no policy here has a setting named \"strategy\""), "{text}");
    let text = error(&["prune", "--set", "xyzzy=1"]);
    assert!(text.contains("prune_protect") && !text.contains("strategy"), "{text}");
}

#[test]
fn json_output_names_a_file_only_if_there_is_one() {
    let here = folder();
    let of = |args: &[&str]| {
        let args = [&["presets", "export"], args, &["--json"]].concat();
        let exported = json(&plimsoll(here.path(), &args));
        (exported["file"].clone(), exported["place"].clone())
    };
    assert_eq!(of(&["codex"]), ("config.toml".into(), "config.toml".into()));
    assert_eq!(of(&["continue"]), ("config.yaml".into(), "config.yaml, in a model".into()));
    assert_eq!(of(&["holmesgpt"]), (Value::Null, "environment variables".into()));
    assert_eq!(of(&["prune", "--as", "python"]), (Value::Null, "a Python program".into()));
}
