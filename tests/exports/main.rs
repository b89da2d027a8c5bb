//! Tests of exports: managed conversations, what they restore to, and their checks.

#[path = "../common/fixtures.rs"]
mod fixtures;

mod codex_export;
mod lossless;
mod managed;
mod managed_copies;
