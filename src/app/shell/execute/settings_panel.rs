//! Executes commands that change settings and assumptions.

use crate::analysis::attribution::Selector;
use crate::app::shell::App;
use crate::app::state::model::billing::PriceChoice;
use crate::app::state::model::config::Config;
use crate::app::state::model::knobs::KnobKey;
use crate::app::state::model::runs::replays::resumes;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;

impl App {
    /// Executes a command that changes settings or assumptions.
    pub(crate) fn execute_settings(&mut self, command: SettingsCommand) {
        let config = &mut self.session.config;
        match command {
            SettingsCommand::Set(key, value) => {
                let lane = self.lane_of(&key);
                set_knob(&mut self.session.config, lane, key, Some(value));
            }
            SettingsCommand::SetInLane(lane, key, value) => set_knob(config, lane, key, value),
            SettingsCommand::SetOwn { lane, is_own } => {
                let own = is_own.then(|| config.lane_settings(lane).clone());
                if let Some(lane) = config.lanes.get_mut(lane) {
                    lane.own = own;
                }
            }
            SettingsCommand::Reset => {
                config.knobs.clear();
                config.window = None;
                for lane in &mut config.lanes {
                    lane.own = None;
                }
            }
            SettingsCommand::SetWindow(window) => config.window = window,
            SettingsCommand::SetTokenizer(counter) => config.counter = counter,
            SettingsCommand::SetBilling(billing) => config.billing = billing,
            SettingsCommand::ToggleSource(selector) => self.toggle_source(selector),
            SettingsCommand::ToggleRestart(call) => self.toggle_restart(call),
            SettingsCommand::SetError(call, text) => config.set_error(call, text),
        }
    }

    /// Returns the lane a knob belongs to: the focused lane if it has the knob, else the first lane that does.
    fn lane_of(&self, key: &KnobKey) -> usize {
        let has_knob = |lane: &usize| {
            let policy = self.policies.get(&self.session.config.lanes[*lane].policy);
            policy.knobs.iter().any(|knob| KnobKey::of(&policy, knob) == *key)
        };
        let n = self.session.config.lanes.len();
        let focused = self.session.selection.lane.filter(|lane| *lane < n);
        let focused = focused.filter(has_knob);
        focused.or_else(|| (0..n).find(has_knob)).unwrap_or(0)
    }

    /// Adds or removes a restart mark before a call, and reports it.
    fn toggle_restart(&mut self, call: usize) {
        let Some(document) = &self.session.document else {
            return;
        };
        if call >= document.session().calls.len() {
            return;
        }
        self.session.config.toggle_restart(call);
        let is_placed = self.session.config.restarts.contains(&call);
        let mut policies = self.session.config.lanes.iter().map(|l| self.policies.get(&l.policy));
        let number = wording::number(call);
        let text = if !is_placed {
            format!("Restart mark before call {number} removed.")
        } else if policies.any(|policy| resumes(&policy)) {
            format!("Restart mark placed before call {number}.")
        } else {
            format!(
                "Restart mark placed before call {number}. No lane's policy reacts to a restart."
            )
        };
        self.toasts.changed(text, &self.session.config);
    }

    /// Switches a source off or on again, and reports it.
    fn toggle_source(&mut self, selector: Selector) {
        let config = &mut self.session.config;
        let is_off = config.without.contains(&selector);
        let with = if is_off { "with" } else { "without" };
        let text = format!("Everything is computed {with} {selector}.");
        if is_off {
            config.without.retain(|other| *other != selector);
        } else {
            config.without.push(selector);
        }
        self.toasts.changed(text, &self.session.config);
    }

    /// Saves typed prices, but not during a drag.
    pub(crate) fn keep_price(&mut self) {
        let own = match &self.session.config.billing.price {
            PriceChoice::Own(own) => Some(own),
            PriceChoice::Recorded | PriceChoice::Model(_) => None,
        };
        let warning = self.saved.set_price(own);
        self.warn(warning);
    }
}

/// Sets a knob in the settings this lane uses; `None` resets it to the default.
fn set_knob(config: &mut Config, lane: usize, key: KnobKey, value: Option<f64>) {
    let own = config.lanes.get_mut(lane).and_then(|l| l.own.as_mut());
    let settings = own.unwrap_or(&mut config.knobs);
    match value {
        Some(value) => settings.insert(key, value),
        None => settings.remove(&key),
    };
}
