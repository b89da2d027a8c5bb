//! Commands that change the configuration: lanes, settings, window, tokenizer and prices.

use super::knobs::KnobKey;
use crate::app::command::Command;
use crate::app::state::Config;

/// Executes a command that changes the configuration and can be undone.
pub(in crate::app) fn edit_config(config: &mut Config, command: Command) {
    match command {
        Command::SetLaneKnob(at, key, value) => set_knob(config, at, key, value),
        Command::SetOwnKnobs(at, is_own) => {
            let own = is_own.then(|| config.lane_settings(at).clone());
            if let Some(slot) = config.lanes.get_mut(at) {
                slot.own = own;
            }
        }
        Command::ResetKnobs => {
            config.knobs.clear();
            config.window = None;
            for lane in &mut config.lanes {
                lane.own = None;
            }
        }
        Command::SetStrategy(at, policy) => {
            if let Some(slot) = config.lanes.get_mut(at) {
                slot.policy = policy;
            }
        }
        Command::RemoveLane(at) if at < config.lanes.len() && config.lanes.len() > 1 => {
            config.lanes.remove(at);
        }
        Command::SetWindow(window) => config.window = window,
        Command::SetBilling(billing) => config.billing = billing,
        Command::SetCounter(counter) => config.counter = counter,
        _ => {}
    }
}

/// Sets a knob in the settings this lane uses; `None` resets it to the default.
pub(in crate::app) fn set_knob(config: &mut Config, lane: usize, key: KnobKey, value: Option<f64>) {
    let own = config.lanes.get_mut(lane).and_then(|l| l.own.as_mut());
    let settings = own.unwrap_or(&mut config.knobs);
    match value {
        Some(value) => settings.insert(key, value),
        None => settings.remove(&key),
    };
}
