//! Work on threads: tasks that a frame can poll, and latest results by key.

pub mod latest_result;
pub mod repaint;
pub(crate) mod task;
