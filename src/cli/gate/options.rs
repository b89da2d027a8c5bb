//! Options of `plimsoll gate`: limits and the baseline.

use super::replay::GatedLanes;
use crate::analysis::facts::FactKind;
use crate::analysis::tune::{GateLimits, Limit, MinSurvival};
use crate::cli::args::{GlobalOptions, fact_kind, number, share_number};
use crate::cli::billing::BillingArgs;
use crate::cli::lanes::{self, Lane, LaneArgs};
use crate::exec::{OwnPresets, fingerprint, policy_text};
use crate::units::Share;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// Limits and the baseline.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub(super) struct GateOptions {
    /// Write the result as JUnit XML, replacing an earlier result
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    #[command(flatten)]
    lanes: LaneArgs,
    /// File with earlier results, which no lane may be worse than
    #[arg(long, value_name = "FILE", help_heading = "Limits")]
    pub(super) baseline: Option<PathBuf>,
    /// Write or overwrite the baseline instead of comparing with it
    #[arg(long, requires = "baseline", help_heading = "Limits")]
    pub(super) write_baseline: bool,
    /// Percent above the baseline that is no regression
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0", help_heading = "Limits")]
    tolerance: Share,
    /// Maximum peak as a share of the usable window: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Limits")]
    max_peak: Option<Share>,
    /// Maximum cost of a session; +10% is relative to the baseline
    #[arg(long, value_name = "USD", value_parser = limit, help_heading = "Limits")]
    max_cost: Option<Limit>,
    /// Maximum expected re-reads; +10% is relative to the baseline
    #[arg(long, value_name = "N", value_parser = limit, help_heading = "Limits")]
    max_rereads: Option<Limit>,
    /// Minimum survival: 90% (of constraints), file=90% (repeatable)
    #[arg(long, value_name = "[KIND=]SHARE", value_parser = min_survival, help_heading = "Limits")]
    min_survival: Vec<MinSurvival>,
    /// Minimum effect retained: 80%, and a log of `evaluate`
    #[arg(long, num_args = 2, value_names = ["SHARE", "LOG"], help_heading = "Limits")]
    min_retained: Vec<String>,
    /// Maximum number of calls that overflow
    #[arg(long, value_name = "N", value_parser = whole, help_heading = "Limits")]
    max_overflows: Option<usize>,
    /// Maximum number of calls that reach into the output reserve
    #[arg(long, value_name = "N", value_parser = whole, help_heading = "Limits")]
    max_into_reserve: Option<usize>,
    /// Fail if a policy thrashes, stays above its trigger or halts
    #[arg(long, help_heading = "Limits")]
    no_thrash: bool,
    /// Fail what cannot be judged, such as a cost without a price
    #[arg(long, help_heading = "Limits")]
    pub(super) strict: bool,
    /// Skip files that cannot be read instead of failing
    #[arg(long, hide = true, help_heading = "Limits")]
    pub(super) allow_damaged: bool,
    #[command(flatten)]
    pub(super) billing: BillingArgs,
}

impl GateOptions {
    /// Returns the lanes to check.
    pub(super) fn lanes(&self, shared: &GlobalOptions) -> anyhow::Result<GatedLanes> {
        let policies = self.lanes.required("gate", shared)?;
        let own = OwnPresets::here();
        let hash = |lane: &Lane| Ok(fingerprint(policy_text(&lane.word, &own)?.as_bytes()));
        let hashes = policies.iter().map(hash).collect::<anyhow::Result<_>>()?;
        let none = lanes::none(shared)?;
        Ok(GatedLanes { policies, hashes, recorded_as: self.lanes.has_recorded().then_some(none) })
    }

    /// Returns the limits.
    pub(super) fn limits(&self) -> GateLimits {
        GateLimits {
            peak: self.max_peak,
            cost: self.max_cost,
            rereads: self.max_rereads,
            survival: self.min_survival.clone(),
            overflows: self.max_overflows,
            into_reserve: self.max_into_reserve,
            no_thrash: self.no_thrash,
            tolerance: self.tolerance,
        }
    }

    /// Returns the minimum of the effect retained and the log that has it.
    pub(super) fn min_retained(&self) -> anyhow::Result<Option<(Share, &Path)>> {
        let [least, log] = &*self.min_retained else {
            return Ok(None);
        };
        match share(least) {
            Ok(share) if share.0 <= 1.0 => Ok(Some((share, Path::new(log)))),
            _ => bail!("--min-retained {least}: give a share such as 80%"),
        }
    }

    /// Checks that the options agree.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.limits().need_before() && (self.baseline.is_none() || self.write_baseline) {
            bail!(
                "a limit such as +10% is relative to a baseline: add --baseline FILE, or give a limit without +"
            );
        }
        let has_limits = self.limits().are_any() || !self.min_retained.is_empty();
        if self.baseline.is_none() && !has_limits {
            bail!(
                "nothing to check: give --baseline FILE, or limits such as --max-peak 0.9 --max-overflows 0"
            );
        }
        Ok(())
    }
}

/// Parses `0.9`, `TYPE=0.9` or `all=90%`.
fn min_survival(text: &str) -> anyhow::Result<MinSurvival> {
    let (kind, least) = match text.split_once('=') {
        Some(("all", least)) => (None, least),
        Some((kind, least)) => (Some(fact_kind(kind.trim())?), least),
        None => (Some(FactKind::Constraint), text),
    };
    match share(least) {
        Ok(share) if share.0 <= 1.0 => Ok(MinSurvival { kind, share }),
        _ => bail!("give a share such as 90%, or a kind of facts with it: file=90%, all=0.8"),
    }
}

/// Parses `0.9` or `90%`.
fn share(text: &str) -> anyhow::Result<Share> {
    match share_number(text) {
        Some(n) if n > 0.0 && n <= 10.0 => Ok(Share(n)),
        _ => bail!("give a share of the usable window such as 0.9 or 90%"),
    }
}

/// Parses `5` (at most) or `+10%` (relative to the baseline).
fn limit(text: &str) -> anyhow::Result<Limit> {
    if let Some(above) = text.trim().strip_prefix('+') {
        return percent(above).map(Limit::Above);
    }
    match number(text.trim().trim_start_matches('$')) {
        Some(n) if n >= 0.0 => Ok(Limit::AtMost(n)),
        _ => bail!("give a number, or +10% relative to the baseline"),
    }
}

/// Parses `2` or `2%`.
fn percent(text: &str) -> anyhow::Result<Share> {
    match number(text.trim().trim_end_matches('%')) {
        Some(n) if n >= 0.0 => Ok(Share(n / 100.0)),
        _ => bail!("give percent such as 2 or 2%"),
    }
}

fn whole(text: &str) -> anyhow::Result<usize> {
    match number(text) {
        Some(n) if n >= 0.0 && n.fract() == 0.0 && n < 1e9 => Ok(n as usize),
        _ => bail!("give a whole number from 0"),
    }
}
