//! The tab Evaluate: the facts that each lane kept, and the content that the recorded agent used after a lane had removed
//! it.

mod at_risk;
pub mod facts;
pub(super) mod input;
mod lanes;
pub mod losses;
mod lost_facts;
mod matrix;
pub(super) mod panel;
pub mod state;
mod state_marks;
