//! The tab Evaluate: the re-reads that each lane is expected to cause, the facts that it kept, and the content that the
//! recorded agent used after a lane had removed it.

mod at_risk;
pub mod facts;
pub(super) mod input;
mod lanes;
pub mod losses;
mod lost_facts;
mod matrix;
pub(super) mod panel;
mod reread_files;
mod reread_lanes;
pub mod session;
pub mod state;
mod state_marks;
