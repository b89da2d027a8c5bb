//! Exact reproductions of real systems: one folder per system, one file per mechanism, and their tables.
//!
//! In each folder, `mod.rs` has a map of its files, and `actions` lists what presets may name: each action is a
//! [`crate::engine::NamedAction`] with the function that runs it, or a struct if it has settings other than numbers.
//! `stage_settings` makes and checks both. `python` and `javascript` are shared by systems written in these languages,
//! `session_state` and `growing_list` by systems that keep their own session.
//!
//! Each function reproduces one of the system's own functions, over messages in that system's form. Test vectors with
//! the original's return values, or whole conversations that the original managed, verify it (`tests/vectors.rs`).
//! Replay and execution run the same function. Presets define when it acts ([`crate::presets`]).

pub mod adk;
pub mod agent_framework;
pub mod ai_sdk;
pub mod aider;
pub mod baseagent;
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
mod javascript;
pub mod kimi_cli;
pub mod langchain;
pub mod mistral_vibe;
pub mod openai_agents;
pub mod opencode;
pub mod opencode_v2;
pub mod openhands;
pub mod pi;
pub mod picoclaw;
pub mod pydantic_ai;
pub mod python;
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
