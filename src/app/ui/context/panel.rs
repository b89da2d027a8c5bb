//! The tab Context: its pages, controls and commands.

use super::{map, over_time, table};
use crate::app::state::command::{Command, Commands};
use crate::app::state::context::result::{update_groups, update_pieces, update_sources};
use crate::app::state::context::view::{ContextPage, ContextView};
use crate::app::state::model::derived::Update;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::{View, ViewCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::Ui;

/// The tab Context.
pub(crate) struct ContextTab;

/// Its name.
const TAB: Tab = Tab::new("context", "Context");

impl DrawerTab for ContextTab {
    fn tab(&self) -> Tab {
        TAB
    }

    fn update(&self, update: &mut Update<'_>) {
        if update.view.tab == TAB {
            update_pieces(update);
            update_sources(update);
            if update.view.context().page == ContextPage::OverTime {
                update_groups(update);
            }
        }
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        match session.view.context().page {
            ContextPage::Sources => match session.derived.sources() {
                Some(sources) => table::show(ui, session, sources, commands),
                None => wait(ui, "Adding up the sources of the session…"),
            },
            ContextPage::Map => match session.derived.context_pieces() {
                Some(pieces) => map::show(ui, session, pieces, commands),
                None => wait(ui, "Dividing the context…"),
            },
            ContextPage::OverTime => match session.derived.groups_over_time() {
                Some(groups) => over_time::show(ui, session, groups, commands),
                None => wait(ui, "Dividing the contexts of all calls…"),
            },
        }
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        let view = session.view.context();
        // The controls stand at the right end, the last first.
        for (page, name) in ContextPage::ALL.into_iter().rev() {
            let label = ui.selectable_label(view.page == page, small(ui, name));
            if label.accessible_name(format!("Show {name}")).clicked() {
                commands.push(ViewCommand::new(ContextView { page }));
            }
        }
    }

    fn remark(&self, session: &OpenSession<'_>) -> String {
        match session.config.without.len() {
            0 => String::new(),
            n => format!("−{}", wording::grouped(n as u64)),
        }
    }

    fn commands(&self, _session: &OpenSession<'_>) -> Vec<(String, Command)> {
        let pages = [
            ("Show the map of the context", ContextPage::Map),
            ("Show the context over time", ContextPage::OverTime),
            ("Show the sources of the context", ContextPage::Sources),
        ];
        let page = |(name, page): (&str, ContextPage)| {
            (name.to_owned(), ViewCommand::new(ContextView { page }).into())
        };
        pages.map(page).into()
    }

    fn kept_view(&self, view: &View) -> Option<String> {
        view.context().kept()
    }

    fn restore_view(&self, kept: &str, view: &mut View) {
        *view.get_mut() = ContextView::from_kept(kept);
    }
}

fn wait(ui: &mut Ui, text: &str) {
    padded(ui, |ui| ui.label(weak(ui, text)));
}
