//! Opens the window without a display, acts on it and reads its texts.

use crate::program::command;
use crate::program_window;
use crate::repository::repository;
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, OutputCommand, PointerButton, Pos2, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::state::model::background::latest_result::WorkMode;
use plimsoll::app::state::model::runs::replays::Runs;
use plimsoll::app::{App, LaneOption, Options};
use plimsoll::cli::{self, Invocation};
use plimsoll::exec::{IndexFolder, OwnPresets, Workspaces};
use plimsoll::presets;
use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Maximum wait for a condition, also on a busy machine.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

/// Maximum number of frames after an action. A window that works in the background requests frames all the time.
const MAX_STEPS: u64 = 30;

pub(crate) type Window = Harness<'static, App>;

/// Size of a large window, in points.
pub(crate) const LARGE: Vec2 = vec2(1440.0, 900.0);

/// Sample session with many tool results and no compaction.
pub(crate) const MANY_RESULTS: &str = "many-tool-results.jsonl";

/// Sample session with a recorded compaction.
pub(crate) const COMPACTED: &str = "compacted.jsonl";

/// Returns the path of a sample session.
pub(crate) fn sample(name: &str) -> PathBuf {
    let folder = repository().join("sample_sessions");
    folder.join(name)
}

/// Copies a sample session to a temporary folder.
pub(crate) fn copy_of(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join(name);
    fs::copy(sample(name), &copy).expect("the sample can be copied");
    (folder, copy)
}

/// Returns the options of a large window that works within its frames and stores nothing.
pub(crate) fn options(path: PathBuf) -> Options {
    Options {
        paths: vec![path],
        no_state: true,
        work: WorkMode::InFrame,
        size: LARGE,
        ..Options::default()
    }
}

/// Replaces the lanes by bundled presets, or policies with these texts. The settings apply to the policies that have them.
pub(crate) fn with_lanes(options: Options, policies: &[&str], settings: &[(&str, f64)]) -> Options {
    let lane = |word: &&str| {
        let bundled = presets::by_name(word);
        let policy = bundled.unwrap_or_else(|| presets::parse(word).expect("a policy"));
        let mut values = policy.defaults();
        for (name, value) in settings {
            if policy.knob(name).is_some() {
                policy.set(&mut values, name, *value).expect("in range");
            }
        }
        let word = (*word).to_owned();
        (LaneOption { word, policy }, values)
    };
    let lanes = policies.iter().map(lane).collect();
    options.compare(lanes).expect("the window shows them")
}

/// Returns the options of a window that is started with these arguments, as the program makes them. It works within its
/// frames, and stores workspaces in `kept` unless the arguments turn that off.
pub(crate) fn started_with<I: Into<OsString>>(
    arguments: impl IntoIterator<Item = I>,
    kept: &Path,
) -> Options {
    let words = arguments.into_iter().map(Into::into);
    let words = iter::once("plimsoll".into()).chain(words);
    let Invocation::Window(arguments) = cli::run(words) else {
        panic!("the arguments open no window");
    };
    let options = program_window::options(*arguments).expect("valid options");
    let workspaces = if options.workspaces.is_kept() {
        Workspaces::in_folder(kept.to_owned())
    } else {
        options.workspaces
    };
    Options {
        no_state: true,
        workspaces,
        own_presets: OwnPresets::default(),
        index: IndexFolder::default(),
        work: WorkMode::InFrame,
        size: LARGE,
        ..options
    }
}

/// Opens a window.
pub(crate) fn open(options: Options) -> Window {
    let harness = Harness::builder().with_size(options.size);
    let harness = harness.allow_missing_glyphs().with_max_steps(MAX_STEPS);
    harness.build_eframe(move |cc| App::new(&cc.egui_ctx, &options))
}

/// Opens a large window without a file.
pub(crate) fn empty() -> Window {
    open(Options { paths: Vec::new(), ..options(PathBuf::new()) })
}

/// Opens a window of this size with a file.
pub(crate) fn sized(path: PathBuf, size: Vec2) -> Window {
    open(Options { size, ..options(path) })
}

/// Opens a large window with a file.
pub(crate) fn large(path: PathBuf) -> Window {
    open(options(path))
}

pub(crate) fn click(window: &mut Window, label: &str) {
    let center = window.get_by_label(label).rect().center();
    click_at(window, center);
}

/// Moves the pointer to a position, presses the primary button in the same frame and releases it in the next.
fn click_at(window: &mut Window, pos: Pos2) {
    let moved = Event::PointerMoved(pos);
    window.input_mut().events.push(moved);
    for pressed in [true, false] {
        window.input_mut().events.push(Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.step();
    }
    window.run_ok();
}

/// Clicks an item of the menu, and before it the items that contain it.
pub(crate) fn menu(window: &mut Window, items: &[&str]) {
    click(window, "Menu");
    for item in items {
        click(window, item);
    }
}

/// Types keys that arrive in one frame. A letter types its character too, as the system reports it.
pub(crate) fn press_at_once(window: &mut Window, keys: &[(Modifiers, Key, &str)]) {
    for (modifiers, key, text) in keys {
        window.input_mut().events.push(Event::Key {
            key: *key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: *modifiers,
        });
        if !text.is_empty() {
            let typed = Event::Text((*text).to_owned());
            window.input_mut().events.push(typed);
        }
    }
    window.step();
    window.run_ok();
}

/// Sets the value of a slider.
pub(crate) fn set_slider(window: &mut Window, label: &str, value: f64) {
    let slider = window.get_by_role_and_label(Role::Slider, label);
    slider.set_value_accesskit(value);
    window.run_ok();
}

/// Adds a lane without compaction.
pub(crate) fn add_lane(window: &mut Window) {
    click(window, "Policy of lane 1");
    click(window, "Add a lane");
}

/// Types into the open command palette.
pub(crate) fn type_in_palette(window: &mut Window, text: &str) {
    let field = window.get_by_role_and_label(Role::TextInput, "Command palette");
    field.type_text(text);
    window.run_ok();
}

/// Opens the command palette, types a text and presses Enter.
pub(crate) fn run_in_palette(window: &mut Window, text: &str) {
    press(window, Modifiers::COMMAND, Key::K);
    type_in_palette(window, text);
    press(window, Modifiers::NONE, Key::Enter);
}

/// Opens a tab of the drawer.
pub(crate) fn tab(window: &mut Window, name: &str) {
    let center = window.get_by_role_and_label(Role::Tab, name).rect().center();
    click_at(window, center);
}

/// Presses a key in one frame and releases it in the next.
pub(crate) fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    for pressed in [true, false] {
        let modifiers_after = if pressed { modifiers } else { Modifiers::NONE };
        window.input_mut().events.extend([
            Event::ModifiersChanged(modifiers_after),
            Event::Key { key, physical_key: None, pressed, repeat: false, modifiers },
        ]);
        window.step();
    }
    window.run_ok();
}

/// Presses or releases a button of the mouse.
pub(crate) fn button(window: &Window, pos: Pos2, button: PointerButton, pressed: bool) {
    window.event(Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE });
}

/// Presses the primary button and moves the pointer, without releasing it.
pub(crate) fn start_drag(window: &mut Window, from: Pos2, to: Pos2) {
    window.event(Event::PointerMoved(from));
    window.run_steps(2);
    button(window, from, PointerButton::Primary, true);
    window.run_steps(2);
    for share in [0.3, 0.6, 1.0] {
        window.event(Event::PointerMoved(from + share * (to - from)));
        window.run_steps(2);
    }
}

pub(crate) fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    start_drag(window, from, to);
    button(window, to, PointerButton::Primary, false);
    window.run_ok();
}

/// Opens the context menu at a position.
pub(crate) fn secondary_click(window: &mut Window, pos: Pos2) {
    window.event(Event::PointerMoved(pos));
    window.run_steps(2);
    for pressed in [true, false] {
        button(window, pos, PointerButton::Secondary, pressed);
    }
    window.run_ok();
}

/// Replaces the text of a field.
pub(crate) fn type_into(window: &mut Window, (role, label): (Role, &str), text: &str) {
    window.get_by_role_and_label(role, label).focus();
    window.run_steps(2);
    press(window, Modifiers::COMMAND, Key::A);
    window.get_by_role_and_label(role, label).type_text(text);
    // A dialog whose height changes is placed one frame later.
    window.run_ok();
}

/// Runs frames until a condition holds.
#[track_caller]
pub(crate) fn wait(window: &mut Window, holds: impl Fn(&Window) -> bool) {
    let start = Instant::now();
    while !holds(window) {
        assert!(start.elapsed() < MAX_WAIT, "the condition never held");
        window.run_steps(1);
        thread::sleep(Duration::from_millis(20));
    }
}

/// Pastes a text, as the system does after the keys for it.
pub(crate) fn paste(window: &mut Window, text: &str) {
    window.event(Event::Paste(text.to_owned()));
    window.run_ok();
}

/// Selects the message with this number through the jump field.
pub(crate) fn go_to(window: &mut Window, number: usize) {
    let field = window.get_by_role_and_label(Role::TextInput, "Go to message");
    field.focus();
    field.type_text(&number.to_string());
    window.run_steps(2);
    press(window, Modifiers::NONE, Key::Enter);
}

/// Drops a file on the window.
pub(crate) fn drop_file(window: &mut Window, path: PathBuf) {
    #[derive(Debug)]
    struct Dropped(PathBuf);
    impl egui::DroppedFile for Dropped {
        fn path(&self) -> &Path {
            &self.0
        }

        fn bytes(&self) -> Result<Vec<u8>, String> {
            fs::read(&self.0).map_err(|error| error.to_string())
        }
    }
    let file = Arc::new(Dropped(path));
    window.input_mut().dropped_files.push(file);
    window.run_ok();
}

/// Clicks a control and returns the text that it copies.
pub(crate) fn copied(window: &mut Window, label: &str) -> String {
    window.get_by_label(label).click();
    for _ in 0..6 {
        window.step();
        let commands = &window.output().platform_output.commands;
        let text = commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        if let Some(text) = text {
            window.run_ok();
            return text;
        }
    }
    panic!("{label} copied nothing");
}

/// Returns the replays of the open session.
#[track_caller]
pub(crate) fn runs(window: &Window) -> &Runs {
    window.state().runs().expect("a session was replayed")
}

/// Returns the labels and values of all nodes.
pub(crate) fn texts(window: &Window) -> Vec<String> {
    let nodes = window.query_all_by(|_| true);
    let texts = nodes.flat_map(|node| {
        let node = node.accesskit_node();
        [node.label(), node.value()]
    });
    texts.flatten().collect()
}

/// Returns the texts that contain this one.
pub(crate) fn texts_with(window: &Window, part: &str) -> Vec<String> {
    let mut all = texts(window);
    all.retain(|text| text.contains(part));
    all
}

/// Returns whether a text of the window contains this one.
pub(crate) fn says(window: &Window, part: &str) -> bool {
    !texts_with(window, part).is_empty()
}

/// Runs the command line in a folder and returns its output.
pub(crate) fn plimsoll(folder: &Path, args: &[&str]) -> String {
    let output = command(folder, args).arg("--no-state").output();
    let output = output.expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
