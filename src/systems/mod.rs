//! What real systems do, to the letter: a folder a system, a file a mechanism, and their tables.
//!
//! Each function reproduces one of the system's own functions, over messages as that system keeps them. It is proven
//! by case files that hold what the original returned (`tests/vectors.rs`), and it is the same function that a replay
//! and an execution run. Presets say when they act ([`crate::presets`]).

pub mod baseagent;
pub mod cowagent;
pub mod digitorn;
pub mod holmesgpt;
pub mod picoclaw;

use crate::engine::Registry;

/// Everything that presets may name.
pub static REGISTRY: Registry = Registry {
    actions: &[
        baseagent::ACTIONS,
        cowagent::ACTIONS,
        digitorn::ACTIONS,
        holmesgpt::ACTIONS,
        picoclaw::ACTIONS,
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
