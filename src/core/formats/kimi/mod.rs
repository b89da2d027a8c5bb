//! Kimi's command-line agents: wire logs of Kimi Code and of the older Kimi CLI, and the context file of Kimi CLI.

mod cli_events;
mod compactions;
mod context;
mod wire;
mod wire_reader;

pub(super) use context::CONTEXT;
pub(super) use wire::WIRE;
