//! Tool calls of a session: results with their calls, the use of each tool, and the figures of `plimsoll tools`.

mod answered_call;
mod mcp;
mod table;
mod tool_use;

pub use answered_call::{AnsweredCall, answered_calls};
pub(crate) use mcp::server_of_tool;
pub use table::{LargestResult, ResultSum, ToolColumn, ToolRow, ToolTable};
pub use tool_use::{ToolUse, tokens_by_tool, tool_uses};
