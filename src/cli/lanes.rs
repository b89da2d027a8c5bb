//! Options that select the policies of a command: `--policy`, `--set` and `--output-reserve`.

use super::args::{GlobalOptions, first_given};
use super::output::{note, tokens};
use super::settings::{Set, set, setting_names, value_of};
use crate::analysis::{Clause, WorkingPreset};
use crate::engine::{Case, Hook, Knob, KnobRole, KnobValues, Outcome, Policy, Stage};
use crate::exec::{OwnPresets, load_policy};
use crate::names::{nearest, unknown};
use crate::presets::{self, PRESETS};
use crate::units::Tokens;
use anyhow::{Context as _, bail};
use std::path::Path;

/// Lanes that are always shown: the recorded run, and the run without any compaction.
pub(super) const ALWAYS: [&str; 2] = ["recorded", "none"];

/// Strategies that are compared if no policy is given.
const STRATEGIES: [&str; 3] = ["truncate", "prune", "summarize"];

/// Name of the setting that selects a lane's preset.
const STRATEGY: &str = "strategy";

/// A policy with its settings.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The policy as typed: the name of a preset, or a file.
    pub word: String,
    /// Name of the lane (default: the policy's name).
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// Values of the policy's settings.
    pub knobs: KnobValues,
}

/// Options that select policies and their settings.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Policies")]
pub(super) struct LaneArgs {
    /// Preset or policy file; @LANE names its lane (repeatable)
    #[arg(long = "policy", value_name = "NAME|FILE.toml[@LANE]")]
    policies: Vec<String>,
    /// Set a setting; strategy=NAME selects a preset (repeatable)
    #[arg(long = "set", value_name = "[LANE.]SETTING=VALUE", value_parser = set)]
    sets: Vec<Set>,
    /// The policy is an argument of its own, so no setting selects another one.
    #[arg(skip)]
    is_fixed: bool,
}

impl Lane {
    /// Returns the tokens reserved for the answer.
    pub(super) fn output_reserve(&self, case: &Case) -> Tokens {
        self.policy.output_reserve(&self.knobs, case, 0)
    }

    /// Returns the tokens reserved for the answer. If they leave nothing of the window, fails for a reserve that was given,
    /// and prints a note for a default one.
    pub(super) fn checked_reserve(
        &self,
        case: &Case,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Tokens> {
        let (reserve, window) = (self.output_reserve(case), case.windows.largest());
        if reserve >= window {
            let text = format!(
                "an output reserve of {} leaves no usable tokens in a context window of {}",
                tokens(reserve),
                tokens(window)
            );
            if shared.output_reserve.is_some() {
                bail!("{text}; give a smaller --output-reserve or a larger --window");
            }
            note(&format!("{text}: every call reaches into the reserve; set --output-reserve"));
        }
        Ok(reserve)
    }
}

impl LaneArgs {
    /// Returns the name of the first option that was given.
    pub(super) fn first(&self) -> Option<&'static str> {
        first_given([("--policy", !self.policies.is_empty()), ("--set", !self.sets.is_empty())])
    }

    /// Returns true if no policy and no setting is given.
    pub(super) fn are_default(&self) -> bool {
        self.first().is_none()
    }

    /// Returns a policy that is an argument of its own, with the settings of `--set`.
    pub(super) fn of(policy: &str, sets: Vec<Set>) -> Self {
        Self { policies: vec![policy.to_owned()], sets, is_fixed: true }
    }

    /// Returns the lanes to compare (default: the three generic presets). `recorded` and `none` may be given, but are
    /// always compared.
    pub(super) fn lanes(&self, shared: &GlobalOptions) -> anyhow::Result<Vec<Lane>> {
        let named = self.policies.iter().map(String::as_str).filter(|name| !ALWAYS.contains(name));
        if self.policies.is_empty() {
            self.build(STRATEGIES.into_iter(), shared)
        } else {
            self.build(named, shared)
        }
    }

    /// Returns the lanes that are given for the window. `none` may be one of them; `recorded` is always shown. Without a
    /// policy or a setting there are none: the window shows the lanes of the kept workspace, or its default ones.
    pub(super) fn of_window(&self, shared: &GlobalOptions) -> anyhow::Result<Vec<Lane>> {
        if self.are_default() {
            return Ok(Vec::new());
        }
        let named: Vec<_> =
            self.policies.iter().map(String::as_str).filter(|name| *name != ALWAYS[0]).collect();
        if named.is_empty() {
            self.build(STRATEGIES.into_iter(), shared)
        } else {
            self.build(named.into_iter(), shared)
        }
    }

    /// Returns the lanes of a command that requires a policy, without the recorded run.
    pub(super) fn required(&self, verb: &str, shared: &GlobalOptions) -> anyhow::Result<Vec<Lane>> {
        if self.policies.is_empty() {
            bail!(
                "{verb} needs --policy NAME; choose from recorded, {}",
                known_policies().join(", ")
            );
        }
        let names = self.policies.iter().map(String::as_str);
        self.build(names.filter(|name| *name != ALWAYS[0]), shared)
    }

    /// Returns true if the recorded run is given as a policy.
    pub(super) fn has_recorded(&self) -> bool {
        self.policies.iter().any(|name| name == ALWAYS[0])
    }

    /// Returns the single policy of a command that compacts.
    pub(super) fn one(&self, verb: &str, shared: &GlobalOptions) -> anyhow::Result<Lane> {
        let lane = self.one_or_none(verb, shared)?;
        if lane.policy.stages.is_empty() && !shared.manual_edits.has_edits() {
            let or = if self.is_fixed { "" } else { ", or messages with --clear or --drop" };
            bail!("{} never removes anything; choose another policy{or}", self.policies[0]);
        }
        Ok(lane)
    }

    /// Returns the single policy of a command that also writes a conversation from which nothing is removed.
    pub(super) fn one_or_none(&self, verb: &str, shared: &GlobalOptions) -> anyhow::Result<Lane> {
        let mut lanes = match self.policies.len() {
            1 => self.build(self.policies.iter().map(String::as_str), shared)?,
            0 => bail!("{verb} needs --policy NAME; choose from {}", known_policies().join(", ")),
            n => bail!("{verb} takes one --policy, not {n}"),
        };
        lanes.pop().ok_or_else(|| anyhow::anyhow!("{verb} needs --policy NAME"))
    }

    /// Returns the single lane of a command that only reads; `None` is the recorded run, the default.
    pub(super) fn at_most_one(
        &self,
        verb: &str,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Option<Lane>> {
        let named = self.policies.iter().map(String::as_str);
        if named.len() > 1 {
            bail!("{verb} takes one --policy, not {}", named.len());
        }
        let mut lanes = self.build(named.filter(|name| *name != ALWAYS[0]), shared)?;
        Ok(lanes.pop())
    }

    fn build<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Vec<Lane>> {
        let mut lanes = names.map(lane).collect::<anyhow::Result<Vec<_>>>()?;
        refuse_same_names(&lanes)?;
        // The preset is selected first, because it defines which settings exist.
        let sets = self.sets.iter();
        let selects = |set: &&Set| set.name == STRATEGY && !self.is_fixed;
        let (strategies, others): (Vec<_>, Vec<_>) = sets.partition(selects);
        for set in strategies {
            switch(&mut lanes, set)?;
        }
        for set in others {
            apply(&mut lanes, set, self.is_fixed)?;
        }
        lanes.iter_mut().try_for_each(|lane| reserve(lane, shared))?;
        Ok(lanes)
    }
}

/// Returns the lane without any compaction.
pub(super) fn none(shared: &GlobalOptions) -> anyhow::Result<Lane> {
    let mut none = lane("none")?;
    reserve(&mut none, shared)?;
    Ok(none)
}

/// Returns the sentence about the preset to compare if no compared policy works. `none` names the policies.
pub(super) fn working_preset<'a>(
    case: &Case,
    none: &str,
    compared: impl IntoIterator<Item = &'a Outcome>,
    shared: &GlobalOptions,
) -> Vec<Clause> {
    let values = |policy: &Policy| {
        let mut values = policy.defaults();
        let knob = policy.knob_for(KnobRole::OutputReserve);
        if let (Some(tokens), Some(knob)) = (shared.output_reserve, knob) {
            // A reserve that a preset does not accept leaves its default.
            let _ = policy.set(&mut values, &knob.name, tokens.as_f64());
        }
        values
    };
    let found = WorkingPreset::find(case, compared, values);
    let clauses = |preset: WorkingPreset| {
        let action = format!("compare it with `plimsoll replay --policy {}`", preset.name);
        preset.clauses(none, &action).to_vec()
    };
    found.map(clauses).unwrap_or_default()
}

/// Prints a note for `--restart` and for `--error` if no lane responds to it.
pub(super) fn note_without_effect(case: &Case, lanes: &[Lane]) {
    let has = |is_one: fn(&Stage) -> bool| lanes.iter().any(|l| l.policy.stages.iter().any(is_one));
    if !case.restarts.is_empty() && !has(|stage| stage.at == Hook::Resume) {
        note("--restart has no effect: no policy here acts after a restart");
    }
    let reads_error =
        |stage: &Stage| stage.at == Hook::OverflowError && stage.action.reads_errors();
    if !case.errors.is_empty() && !has(reads_error) {
        note(
            "--error has no effect: no policy here reads provider errors, as some presets of real systems do",
        );
    }
}

fn lane(named: &str) -> anyhow::Result<Lane> {
    let names_file =
        |name: &str| Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let (word, name) = match named.rsplit_once('@') {
        Some((policy, lane)) if !lane.is_empty() && !names_file(named) => (policy, Some(lane)),
        _ => (named, None),
    };
    let policy = if names_file(word) {
        load_policy(Path::new(word))?
    } else if let Some(policy) = presets::by_name(word) {
        policy
    } else if let Some(file) = OwnPresets::here().file(word) {
        load_policy(&file)?
    } else {
        let known = known_policies();
        let problem = unknown("no preset is named", word, &known);
        match nearest(word, &known) {
            Some(_) => bail!("{problem}"),
            None => bail!("{problem}, or give a FILE.toml"),
        }
    };
    let lane = name.map_or_else(|| policy.name.clone(), str::to_owned);
    if lane != named && ALWAYS.contains(&lane.as_str()) {
        bail!(
            "the lane {lane} always exists; give this one another name, as in --policy {word}@other"
        );
    }
    Ok(Lane { word: word.to_owned(), name: lane, knobs: policy.defaults(), policy })
}

/// Returns the names of all presets except those of lanes that are always shown.
fn known_policies() -> Vec<String> {
    let mut known = known_presets();
    known.retain(|name| !ALWAYS.contains(&&**name));
    known
}

/// Returns the names of the bundled presets and of the user's own.
pub(super) fn known_presets() -> Vec<String> {
    let bundled = PRESETS.iter().map(|p| p.name.to_owned());
    let own = OwnPresets::here().all();
    let own = own.iter().filter_map(|own| own.name().map(str::to_owned));
    bundled.chain(own).collect()
}

fn refuse_same_names(lanes: &[Lane]) -> anyhow::Result<()> {
    for (idx, lane) in lanes.iter().enumerate() {
        if lanes[..idx].iter().any(|other| other.name == lane.name) {
            bail!("two lanes are named {0}; rename one, as in --policy {0}@other", lane.name);
        }
    }
    Ok(())
}

/// Selects the presets of lanes. A policy that has a setting of this name treats the value as its own.
fn switch(lanes: &mut [Lane], set: &Set) -> anyhow::Result<()> {
    set.check_lane(lanes.iter().map(|lane| &*lane.name))?;
    for old in lanes.iter_mut().filter(|lane| set.is_of(&lane.name)) {
        let own = old.policy.knob(&set.name);
        if let Some(value) = own.and_then(|knob| value_of("--set", knob, &set.value).ok()) {
            old.policy.set(&mut old.knobs, &set.name, value)?;
            continue;
        }
        let new = lane(&set.value).with_context(|| format!("--set {STRATEGY}={}", set.value))?;
        // Keeps a name that was typed for the lane.
        let is_typed = old.name != old.policy.name;
        old.name = if is_typed { old.name.clone() } else { new.name };
        (old.word, old.policy, old.knobs) = (new.word, new.policy, new.knobs);
    }
    if set.lane.is_none() && refuse_same_names(lanes).is_err() {
        bail!(
            "--set {STRATEGY}={0} makes several lanes the same; name one, as in --set LANE.{STRATEGY}={0}",
            set.value
        );
    }
    refuse_same_names(lanes)
}

fn apply(lanes: &mut [Lane], set: &Set, is_fixed: bool) -> anyhow::Result<()> {
    set.check_lane(lanes.iter().map(|lane| &*lane.name))?;
    let is_meant = |lane: &Lane| set.is_of(&lane.name);
    let mut is_known = false;
    for lane in lanes.iter_mut().filter(|lane| is_meant(lane)) {
        // A setting may also be named as the system's own configuration names it.
        let is_key = |knob: &&Knob| knob.key.as_deref() == Some(&*set.name);
        let by_key = || lane.policy.knobs.iter().find(is_key);
        if let Some(knob) = lane.policy.knob(&set.name).or_else(by_key) {
            let is_named = knob.name == set.name;
            let given = value_of("--set", knob, &set.value)?;
            let value = if is_named { given } else { given / knob.scale };
            let name = knob.name.clone();
            lane.policy.set(&mut lane.knobs, &name, value)?;
            is_known = true;
        }
    }
    if !is_known {
        let meant = lanes.iter().filter(|lane| is_meant(lane));
        let mut known = setting_names(meant.map(|lane| &lane.policy));
        known.extend((!is_fixed).then(|| STRATEGY.to_owned()));
        bail!("{}", unknown("no policy here has a setting named", &set.name, &known));
    }
    Ok(())
}

fn reserve(lane: &mut Lane, shared: &GlobalOptions) -> anyhow::Result<()> {
    let knob = lane.policy.knob_for(KnobRole::OutputReserve).map(|k| k.name.clone());
    if let (Some(tokens), Some(knob)) = (shared.output_reserve, knob) {
        lane.policy.set(&mut lane.knobs, &knob, tokens.as_f64())?;
    }
    Ok(())
}
