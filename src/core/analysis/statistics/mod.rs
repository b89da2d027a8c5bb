//! Statistics of paired scores that are clustered by compaction: intervals by a cluster bootstrap, the effect retained,
//! paired differences, and the number of pairs that a run needs.
//!
//! The generator is seeded, so that the same scores give the same interval.

mod bootstrap;
mod estimate;
mod generator;
mod power;
mod scores;

pub use estimate::{Conclusion, Estimate, Interval, MIN_CLUSTERS};
pub use generator::Generator;
pub use power::{Power, design_effect};
pub use scores::{
    BaselinedScore, ClusteredValue, PairedScore, Ratio, difference_of_means, effect_retained,
    effect_retained_value, estimate_ratio, mean, paired_difference,
};
