//! The settings panel: policies, settings, presets, restarts and provider errors.
//!
//! Here is how it is drawn; its state and results are in `state/settings_panel`.

pub mod knob_curve;
pub mod knob_effect;
pub mod knob_list;
pub mod panel;
pub mod preset_dialog;
pub mod provider_errors;
pub mod restarts;
