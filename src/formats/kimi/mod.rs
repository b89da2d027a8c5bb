//! Kimi's command-line agents: wire logs of Kimi Code and of the older Kimi CLI, and the context file of Kimi CLI.

mod cli_events;
mod context;
mod wire;

pub(super) use context::CONTEXT;
pub(super) use wire::WIRE;
