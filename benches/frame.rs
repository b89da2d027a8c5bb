//! Time to draw frames of the whole window over a session of 10,000 messages: layout and tessellation, without painting
//! pixels.
//!
//! | variable | effect |
//! |---|---|
//! | `PLIMSOLL_MESSAGES=100000` | a longer session |
//! | `PLIMSOLL_WORDS=8000` | longer messages |
//! | `PLIMSOLL_THREADS=1` | slow work runs on background threads, as in the program, not within the frame |

mod common;

use egui::{ClippedPrimitive, Event, Key, Modifiers, Theme, vec2};
use plimsoll::app::state::model::background::latest_result::WorkMode;
use plimsoll::app::ui::picture::OffscreenWindow;
use plimsoll::app::{App, Options};
use std::time::Duration;

fn main() {
    divan::main();
}

/// Opens a window with the session and draws frames until nothing changes.
fn window() -> (OffscreenWindow, App, tempfile::TempDir) {
    window_with(false)
}

/// Opens a window with the session, and compares it with one of the same length if `is_compared`.
fn window_with(is_compared: bool) -> (OffscreenWindow, App, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder for the session");
    let path = folder.path().join("bench.jsonl");
    let messages = number("PLIMSOLL_MESSAGES").unwrap_or(common::MESSAGES);
    let bytes = match number("PLIMSOLL_WORDS") {
        Some(words) => common::file_with(messages, words),
        None => common::file_of(messages),
    };
    std::fs::write(&path, bytes).expect("room for the session");
    let compared = is_compared.then(|| {
        let path = folder.path().join("other.jsonl");
        let bytes = common::file_with(messages, 1_400);
        std::fs::write(&path, bytes).expect("room for the session");
        path
    });
    let options = Options {
        paths: vec![path],
        compared,
        no_state: true,
        work: if is_threaded() { WorkMode::AsNeeded } else { WorkMode::InFrame },
        ..Options::default()
    };
    let mut stage = OffscreenWindow::new(vec2(1440.0, 900.0), 1.0, Theme::Dark);
    let mut app = App::new(stage.context(), &options);
    let (frames, pause) =
        if is_threaded() { (600, Duration::from_millis(20)) } else { (8, Duration::ZERO) };
    for _ in 0..frames {
        stage.frame(Vec::new(), &mut |ui| app.show(ui));
        std::thread::sleep(pause);
    }
    (stage, app, folder)
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns whether slow work runs on background threads, as in the program.
fn is_threaded() -> bool {
    std::env::var_os("PLIMSOLL_THREADS").is_some()
}

fn press(key: Key) -> Vec<Event> {
    press_with(Modifiers::NONE, key)
}

fn press_with(modifiers: Modifiers, key: Key) -> Vec<Event> {
    let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
    vec![event(true), event(false)]
}

/// Draws a frame and returns its meshes.
fn frame(stage: &mut OffscreenWindow, app: &mut App, events: Vec<Event>) -> Vec<ClippedPrimitive> {
    stage.frame(events, &mut |ui| app.show(ui));
    stage.meshes()
}

#[divan::bench(sample_count = 50)]
fn nothing_changes(bencher: divan::Bencher<'_, '_>) {
    let (mut stage, mut app, _folder) = window();
    bencher.bench_local(|| frame(&mut stage, &mut app, Vec::new()));
}

/// Each frame selects another call, so that the context of every lane is computed again.
#[divan::bench(sample_count = 50)]
fn another_call_is_selected(bencher: divan::Bencher<'_, '_>) {
    let (mut stage, mut app, _folder) = window();
    bencher.bench_local(|| frame(&mut stage, &mut app, press(Key::ArrowLeft)));
}

/// Each frame extends a range of calls by ten, to which the tables are limited.
#[divan::bench(sample_count = 50)]
fn a_range_of_calls_grows(bencher: divan::Bencher<'_, '_>) {
    let (mut stage, mut app, _folder) = window();
    let keys = press_with(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::ArrowLeft);
    for _ in 0..200 {
        stage.frame(keys.clone(), &mut |ui| app.show(ui));
    }
    bencher.bench_local(|| frame(&mut stage, &mut app, keys.clone()));
}

/// Two sessions are compared, with both curves and the tab Compare; each frame selects another call.
#[divan::bench(sample_count = 50)]
fn another_call_is_selected_with_two_sessions(bencher: divan::Bencher<'_, '_>) {
    let (mut stage, mut app, _folder) = window_with(true);
    bencher.bench_local(|| frame(&mut stage, &mut app, press(Key::ArrowLeft)));
}

/// Selects calls with pauses of a user: frames with a key press alternate with frames that receive background results.
#[divan::bench(sample_count = 300, sample_size = 1)]
fn calls_are_selected_one_after_another(bencher: divan::Bencher<'_, '_>) {
    let (mut stage, mut app, _folder) = window();
    let mut frames = 0;
    bencher
        .with_inputs(|| {
            let pause = [300, 40, 16][frames / 2 % 3];
            std::thread::sleep(Duration::from_millis(pause));
            frames += 1;
            if frames % 2 == 1 { press(Key::ArrowLeft) } else { Vec::new() }
        })
        .bench_local_values(|events| frame(&mut stage, &mut app, events));
}
