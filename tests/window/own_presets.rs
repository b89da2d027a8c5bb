//! Your own presets, saved and used by the window.

use crate::program::plimsoll;
use crate::screen::sample;
use egui::accesskit::Role;
use egui::{Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::state::model::background::latest_result::WorkMode;
use plimsoll::app::{App, LaneOption, Options};
use plimsoll::exec::OwnPresets;

fn window(own_presets: OwnPresets, lane: Option<&str>) -> Harness<'static, App> {
    let size = Vec2::new(1440.0, 1000.0);
    let lane = lane.and_then(|name| {
        let found = own_presets.all().into_iter().find(|own| own.name() == Some(name))?;
        let (word, policy) = (name.to_owned(), found.policy.ok()?);
        let values = policy.defaults();
        Some((LaneOption { word, policy }, values))
    });
    let options = Options {
        paths: vec![sample("many-tool-results.jsonl")],
        no_state: true,
        own_presets,
        work: WorkMode::InFrame,
        size,
        ..Options::default()
    };
    let lanes: Vec<_> = lane.into_iter().collect();
    let options =
        if lanes.is_empty() { options } else { options.compare(lanes).unwrap_or_default() };
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
fn a_preset_saved_in_the_window_is_used_and_available_later() {
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
    shown.get_by_role_and_label(Role::TextInput, "Name").type_text("Short leash");
    shown.run_steps(2);
    shown.get_by_label("Save").click();
    shown.run_steps(4);
    assert_eq!(first_lane(&shown), Some(("short-leash".to_owned(), before.1)));
    let own = kept.all();
    let policy = own[0].policy.as_ref().unwrap();
    assert_eq!(policy.knob("keep_recent").map(|knob| knob.value), before.1);

    let again = window(kept, Some("short-leash"));
    assert_eq!(first_lane(&again).unwrap().0, "short-leash");
}

#[test]
fn a_window_without_state_reads_presets_and_saves_none() {
    let folder = tempfile::tempdir().unwrap();
    let save = ["presets", "save", "truncate", "--as", "mine"];
    assert!(plimsoll(folder.path(), &save).status.success());
    let presets = folder.path().join(".local/share/plimsoll/presets");
    for own_presets in [OwnPresets::in_folder(presets), OwnPresets::default()] {
        let lane = own_presets.file("mine").map(|_| "mine");
        let mut shown = window(own_presets.read_only(), lane);
        assert_eq!(first_lane(&shown).unwrap().0, lane.unwrap_or("truncate"));
        shown.get_by_label("Save preset…").click();
        shown.run_steps(4);
        assert!(shown.query_by_label("Save as preset").is_none());
    }
}
