//! The streams of messages that agents print when a script runs them: a module for each program.
//!
//! A stream describes a run to the script, not the requests to the model. It lacks the system prompt, the tool
//! definitions and often the prompts. Several runs of a session may follow each other in one file.
//!
//! | module | command |
//! |---|---|
//! | `sdk` | `claude -p --output-format stream-json`, `qwen --output-format stream-json` |
//! | `codex` | `codex exec --json` |
//! | `gemini` | `gemini --output-format stream-json` |
//! | `opencode` | `opencode run --format json` |
//! | `pi` | `pi --mode json` |

mod answer;
mod by_id;
mod codex;
mod gemini;
mod opencode;
mod pi;
mod prompts;
mod sdk;
mod totals;

pub(super) use codex::CODEX;
pub(super) use gemini::GEMINI;
pub(super) use opencode::OPENCODE;
pub(super) use pi::PI;
pub(super) use sdk::{CLAUDE_CODE, QWEN_CODE};
