//! Drawings over the steps of a session.

pub mod scatter;
pub mod timeline;
