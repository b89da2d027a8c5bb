//! The parts of the library litellm that several systems use: token counts, and the windows of models.
//!
//! | file | contains |
//! |---|---|
//! | `counter` | the count of messages |
//! | `tokenizer` | the tokenizer of a model |
//! | `image`, `tool_definition` | counts of images and tool definitions |
//! | `model_cost` | the cost map: window and longest answer of a model |

mod counter;
pub(super) mod image;
pub(super) mod model_cost;
mod tokenizer;
mod tool_definition;

pub(super) use counter::{PRIMING, TokenCounter};
pub use tokenizer::{NotShipped, Tokenizer};
