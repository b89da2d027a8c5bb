//! The settings panel: policies, settings, presets, restarts and provider errors.

pub mod command;
pub(super) mod execute;
mod execute_preset;
pub(super) mod input;
mod knob_curve;
mod knob_effect;
mod knob_list;
pub mod knobs;
pub(super) mod panel;
pub mod policies;
pub mod preset_dialog;
pub(super) mod preset_menu;
pub mod preset_saving;
mod provider_errors;
mod restarts;
