//! Policies, tables of models and prices, coefficients and configurations in files of the user.

mod own_presets;
mod policy_file;
mod reread_model;
mod tables;
mod tool_definitions;

pub use own_presets::{OwnPreset, OwnPresets, policy_text};
pub use policy_file::{load_configuration, load_policy, read_configuration, save_policy};
pub use reread_model::load_reread_model;
pub use tables::{install_tables, kept_tables};
pub use tool_definitions::load_tool_definitions;
