//! Another policy, if no setting that was tried works.

use super::gauge::Gauge;
use super::recommend::recommend;
use super::recommendation_text::sentence;
use super::space::SweepSubject;
use super::sweep::{plan, sweep};
use crate::engine::Policy;
use crate::progress::Progress;
use std::sync::Arc;

/// A policy that works at its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its name.
    pub policy: String,
    /// Its label.
    pub label: String,
    /// Its score, in one or two sentences.
    pub text: String,
}

/// Returns the best of these policies with their defaults; none if none works or `progress` is cancelled.
pub fn alternative(
    gauge: &Gauge<'_>,
    policies: &[Arc<Policy>],
    progress: &Progress,
) -> Option<Alternative> {
    // A policy without stages is no alternative.
    let acting = policies.iter().filter(|policy| !policy.stages.is_empty());
    let subjects: Vec<SweepSubject> = acting
        .map(|policy| SweepSubject {
            lane: policy.label.clone(),
            policy: (**policy).clone(),
            now: policy.defaults(),
            axes: Vec::new(),
        })
        .collect();
    let tried = plan(&subjects, subjects.len());
    let tried = sweep(gauge, &subjects, tried, progress, &|_, _| ()).ok()?;
    let best = &tried[recommend(&subjects, &tried, gauge.recorded()).ok()?.point];
    let policy = &subjects[best.subject].policy;
    Some(Alternative {
        policy: policy.name.clone(),
        label: policy.label.clone(),
        text: sentence(&subjects, std::slice::from_ref(best), 0, gauge.recorded()),
    })
}
