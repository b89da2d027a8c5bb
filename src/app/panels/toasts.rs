//! Passing notices at the lower left, over what can be spared for a moment.

use crate::app::theme;
use egui_notify::{Anchor, Toast, ToastLevel, Toasts};
use std::time::Duration;

/// How long a notice stays that names a file or says what to do.
const LONG: Duration = Duration::from_secs(12);

/// No notices yet.
pub fn new() -> Toasts {
    Toasts::default()
        .with_anchor(Anchor::BottomLeft)
        .with_margin(egui::vec2(16.0, 16.0))
}

/// Tells that something was done.
pub fn done(ctx: &egui::Context, toasts: &mut Toasts, text: String) {
    let is_dark = ctx.global_style().visuals.dark_mode;
    let level = ToastLevel::Custom("✔".to_owned(), theme::of(is_dark).ok);
    toasts.add(Toast::custom(text, level));
}

/// Tells where a file was written.
pub fn written(ctx: &egui::Context, toasts: &mut Toasts, text: String) {
    let is_dark = ctx.global_style().visuals.dark_mode;
    let level = ToastLevel::Custom("✔".to_owned(), theme::of(is_dark).ok);
    toasts.add(Toast::custom(text, level)).duration(Some(LONG));
}

/// Tells that something failed.
pub fn failed(toasts: &mut Toasts, why: String) {
    toasts.error(why).duration(Some(LONG));
}

/// Shows those that are there.
pub fn show(ctx: &egui::Context, toasts: &mut Toasts) {
    // An empty list would still reserve an area.
    if !toasts.is_empty() {
        toasts.show(ctx);
    }
}
