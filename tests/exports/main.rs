//! Tests of exports: managed conversations, what they restore to, and their checks.

#[path = "../common/fixtures.rs"]
mod fixtures;
#[path = "../common/repository.rs"]
mod repository;

mod codex_export;
mod every_format;
mod lossless;
mod managed;
mod samples;
