//! Gemini CLI: `@google/gemini-cli-core` 0.61.0, `context/chatCompressionService`, `context/toolOutputMaskingService`,
//! `scheduler/tool-executor` and `utils/tokenCalculation`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `contents` | messages as the program stores them, and their estimates |
//! | `compress` | compression of the history |
//! | `mask` | masking of old tool results |
//! | `output_file` | files with whole tool results |
//! | `truncate` | truncation of tool results on arrival |

mod actions;
mod compress;
mod contents;
mod mask;
mod output_file;
mod truncate;

pub use actions::ACTIONS;
