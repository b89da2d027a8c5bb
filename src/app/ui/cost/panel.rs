//! The tab Cost: the cost as recorded and of every lane, including the provider's cache, and the prices.

use crate::app::state::command::Commands;
use crate::app::state::cost::state::{CostPage, CostView};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::resizable_panel::{ResizablePanel, Side};
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::{Frame, Rangef, Ui};

/// The tab Cost.
pub(crate) struct CostTab;

impl DrawerTab for CostTab {
    fn tab(&self) -> Tab {
        Tab::COST
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }
}

/// Default and minimum width of the prices, in points.
const PRICES: f32 = 268.0;
/// Minimum width of the page, in points.
const MIN_PAGE: f32 = 420.0;

/// Shows the buttons that choose the page at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let view = input.view.cost();
    for page in CostPage::ALL.into_iter().rev() {
        let label = ui.selectable_label(view.page == page, small(ui, page.name()));
        let label =
            label.on_hover_text(page.help()).accessible_name(format!("Show cost: {}", page.name()));
        if label.clicked() {
            commands.push(ViewCommand::new(CostView { page, ..view }));
        }
    }
}

/// Shows the chosen page and the prices next to it.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(costs) = input.derived.costs() else {
        padded(ui, |ui| ui.label(weak(ui, "Computing costs…")));
        return;
    };
    if input.view.cost().page == CostPage::Difference {
        ui.spacing_mut().item_spacing.y = 0.0;
        crate::app::ui::cost::difference_page::show(ui, input, commands);
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
    crate::app::ui::cost::prices::show(&mut prices, input, costs, commands);
    edge.beside(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        match input.view.cost().page {
            CostPage::Lanes => crate::app::ui::cost::lanes::show(ui, input, costs, commands),
            CostPage::Cache => crate::app::ui::cost::cache::show(ui, input, costs, commands),
            CostPage::Compactions => {
                crate::app::ui::cost::compactions::show(ui, input, costs, commands);
            }
            CostPage::Calls => crate::app::ui::cost::calls::show(ui, input, costs, commands),
            CostPage::Difference => {}
        }
    });
}
