//! Pictures of the README show the window as it is.

use crate::repository::repository;
use crate::screen::{COMPACTED, options, sample};
use egui::{Event, Key, Modifiers, Theme};
use plimsoll::app::App;
use plimsoll::app::ui::picture::OffscreenWindow;
use std::path::PathBuf;

/// Frames until layout, scrolling and animations have settled after an event.
const FRAMES: usize = 8;

/// Presses a key and releases it.
fn press(key: Key, modifiers: Modifiers) -> Vec<Event> {
    let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
    vec![event(true), event(false)]
}

/// Draws the window with a sample session after these events, each in a frame of its own.
fn draw(events: Vec<Vec<Event>>) -> image::RgbaImage {
    let options = options(sample(COMPACTED));
    let mut stage = OffscreenWindow::new(options.size, 1.0, Theme::Dark);
    let mut app = App::new(stage.context(), &options);
    for events in [vec![Vec::new()], events].concat() {
        stage.frame(events, &mut |ui| app.show(ui));
        for _ in 0..FRAMES {
            stage.frame(Vec::new(), &mut |ui| app.show(ui));
        }
    }
    stage.image()
}

/// Writes the picture with `UPDATE_DOCS=1`, else compares it with the file.
fn is_current(name: &str, image: &image::RgbaImage) {
    let pictures = repository().join("assets/pictures");
    let file: PathBuf = pictures.join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        image.save(&file).expect("the picture can be written");
        return;
    }
    let committed = image::open(&file).expect("the picture is there");
    // Compared without an assertion on the pixels, which would print millions of numbers.
    let is_equal = committed.into_rgba8() == *image;
    assert!(
        is_equal,
        "{name} does not show the window as it is: UPDATE_DOCS=1 cargo test --test window readme_pictures"
    );
}

#[test]
fn the_pictures_of_the_readme_show_the_window_as_it_is() {
    is_current("dark.png", &draw(Vec::new()));
    let tune = press(Key::Num6, Modifiers::ALT);
    let sweep = press(Key::R, Modifiers::COMMAND);
    is_current("tune.png", &draw(vec![tune, sweep]));
}
