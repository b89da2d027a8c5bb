//! Exact reproductions of real systems: one folder per system, one file per mechanism, and their tables.
//!
//! In each folder, `mod.rs` has a map of its files, and `ACTIONS` lists the actions that presets may name. What systems share
//! is in files of this folder: `missing_results` for systems that repair requests, `session_state` and `growing_list` for
//! those that keep their own session, and `litellm` for those that count with that library. What their programming language
//! does with texts and JSON is in [`crate::languages`].
//!
//! Each function reproduces one of the system's own functions, over messages in that system's form. Case files with
//! the original's return values, or whole conversations that the original managed, verify it (`tests/vectors.rs`).
//! Replay and execution run the same function. Presets define when it acts ([`crate::presets`]).
//!
//! # How to write an action
//!
//! 1. Write the system's function over [`ChatMessage`]s, in a file of its own or in `actions.rs`.
//! 2. Add a `const NAME: NamedAction = NamedAction::new(…)` and name it in `ACTIONS` of the folder. [`NamedAction`] describes each field. A new
//!    system also needs `pub mod` and a row of [`REGISTRY`] in this file.
//! 3. Name it in a stage of a preset: `do = { named = "SYSTEM.ACTION", … }`, with an expression for each of its `numbers`.
//!    Warnings show SYSTEM to users: it is the preset's name with underscores.
//! 4. Test it with `testing::play`, and prove it with cases: `tests/replays/README.md` describes them. If the proof of
//!    the preset differs from the number of cases that pass, `cargo test --test vectors` prints the right one. Cases with
//!    other names than the preset need rows in `tests/replay_runner/systems.rs`.
//! 5. Write the page of presets again: `UPDATE_DOCS=1 cargo test --test engine preset_page`.
//!
//! | the action | `make` calls | example |
//! |---|---|---|
//! | has only numbers as settings | `stage_settings::numbers_only` with a function that returns [`Rewritten`] | `swe_agent/elide.rs` |
//! | also requests summaries | `stage_settings::summarizing`; the function gets each reply from `replies.reply_to(request)?` | `crush/actions.rs` |
//! | has texts, lists or choices as settings | `check_keys`, `text_setting`, `names_setting` and `choice_setting` of `stage_settings`, for a struct that implements [`Rewrite`] | `swe_agent/remove_regex.rs` |
//!
//! - **Input**: [`RewriteInput`]. `number`, `flag` and `count` return 0 for a name that `numbers` does not list.
//!   [`crate::chat`] has functions about conversations, such as `n_system` and `newest_request`.
//! - **Nothing to do**: `Rewritten::default()`, or `Rewritten::counted(used)` if the system compared a count with its limit.
//! - **Edits of single messages**: `Rewritten::edited(edits)`. After a comparison, set `edits` and `fired` of its result.
//!   `Rewritten::edited_for_request` is for a stage with `mutates = "view"`, whose edits are made again for every request.
//! - **A new list**: set `messages` and `fired`. Clone the messages that stay: they keep their origin. Create others with
//!   `ChatMessage::summary`, `notice` or `addition`, and change texts with `with_text`.
//! - **State for later calls**: `memory`. A rule that would read the whole conversation at every call continues from
//!   [`Messages::updated_state`].
//!
//! [`ChatMessage`]: crate::chat::ChatMessage
//! [`Messages::updated_state`]: crate::chat::Messages::updated_state
//! [`NamedAction`]: crate::engine::NamedAction
//! [`Rewrite`]: crate::engine::Rewrite
//! [`RewriteInput`]: crate::engine::RewriteInput
//! [`Rewritten`]: crate::engine::Rewritten

pub mod adk;
pub mod agent_framework;
pub mod ai_sdk;
pub mod aider;
pub mod baseagent;
pub mod claude_code;
pub mod cline;
pub mod cline_legacy;
pub mod codex;
pub mod continue_dev;
pub mod copilot_chat;
pub mod cowagent;
pub mod crush;
pub mod deepagents;
pub mod digitorn;
pub mod docker_agent;
pub mod gemini_cli;
pub mod goose;
mod growing_list;
pub mod haystack;
pub mod hermes;
pub mod holmesgpt;
pub mod kimi_cli;
pub mod langchain;
pub mod litellm;
mod missing_results;
pub mod mistral_vibe;
pub mod openai_agents;
pub mod opencode;
pub mod opencode_v2;
pub mod openhands;
pub mod pi;
pub mod picoclaw;
pub mod pydantic_ai;
pub mod qwen_code;
pub mod roo_code;
mod session_state;
mod stage_settings;
pub mod strands;
pub mod swe_agent;
mod terms;
#[cfg(test)]
mod testing;

use crate::engine::Registry;

/// Everything that presets may name.
pub static REGISTRY: Registry = Registry {
    actions: &[
        adk::ACTIONS,
        agent_framework::ACTIONS,
        ai_sdk::ACTIONS,
        aider::ACTIONS,
        baseagent::ACTIONS,
        claude_code::ACTIONS,
        cline::ACTIONS,
        cline_legacy::ACTIONS,
        codex::ACTIONS,
        continue_dev::ACTIONS,
        copilot_chat::ACTIONS,
        cowagent::ACTIONS,
        crush::ACTIONS,
        deepagents::ACTIONS,
        digitorn::ACTIONS,
        docker_agent::ACTIONS,
        gemini_cli::ACTIONS,
        goose::ACTIONS,
        haystack::ACTIONS,
        hermes::ACTIONS,
        holmesgpt::ACTIONS,
        kimi_cli::ACTIONS,
        langchain::ACTIONS,
        mistral_vibe::ACTIONS,
        openai_agents::ACTIONS,
        opencode::ACTIONS,
        opencode_v2::ACTIONS,
        openhands::ACTIONS,
        pi::ACTIONS,
        picoclaw::ACTIONS,
        pydantic_ai::ACTIONS,
        qwen_code::ACTIONS,
        roo_code::ACTIONS,
        strands::ACTIONS,
        swe_agent::ACTIONS,
    ],
    meters: &[
        &baseagent::METER,
        &cowagent::METER,
        &digitorn::METER,
        &digitorn::DOCUMENT_METER,
        &holmesgpt::METER,
        &holmesgpt::METER_O200K,
        &picoclaw::METERS[0],
        &picoclaw::METERS[1],
    ],
    windows: &[&cowagent::WINDOW, &digitorn::WINDOW, &holmesgpt::WINDOW],
};
