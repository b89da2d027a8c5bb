//! Another policy where no setting of those that were tried works.

use super::gauge::Gauge;
use super::recommend::{Taste, recommend, sentence};
use super::space::Subject;
use super::sweep::{plan, sweep};
use crate::engine::{Policy, simulate};
use crate::progress::Progress;
use std::sync::Arc;

/// A policy that works at its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its name.
    pub policy: String,
    /// Its name for people.
    pub label: String,
    /// What it comes to, in a sentence or two.
    pub text: String,
}

/// The best of these policies at their defaults; none where none of them works, and where `progress` says to stop.
pub fn alternative(
    gauge: &Gauge<'_>,
    policies: &[Arc<Policy>],
    taste: Taste,
    progress: &Progress,
) -> Option<Alternative> {
    // What manages nothing is no way out.
    let acting = policies.iter().filter(|policy| !policy.stages.is_empty());
    let subjects: Vec<Subject> = acting
        .map(|policy| Subject {
            lane: policy.label.clone(),
            policy: (**policy).clone(),
            now: policy.defaults(),
            axes: Vec::new(),
        })
        .collect();
    let tried = plan(&subjects, subjects.len());
    let tried = sweep(gauge, &subjects, tried, progress, &|_, _| ()).ok()?;
    let best = &tried[recommend(&subjects, &tried, taste).ok()?.point];
    let Subject { policy, now, .. } = &subjects[best.subject];
    let mut text = sentence(&subjects, std::slice::from_ref(best), 0);
    let outcome = simulate(gauge.case, policy, now, None);
    if outcome.events.iter().any(|event| !event.files.is_empty()) {
        text.push_str(" It puts large tool results into files.");
    }
    Some(Alternative {
        policy: policy.name.clone(),
        label: policy.label.clone(),
        text,
    })
}
