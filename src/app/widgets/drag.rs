//! Drags that Esc ends.

use egui::{Context, Id};

/// The control whose drag ends in this frame though the pointer is still down: what it changed goes back.
pub(crate) fn cancelled(ctx: &Context) -> Option<Id> {
    let is_down = ctx.input(|input| input.pointer.any_down());
    ctx.drag_stopped_id().filter(|_| is_down)
}
