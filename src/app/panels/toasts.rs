//! Passing notices at the lower right.

use egui_notify::{Anchor, Toasts};

/// No notices yet.
pub fn new() -> Toasts {
    Toasts::default()
        .with_anchor(Anchor::BottomRight)
        .with_margin(egui::vec2(16.0, 16.0))
}

/// Shows those that are there.
pub fn show(ctx: &egui::Context, toasts: &mut Toasts) {
    // An empty list would still reserve an area.
    if !toasts.is_empty() {
        toasts.show(ctx);
    }
}
