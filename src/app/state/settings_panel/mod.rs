//! The settings panel: policies, settings, presets, restarts and provider errors.
//!
//! Here are its state and results; `ui/settings_panel` draws them.

pub mod command;
pub mod preset_saving;
