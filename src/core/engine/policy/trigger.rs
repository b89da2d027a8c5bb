//! The threshold at which a policy acts, in its own count.

use super::{KnobRole, KnobValues, Policy};
use crate::engine::case::Case;
use crate::engine::expr::{Expr, Moment, Quantity};
use crate::engine::vocabulary::OwnMeasure;
use crate::units::Tokens;

/// The trigger of a policy at a call, in tokens of the policy's own count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnTrigger {
    /// The lowest count at which it acts.
    pub tokens: Tokens,
    /// Believed fill at that count; none if the meter alone decides.
    believed: Option<f64>,
}

impl OwnTrigger {
    /// Returns whether a count reaches the trigger.
    pub fn is_reached(self, measure: impl Into<OwnMeasure>) -> bool {
        let measure = measure.into();
        match self.believed.zip(measure.believed) {
            Some((limit, believed)) => believed.0 >= limit,
            None => self.believed.is_none() && measure.metered >= self.tokens,
        }
    }

    /// Returns the tokens to compare with the trigger.
    pub fn count(self, measure: impl Into<OwnMeasure>) -> Tokens {
        let measure = measure.into();
        match self.believed.zip(measure.believed) {
            Some((limit, believed)) => {
                Tokens((self.tokens.as_f64() * believed.0 / limit).max(0.0).round() as u64)
            }
            None => measure.metered,
        }
    }
}

/// Quantities that grow with the context.
const COUNTS: [Quantity; 5] = [
    Quantity::Used,
    Quantity::Sent,
    Quantity::LastInput,
    Quantity::LastTotal,
    Quantity::ReportedInput,
];

/// Maximum of all triggers, in tokens. It is far above any window, and small enough that the search by halves and
/// conversions to `f64` are exact.
const MAX_TRIGGER: u64 = 1 << 40;

/// Returns the count at which a fill reaches `limit`. Returns `None` if the fill is not a straight line that grows with
/// the count. The result includes content that the fill adds to the count (tool definitions).
///
/// The fill is an expression of a preset, so its form is not known. Two points give the line; five others, among them
/// the result, its half and its double, have to be on it.
fn count_at(limit: f64, mut fill: impl FnMut(f64) -> f64) -> Option<Tokens> {
    // Beyond most windows, so that rounding within the expression hardly changes the slope.
    const FAR: f64 = 1_000_000.0;
    let start = fill(0.0);
    let slope = (fill(FAR) - start) / FAR;
    let tokens = limit / slope;
    if slope.is_nan() || slope <= 0.0 || !(1.0..MAX_TRIGGER as f64).contains(&tokens) {
        return None;
    }
    let is_on_line = |count: f64| {
        let line = start + slope * count;
        (fill(count) - line).abs() <= 1e-9 * (1.0 + line.abs())
    };
    let mut probes = [FAR / 4.0, FAR / 2.0, tokens / 2.0, tokens, 2.0 * tokens].into_iter();
    probes.all(is_on_line).then(|| Tokens(tokens.round() as u64))
}

impl Policy {
    /// Returns the policy's trigger at the call with this index; none if no count of tokens makes it act, or if the
    /// believed fill is not linear in the count.
    pub fn trigger(&self, values: &KnobValues, case: &Case, call: usize) -> Option<OwnTrigger> {
        let names = self.bindings(values);
        let mut moment = self.moment_of(values, case, call);
        let mut value_at = |expr: &Expr, count: f64| {
            for quantity in COUNTS {
                moment.set(quantity, count);
            }
            expr.value(&moment)
        };
        let knob = self.knob_for(KnobRole::CompressionTrigger);
        if let Some(believed_fill) = &self.believed_fill {
            let limit = match knob {
                Some(knob)
                    if knob.unit == "share of usable" && !self.needs(believed_fill, &knob.name) =>
                {
                    values.get(&knob.name)?
                }
                _ => 1.0,
            };
            let fill = believed_fill.bind(&names);
            let tokens = count_at(limit, |count| value_at(&fill, count))?;
            return Some(OwnTrigger { tokens, believed: Some(limit) });
        }
        let knob = knob?;
        let stages = self.stages.iter();
        let mut conditions = stages
            .filter(|stage| self.needs(&stage.when, &knob.name))
            .map(|stage| stage.when.bind(&names));
        let tokens = conditions.find_map(|when| {
            let mut holds = |count: u64| value_at(&when, count as f64) == 1.0;
            if holds(0) || !holds(MAX_TRIGGER) {
                return None;
            }
            let (mut below, mut from) = (0, MAX_TRIGGER);
            while below + 1 < from {
                let middle = below.midpoint(from);
                if holds(middle) {
                    from = middle;
                } else {
                    below = middle;
                }
            }
            Some(Tokens(from))
        })?;
        Some(OwnTrigger { tokens, believed: None })
    }

    /// Returns the quantities of a call that are known before the context is counted.
    fn moment_of(&self, values: &KnobValues, case: &Case, call: usize) -> Moment {
        let mut moment = Moment::default();
        moment.set_model(self.window, case.model_at(call));
        moment.set_window(case.windows.at(call), case.window_share());
        let (window, reserve) = (case.windows.at(call), self.output_reserve(values, case, call));
        let known = [
            (Quantity::Input, window - reserve),
            (Quantity::OutputReserve, reserve),
            (Quantity::Tools, self.meter.tools(case)),
            (Quantity::Call, Tokens(call as u64 + 1)),
        ];
        for (quantity, tokens) in known {
            moment.set(quantity, tokens.as_f64());
        }
        moment
    }

    /// Returns whether an expression depends on a setting, directly or through named expressions.
    pub fn needs(&self, expr: &Expr, knob: &str) -> bool {
        let mut sought: Vec<String> = expr.terms();
        let mut seen = 0;
        while let Some(name) = sought.get(seen).cloned() {
            if name == knob {
                return true;
            }
            if let Some((_, expr)) = self.lets.iter().find(|(let_name, _)| *let_name == name) {
                let new = expr.terms().into_iter();
                let new: Vec<_> = new.filter(|name| !sought.contains(name)).collect();
                sought.extend(new);
            }
            seen += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_belief_needs_a_knob_that_its_named_expressions_need() {
        let toml = r#"
            name = "own"
            label = "Own"
            help = ""
            [meter]
            count = "true"
            believed_fill = "used / line"
            [settings.at]
            value = 0.5
            range = [0, 1]
            step = 0.1
            unit = "share of window"
            help = ""
            [settings.other]
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
        let believed_fill = policy.believed_fill.as_ref().expect("it says so");
        assert!(policy.needs(believed_fill, "at"));
        assert!(!policy.needs(believed_fill, "other"));
    }
}
