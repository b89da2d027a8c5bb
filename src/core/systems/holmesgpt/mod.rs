//! `HolmesGPT`, as shipped: spills an oversized tool result to a file, and summarizes a conversation near its window.
//!
//! Release 0.45 is the default. The variants are 0.38 (one request, the summary as an assistant message) and the
//! version of November 2025, called legacy (no spill; tool results are truncated fairly).
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions, meters and windows of presets |
//! | `limits` | window, reserve and cap of a model |
//! | `count`, `refusal`, `image` | token counts, based on those of `systems/litellm` |
//! | `limiter` | the check before each model call |
//! | `compact`, `flatten`, `chunk`, `split`, `summarizer`, `instruction` | the summary of release 0.45 |
//! | `v038`, `legacy`, `fair_truncation` | older releases |
//! | `spill`, `spilled_file`, `tool_result`, `tool_data` | oversized tool results |
//! | `event`, `stats` | events, errors and costs of a run |

mod actions;
mod chunk;
mod compact;
mod count;
mod event;
mod fair_truncation;
mod flatten;
mod image;
mod instruction;
mod legacy;
mod limiter;
mod limits;
mod refusal;
mod spill;
mod spilled_file;
mod split;
mod stats;
mod summarizer;
mod tool_data;
mod tool_result;
mod v038;

pub use actions::{ACTIONS, METER, METER_O200K, WINDOW};
pub use compact::{Compaction, compact_conversation_history};
pub use count::{Llm, Usage, forget_counts};
pub use event::{Event, RunError};
pub use fair_truncation::{Fair, Truncation, truncate_fairly};
pub use flatten::{flatten_tool_messages, strip_images};
pub use instruction::{LEGACY_INSTRUCTION, V038_INSTRUCTION, V045_INSTRUCTION};
pub use legacy::{LegacyLimited, compact_legacy, refuse_oversized_result, truncate_to_window};
pub use limiter::{Limited, Threshold, compact_if_necessary, compaction_start_event};
pub use limits::{Limits, Overrides, Reserve};
pub use spill::{Spilling, Storage, spill_oversized_result};
pub use spilled_file::{SpilledContent, SpilledFile};
pub use split::split_message;
pub use stats::RequestStats;
pub use summarizer::{NO_MESSAGE, Summarizer};
pub use tool_data::{Status, ToolData, ToolImage};
pub use tool_result::ToolResult;
pub use v038::{compact_if_necessary_v038, compact_once};
