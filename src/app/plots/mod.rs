//! Plots over the calls of a session, and of a sweep.

mod landmarks;
pub mod scatter;
