//! `BaseAgent`, as shipped: token estimate, output truncation, clearing of old results, and summaries.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions and the meter of presets |
//! | `estimate` | tokens of texts and messages |
//! | `middle_out` | truncation of a tool's output |
//! | `prune` | clearing of old results |
//! | `compact` | the summary of everything |
//! | `limits` | constants that decide when to act |
//! | `failure` | failed calls |
//! | `log_lines` | log lines of the context management |
//!
//! Read at PlatformNetwork/baseagent 18565d9: `src/core/compaction.py`, `src/core/loop.py`, `src/utils/truncate.py`.

mod actions;
mod compact;
mod estimate;
mod failure;
mod limits;
pub mod log_lines;
mod middle_out;
mod prune;

pub use actions::{ACTIONS, METER};
pub use compact::{Compacted, Texts, compact};
pub use estimate::{message_tokens, text_tokens, total_tokens};
pub use failure::{Failure, code_of_status};
pub use limits::Limits;
pub use middle_out::{document_middle_out, middle_out};
pub use prune::{MARKER, Pruned, StopAtMarker, prune_old_tool_outputs};
