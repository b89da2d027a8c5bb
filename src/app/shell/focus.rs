//! Keyboard focus: draws a ring around the focused control and scrolls to it.

use crate::app::ui::theme;
use egui::accesskit::{Action, ActionRequest, TreeId};
use egui::{Context, Event, Id, Painter, StrokeKind};

/// The focused control of the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Focus {
    id: Option<Id>,
    /// The keyboard moved the focus here; no ring is shown after a click.
    is_by_keys: bool,
    /// The focus arrived in the last frame.
    is_new: bool,
}

impl Focus {
    /// Scrolls to a control that just received keyboard focus. Call this before the control is shown.
    pub(crate) fn reveal(&mut self, ctx: &Context) {
        let id = self.id.filter(|_| self.is_new && self.is_by_keys);
        self.is_new = false;
        let Some(control) = id.and_then(|id| ctx.read_response(id)) else {
            return;
        };
        if control.interact_rect.contains_rect(control.rect) {
            return;
        }
        // Sends the request of a screen reader: the control knows its scroll area.
        let request = Event::AccessKitActionRequest(ActionRequest {
            action: Action::ScrollIntoView,
            target_tree: TreeId::ROOT,
            target_node: control.id.accesskit_id(),
            data: None,
        });
        ctx.input_mut(|input| input.events.push(request));
    }

    /// Draws the ring above all other content.
    pub(crate) fn show(&mut self, ctx: &Context) {
        let id = ctx.memory(egui::Memory::focused);
        if id != self.id {
            *self = Self {
                id,
                is_by_keys: !ctx.input(|i| i.pointer.any_pressed() || i.pointer.any_released()),
                is_new: true,
            };
            ctx.request_repaint();
        }
        let shown = id.filter(|_| self.is_by_keys);
        if let Some(control) = shown.and_then(|id| ctx.read_response(id)) {
            let clip = control.interact_rect.expand(4.0);
            let stroke = theme::focus_ring(ctx);
            Painter::new(ctx.clone(), control.layer_id, clip).rect_stroke(
                control.rect.expand(1.0),
                theme::space::RADIUS_SMALL,
                stroke,
                StrokeKind::Outside,
            );
        }
    }
}
