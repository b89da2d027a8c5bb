//! Tests of the window, driven by accessible names without a display.

#[path = "../common/fixtures.rs"]
mod fixtures;
#[path = "../common/hostile.rs"]
mod hostile_input;
#[path = "../common/program.rs"]
mod program;
#[path = "../../src/window.rs"]
#[expect(dead_code, reason = "only the options of the window are tested")]
mod program_window;
#[path = "../common/reader.rs"]
mod reader;
#[path = "../common/real_sessions.rs"]
mod real_sessions;
#[path = "../common/repository.rs"]
mod repository;
#[path = "../providers/server.rs"]
#[expect(dead_code, reason = "faults of servers have tests of their own")]
mod server;

mod basics;
mod command;
mod compare;
mod context;
mod control_characters;
mod convert;
mod evaluate;
mod export;
mod figures;
mod find;
mod fit;
mod keys;
mod lanes;
mod layout;
mod live;
mod manual_edits;
mod measure;
mod next_step;
mod notes;
mod own_presets;
mod palette;
mod pixels;
mod ranges;
mod readme_pictures;
mod rereads;
mod restore;
mod screen;
mod search;
mod sessions;
mod start;
mod systems;
mod tabs;
mod tools;
mod tracks;
mod usage;
mod workspace;
