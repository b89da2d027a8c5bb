//! Drawings over the steps of a session.

pub mod timeline;
