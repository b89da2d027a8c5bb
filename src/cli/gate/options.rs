//! The options of `plimsoll gate`: limits, and where the baseline is.

use crate::analysis::tune::{Limit, Limits};
use crate::cli::args::{Words, number};
use crate::cli::billing::BillingArgs;
use crate::cli::lanes::LaneArgs;
use crate::units::Share;
use anyhow::bail;
use std::path::PathBuf;

/// As typed.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) lanes: LaneArgs,
    pub(super) billing: BillingArgs,
    pub(super) limits: Limits,
    pub(super) baseline: Option<PathBuf>,
    /// Write it rather than compare.
    pub(super) writes: bool,
    pub(super) junit: Option<PathBuf>,
}

impl Wanted {
    /// Takes an option if it is one of these.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        let limits = &mut self.limits;
        match option {
            "--baseline" => self.baseline = Some(words.raw_value(option)?.into()),
            "--write-baseline" => self.writes = true,
            "--junit" => self.junit = Some(words.raw_value(option)?.into()),
            "--max-peak" => limits.peak = Some(share(option, &words.value(option)?)?),
            "--max-cost" => limits.cost = Some(limit(option, &words.value(option)?)?),
            "--max-at-risk" => limits.at_risk = Some(limit(option, &words.value(option)?)?),
            "--max-overflows" => limits.overflows = Some(whole(option, &words.value(option)?)?),
            "--tolerance" => limits.tolerance = percent(option, &words.value(option)?)?,
            "--no-thrash" => limits.no_thrash = true,
            _ => return Ok(self.lanes.take(option, words)? || self.billing.take(option, words)?),
        }
        Ok(true)
    }

    /// What is asked for makes sense together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.writes && self.baseline.is_none() {
            bail!("--write-baseline needs --baseline FILE to write to");
        }
        if self.limits.need_before() && (self.baseline.is_none() || self.writes) {
            bail!(
                "a limit such as +10% is above a baseline; give one with --baseline FILE, or a limit without +"
            );
        }
        if self.baseline.is_none() && !self.limits.are_any() {
            bail!(
                "nothing to check: give --baseline FILE, or limits such as --max-peak 0.9 --max-overflows 0"
            );
        }
        Ok(())
    }
}

/// `0.9`, `90%`.
fn share(option: &str, text: &str) -> anyhow::Result<Share> {
    let parsed = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|n| n / 100.0),
        None => number(text),
    };
    match parsed {
        Some(n) if n > 0.0 && n <= 10.0 => Ok(Share(n)),
        _ => bail!("{option} {text}: give a share of usable such as 0.9 or 90%"),
    }
}

/// `5`: at most; `+10`, `+10%`: above the baseline.
fn limit(option: &str, text: &str) -> anyhow::Result<Limit> {
    if let Some(above) = text.trim().strip_prefix('+') {
        return percent(option, above).map(Limit::Above);
    }
    match number(text.trim().trim_start_matches('$')) {
        Some(n) if n >= 0.0 => Ok(Limit::AtMost(n)),
        _ => bail!("{option} {text}: give a number, or +10% for so much above the baseline"),
    }
}

/// `2`, `2%`.
fn percent(option: &str, text: &str) -> anyhow::Result<Share> {
    match number(text.trim().trim_end_matches('%')) {
        Some(n) if n >= 0.0 => Ok(Share(n / 100.0)),
        _ => bail!("{option} {text}: give percent such as 2 or 2%"),
    }
}

fn whole(option: &str, text: &str) -> anyhow::Result<usize> {
    match number(text) {
        Some(n) if n >= 0.0 && n.fract() == 0.0 && n < 1e9 => Ok(n as usize),
        _ => bail!("{option} {text}: give a whole number from 0"),
    }
}
