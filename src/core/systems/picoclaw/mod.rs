//! PicoClaw: as shipped before its issue on context management, as the issue proposes, and as it was then built.
//!
//! Stored sessions contain no system prompt; a summary is stored separately from the history. Read from sipeed/picoclaw
//! at 021aa7d6 (before) and cf67dd38 (after). Its optional manager `seahorse` is not modelled.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions and meters of presets |
//! | `edition`, `settings` | the three editions, settings |
//! | `message`, `store` | messages and sessions as stored |
//! | `prompt`, `sanitize` | assembly of a request, messages that are sent |
//! | `estimate` | tokens of messages and tool definitions |
//! | `boundary`, `budget` | positions of cuts, the size of a request |
//! | `summarize`, `summary_text` | summaries and their prompts |
//! | `force_compression` | removal of the older half |
//! | `overflow`, `provider_error` | oversized requests, provider errors |
//! | `event` | events for listeners |

pub mod boundary;
pub mod budget;
pub mod estimate;
pub mod event;
pub mod force_compression;
pub mod message;
pub mod overflow;
pub mod prompt;
pub mod provider_error;
pub mod sanitize;
pub mod settings;
pub mod store;
pub mod summarize;
pub mod summary_text;

mod actions;
mod edition;

pub use actions::{ACTIONS, METERS};
pub use edition::Edition;
pub use settings::Settings;
pub use store::{Conversation, Stored};
