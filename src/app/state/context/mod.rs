//! The tab Context: what one context consists of, and what each source contributed to the recorded run.
//!
//! Here are its results and its layout; `ui/context` draws them.

pub mod result;
pub mod treemap;
pub mod view;
