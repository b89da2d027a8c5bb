//! Opens the window in a test.

use egui::Vec2;
use egui_kittest::Harness;
use plimsoll::app::background::latest_result::Where;
use plimsoll::app::{App, Options};
use std::path::PathBuf;

/// Opens a window of this size that works within its frames and stores nothing.
pub(crate) fn sized(paths: Vec<PathBuf>, size: Vec2) -> Harness<'static, App> {
    let options = Options {
        paths,
        no_state: true,
        work: Where::InFrame,
        size,
        ..Options::default()
    };
    let harness = Harness::builder().with_size(size).allow_missing_glyphs();
    let mut window = harness.build_eframe(move |cc| App::new(&cc.egui_ctx, &options));
    window.run_steps(4);
    window
}
