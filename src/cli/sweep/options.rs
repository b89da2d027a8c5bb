//! Options of `plimsoll sweep`: the values to try and their number.

use crate::analysis::tune::{Axis, Scale, SweepSubject, Values};
use crate::cli::args::{GlobalOptions, number, share_number};
use crate::cli::billing::BillingArgs;
use crate::cli::lanes::{Lane, LaneArgs};
use crate::cli::settings::{assignment, setting_names, value_of};
use crate::engine::{Knob, Policy};
use crate::names::unknown;
use anyhow::bail;

/// Default number of settings. 1,000 settings of simple policies take 0.9 s for 10,000 messages
/// (`docs/performance.md`), but replays of real systems take 30 to 60 times as long. Measured on seven sessions with
/// truncate, prune and summarize: the cheapest of 150 settings costs up to 3 % more than that of 300, the cheapest of
/// 600 up to 4 % less, and of 1,200 up to 5 % less.
const DEFAULT_POINTS: usize = 300;
/// Maximum number of settings. Their results are kept in memory, and a larger number is usually a typing error.
const MAX_POINTS: usize = 100_000;

/// Options of the sweep.
#[derive(Debug, clap::Args)]
pub(super) struct SweepOptions {
    /// Values to try: A,B,C, MIN..MAX, or MIN..MAX:STEP|log|linear (repeatable) [default: triggers and what bounds the kept content]
    #[arg(long = "vary", value_name = "[LANE.]SETTING=VALUES", value_parser = vary)]
    varied: Vec<Vary>,
    /// Number of settings to try [default: 300, or all if every --vary lists its values]
    #[arg(long, value_name = "N", value_parser = points)]
    points: Option<usize>,
    /// List every setting
    #[arg(long)]
    pub(super) all: bool,
    /// Print one line per session and setting
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    pub(super) billing: BillingArgs,
}

/// The policies to sweep.
pub(super) struct Policies {
    pub(super) subjects: Vec<SweepSubject>,
    /// The policies as `--policy` names them.
    pub(super) words: Vec<String>,
}

/// `[LANE.]SETTING=VALUES` as typed.
#[derive(Clone, Debug)]
struct Vary {
    lane: Option<String>,
    setting: String,
    values: String,
    is_known: bool,
}

impl SweepOptions {
    /// Returns the number of settings to try.
    pub(super) fn points(&self, subjects: &[SweepSubject]) -> usize {
        let is_listed = |axis: &Axis| matches!(axis.values, Values::Listed(_));
        let all_listed = subjects.iter().flat_map(|s| &s.axes).all(is_listed);
        let largest = subjects.iter().map(SweepSubject::n_settings).max().unwrap_or(0);
        // The current settings may add one.
        let all = usize::try_from(largest.saturating_add(1)).unwrap_or(MAX_POINTS);
        match self.points {
            Some(points) => points,
            None if all_listed => all.saturating_mul(subjects.len()).min(MAX_POINTS),
            None => DEFAULT_POINTS,
        }
    }

    /// Returns the policies with the settings to vary.
    pub(super) fn policies(&mut self, shared: &GlobalOptions) -> anyhow::Result<Policies> {
        let (mut subjects, mut words) = (Vec::new(), Vec::new());
        for Lane { word, name, policy, knobs } in self.lanes.lanes(shared)? {
            words.push(if name == policy.name { word } else { format!("{word}@{name}") });
            let mut axes = Vec::new();
            for vary in &mut self.varied {
                let is_meant = vary.lane.as_ref().is_none_or(|lane| *lane == name);
                if let Some(knob) = policy.knob(&vary.setting).filter(|_| is_meant) {
                    vary.is_known = true;
                    axes.retain(|axis: &Axis| axis.knob != vary.setting);
                    axes.push(axis(&policy, knob, &vary.values)?);
                }
            }
            if self.varied.is_empty() {
                axes = Axis::usual(&policy);
            }
            subjects.push(SweepSubject { lane: name, policy, now: knobs, axes });
        }
        if let Some(vary) = self.varied.iter().find(|vary| !vary.is_known) {
            bail!("{}", unknown_setting(vary, &subjects));
        }
        match &subjects[..] {
            [] => bail!("none and recorded have no setting to vary; choose another --policy"),
            [one] if one.axes.is_empty() => bail!("{}", nothing_to_vary(one)),
            _ => Ok(Policies { subjects, words }),
        }
    }
}

fn nothing_to_vary(subject: &SweepSubject) -> String {
    let (lane, policy) = (&subject.lane, &subject.policy);
    match policy.knobs.iter().find(|knob| !knob.is_offered) {
        Some(knob) => format!(
            "{lane} offers its users no setting to vary; choose another --policy, or vary a constant of its code with --vary {}=VALUES",
            knob.name
        ),
        None => format!("{lane} has no setting to vary; choose another --policy"),
    }
}

fn unknown_setting(vary: &Vary, subjects: &[SweepSubject]) -> String {
    let is_meant =
        |subject: &&SweepSubject| vary.lane.as_ref().is_none_or(|lane| *lane == subject.lane);
    let meant = subjects.iter().filter(is_meant);
    let known = setting_names(meant.map(|subject| &subject.policy));
    if known.is_empty() {
        let lanes: Vec<String> = subjects.iter().map(|s| s.lane.clone()).collect();
        let lane = vary.lane.as_deref().unwrap_or_default();
        return unknown("no lane is named", lane, &lanes);
    }
    unknown("no policy here has a setting named", &vary.setting, &known)
}

/// Parses a setting with the values to try.
fn vary(text: &str) -> anyhow::Result<Vary> {
    let (lane, setting, values) = assignment(text).ok_or_else(|| {
        anyhow::anyhow!("give SETTING=MIN..MAX such as keep_recent=5..80, or SETTING=A,B,C")
    })?;
    Ok(Vary { lane, setting, values, is_known: false })
}

/// Parses `A,B,C`, `MIN..MAX`, `MIN..MAX:STEP`, `MIN..MAX:log` or `MIN..MAX:linear`.
fn axis(policy: &Policy, knob: &Knob, values: &str) -> anyhow::Result<Axis> {
    let name = &knob.name;
    let value = |text: &str| value_of("--vary", knob, text.trim());
    let Some((low, rest)) = values.split_once("..") else {
        let listed = values.split(',').map(value).collect::<anyhow::Result<Vec<_>>>()?;
        return Ok(Axis::listed(policy, name, &listed)?);
    };
    let (high, how) = rest.split_once(':').unzip();
    let ends = (value(low)?, value(high.unwrap_or(rest))?);
    if ends.0 > ends.1 {
        bail!(
            "--vary {name}={values}: the range is descending; put the smaller value first, as in {name}={}..{}",
            ends.1,
            ends.0
        );
    }
    let scale = match how {
        None => None,
        Some("log") => Some(Scale::Log),
        Some("linear") => Some(Scale::Linear),
        Some(step) => return stepped(policy, name, ends, step),
    };
    Ok(Axis::between(policy, name, ends, scale)?)
}

fn stepped(
    policy: &Policy,
    knob: &str,
    (low, high): (f64, f64),
    step: &str,
) -> anyhow::Result<Axis> {
    let n = share_number(step).filter(|step| *step > 0.0).map(|step| (step, (high - low) / step));
    let Some((step, n)) = n.filter(|(_, n)| (0.0..MAX_POINTS as f64).contains(n)) else {
        bail!(
            "--vary {knob}={low}..{high}:{step}: after the colon give a step above 0, log or linear"
        );
    };
    // Rounds off errors of adding steps such as 0.05.
    let nth = |nth: u32| ((low + f64::from(nth) * step) * 1e6).round() / 1e6;
    let values: Vec<f64> = (0..=(n + 1e-9) as u32).map(nth).collect();
    Ok(Axis::listed(policy, knob, &values)?)
}

fn points(text: &str) -> anyhow::Result<usize> {
    match number(text).filter(|n| n.fract() == 0.0 && (1.0..=MAX_POINTS as f64).contains(n)) {
        Some(n) => Ok(n as usize),
        None => bail!("give a whole number from 1 to {MAX_POINTS}"),
    }
}
