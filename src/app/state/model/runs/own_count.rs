//! A policy's own token counts at its calls, indexed for use in every frame.

use crate::engine::Sample;
use crate::units::Tokens;

/// The calls of a lane by the policy's own count.
#[derive(Clone, Debug, Default)]
pub struct OwnCount {
    /// Calls by count, ascending; the first one of those with equal counts.
    by_count: Vec<u32>,
    /// The range of the counts with each window.
    ranges: Vec<CountRange>,
}

/// The calls with the lowest and the highest count with one window.
#[derive(Clone, Copy, Debug)]
struct CountRange {
    window: Tokens,
    /// The first call with the lowest count.
    lowest: usize,
    /// The last call with the highest count.
    highest: usize,
}

/// The linear relation of own count and believed fill, at calls with one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnScale {
    slope: f64,
    offset: f64,
}

/// Maximum distance from the line for a belief that depends on the count alone.
const STRAIGHT: f64 = 0.002;

impl OwnCount {
    /// Indexes the samples of a lane. Lookups take the same samples.
    pub fn new(samples: &[Sample]) -> Self {
        let count = |call: &u32| samples[*call as usize].metered;
        let mut by_count: Vec<u32> = (0..samples.len() as u32).collect();
        by_count.sort_by_key(count);
        by_count.dedup_by_key(|call| count(call));
        Self { by_count, ranges: ranges(samples) }
    }

    /// Returns the sample with the nearest count; the earlier one wins a tie.
    pub fn nearest<'s>(&self, samples: &'s [Sample], counted: Tokens) -> Option<&'s Sample> {
        let of = |call: &u32| &samples[*call as usize];
        let above = self.by_count.partition_point(|call| of(call).metered < counted);
        let nearest = self.by_count[above.saturating_sub(1)..].iter().take(2);
        nearest.map(of).min_by_key(|s| (s.metered.0.abs_diff(counted.0), s.call))
    }

    /// Returns the scale at a call; `None` if the policy reports no fill, or if the fill does not depend on the count
    /// alone.
    pub fn scale(&self, samples: &[Sample], call: usize) -> Option<OwnScale> {
        let here = samples.get(call)?;
        here.believed?;
        let mut ranges = self.ranges.iter();
        let range = ranges.find(|range| range.window == here.window)?;
        let (lowest, highest) = (&samples[range.lowest], &samples[range.highest]);
        let span = highest.metered.as_f64() - lowest.metered.as_f64();
        let rise = highest.believed?.0 - lowest.believed?.0;
        if span < 1.0 || rise <= 0.0 {
            return None;
        }
        let slope = rise / span;
        let offset = lowest.believed?.0 - slope * lowest.metered.as_f64();
        let scale = OwnScale { slope, offset };
        let distance = scale.believed(here.metered) - here.believed?.0;
        (distance.abs() < STRAIGHT).then_some(scale)
    }
}

impl OwnScale {
    /// Returns the believed fill for a count.
    pub fn believed(&self, counted: Tokens) -> f64 {
        self.slope * counted.as_f64() + self.offset
    }

    /// Returns the count for a believed fill.
    pub fn counted(&self, believed: f64) -> Tokens {
        Tokens(((believed - self.offset) / self.slope).max(0.0).round() as u64)
    }
}

fn ranges(samples: &[Sample]) -> Vec<CountRange> {
    let mut ranges: Vec<CountRange> = Vec::new();
    for (call, sample) in samples.iter().enumerate() {
        let window = sample.window;
        let Some(range) = ranges.iter_mut().find(|range| range.window == window) else {
            ranges.push(CountRange { window, lowest: call, highest: call });
            continue;
        };
        if sample.metered < samples[range.lowest].metered {
            range.lowest = call;
        }
        if sample.metered >= samples[range.highest].metered {
            range.highest = call;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Share;

    fn samples(beliefs: &[(u64, f64)]) -> Vec<Sample> {
        let sample = |(call, (metered, believed)): (usize, &(u64, f64))| Sample {
            call,
            turn: 1,
            window: Tokens(200_000),
            metered: Tokens(*metered),
            tokens: Tokens(metered * 2),
            pressure: Share(0.0),
            believed: Some(Share(*believed)),
            overflows: false,
            is_rejected: false,
            rejected: Tokens::ZERO,
            unchanged: Tokens::ZERO,
            by_kind: [0; crate::session::Kind::ALL.len()],
        };
        beliefs.iter().enumerate().map(sample).collect()
    }

    fn scale(samples: &[Sample], call: usize) -> Option<OwnScale> {
        OwnCount::new(samples).scale(samples, call)
    }

    #[test]
    fn the_scale_converts_between_own_count_and_believed_fill() {
        // (used + 20 000) / 200 000
        let samples = samples(&[(20_000, 0.2), (60_000, 0.4), (100_000, 0.6)]);
        let scale = scale(&samples, 1).expect("the fill depends on the count");
        assert_eq!(scale.counted(0.95), Tokens(170_000));
        assert!((scale.believed(Tokens(170_000)) - 0.95).abs() < 1e-9);
    }

    #[test]
    fn a_believed_fill_that_depends_on_other_values_has_no_scale() {
        let samples = samples(&[(20_000, 0.2), (60_000, 0.9), (100_000, 0.6)]);
        assert_eq!(scale(&samples, 1), None);
        assert_eq!(scale(&[], 0), None);
    }

    #[test]
    fn each_window_has_its_own_scale() {
        let mut samples = samples(&[(20_000, 0.2), (60_000, 0.4), (20_000, 0.1), (60_000, 0.3)]);
        samples[2].window = Tokens(400_000);
        samples[3].window = Tokens(400_000);
        let at = |call| scale(&samples, call).map(|scale| scale.counted(0.3));
        assert_eq!(at(0), Some(Tokens(40_000)));
        assert_eq!(at(2), Some(Tokens(60_000)));
    }

    #[test]
    fn the_sample_with_the_closest_count_is_found() {
        let samples = samples(&[(50, 0.0), (90, 0.0), (10, 0.0), (50, 0.0), (70, 0.0)]);
        let own = OwnCount::new(&samples);
        for counted in 0..120 {
            let nearest = samples.iter();
            let nearest = nearest.min_by_key(|s| s.metered.0.abs_diff(counted));
            assert_eq!(own.nearest(&samples, Tokens(counted)), nearest, "{counted}");
        }
        assert_eq!(OwnCount::default().nearest(&[], Tokens(1)), None);
    }
}
