//! Policies, prices and configurations in files of the user.

mod own_presets;
mod policy_file;

pub use own_presets::{OwnPreset, OwnPresets, policy_text};
pub use policy_file::{
    load_configuration, load_policy, load_prices, read_configuration, save_policy,
};
