//! Presets of a person's own: kept by the window or the command line, and opened again by either with the same numbers.

use egui::accesskit::Role;
use egui::{Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::background::latest_result::Where;
use plimsoll::app::{App, LaneOption, Options};
use plimsoll::exec::OwnPresets;
use plimsoll::presets;
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

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn peak(output: &Output) -> Option<u64> {
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let lanes = said["lanes"].as_array()?;
    let lane = lanes
        .iter()
        .find(|lane| lane["policy"] != "recorded" && lane["policy"] != "none")?;
    lane["peak"].as_u64()
}

#[test]
fn what_the_command_line_keeps_plays_with_the_values_it_was_kept_with() {
    let data = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| plimsoll(data.path(), words).unwrap();
    let set = ["--set", "compression_trigger=0.4", "--set", "keep_recent=6"];
    let kept = run(&[
        &["presets", "save", "truncate", "--as", "Short leash"],
        &set[..],
    ]
    .concat());
    assert!(
        said(&kept).starts_with("saved as short-leash: "),
        "{}",
        said(&kept)
    );
    let file = sample();
    let file = file.to_str().unwrap();
    let played = |words: &[&str]| peak(&run(&[&["replay", file, "--json"], words].concat()));
    let own = played(&["--policy", "short-leash"]);
    let tuned = played(&[&["--policy", "truncate"], &set[..]].concat());
    assert!(own.is_some() && own == tuned, "{own:?} {tuned:?}");
    assert_ne!(own, played(&["--policy", "truncate"]));
    assert!(said(&run(&["presets"])).contains("Your own:\nshort-leash          Short leash"));
    assert!(said(&run(&["presets", "show", "short-leash"])).contains("Short leash"));
    assert!(run(&["presets", "remove", "short-leash"]).status.success());
    let gone = run(&["replay", file, "--policy", "short-leash"]);
    assert!(!gone.status.success() && said(&gone).contains("no preset is named"));
}

#[test]
fn a_name_that_is_taken_or_missing_is_refused_and_nothing_is_written() {
    let data = tempfile::tempdir().unwrap();
    for words in [
        &["presets", "save", "truncate", "--as", "Prune"][..],
        &["presets", "save", "truncate", "--as", "../.."],
        &["presets", "save", "truncate"],
        &["presets", "save", "nowhere.toml", "--as", "mine"],
        &["presets", "remove", "truncate"],
    ] {
        let refused = plimsoll(data.path(), words).unwrap();
        assert!(!refused.status.success(), "{words:?}: {}", said(&refused));
    }
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

fn window(own_presets: OwnPresets, lane: Option<&str>) -> Harness<'static, App> {
    let size = Vec2::new(1440.0, 1000.0);
    let lane = lane.and_then(|name| {
        let found = own_presets
            .all()
            .into_iter()
            .find(|own| own.name() == Some(name))?;
        let (word, policy) = (name.to_owned(), found.policy.ok()?);
        let values = policy.defaults();
        Some((LaneOption { word, policy }, values))
    });
    let options = Options {
        paths: vec![sample()],
        no_state: true,
        own_presets,
        work: Where::InFrame,
        size,
        ..Options::default()
    };
    let lanes: Vec<_> = lane.into_iter().collect();
    let options = if lanes.is_empty() {
        options
    } else {
        options.compare(lanes).unwrap_or_default()
    };
    let harness = Harness::builder().with_size(size).allow_missing_glyphs();
    let mut window = harness.build_eframe(move |cc| App::new(&cc.egui_ctx, &options));
    window.run_steps(4);
    window
}

fn first_lane(window: &Harness<'_, App>) -> Option<(String, Option<f64>)> {
    let lane = window.state().runs()?.lanes.first()?;
    let keeps = lane.knobs.get("keep_recent");
    Some((lane.policy.name.clone(), keeps))
}

#[test]
fn what_the_window_keeps_is_what_the_lane_has_then_and_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let kept = OwnPresets::in_folder(folder.path().join("presets"));
    let mut shown = window(kept.clone(), None);
    let before = first_lane(&shown).unwrap();
    assert_eq!(before.0, "truncate");
    shown.get_by_label("Save preset…").click();
    shown.run_steps(4);
    let field = shown.get_by_role_and_label(Role::TextInput, "Name");
    field.focus();
    shown.run_steps(2);
    shown.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    shown
        .get_by_role_and_label(Role::TextInput, "Name")
        .type_text("Short leash");
    shown.run_steps(2);
    shown.get_by_label("Save").click();
    shown.run_steps(4);
    assert_eq!(
        first_lane(&shown),
        Some(("short-leash".to_owned(), before.1))
    );
    let own = kept.all();
    let policy = own[0].policy.as_ref().unwrap();
    assert_eq!(policy.knob("keep_recent").map(|knob| knob.value), before.1);

    let again = window(kept, Some("short-leash"));
    assert_eq!(first_lane(&again).unwrap().0, "short-leash");
}

#[test]
fn a_window_that_keeps_nothing_says_so_instead_of_asking_for_a_name() {
    let mut shown = window(OwnPresets::default(), None);
    shown.get_by_label("Save preset…").click();
    shown.run_steps(4);
    assert!(shown.query_by_label("Save as preset").is_none());
    assert_eq!(first_lane(&shown).unwrap().0, "truncate");
    assert!(presets::by_name("short-leash").is_none());
}
