//! The tab Evaluate: the re-reads that each lane is expected to cause, the facts that it kept, and the content that the
//! recorded agent used after a lane had removed it.
//!
//! Here is how it is drawn; its state and results are in `state/evaluate`.

pub mod at_risk;
pub mod lanes;
pub mod lost_facts;
pub mod matrix;
pub mod panel;
pub mod reread_files;
pub mod reread_lanes;
pub mod state_marks;
