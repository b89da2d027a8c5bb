//! The tab Context: its pages, controls and commands.

use super::{map, table};
use crate::app::state::command::{Command, Commands};
use crate::app::state::context::result::{update_pieces, update_sources};
use crate::app::state::context::view::ContextView;
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
        }
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        if session.view.context().lists_sources {
            match session.derived.sources() {
                Some(sources) => table::show(ui, session, sources, commands),
                None => wait(ui, "Adding up the sources of the session…"),
            }
        } else {
            match session.derived.context_pieces() {
                Some(pieces) => map::show(ui, session, pieces, commands),
                None => wait(ui, "Dividing the context…"),
            }
        }
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        let view = session.view.context();
        for (name, lists_sources) in [("sources", true), ("map", false)] {
            let label = ui.selectable_label(view.lists_sources == lists_sources, small(ui, name));
            if label.accessible_name(format!("Show {name}")).clicked() {
                commands.push(ViewCommand::new(ContextView { lists_sources }));
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
        let pages =
            [("Show the map of the context", false), ("Show the sources of the context", true)];
        let page = |(name, lists_sources): (&str, bool)| {
            (name.to_owned(), ViewCommand::new(ContextView { lists_sources }).into())
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
