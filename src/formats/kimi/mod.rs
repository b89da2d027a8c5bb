//! Kimi's command line: the wire log of Kimi Code, and the context file of the older Kimi CLI.

mod context;
mod wire;

pub(super) use context::FORMAT as CONTEXT;
pub(super) use wire::FORMAT as WIRE;
