//! Drawings over the steps of a session.

mod landmarks;
pub mod scatter;
pub mod timeline;
