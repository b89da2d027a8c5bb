//! Tests of the program as a user runs it from a shell.

#[path = "../providers/fault_answers.rs"]
#[expect(dead_code, reason = "faults of servers have tests of their own")]
mod fault_answers;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/real_sessions.rs"]
mod real_sessions;
#[path = "../providers/server.rs"]
#[expect(dead_code, reason = "faults of servers have tests of their own")]
mod server;
#[path = "../common/xml.rs"]
mod xml;

mod attribution;
mod compact;
mod compare;
mod completions;
mod convert;
mod cost;
mod diagnose;
#[cfg(feature = "window")]
mod display;
mod edges;
mod evaluate_model;
mod evaluate_score;
mod find;
mod gate;
mod gate_junit;
mod handoff;
mod help;
mod hook;
mod hook_install;
mod inspect;
mod interrupted;
mod invalid_input;
mod json_page;
mod json_schemas;
mod loss;
mod manual_edits;
mod many_files;
mod many_threads;
mod mcp;
mod model;
mod model_tables;
mod output;
mod own_outputs;
mod own_presets;
#[cfg(feature = "window")]
mod policy_forms;
mod presets_and_state;
mod python_exports;
mod recorded_calls;
mod replay;
mod report;
mod reported_sizes;
mod rereads;
mod resumable;
mod same_figures;
#[cfg(feature = "window")]
mod screenshot;
mod sessions;
mod support;
mod sweep;
mod system_presets;
mod table;
mod tools;
mod usage;
mod validity;
