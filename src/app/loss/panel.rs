//! The tab Loss: content that the recorded agent used after a lane had removed it. Matches names and does not measure
//! quality, so every count is shown with the count for the recorded calls.

use super::state::{LossPage, LossView};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::palette;
use crate::app::widgets::text::{small, weak};
use egui::{Frame, Panel, Ui};

/// Width of the lanes and minimum width of the list, in points.
const LANES: f32 = 500.0;
const MIN_LIST: f32 = 380.0;

/// Shows the choice of the page at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn tools(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let view = input.view.loss;
    for page in LossPage::ALL.into_iter().rev() {
        let label = ui.selectable_label(view.page == page, small(ui, page.name()));
        let label = label
            .on_hover_text(page.help())
            .accessible_name(format!("Show loss: {}", page.name()));
        if label.clicked() {
            commands.push(Command::SetLossView(LossView { page, ..view }));
        }
    }
}

/// Shows the chosen page.
pub(in crate::app) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let Some(losses) = input.losses else {
        crate::app::widgets::text::padded(ui, |ui| ui.label(weak(ui, "Searching for references…")));
        return;
    };
    match input.view.loss.page {
        LossPage::AtRisk => {
            let most = (ui.available_width() - MIN_LIST).max(240.0);
            Panel::left("loss lanes")
                .resizable(true)
                .default_size(LANES.min(most))
                .size_range(200.0..=most)
                .frame(Frame::new().fill(palette(ui).panel))
                .show(ui, |ui| super::lanes::show(ui, input, losses, commands));
            ui.set_clip_rect(ui.max_rect().intersect(ui.clip_rect()));
            ui.spacing_mut().item_spacing.y = 0.0;
            super::at_risk::show(ui, input, losses, commands);
        }
        LossPage::Instructions => super::instructions::show(ui, input, losses, commands),
        LossPage::Summaries => super::summaries::show(ui, input, losses, commands),
    }
}
