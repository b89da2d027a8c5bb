//! Quantities that a run measures, and their values at one moment.

use crate::engine::named::window::NamedWindow;
use crate::units::Tokens;

/// A quantity that a run measures at every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Tokens in the context, on the policy's own meter.
    Used,
    /// The context window.
    Window,
    /// The share of the model's context window that the window is: below 1 if the session's program recorded a window
    /// from which it had subtracted a margin of its own.
    WindowShare,
    /// The input budget: window minus output reserve.
    Input,
    /// Tokens reserved for the answer.
    OutputReserve,
    /// Messages in the context.
    Msgs,
    /// Turns so far.
    Turns,
    /// The number of the call, from 1.
    Call,
    /// Tool definitions, on the policy's own meter.
    Tools,
    /// The model's context window as assumed by the system.
    ModelWindow,
    /// The model's maximum output as assumed by the system; 0 if unknown.
    ModelOutput,
    /// Number of times that this call was rejected so far.
    Attempt,
    /// The call within its turn, from 0.
    CallInTurn,
    /// Prompt of the last call as its provider reported it, on the policy's own meter. After a compaction, at most the
    /// current context. 0 before the first call.
    LastInput,
    /// `LastInput` plus the answer.
    LastTotal,
    /// The context if nothing had been removed, on the policy's own meter: the tokens that a client sends if the server
    /// edits the context.
    Sent,
    /// Minutes since the call before. After the provider's cache lifetime the prompt cache is empty, and a removal
    /// causes no additional cache miss.
    Idle,
    /// Prompt of the last call as its provider reported it, whatever was removed since. 0 if nothing was reported.
    ReportedInput,
    /// Answer of the last call as its provider reported it. 0 if nothing was reported.
    ReportedOutput,
    /// 1 if the user forces a compaction and the run has had none, else 0. The stage fires anyway; an action that
    /// compares a count with its own limit reads it.
    Forced,
}

impl Quantity {
    /// All quantities with their names.
    pub const ALL: [(&'static str, Self); 20] = [
        ("used", Self::Used),
        ("window", Self::Window),
        ("window_share", Self::WindowShare),
        ("input", Self::Input),
        ("output_reserve", Self::OutputReserve),
        ("msgs", Self::Msgs),
        ("turns", Self::Turns),
        ("call", Self::Call),
        ("tools", Self::Tools),
        ("model_window", Self::ModelWindow),
        ("model_output", Self::ModelOutput),
        ("attempt", Self::Attempt),
        ("call_in_turn", Self::CallInTurn),
        ("last_input", Self::LastInput),
        ("last_total", Self::LastTotal),
        ("sent", Self::Sent),
        ("idle", Self::Idle),
        ("reported_input", Self::ReportedInput),
        ("reported_output", Self::ReportedOutput),
        ("forced", Self::Forced),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// The values at one moment of a run.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// By quantity, in the order of [`Quantity::ALL`].
    pub quantities: [f64; Quantity::ALL.len()],
    /// Calls since each stage last acted, by stage; infinite if it never did.
    pub since: Vec<f64>,
    /// Whether each stage acted in this pass of this call.
    pub fired: Vec<bool>,
}

impl Moment {
    /// Sets the values from a system's own model table.
    pub(crate) fn set_model(&mut self, known: Option<&NamedWindow>, model: &str) {
        self.set(Quantity::ModelWindow, known.map_or(0, |k| (k.window)(model)) as f64);
        self.set(Quantity::ModelOutput, known.map_or(0, |k| (k.output)(model)) as f64);
    }

    /// Sets the window of a call.
    pub(crate) fn set_window(&mut self, window: Tokens, share: f64) {
        self.set(Quantity::Window, window.as_f64());
        self.set(Quantity::WindowShare, share);
    }

    /// Sets one quantity.
    pub fn set(&mut self, quantity: Quantity, value: f64) {
        self.quantities[quantity as usize] = value;
    }
}
