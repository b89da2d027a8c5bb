//! Which settings would have been better: tries many, weighs cost against what would have been missed, picks one.
//!
//! A [`Subject`] is a policy with its present settings and the knobs that may vary. [`sweep`] plays every setting, on all
//! cores, reports each as it comes and can be stopped; a [`Point`] is one of them with its [`Score`], or why it is out of
//! the question ([`Rejection`]). [`front`] is what no other point beats in everything, [`recommend`] picks from it and says
//! why, [`alternative`] looks for another policy where none of it works, [`robust`] picks one setting for many sessions. It is judged by what the recorded agent did, never called quality:
//! how much history an agent needs is for a person to say, so the whole front is shown.

mod alternative;
mod front;
mod gauge;
mod limits;
mod recommend;
mod robust;
mod space;
mod sweep;

pub use alternative::{Alternative, alternative};
pub use front::{Price, front, price_unit, trade_off};
pub use gauge::{Gauge, Rejection, Risk, Score};
pub use limits::{Check, Figures, Limit, Limits, Measure, checks};
pub use recommend::{Recommendation, Taste, candidates, recommend, rejections, words};
pub use robust::{LeftOut, Regret, Robust, robust};
pub use space::{Axis, Scale, Subject, Values};
pub use sweep::{Point, plan, sweep};
