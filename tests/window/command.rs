//! "Copy as command": the copied line, run by a shell, reproduces the window's numbers.

#![cfg(unix)]

use crate::program::PROGRAM;
use crate::repository::repository;
use crate::screen::{
    MANY_RESULTS, Window, copied, open, options, runs, sample, set_slider, with_lanes,
};
use egui::Vec2;
use plimsoll::app::Options;
use plimsoll::json::Value;
use std::process::Command;

/// Figures of a lane: policy, peak, compactions, overflows, tokens sent.
type Figures = (String, Option<u64>, u64, u64, u64);

fn window(options: Options) -> Window {
    open(Options { size: Vec2::new(1440.0, 1200.0), ..options })
}

fn shown(window: &Window) -> Vec<Figures> {
    let runs = runs(window);
    runs.lanes
        .iter()
        .map(|lane| {
            let outcome = &lane.outcome;
            (
                lane.policy.name.clone(),
                outcome.peak().map(|peak| peak.tokens.0),
                outcome.compactions as u64,
                outcome.overflows as u64,
                outcome.tokens_sent().0,
            )
        })
        .collect()
}

/// Returns the figures that a command prints when a shell runs it.
fn printed(command: &str) -> Vec<Figures> {
    let arguments = command.strip_prefix("plimsoll ").expect("a command line of this program");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("\"$PROGRAM\" {arguments} --json"))
        .env("PROGRAM", PROGRAM)
        .current_dir(repository())
        .output()
        .expect("there is a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {error}");
    let replay: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let count = |lane: &Value, key: &str| lane[key].as_u64().expect("a count");
    let lanes = replay["lanes"].as_array().expect("lanes").iter();
    lanes
        .filter(|lane| !["recorded", "none"].contains(&lane["lane"].as_str().expect("a name")))
        .map(|lane| {
            (
                lane["policy"].as_str().expect("a name").to_owned(),
                lane["peak_tokens"].as_u64(),
                count(lane, "compactions"),
                count(lane, "overflows"),
                count(lane, "tokens_sent"),
            )
        })
        .collect()
}

#[test]
fn the_copied_command_reproduces_the_numbers() {
    let mut window = window(options(sample(MANY_RESULTS)));
    let untouched = shown(&window);
    assert_eq!(printed(&copied(&mut window, "Copy as command")), untouched);
    set_slider(&mut window, "compression_trigger", 0.4);
    set_slider(&mut window, "prune_protect", 20_000.0);
    set_slider(&mut window, "context_window", 150_000.0);
    let turned = shown(&window);
    assert_ne!(untouched, turned, "the knobs move the lanes");
    let command = copied(&mut window, "Copy as command");
    assert_eq!(printed(&command), turned, "{command}");
}

#[test]
fn the_copied_command_contains_restarts() {
    // A preset that can resume.
    let sample = options(sample(MANY_RESULTS));
    let mut window = window(with_lanes(sample, &["cowagent"], &[]));
    let unmarked = shown(&window);
    // The last call is selected, then the one ten before it.
    window.key_press(egui::Key::R);
    window.run_ok();
    window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::ArrowLeft);
    window.run_ok();
    window.key_press(egui::Key::R);
    window.run_ok();
    let marked = shown(&window);
    assert_ne!(unmarked, marked, "what is restored is not what there was");
    let command = copied(&mut window, "Copy as command");
    assert_eq!(command.matches(" --restart ").count(), 2, "{command}");
    assert_eq!(printed(&command), marked, "{command}");
}

#[test]
fn the_copied_command_names_the_conversation() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("two of them's.jsonl");
    let line = |n: usize| {
        let messages: Vec<Value> = (0..n)
            .flat_map(|turn| {
                let text = format!("Question {turn}: {}", "why is the sea salt ".repeat(200));
                [
                    plimsoll::json::json!({"role": "user", "content": text}),
                    plimsoll::json::json!({"role": "assistant", "content": format!("Answer {turn}.")}),
                ]
            })
            .collect();
        plimsoll::json::json!({ "messages": messages }).to_string()
    };
    std::fs::write(&path, format!("{}\n{}\n", line(4), line(30))).expect("it can be written");
    let mut figures = Vec::new();
    for conversation in [0, 1] {
        let mut window = window(Options { conversation, ..options(path.clone()) });
        set_slider(&mut window, "context_window", 20_000.0);
        set_slider(&mut window, "output_reserve", 2_000.0);
        set_slider(&mut window, "keep_recent", 3.0);
        let command = copied(&mut window, "Copy as command");
        assert!(command.contains(&format!(" --conversation {}", conversation + 1)), "{command}");
        assert_eq!(printed(&command), shown(&window), "{command}");
        figures.push(shown(&window));
    }
    assert_ne!(figures[0], figures[1], "the conversations differ");
    let acted = figures[1].iter().any(|lane| lane.2 > 0);
    assert!(acted, "some lane had to act: {figures:?}");
}
