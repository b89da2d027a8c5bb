//! `CowAgent`: drops half of the turns, or converts turns to plain text, and summarizes dropped turns in the
//! background.
//!
//! As in zhayujie/chatgpt-on-wechat 55aaf60 (2.0.8, 2026-05-06). Messages are Anthropic's blocks with the instructions
//! separate; lengths are Unicode code points. Log lines are as in the original, prefixed with the level.

mod action;
mod block;
mod compress;
mod convert;
mod emergency;
mod error;
mod estimate;
mod fallback;
mod flush;
mod history;
mod inject;
mod json_error;
mod reasoning;
mod repeat;
mod restore;
mod run;
mod sanitize;
mod scheduler;
mod statistics;
mod summary;
mod tool_result;
mod trim;
mod turn;
mod window;

pub use action::ACTIONS;
pub use compress::compress_turn;
pub use convert::to_openai;
pub use emergency::{Recovery, trim_for_overflow};
pub use error::{is_format_error, is_overflow};
pub use estimate::{METER, message_tokens, messages_tokens, system_tokens};
pub use flush::{Flush, Flushed, Reason, daily_entry, daily_header, flush};
pub use history::{Ends, HISTORY_RESULT_CHARS, cut_history};
pub use inject::{Target, inject, injection_target};
pub use json_error::json_error;
pub use reasoning::{STORED_REASONING_CHARS, cut_reasoning};
pub use restore::{Restored, load, restore, restore_turns};
pub use run::{Ended, Reply, RequestedCall, Run, ToolOutcome, World};
pub use sanitize::sanitize;
pub use scheduler::{scheduler_turns, trim_to_turns};
pub use statistics::{Statistics, context_command};
pub use summary::{SUMMARY_TEMPERATURE, Summarizer};
pub use tool_result::{CURRENT_RESULT_CHARS, cut_result, result_content};
pub use trim::{FEW_TURNS, Limits, Trimmed, trim_messages};
pub use turn::turns;
pub use window::{WINDOW, budget, model_window};
