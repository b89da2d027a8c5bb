//! Your own presets, saved and used by the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/many-tool-results.jsonl")
}

fn plimsoll(data: &Path, words: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(words)
        .env("HOME", data)
        .env("XDG_DATA_HOME", data)
        .output()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn peak(output: &Output) -> Option<u64> {
    let printed: plimsoll::json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let lanes = printed["lanes"].as_array()?;
    let lane =
        lanes.iter().find(|lane| lane["policy"] != "recorded" && lane["policy"] != "none")?;
    lane["peak_tokens"].as_u64()
}

#[test]
fn a_preset_saved_by_the_command_line_keeps_its_settings() {
    let data = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| plimsoll(data.path(), words).unwrap();
    let set = ["--set", "compression_trigger=0.4", "--set", "keep_recent=6"];
    let kept = run(&[&["presets", "save", "truncate", "--as", "Short leash"], &set[..]].concat());
    assert!(printed(&kept).starts_with("saved as short-leash: "), "{}", printed(&kept));
    let file = sample();
    let file = file.to_str().unwrap();
    let played = |words: &[&str]| peak(&run(&[&["replay", file, "--json"], words].concat()));
    let own = played(&["--policy", "short-leash"]);
    let tuned = played(&[&["--policy", "truncate"], &set[..]].concat());
    assert!(own.is_some() && own == tuned, "{own:?} {tuned:?}");
    assert_ne!(own, played(&["--policy", "truncate"]));
    let listed = printed(&run(&["presets"]));
    let row = "Your own\n  short-leash              Short leash\n";
    assert!(listed.contains(row), "{listed}");
    assert!(printed(&run(&["presets", "show", "short-leash"])).contains("Short leash"));
    assert!(run(&["presets", "remove", "short-leash"]).status.success());
    let gone = run(&["replay", file, "--policy", "short-leash"]);
    assert!(!gone.status.success() && printed(&gone).contains("no preset is named"));
}

#[test]
fn a_saved_preset_is_replaced_only_on_request() {
    let data = tempfile::tempdir().unwrap();
    let save = |words: &[&str]| {
        let save = ["presets", "save", "prune", "--as", "mine"];
        plimsoll(data.path(), &[&save[..], words].concat()).unwrap()
    };
    assert!(save(&[]).status.success());
    let rejected = save(&["--set", "prune_protect=9k"]);
    assert_eq!(rejected.status.code(), Some(2));
    let error = printed(&rejected);
    assert!(error.contains("already exists") && error.contains("--replace"), "{error}");
    let file = data.path().join("plimsoll/presets/mine.toml");
    let before = std::fs::read(&file).unwrap();
    assert!(save(&["--set", "prune_protect=9k", "--replace"]).status.success());
    assert_ne!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn invalid_and_missing_names_are_rejected_and_nothing_is_written() {
    let data = tempfile::tempdir().unwrap();
    for words in [
        &["presets", "save", "truncate", "--as", "Prune"][..],
        &["presets", "save", "truncate", "--as", "../.."],
        &["presets", "save", "truncate"],
        &["presets", "save", "nowhere.toml", "--as", "mine"],
        &["presets", "remove", "truncate"],
    ] {
        let rejected = plimsoll(data.path(), words).unwrap();
        assert!(!rejected.status.success(), "{words:?}: {}", printed(&rejected));
    }
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}
