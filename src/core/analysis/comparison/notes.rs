//! Notes on the figures of two sessions: what a reader must know before comparing them.

use super::SessionFigures;
use super::figures::has_different_sources;
use crate::analysis::cost::CostSource;

/// Names of the sessions.
const NAMES: [&str; 2] = ["A", "B"];

/// Returns a note for each managed conversation, unknown cost and modelled cost. `advice` describes how to set an
/// unknown price.
pub fn notes(sessions: &[SessionFigures; 2], advice: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, session) in NAMES.into_iter().zip(sessions) {
        if session.is_managed {
            notes.push(format!(
                "{name} is a managed conversation: it contains the context at the end, not the run. For the cost of the run, compare lanes or use `plimsoll diagnose`."
            ));
        }
        if session.cost.total().is_none() {
            notes.push(format!("{name}'s cost is unknown: {}", why_unknown(session, advice)));
        } else if session.cost.source == CostSource::Modelled {
            let missing = if session.reports_usage { "cache counts" } else { "usage" };
            notes.push(format!("{name}'s cost is modelled (≈): the file reports no {missing}."));
        }
    }
    let are_known = sessions.iter().all(|s| s.cost.total().is_some());
    if are_known && has_different_sources(sessions) {
        notes.push("Recorded and modelled costs are not comparable.".to_owned());
    }
    notes
}

/// Returns why the cost of a session is unknown.
fn why_unknown(session: &SessionFigures, advice: &str) -> String {
    match session.unpriced_model.as_deref() {
        None => "no call was billed.".to_owned(),
        Some("") => format!("the file names no model. {advice}"),
        Some(model) => format!("no price is known for {model}. {advice}"),
    }
}
