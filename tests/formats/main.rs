//! Tests of the formats: fixtures, recorded sessions and hostile files.

#[path = "../../benches/common/mod.rs"]
#[expect(dead_code, reason = "its usual number of messages is for benchmarks")]
mod bench_sessions;
#[path = "../common/fixtures.rs"]
mod fixtures;
#[path = "../common/hostile.rs"]
mod hostile_input;
#[path = "../common/program.rs"]
mod program;
#[path = "../common/real_sessions.rs"]
mod real_sessions;
#[path = "../common/repository.rs"]
mod repository;
#[path = "../common/rules.rs"]
mod rules;

mod archives;
mod captures;
mod claude;
mod codex;
mod databases;
mod description;
mod detection;
mod dice;
mod glued;
mod hostile;
mod hostile_places;
mod hostile_values;
mod huge;
mod messages;
mod packed;
mod pairs;
mod real;
mod tracks;
