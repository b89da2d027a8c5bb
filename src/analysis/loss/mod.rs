//! What a policy's context lacked of what the recorded agent went on to use: references at risk.
//!
//! It goes by names: paths, symbols, hashes and numbers that the agent wrote again after they had left the context. It is
//! no measure of quality: a model that lacks a file reads it again. So every count stands beside the same count on the
//! recorded lane, where all that it finds was derived, guessed or read elsewhere: the noise floor.

mod edit;
mod names;
mod reuse;
mod risk;
mod said;
mod visible;

pub use names::Names;
pub use reuse::{Distances, ReuseCurves, reuse_distances};
pub use risk::{AtRisk, BlindEdit, Fault, PAGE_IN, references_at_risk};
