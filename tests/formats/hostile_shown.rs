//! What stands in a session commands nothing: no escape sequence and no control of the direction of text gets from a
//! file of any format to a terminal, into a report, or onto the window.

use crate::fixtures::{fixtures, read};
use crate::hostile_input::{keys, objects, text, values};
use egui::{Context, RawInput, Rect, Shape, pos2, vec2};
use plimsoll::app::background::latest_result::WorkMode;
use plimsoll::app::{App, Options, theme};
use rayon::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Clears the screen, sets the title, turns text around, and hides it.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{2028}\r";

/// What must not be shown: line ends, tabs and the like are ordinary where lines are.
fn is_evil(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || (EVIL.contains(c) && !c.is_ascii())
}

/// Hostile text behind every text of a file, as far as it is still told for its format.
fn evil(name: &str, format: &str, values: &[Value]) -> Vec<Value> {
    let mut evil = values.to_vec();
    for key in keys(values) {
        let mut next = evil.clone();
        objects(&mut next, &mut |object| {
            if let Some(Value::String(text)) = object.get_mut(&key) {
                text.push_str(EVIL);
                text.push('\0');
            }
        });
        let read = read(name, text(&next).as_bytes());
        if read.is_ok_and(|parsed| parsed.sessions[0].source.format == format) {
            evil = next;
        }
    }
    evil
}

/// A file of each format in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut of_format = std::collections::BTreeMap::new();
    for fixture in fixtures() {
        of_format.entry(fixture.format).or_insert(fixture);
    }
    let mut written = Vec::new();
    for (format, fixture) in of_format {
        let base = fixture.name.replace('/', "-");
        let path = folder.join(&base);
        let changed = match values(&fixture) {
            Some(values) => text(&evil(&fixture.name, format, &values)),
            None => String::from_utf8_lossy(&fixture.bytes).replace(". ", &format!("{EVIL}. ")),
        };
        if std::fs::write(&path, changed).is_ok() {
            written.push(path);
        }
    }
    written
}

fn said_by(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::null())
        .output();
    output.map_or_else(
        |error| error.to_string(),
        |out| {
            [out.stdout, out.stderr]
                .map(|b| String::from_utf8_lossy(&b).into_owned())
                .concat()
        },
    )
}

#[test]
fn no_verb_lets_a_session_command_the_terminal_or_turn_a_report_around() {
    let here = tempfile::tempdir().unwrap();
    let files = files(here.path());
    assert!(files.len() > 25, "{files:?}");
    files.par_iter().for_each(|path| {
        let path = path.to_string_lossy();
        for args in [
            &["inspect", &path][..],
            &["inspect", &path, "--json"],
            &["report", &path, "-o", "-"],
        ] {
            let said = said_by(here.path(), args);
            let found: Vec<char> = said.chars().filter(|c| is_evil(*c)).collect();
            assert!(found.is_empty(), "{args:?} says {found:?}: {said:?}");
            assert!(said.len() > 40, "{args:?} says {said:?}");
        }
    });
    let listed = said_by(here.path(), &["sessions", "."]);
    assert!(!listed.chars().any(is_evil), "{listed:?}");
}

/// Every text of a shape.
fn texts(shape: &Shape, found: &mut Vec<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        Shape::Text(text) => found.push(text.galley.text().to_owned()),
        _ => {}
    }
}

#[test]
fn nothing_in_a_session_reaches_the_window_as_a_control_character() {
    let here = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for path in files(here.path()) {
        let ctx = Context::default();
        theme::apply(&ctx);
        let options = Options {
            paths: vec![path.clone()],
            no_state: true,
            work: WorkMode::InFrame,
            ..Options::default()
        };
        let mut app = App::new(&ctx, &options);
        let mut shown = Vec::new();
        for frame in 0..4 {
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1440.0, 2_000.0))),
                time: Some(f64::from(frame)),
                ..RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| app.show(ui));
            output.textures_delta.clear();
            shown.clear();
            output
                .shapes
                .iter()
                .for_each(|clipped| texts(&clipped.shape, &mut shown));
        }
        assert!(shown.len() > 20, "{} shows {shown:?}", path.display());
        let evil = shown.into_iter().filter(|text| text.chars().any(is_evil));
        wrong.extend(evil.map(|text| format!("{} shows {text:?}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
