//! Detection of drags that Esc cancels.

use egui::{Context, Id};

/// Returns the control whose drag is cancelled in this frame while the pointer is still down. Its change is reverted.
pub(crate) fn cancelled(ctx: &Context) -> Option<Id> {
    let is_down = ctx.input(|input| input.pointer.any_down());
    ctx.drag_stopped_id().filter(|_| is_down)
}
