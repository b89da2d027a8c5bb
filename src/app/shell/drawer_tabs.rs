//! The table of the tabs of the drawer.

use crate::app::state::model::derived::Update;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::View;
use crate::app::ui::about::AboutTab;
use crate::app::ui::compare::panel::CompareTab;
use crate::app::ui::context::panel::ContextTab;
use crate::app::ui::cost::panel::CostTab;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::evaluate::panel::EvaluateTab;
use crate::app::ui::events::panel::EventsTab;
use crate::app::ui::import::ImportTab;
use crate::app::ui::insights::panel::InsightsTab;
use crate::app::ui::messages::panel::MessagesTab;
use crate::app::ui::tools::panel::ToolsTab;
use crate::app::ui::tune::panel::TuneTab;
use std::collections::BTreeMap;

/// All tabs, in the order of the tab row. The keys Alt+1 to Alt+9 open the first nine; the command palette lists all.
pub(crate) const DRAWER_TABS: [&dyn DrawerTab; 11] = [
    &MessagesTab,
    &InsightsTab,
    &EventsTab,
    &EvaluateTab,
    &CostTab,
    &TuneTab,
    &CompareTab,
    &AboutTab,
    &ImportTab,
    &ToolsTab,
    &ContextTab,
];

/// Returns the names of all tabs, in order.
pub fn tabs() -> impl Iterator<Item = Tab> {
    DRAWER_TABS.iter().map(|tab| tab.tab())
}

/// Returns a tab by name, the first one if there is none.
pub(crate) fn tab_of(tab: Tab) -> &'static dyn DrawerTab {
    DRAWER_TABS.into_iter().find(|it| it.tab() == tab).unwrap_or(DRAWER_TABS[0])
}

/// Requests the results of all tabs.
pub(crate) fn update(update: &mut Update<'_>) {
    for tab in DRAWER_TABS {
        tab.update(update);
    }
}

/// Returns the view settings that the tabs keep, by the key of the tab.
pub(crate) fn kept(view: &View) -> BTreeMap<String, String> {
    let kept = |tab: &&dyn DrawerTab| Some((tab.tab().key.to_owned(), tab.kept_view(view)?));
    DRAWER_TABS.iter().filter_map(kept).collect()
}

/// Restores view settings. A tab that this version does not have is skipped.
pub(crate) fn restore(kept: &BTreeMap<String, String>, view: &mut View) {
    for tab in DRAWER_TABS {
        if let Some(settings) = kept.get(tab.tab().key) {
            tab.restore_view(settings, view);
        }
    }
}
