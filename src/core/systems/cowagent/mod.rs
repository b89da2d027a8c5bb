//! `CowAgent`: drops half of the turns, or converts turns to plain text, and summarizes dropped turns in the
//! background.
//!
//! As in zhayujie/chatgpt-on-wechat 55aaf60 (2.0.8, 2026-05-06). Messages are Anthropic's blocks with the instructions
//! separate; lengths are Unicode code points. Log lines are as in the original, prefixed with the level.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `block` | fields of message blocks |
//! | `estimate`, `window` | tokens of messages, windows of models |
//! | `turn` | turns and their conversion to plain text |
//! | `trim` | the trim before each run |
//! | `truncate` | truncation of long contents |
//! | `flush`, `summary`, `fallback`, `inject` | the daily memory file and the summary of dropped turns |
//! | `sanitize` | repair of calls and results |
//! | `loop_guard` | limits of repeated calls and of steps |
//! | `error`, `emergency` | provider errors, reduction after an overflow |
//! | `restore` | the conversation after a restart |
//! | `statistics` | the command `/context` |

mod actions;
mod block;
mod emergency;
mod error;
mod estimate;
mod fallback;
mod flush;
mod inject;
pub mod loop_guard;
mod restore;
mod sanitize;
mod statistics;
mod summary;
mod trim;
mod truncate;
mod turn;
mod window;

pub use actions::ACTIONS;
pub use emergency::{Recovery, trim_for_overflow};
pub use error::{
    FORMAT_ERROR, MAX_RETRIES, OVERFLOW_ERROR, is_format_error, is_overflow, is_retryable,
    wait_seconds,
};
pub use estimate::{METER, message_tokens, messages_tokens, system_tokens};
pub use flush::{Flush, Flushed, Reason, daily_entry, daily_header, flush};
pub use inject::{Target, inject, injection_target};
pub use restore::{Restored, load, restore, restore_turns};
pub use sanitize::sanitize;
pub use statistics::{Statistics, context_command};
pub use summary::{SUMMARY_TEMPERATURE, Summarizer};
pub use trim::{FEW_TURNS, Limits, Trimmed, trim_messages};
pub use truncate::{
    Ends, HISTORY_RESULT_CHARS, STORED_REASONING_CHARS, cut_history, cut_reasoning, cut_result,
};
pub use turn::{compress_turn, trim_to_turns, turns};
pub use window::{WINDOW, budget, model_window};
