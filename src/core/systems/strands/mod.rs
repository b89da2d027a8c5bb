//! Strands Agents (Python) 1.62.0: `agent/conversation_manager`, with `models/model.py` and `event_loop/event_loop.py`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `stored_messages` | the messages as the SDK stores them, and which are pinned |
//! | `estimate` | the projected tokens of the next call |
//! | `sliding` | the sliding window |
//! | `summarize` | the summary of the oldest messages |

mod actions;
mod estimate;
mod sliding;
mod stored_messages;
mod summarize;

pub use actions::ACTIONS;
