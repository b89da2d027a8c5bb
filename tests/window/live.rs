//! A file that is still being written: the window follows it, comes to rest again, and keeps what a person placed.

use egui::Vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::{App, Options};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Nothing takes longer, on however busy a machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The lines of a session.
fn lines() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    let text = fs::read_to_string(folder.join("slow-growth.jsonl")).expect("a sample");
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn window(path: PathBuf) -> Harness<'static, App> {
    showing(path, 0)
}

/// A window that shows one of several conversations.
fn showing(path: PathBuf, conversation: usize) -> Harness<'static, App> {
    let size = Vec2::new(1440.0, 900.0);
    let options = Options {
        paths: vec![path],
        conversation,
        no_state: true,
        size,
        ..Options::default()
    };
    let harness = Harness::builder().with_size(size).allow_missing_glyphs();
    harness.build_eframe(move |cc| App::new(&cc.egui_ctx, &options))
}

fn steps(window: &Harness<'_, App>) -> usize {
    let runs = window.state().runs();
    runs.map_or(0, |runs| runs.case.session.calls.len())
}

/// Frames until something holds.
fn wait(window: &mut Harness<'_, App>, holds: impl Fn(&Harness<'_, App>) -> bool) {
    let start = Instant::now();
    while !holds(window) {
        assert!(start.elapsed() < PATIENCE, "it never came to be");
        window.run_steps(1);
        thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a second passes in which nothing wants another frame.
fn rests(window: &mut Harness<'_, App>) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        window.run_steps(8);
        let ctx = window.ctx.clone();
        window.run_steps(1);
        if !ctx.has_requested_repaint() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn a_file_that_grows_is_followed_and_then_the_window_rests() {
    let folder = tempfile::tempdir().unwrap();
    let (path, lines) = (folder.path().join("grows.jsonl"), lines());
    fs::write(&path, lines[..200].concat()).unwrap();
    let mut window = window(path.clone());
    wait(&mut window, |window| steps(window) > 0);
    assert!(rests(&mut window));
    let before = steps(&window);

    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(lines[200..600].concat().as_bytes()).unwrap();
    wait(&mut window, |window| steps(window) > before);
    assert!(rests(&mut window), "{:?}", window.ctx.repaint_causes());

    // Cut off and begun anew.
    fs::write(&path, lines[..100].concat()).unwrap();
    let grown = steps(&window);
    wait(&mut window, |window| steps(window) < grown);
    // Half a record is no reason to lose what was there.
    fs::write(&path, &lines[0][..20]).unwrap();
    let cut = steps(&window);
    thread::sleep(Duration::from_secs(2));
    window.run_steps(4);
    assert_eq!(steps(&window), cut);
}

#[test]
fn the_conversation_that_is_shown_stays_when_its_number_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows.jsonl");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude_code");
    fs::copy(fixtures.join("branches.jsonl"), &path).unwrap();
    let mut window = showing(path.clone(), 1);
    wait(&mut window, |window| {
        window.query_by_label("branch, 2 of 2 ⏷").is_some()
    });
    assert_eq!(steps(&window), 4);
    // A sub-agent begins, which is listed before branches.
    let text = fs::read_to_string(fixtures.join("sub-agents.jsonl")).unwrap();
    let agent = text
        .lines()
        .filter(|line| line.contains("\"isSidechain\": true"));
    let lines: Vec<String> = agent.map(|line| format!("{line}\n")).collect();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(lines.concat().as_bytes()).unwrap();
    wait(&mut window, |window| {
        window.query_by_label("branch, 4 of 4 ⏷").is_some()
    });
    assert_eq!(steps(&window), 4);
}

#[test]
fn a_file_that_is_gone_is_told_and_what_was_read_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, lines) = (folder.path().join("goes.jsonl"), lines());
    fs::write(&path, lines[..200].concat()).unwrap();
    let mut window = window(path.clone());
    wait(&mut window, |window| steps(window) > 0);
    let before = steps(&window);
    fs::remove_file(&path).unwrap();
    wait(&mut window, |window| {
        window.query_by_label("missing").is_some()
    });
    assert_eq!(steps(&window), before);
    fs::write(&path, lines[..300].concat()).unwrap();
    wait(&mut window, |window| steps(window) > before);
    assert!(window.query_by_label("missing").is_none());
}
