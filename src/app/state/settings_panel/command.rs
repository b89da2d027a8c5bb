//! Commands that change settings and assumptions.

use crate::analysis::attribution::Selector;
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::knobs::KnobKey;
use crate::units::Tokens;
use std::sync::Arc;

/// A command that changes settings or assumptions.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsCommand {
    /// Set a knob in the settings of the focused lane: in every lane that shares them, or in that lane only.
    Set(KnobKey, f64),
    /// Set a knob in the settings of this lane; `None` resets it to the preset's default.
    SetInLane(usize, KnobKey, Option<f64>),
    /// Give a lane its own settings, or use the shared ones again.
    SetOwn {
        /// Index of the lane.
        lane: usize,
        /// Own settings, else the shared ones.
        is_own: bool,
    },
    /// Reset every knob.
    Reset,
    /// Set the context window; `None` for the detected one.
    SetWindow(Option<Tokens>),
    /// Count with this tokenizer.
    SetTokenizer(&'static str),
    /// Set the billing settings.
    SetBilling(BillingChoice),
    /// Compute everything without a source, or with it again.
    ToggleSource(Selector),
    /// Add or remove a restart mark before this call.
    ToggleRestart(usize),
    /// Set a provider error that precedes this call; `None` removes it.
    SetError(usize, Option<Arc<str>>),
}
