//! Where a lane's policy acts: in its own count, and in what is really sent by then.

use crate::app::knobs;
use crate::app::runs::LaneRun;
use crate::engine::{Budget, Expr, Knob, KnobRole, Outcome, Policy};
use crate::units::Tokens;

/// Where a policy acts, as seen from one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerMark {
    /// Tokens on its own count.
    pub counted: Tokens,
    /// What is really sent when it counts that, going by the call that it counted most alike.
    pub really: Tokens,
}

/// How a policy's own count leads to what it believes, at calls with one window: a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnScale {
    slope: f64,
    offset: f64,
}

/// A belief that is further from the line than this does not follow from the count alone.
const STRAIGHT: f64 = 0.002;

impl OwnScale {
    /// The scale at a call; none where the policy says nothing, or where its count does not decide alone.
    pub fn at(outcome: &Outcome, step: usize) -> Option<Self> {
        let here = outcome.samples.get(step)?;
        here.believed?;
        let alike = || outcome.samples.iter().filter(|s| s.window == here.window);
        let least = alike().min_by_key(|s| s.metered)?;
        let most = alike().max_by_key(|s| s.metered)?;
        let span = most.metered.as_f64() - least.metered.as_f64();
        let rise = most.believed?.0 - least.believed?.0;
        if span < 1.0 || rise <= 0.0 {
            return None;
        }
        let slope = rise / span;
        let offset = least.believed?.0 - slope * least.metered.as_f64();
        let scale = Self { slope, offset };
        let off = scale.believed(here.metered) - here.believed?.0;
        (off.abs() < STRAIGHT).then_some(scale)
    }

    /// What it believes at a count.
    pub fn believed(&self, counted: Tokens) -> f64 {
        self.slope * counted.as_f64() + self.offset
    }

    /// The count at which it believes this.
    pub fn counted(&self, believed: f64) -> Tokens {
        Tokens(((believed - self.offset) / self.slope).max(0.0).round() as u64)
    }
}

impl LaneRun {
    /// Where the policy acts, where that is known.
    pub fn trigger(&self, step: usize, budget: Budget) -> Option<TriggerMark> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = self.knobs.get(&knob.name)?;
        let counted = match self.yardstick(knob, step, budget)? {
            Yardstick::Tokens(one) => Tokens((value * one).round() as u64),
            Yardstick::Belief(scale) => scale.counted(value),
            Yardstick::Limit(scale) => scale.counted(1.0),
        };
        let samples = self.outcome.samples.iter();
        let alike = samples.min_by_key(|s| s.metered.0.abs_diff(counted.0));
        let alike = alike.filter(|_| self.counts_otherwise);
        let really = alike.map_or(counted, |s| s.tokens + counted - s.metered);
        Some(TriggerMark { counted, really })
    }

    /// The trigger's value that makes the policy act at a count: the way back of [`Self::trigger`].
    pub fn trigger_value(&self, counted: Tokens, step: usize, budget: Budget) -> Option<f64> {
        let knob = self.policy.knob_for(KnobRole::CompressionTrigger)?;
        let value = match self.yardstick(knob, step, budget)? {
            Yardstick::Tokens(one) => counted.as_f64() / one.max(1.0),
            Yardstick::Belief(scale) => scale.believed(counted),
            // The limit moves with the value; by how much shows as it is moved.
            Yardstick::Limit(scale) => {
                let now = scale.counted(1.0).as_f64().max(1.0);
                self.knobs.get(&knob.name)? * counted.as_f64() / now
            }
        };
        Some(knobs::snapped(knob, value))
    }

    /// What the trigger's value is held against. What the policy believes decides where it says so, since its limit
    /// need not be ours.
    fn yardstick(&self, knob: &Knob, step: usize, budget: Budget) -> Option<Yardstick> {
        let by_unit = || {
            let one = knobs::trigger_unit(&self.policy, &self.knobs, knob, budget);
            one.map(Yardstick::Tokens)
        };
        let Some(believes) = &self.policy.believes else {
            return by_unit();
        };
        if hangs_on(&self.policy, believes, &knob.name) {
            return OwnScale::at(&self.outcome, step).map(Yardstick::Limit);
        }
        match knob.unit.as_str() {
            "share of usable" => OwnScale::at(&self.outcome, step).map(Yardstick::Belief),
            // Its window need not be the true one.
            "share of window" => None,
            _ => by_unit(),
        }
    }
}

/// What a trigger's value is held against.
enum Yardstick {
    /// So many tokens for a value of 1.
    Tokens(f64),
    /// Its own belief, which reaches the value.
    Belief(OwnScale),
    /// Its own belief, which reaches 1 where the value has it act.
    Limit(OwnScale),
}

/// Whether an expression of a policy needs a knob, by itself or by what it names.
fn hangs_on(policy: &Policy, expr: &Expr, knob: &str) -> bool {
    let mut sought: Vec<String> = expr.terms();
    let mut seen = 0;
    while let Some(name) = sought.get(seen).cloned() {
        if name == knob {
            return true;
        }
        if let Some((_, expr)) = policy.lets.iter().find(|(let_name, _)| *let_name == name) {
            let new = expr.terms().into_iter();
            let new: Vec<_> = new.filter(|name| !sought.contains(name)).collect();
            sought.extend(new);
        }
        seen += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Sample;
    use crate::units::Share;

    fn outcome(beliefs: &[(u64, f64)]) -> Outcome {
        let sample = |(step, (metered, believed)): (usize, &(u64, f64))| Sample {
            step,
            turn: 1,
            window: Tokens(200_000),
            metered: Tokens(*metered),
            tokens: Tokens(metered * 2),
            pressure: Share(0.0),
            believed: Some(Share(*believed)),
            overflows: false,
            rejected: Tokens::ZERO,
            unchanged: Tokens::ZERO,
            by_kind: [0; crate::session::Kind::ALL.len()],
        };
        Outcome {
            samples: beliefs.iter().enumerate().map(sample).collect(),
            ..Outcome::default()
        }
    }

    #[test]
    fn the_count_at_which_it_acts_is_told_by_what_it_believed() {
        // (used + 20 000) / 200 000
        let outcome = outcome(&[(20_000, 0.2), (60_000, 0.4), (100_000, 0.6)]);
        let scale = OwnScale::at(&outcome, 1).expect("it is straight");
        assert_eq!(scale.counted(0.95), Tokens(170_000));
        assert!((scale.believed(Tokens(170_000)) - 0.95).abs() < 1e-9);
    }

    #[test]
    fn a_belief_that_hangs_on_something_else_has_no_scale() {
        let outcome = outcome(&[(20_000, 0.2), (60_000, 0.9), (100_000, 0.6)]);
        assert_eq!(OwnScale::at(&outcome, 1), None);
        assert_eq!(OwnScale::at(&Outcome::default(), 0), None);
    }

    #[test]
    fn a_belief_hangs_on_a_knob_that_its_named_expressions_need() {
        let toml = r#"
            name = "own"
            label = "Own"
            help = ""
            [meter]
            count = "true"
            believes = "used / line"
            [knobs.at]
            value = 0.5
            range = [0, 1]
            step = 0.1
            unit = "share of window"
            help = ""
            [knobs.other]
            value = 1
            range = [0, 2]
            step = 1
            unit = "tokens"
            help = ""
            [let]
            limit = "window * at"
            line = "limit - output_reserve"
        "#;
        let policy = crate::presets::parse(toml).expect("it is a policy");
        let believes = policy.believes.as_ref().expect("it says so");
        assert!(hangs_on(&policy, believes, "at"));
        assert!(!hangs_on(&policy, believes, "other"));
    }
}
