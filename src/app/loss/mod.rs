//! The tab Loss: content that the recorded agent used after a lane had removed it.

mod at_risk;
pub mod compute;
mod instructions;
mod lanes;
pub(super) mod panel;
pub mod state;
mod summaries;
