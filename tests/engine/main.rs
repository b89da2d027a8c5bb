//! Tests of the engine, the token counters and the analyses, through the public library.

#[path = "../common/conversation.rs"]
mod conversation;
#[path = "../common/repository.rs"]
mod repository;

mod agents;
mod attribution;
mod comparison;
mod cost;
mod digest;
mod facts;
mod findings;
mod insights;
mod invariants;
mod live;
mod live_manager;
mod loss;
mod manual_edits;
mod named_actions;
mod native_settings;
mod preset_page;
mod properties;
mod query;
mod replay;
mod report;
mod rereads;
mod session_files;
mod stages;
mod tokens;
mod tune;
mod written_lists;
