//! Kimi's command line: the wire log of Kimi Code, and the context file of the older Kimi CLI.

mod context;
mod wire;

pub(super) use context::CONTEXT;
pub(super) use wire::WIRE;
