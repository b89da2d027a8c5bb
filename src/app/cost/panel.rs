//! The tab Cost: the cost as recorded and of every lane, including the provider's cache, and the prices.

use super::input::CostInput;
use super::state::{CostPage, CostView};
use crate::app::command::Commands;
use crate::app::shell::open_session::OpenSession;
use crate::app::shell::resizable_panel::{ResizablePanel, Side};
use crate::app::theme::palette;
use crate::app::view::ViewCommand;
use crate::app::widgets::text::{padded, small, weak};
use egui::{Frame, Rangef, Ui};

/// Default and minimum width of the prices, in points.
const PRICES: f32 = 268.0;
/// Minimum width of the page, in points.
const MIN_PAGE: f32 = 420.0;

/// Shows the buttons that choose the page at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn controls(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &CostInput::new(session);
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let view = input.view;
    for page in CostPage::ALL.into_iter().rev() {
        let label = ui.selectable_label(view.page == page, small(ui, page.name()));
        let label =
            label.on_hover_text(page.help()).accessible_name(format!("Show cost: {}", page.name()));
        if label.clicked() {
            commands.push(ViewCommand::Cost(CostView { page, ..view }));
        }
    }
}

/// Shows the chosen page and the prices next to it.
pub(in crate::app) fn show(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &CostInput::new(session);
    let Some(costs) = input.costs else {
        padded(ui, |ui| ui.label(weak(ui, "Computing costs…")));
        return;
    };
    if input.view.page == CostPage::Difference {
        ui.spacing_mut().item_spacing.y = 0.0;
        super::difference_page::show(ui, input, commands);
        return;
    }
    let panel = ResizablePanel {
        name: "prices",
        side: Side::Right,
        usual: PRICES,
        range: Rangef::new(PRICES, (ui.available_width() - MIN_PAGE).max(PRICES)),
        frame: Frame::new().fill(palette(ui).panel),
    };
    let (mut prices, edge) = panel.place(ui);
    super::prices::show(&mut prices, input, costs, commands);
    edge.beside(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        match input.view.page {
            CostPage::Lanes => super::lanes::show(ui, input, costs, commands),
            CostPage::Cache => super::cache::show(ui, input, costs, commands),
            CostPage::Compactions => super::compactions::show(ui, input, costs, commands),
            CostPage::Calls => super::calls::show(ui, input, costs, commands),
            CostPage::Difference => {}
        }
    });
}
