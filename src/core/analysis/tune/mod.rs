//! Tries many settings of policies over sessions and recommends one, by its cost with the price of expected re-reads.
//!
//! A [`SweepSubject`] is a policy with its current settings and the settings to vary. [`sweep`] replays them on all
//! cores. A [`Point`] is one combination with its [`Score`], or the reason why it is ruled out ([`RuledOut`]).
//! [`front`] returns the points that no other beats in every figure, [`recommend`] picks one with a reason,
//! [`alternative`] finds another policy if none works, and [`robust`] picks one setting for many sessions.
//!
//! Scores refer to the recorded agent's actions and do not measure quality. The user decides how much history an agent
//! needs, so the whole front is shown.

mod alternative;
mod changed_settings;
mod cost_unit;
mod first_read;
mod front;
mod gauge;
mod limits;
mod recommend;
mod recommendation_text;
mod robust;
mod ruled_out;
mod space;
mod sweep;

pub(super) use first_read::FirstReaders;

pub use alternative::{Alternative, alternative};
pub use changed_settings::{ChangedSetting, changed_settings};
pub use cost_unit::{CostUnit, cost_unit};
pub use front::{front, trade_off};
pub use gauge::{Assessment, Gauge, LostRules, Score};
pub use limits::{Check, Figures, GateLimits, Limit, Measure, MinSurvival, check_retained, checks};
pub use recommend::{Acting, Recommendation, candidates, recommend};
pub use robust::{LeftOut, Regret, Robust, SweptSession, robust};
pub use ruled_out::{Reason, RuledOut};
pub use space::{Axis, Scale, SweepSubject, Values};
pub use sweep::{Point, RuledOutCount, plan, ruled_out_counts, sweep};
