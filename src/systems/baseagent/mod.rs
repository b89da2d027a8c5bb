//! `BaseAgent`, as shipped: token estimate, output truncation, clearing of old results, summaries, and the agent loop.
//!
//! Read at PlatformNetwork/baseagent 18565d9: `src/core/compaction.py`, `src/core/loop.py`, `src/utils/truncate.py`.

mod actions;
pub mod agent_loop;
mod compact;
mod error;
mod estimate;
mod limits;
mod manage;
mod middle_out;
mod prune;

pub use actions::{ACTIONS, METER};
pub use compact::{Compacted, Texts, compact};
pub use error::PythonError;
pub use estimate::{message_tokens, text_tokens, total_tokens};
pub use limits::Limits;
pub use manage::{Managed, manage_context};
pub use middle_out::{document_middle_out, middle_out, utf8_of};
pub use prune::{MARKER, Pruned, StopAtMarker, n_cleared, prune_old_tool_outputs};
