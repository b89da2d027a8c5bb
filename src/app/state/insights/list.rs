//! The insights of the session and all lanes in one list. Independent of the UI.

use crate::analysis::insight::{Insight, InsightKind, Level};
use crate::app::state::cost::compute::Costs;
use crate::app::state::evaluate::losses::Losses;
use crate::app::state::insights::session::SessionInsights;
use crate::app::state::model::view::View;
use crate::safe_text;
use std::cmp::Reverse;

/// Filter of the insight list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsightFilter {
    /// Case-insensitive text that a listed insight contains.
    pub text: String,
    /// Level to list; `None` for all.
    pub level: Option<Level>,
}

/// Identifies an insight in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsightKey {
    lane: Option<usize>,
    kind: InsightKind,
    call: Option<usize>,
    message: Option<usize>,
}

/// One line of the list.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Index of its lane; `None` for an insight about the session.
    pub lane: Option<usize>,
    /// The insight.
    pub insight: &'a Insight,
}

impl Row<'_> {
    /// Returns the unique key of the insight.
    pub fn key(&self) -> InsightKey {
        InsightKey {
            lane: self.lane,
            kind: self.insight.kind,
            call: self.insight.call,
            message: self.insight.message,
        }
    }
}

/// View settings of the tab Insights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsightsView {
    /// Filter of the list.
    pub filter: InsightFilter,
    /// The open insight; `None` for the first one.
    pub open: Option<InsightKey>,
}

/// Returns all insights, worst first.
pub fn all<'a>(
    session: Option<&'a SessionInsights>,
    costs: Option<&'a Costs>,
    losses: Option<&'a Losses>,
) -> Vec<Row<'a>> {
    let of_session = session.map_or(&[][..], |session| &session.insights);
    let of_session = of_session.iter().map(|insight| Row { lane: None, insight });
    let lanes = costs.map_or(&[][..], |costs| &costs.lanes);
    let of_lanes = lanes.iter().enumerate().flat_map(|(lane, cost)| {
        let row = move |insight| Row { lane: Some(lane), insight };
        cost.insights.iter().map(row)
    });
    let lost = losses.map_or(&[][..], |losses| &losses.insights);
    let lost = lost.iter().map(|(lane, insight)| Row { lane: *lane, insight });
    let mut rows: Vec<Row<'_>> = of_session.chain(of_lanes).chain(lost).collect();
    rows.sort_by_key(|row| {
        let found = row.insight;
        (found.level, Reverse(found.stake), found.call, row.lane)
    });
    rows
}

impl InsightFilter {
    /// Returns whether the filter accepts everything.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.level.is_none()
    }

    /// Returns whether an insight is listed. `label` is the name of its lane.
    pub fn has(&self, insight: &Insight, label: &str) -> bool {
        if self.level.is_some_and(|level| level != insight.level) {
            return false;
        }
        let needle = self.text.trim().to_lowercase();
        let texts = [&*insight.text, &*insight.evidence, insight.advice, label];
        needle.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&needle))
    }
}

/// Returns the number of insights of each level, from bad to note.
pub fn counts(rows: &[Row<'_>]) -> [(Level, usize); 3] {
    let count = |level| rows.iter().filter(|row| row.insight.level == level).count();
    [Level::Bad, Level::Warning, Level::Note].map(|level| (level, count(level)))
}

/// Returns a text of an insight, safe to show, without the markup of names.
pub fn shown(text: &str) -> String {
    safe_text::visible(text).replace('`', "")
}

impl View {
    /// Returns the view settings of the tab Insights.
    pub fn insights(&self) -> &InsightsView {
        self.get()
    }

    /// Returns the view settings of the tab Insights, to change them.
    pub fn insights_mut(&mut self) -> &mut InsightsView {
        self.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::insight::Certainty;
    use crate::units::Tokens;

    fn insight(level: Level, stake: u64, text: &str) -> Insight {
        Insight {
            kind: InsightKind::Hovering,
            level,
            certainty: Certainty::Certain,
            lane: None,
            call: Some(3),
            message: None,
            text: text.to_owned(),
            evidence: "70 % of all".to_owned(),
            advice: "Compact further down.",
            stake: Tokens(stake),
        }
    }

    #[test]
    fn insights_are_sorted_by_level_and_stake() {
        let session = SessionInsights {
            insights: vec![
                insight(Level::Note, 9, "a"),
                insight(Level::Warning, 1, "b"),
                insight(Level::Bad, 0, "c"),
                insight(Level::Warning, 5, "d"),
            ],
            statements: Vec::new(),
        };
        let rows = all(Some(&session), None, None);
        let order: Vec<_> = rows.iter().map(|row| &*row.insight.text).collect();
        assert_eq!(order, ["c", "d", "b", "a"]);
        assert_eq!(counts(&rows).map(|(_, n)| n), [1, 2, 1]);
    }

    #[test]
    fn the_filter_searches_all_texts_and_the_lane_name() {
        let found = insight(Level::Bad, 0, "Calls are rejected");
        let has = |text: &str, level| {
            let text = text.to_owned();
            InsightFilter { text, level }.has(&found, "Prune")
        };
        assert!(has("REJECTED", None) && has("70 %", None) && has("further", None));
        assert!(has("prune", Some(Level::Bad)));
        assert!(!has("rejected", Some(Level::Note)) && !has("truncate", None));
    }
}
