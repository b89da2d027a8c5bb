//! Input of the tab Cost.

use super::billing::OwnPrice;
use super::compute::Costs;
use super::difference::Differences;
use super::state::CostView;
use crate::app::config::Config;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::OpenSession;

/// Input of the tab Cost.
pub(in crate::app) struct CostInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// Costs of all lanes; `None` while they are computed.
    pub(in crate::app) costs: Option<&'a Costs>,
    /// Number of calls that sent each message; `None` while it is computed.
    pub(in crate::app) cumulative: Option<&'a CumulativeTokens>,
    /// The focused lane's samples in the order of the list of calls.
    pub(in crate::app) calls: &'a [u32],
    /// The difference of the compared calls, possibly of earlier calls; `None` while it is computed.
    pub(in crate::app) differences: Option<&'a Differences>,
    /// Custom prices entered before, if any.
    pub(in crate::app) own_price: Option<OwnPrice>,
    /// View settings.
    pub(in crate::app) view: CostView,
}

impl<'a> CostInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            config: session.config,
            selection: session.selection,
            costs: session.derived.costs(),
            cumulative: session.derived.cumulative(),
            calls: session.derived.calls(),
            differences: session.derived.differences(),
            own_price: session.own_price.clone(),
            view: session.view.cost,
        }
    }
}
