//! Control characters in sessions: escape sequences and direction controls from a file never reach a terminal, a report
//! or the window.

use crate::fixtures::{fixtures, read};
use crate::hostile_input::{keys, objects, text, values};
use crate::program::PROGRAM;
use egui::{Context, RawInput, Rect, Shape, pos2, vec2};
use plimsoll::app::state::model::background::latest_result::WorkMode;
use plimsoll::app::ui::theme;
use plimsoll::app::{App, Options};
use plimsoll::json::Value;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Clears the screen, sets the title, colors text red, changes its direction, breaks the line, and returns to its start.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{2028}\r";

/// Returns whether a character must not be shown. Line feeds and tabs are allowed.
fn is_forbidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || (EVIL.contains(c) && !c.is_ascii())
}

/// Appends hostile text to every text of a file that is then still detected as its format.
fn with_hostile_text(name: &str, format: &str, values: &[Value]) -> Vec<Value> {
    let mut with_hostile_text = values.to_vec();
    for key in keys(values) {
        let mut next = with_hostile_text.clone();
        objects(&mut next, &mut |object| {
            if let Some(Value::String(text)) = object.get_mut(&key) {
                text.push_str(EVIL);
                text.push('\0');
            }
        });
        let read = read(name, text(&next).as_bytes());
        if read.is_ok_and(|parsed| parsed.sessions[0].source.format == format) {
            with_hostile_text = next;
        }
    }
    with_hostile_text
}

/// Writes a file of each format to a folder.
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
            Some(values) => text(&with_hostile_text(&fixture.name, format, &values)),
            None => String::from_utf8_lossy(&fixture.bytes).replace(". ", &format!("{EVIL}. ")),
        };
        if std::fs::write(&path, changed).is_ok() {
            written.push(path);
        }
    }
    written
}

fn output_of(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(PROGRAM)
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::null())
        .output();
    output.map_or_else(
        |error| error.to_string(),
        |out| [out.stdout, out.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat(),
    )
}

#[test]
fn inspect_report_and_sessions_print_no_control_characters_of_a_session() {
    let here = tempfile::tempdir().unwrap();
    let files = files(here.path());
    assert!(files.len() > 25, "{files:?}");
    files.par_iter().for_each(|path| {
        let path = path.to_string_lossy();
        for args in [
            &["inspect", &path, "--counter", "chars/4"][..],
            &["inspect", &path, "--counter", "chars/4", "--json"],
            &["report", &path, "--counter", "chars/4", "-o", "-"],
        ] {
            let output = output_of(here.path(), args);
            let found: Vec<char> = output.chars().filter(|c| is_forbidden(*c)).collect();
            assert!(found.is_empty(), "{args:?} says {found:?}: {output:?}");
            assert!(output.len() > 40, "{args:?} says {output:?}");
        }
    });
    let listed = output_of(here.path(), &["sessions", "."]);
    assert!(!listed.chars().any(is_forbidden), "{listed:?}");
}

/// Collects the texts of a shape.
fn texts(shape: &Shape, found: &mut Vec<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        Shape::Text(text) => found.push(text.galley.text().to_owned()),
        _ => {}
    }
}

/// Number of frames that are drawn of each file.
const FRAMES: usize = 4;

#[test]
fn the_window_shows_no_control_characters_of_a_session() {
    let here = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    // One context, because its fonts take long to load.
    let ctx = Context::default();
    theme::apply(&ctx);
    for (nth, path) in files(here.path()).into_iter().enumerate() {
        let options = Options {
            paths: vec![path.clone()],
            no_state: true,
            work: WorkMode::InFrame,
            ..Options::default()
        };
        let mut app = App::new(&ctx, &options);
        let mut shown = Vec::new();
        for frame in 0..FRAMES {
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1440.0, 2_000.0))),
                time: Some((nth * FRAMES + frame) as f64),
                ..RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| app.show(ui));
            output.textures_delta.clear();
            shown.clear();
            output.shapes.iter().for_each(|clipped| texts(&clipped.shape, &mut shown));
        }
        assert!(shown.len() > 20, "{} shows {shown:?}", path.display());
        let with_hostile_text = shown.into_iter().filter(|text| text.chars().any(is_forbidden));
        wrong.extend(with_hostile_text.map(|text| format!("{} shows {text:?}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
