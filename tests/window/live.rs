//! A growing file: the window follows it and becomes idle again. The session of a deleted file stays.

use crate::repository::repository;
use crate::screen::{MAX_WAIT, Window, open, options, sample, wait};
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::Options;
use plimsoll::app::state::model::background::latest_result::WorkMode;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Returns the lines of a sample session.
fn lines() -> Vec<String> {
    let text = fs::read_to_string(sample("slow-growth.jsonl")).expect("a sample");
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn window(path: PathBuf) -> Window {
    showing(path, 0)
}

/// Opens a window that works in the background, with one of several conversations.
fn showing(path: PathBuf, conversation: usize) -> Window {
    open(Options { conversation, work: WorkMode::AsNeeded, ..options(path) })
}

fn calls(window: &Window) -> usize {
    let runs = window.state().runs();
    runs.map_or(0, |runs| runs.case.session.calls.len())
}

/// Returns whether the window becomes idle: a frame requests no further frame, not even a delayed one.
fn becomes_idle(window: &mut Window) -> bool {
    let start = Instant::now();
    while start.elapsed() < MAX_WAIT {
        window.run_ok();
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
fn a_growing_file_is_followed_and_the_window_becomes_idle() {
    let folder = tempfile::tempdir().unwrap();
    let (path, lines) = (folder.path().join("grows.jsonl"), lines());
    fs::write(&path, lines[..200].concat()).unwrap();
    let mut window = window(path.clone());
    wait(&mut window, |window| calls(window) > 0);
    assert!(becomes_idle(&mut window));
    let before = calls(&window);

    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(lines[200..600].concat().as_bytes()).unwrap();
    wait(&mut window, |window| calls(window) > before);
    assert!(becomes_idle(&mut window), "{:?}", window.ctx.repaint_causes());

    // Truncated and rewritten.
    fs::write(&path, lines[..100].concat()).unwrap();
    let grown = calls(&window);
    wait(&mut window, |window| calls(window) < grown);
    // An incomplete record keeps the session.
    fs::write(&path, &lines[0][..20]).unwrap();
    let cut = calls(&window);
    wait(&mut window, |window| window.query_by_label("unread").is_some());
    assert_eq!(calls(&window), cut);
}

#[test]
fn the_shown_conversation_stays_when_its_number_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows.jsonl");
    let fixtures = repository().join("tests/fixtures/claude_code");
    fs::copy(fixtures.join("branches.jsonl"), &path).unwrap();
    let mut window = showing(path.clone(), 1);
    wait(&mut window, |window| window.query_by_label("branch, 2 of 2 ⏷").is_some());
    assert_eq!(calls(&window), 4);
    // A new sub-agent is listed before branches.
    let text = fs::read_to_string(fixtures.join("sub-agents.jsonl")).unwrap();
    let agent = text.lines().filter(|line| line.contains("\"isSidechain\": true"));
    let lines: Vec<String> = agent.map(|line| format!("{line}\n")).collect();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(lines.concat().as_bytes()).unwrap();
    wait(&mut window, |window| window.query_by_label("branch, 4 of 4 ⏷").is_some());
    assert_eq!(calls(&window), 4);
}

#[test]
fn a_deleted_file_is_reported_and_its_session_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, lines) = (folder.path().join("goes.jsonl"), lines());
    fs::write(&path, lines[..200].concat()).unwrap();
    let mut window = window(path.clone());
    wait(&mut window, |window| calls(window) > 0);
    let before = calls(&window);
    fs::remove_file(&path).unwrap();
    wait(&mut window, |window| window.query_by_label("missing").is_some());
    assert_eq!(calls(&window), before);
    fs::write(&path, lines[..300].concat()).unwrap();
    wait(&mut window, |window| calls(window) > before);
    assert!(window.query_by_label("missing").is_none());
}
