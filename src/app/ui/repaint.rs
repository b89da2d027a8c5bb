//! Frames on request of background work.

use crate::app::state::model::background::repaint::Repaint;

/// Returns a request for another frame of this window.
pub(crate) fn repaint_of(ctx: &egui::Context) -> Repaint {
    let ctx = ctx.clone();
    Repaint::new(move |wait| ctx.request_repaint_after(wait))
}
