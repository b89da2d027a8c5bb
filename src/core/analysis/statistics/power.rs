//! The number of pairs that a difference needs, and the difference that a number of pairs can detect.

/// Two-sided 5 % point of the normal distribution.
const Z_SIGNIFICANCE: f64 = 1.96;
/// 80 % point of the normal distribution.
const Z_POWER: f64 = 0.841;
/// Assumed share of pairs in which exactly one of the two lanes is right. Chosen before anything is measured; the
/// needed number of pairs is nearly proportional to it.
const DISCORDANT: f64 = 0.3;
/// Assumed correlation of two pairs of the same compaction. Chosen: with ten probes a compaction, 0.1 nearly doubles
/// the needed pairs, and 0.2 nearly triples them.
const CORRELATION: f64 = 0.1;

/// A comparison of two lanes with a power of 80 %, a significance of 5 % and 30 % discordant pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Factor by which clusters increase the needed pairs; 1 if pairs are independent.
    pub design_effect: f64,
}

impl Power {
    /// Returns the number of pairs that detect a difference of two scores; `None` unless 0 < difference ≤ 1.
    fn needed_pairs(self, difference: f64) -> Option<usize> {
        let is_possible = difference > 0.0 && difference <= 1.0;
        is_possible.then(|| (independent_pairs(difference) * self.design_effect).ceil() as usize)
    }

    /// Returns the smallest difference that this number of pairs detects, in steps of 0.001. Returns `None` if even a
    /// difference of 1 needs more pairs.
    pub fn detectable(&self, pairs: usize) -> Option<f64> {
        let steps = (1..=1_000_u32).map(|step| f64::from(step) / 1e3);
        let mut detected = steps.filter(|d| self.needed_pairs(*d).is_some_and(|n| n <= pairs));
        detected.next()
    }
}

/// Returns the needed pairs of a test for paired shares, without clusters.
fn independent_pairs(difference: f64) -> f64 {
    let discordant = DISCORDANT.max(difference);
    let spread = (discordant - difference * difference).sqrt();
    let sum = Z_SIGNIFICANCE * discordant.sqrt() + Z_POWER * spread;
    (sum / difference).powi(2)
}

/// Returns the design effect of clusters with this mean size, for the assumed correlation of 0.1.
pub fn design_effect(pairs_per_cluster: f64) -> f64 {
    1.0 + (pairs_per_cluster - 1.0).max(0.0) * CORRELATION
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEPENDENT: Power = Power { design_effect: 1.0 };

    #[test]
    fn smaller_differences_need_more_pairs() {
        let needed = [0.3, 0.2, 0.1, 0.05].map(|d| INDEPENDENT.needed_pairs(d));
        assert_eq!(needed, [Some(24), Some(57), Some(233), Some(940)]);
        assert_eq!(INDEPENDENT.needed_pairs(0.0), None);
        assert_eq!(INDEPENDENT.needed_pairs(1.5), None);
    }

    #[test]
    fn clusters_need_more_pairs() {
        let clustered = Power { design_effect: design_effect(11.0) };
        assert_eq!(clustered.design_effect, 2.0);
        assert_eq!(clustered.needed_pairs(0.1), Some(466));
        assert_eq!(design_effect(0.5), 1.0);
    }

    #[test]
    fn the_detectable_difference_is_the_inverse() {
        assert_eq!(INDEPENDENT.detectable(233), Some(0.1));
        assert_eq!(INDEPENDENT.detectable(940), Some(0.05));
        for pairs in [5, 23, 100, 5_000] {
            let difference = INDEPENDENT.detectable(pairs).unwrap();
            assert!(INDEPENDENT.needed_pairs(difference).unwrap() <= pairs);
            assert!(INDEPENDENT.needed_pairs(difference - 1e-3).unwrap() > pairs);
        }
        assert_eq!(INDEPENDENT.detectable(3), None);
    }
}
