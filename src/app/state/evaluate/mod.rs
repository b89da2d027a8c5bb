//! The tab Evaluate: the re-reads that each lane is expected to cause, the facts that it kept, and the content that the
//! recorded agent used after a lane had removed it.
//!
//! Here are its state and results; `ui/evaluate` draws them.

pub mod facts;
pub mod losses;
pub mod result;
pub mod session;
pub mod state;
