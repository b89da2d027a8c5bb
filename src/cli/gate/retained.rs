//! Checks the effect retained that `plimsoll evaluate --tier 1` measured.

use crate::analysis::tune::{Check, check_retained};
use crate::cli::evaluate::evaluated;
use crate::cli::lanes::Lane;
use crate::exec::evaluate::{
    EvaluatedSession, EvaluationJob, EvaluationLog, EvaluationPlan, RECORDED, RunOptions, Tier, run,
};
use crate::units::Share;
use anyhow::{anyhow, bail};
use std::path::Path;

/// A check of a lane over all sessions.
pub(super) struct LaneCheck {
    pub(super) lane: String,
    pub(super) check: Check,
}

/// A log of an evaluation, with the required share.
pub(super) struct Retained {
    log: EvaluationLog,
    least: Share,
}

impl Retained {
    /// Opens the log.
    pub(super) fn open(log: &Path, least: Share) -> anyhow::Result<Self> {
        let log = EvaluationLog::open(log).map_err(|error| anyhow!(error))?;
        Ok(Self { log, least })
    }

    /// Repeats the evaluation from its log and checks each lane over all sessions.
    pub(super) fn checks(
        mut self,
        sessions: Vec<EvaluatedSession>,
        lanes: &[Lane],
    ) -> anyhow::Result<Vec<LaneCheck>> {
        let lanes = evaluated(lanes);
        let samples = lanes.iter().map(|lane| self.log.n_samples(&lane.name));
        let samples = samples.max().unwrap_or_default();
        if samples == 0 {
            bail!("--min-retained: the log has no answer for any of these policies");
        }
        let job = EvaluationJob::new(Tier::Probes, sessions, lanes, samples);
        let plan = EvaluationPlan::new(&job);
        let options = RunOptions {
            model: None,
            budget: None,
            concurrency: 1,
            on_progress: None,
            on_probes: None,
        };
        let result = run(&job, &plan, &mut self.log, options);
        let report = result.map_err(|error| anyhow!(error))?.report;
        if report.requests.not_sent > 0 {
            bail!(
                "--min-retained: the log has no answer to {} of these requests; evaluate the same sessions, policies and settings with --tier 1",
                report.requests.not_sent
            );
        }
        let lanes = report.probes.into_iter().flat_map(|probes| probes.lanes);
        let lanes = lanes.filter(|lane| lane.lane != RECORDED);
        let checks = lanes.map(|lane| LaneCheck {
            check: check_retained(self.least, &lane.retained),
            lane: lane.lane,
        });
        Ok(checks.collect())
    }
}
