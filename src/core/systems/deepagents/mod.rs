//! Deep Agents 0.7.32: `FilesystemMiddleware`, `SummarizationMiddleware` and `PatchToolCallsMiddleware` of
//! `deepagents.middleware`. The second uses `LangChain`'s functions, as [`super::langchain`] has them.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets, and those that move texts to files |
//! | `files` | files that texts are moved to |
//! | `preview` | the preview in place of a text that was moved to a file |
//! | `call` | the state of a call: usage, counts, budget and the last request |
//! | `arguments` | arguments that are cut for one request |
//! | `summarize` | the summary |
//! | `clip` | results at the end of a request that is too large, and the check before it is sent |
//! | `patch` | results of calls that were interrupted |

mod actions;
mod arguments;
mod call;
mod clip;
mod files;
mod patch;
mod preview;
mod summarize;

pub use actions::ACTIONS;
