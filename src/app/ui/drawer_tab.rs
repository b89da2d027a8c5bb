//! A tab of the drawer.

use crate::app::state::command::{Command, Commands};
use crate::app::state::model::derived::Update;
use crate::app::state::model::selection::Selection;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::View;
use crate::app::state::open_session::OpenSession;
use egui::Ui;

/// A tab of the drawer: its name, what it computes and draws, and the commands that it offers.
///
/// Its view settings are a type of its own, see [`View`]; its results implement
/// [`DerivedResult`](crate::app::state::model::derived::DerivedResult).
pub(crate) trait DrawerTab: Sync {
    /// Returns its key and label.
    fn tab(&self) -> Tab;

    /// Requests the results that only this tab shows, before each frame, also while another tab is shown.
    fn update(&self, _update: &mut Update<'_>) {}

    /// Draws the tab.
    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands);

    /// Draws the controls at the right end of the tab row, from right to left.
    fn controls(&self, _ui: &mut Ui, _session: &OpenSession<'_>, _commands: &mut Commands) {}

    /// Returns the remark after the label, or "".
    fn remark(&self, _session: &OpenSession<'_>) -> String {
        String::new()
    }

    /// Returns the commands that the command palette lists, with their names.
    fn commands(&self, _session: &OpenSession<'_>) -> Vec<(String, Command)> {
        Vec::new()
    }

    /// Returns the view settings that a workspace keeps, as a text; `None` if it keeps none or they are the default.
    fn kept_view(&self, _view: &View) -> Option<String> {
        None
    }

    /// Restores view settings from a text of [`Self::kept_view`]. Another version may have written it: what it does not
    /// know keeps its default.
    fn restore_view(&self, _kept: &str, _view: &mut View) {}

    /// Returns what Esc does while the tab is shown and nothing else takes the key.
    fn escape(&self, _view: &View, _selection: &Selection) -> Option<Command> {
        None
    }
}
