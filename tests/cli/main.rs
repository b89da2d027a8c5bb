//! Tests of the program as a user runs it from a shell.

#[path = "../common/program.rs"]
mod program;
#[path = "../providers/server.rs"]
#[expect(dead_code, reason = "faults of servers have tests of their own")]
mod server;
#[path = "../common/xml.rs"]
mod xml;

mod convert;
mod diagnose;
mod edges;
mod gate;
mod interrupted;
mod json_page;
mod json_schemas;
mod loss;
mod manual_edits;
mod model;
mod own_presets;
mod report;
mod resumable;
mod sessions;
mod verbs;
