//! The results that several panels show, in the order in which they are requested: later ones read earlier ones.
//!
//! A result that only one drawer tab shows is requested by that tab, see `ui/drawer_tab.rs`.

use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::config::Config;
use crate::app::state::model::derived::{Derived, Update};
use crate::app::state::model::document::Document;
use crate::app::state::model::policies::Policies;
use crate::app::state::model::runs;
use crate::app::state::model::selection::Selection;
use crate::app::state::model::view::View;
use crate::app::state::{
    changes, conversation_usage, cost, evaluate, events, insights, lanes, messages, working_preset,
};
use std::sync::Arc;

/// A function that requests results.
pub(crate) type Request = fn(&mut Update<'_>);

const REQUESTS: [Request; 16] = [
    runs::result::update,
    lanes::result::update,
    events::result::update,
    changes::result::update,
    messages::result::update_cumulative,
    working_preset::update,
    cost::result::update_costs,
    insights::result::update,
    cost::result::update_calls,
    evaluate::result::update_losses,
    evaluate::result::update_evaluation,
    messages::result::update_order,
    messages::result::update_hits,
    cost::result::update_difference,
    messages::result::update_text,
    conversation_usage::update,
];

/// The state of the window that results depend on.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// Requests a frame when a result is ready.
    pub(crate) repaint: &'a Repaint,
    /// A pointer button is down: inputs may change in every frame.
    pub(crate) is_dragging: bool,
    /// All available policies.
    pub(crate) policies: &'a Policies,
    /// The configuration.
    pub(crate) config: &'a Config,
    /// The view settings.
    pub(crate) view: &'a View,
    /// The requests of the drawer tabs.
    pub(crate) tabs: &'a dyn Fn(&mut Update<'_>),
}

/// Updates all results or starts the work for them.
pub(crate) fn update(
    derived: &mut Derived,
    document: &Arc<Document>,
    selection: &Selection,
    inputs: Inputs<'_>,
) {
    // Notes affect no result.
    let config = &Config { notes: Arc::default(), ..inputs.config.clone() };
    let mut update = Update {
        derived,
        repaint: inputs.repaint,
        is_dragging: inputs.is_dragging,
        is_stale: false,
        document,
        policies: inputs.policies,
        config,
        selection,
        view: inputs.view,
    };
    for request in REQUESTS {
        request(&mut update);
    }
    (inputs.tabs)(&mut update);
}
