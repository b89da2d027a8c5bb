//! What a run measures, and its values at one moment.

use crate::engine::rewrite::NamedWindow;

/// What a run measures at every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Tokens in the context, on the policy's own meter.
    Used,
    /// The context window.
    Window,
    /// The input budget: window minus output reserve.
    Input,
    /// Room kept for the answer.
    OutputReserve,
    /// Messages in the context.
    Msgs,
    /// Turns so far.
    Turns,
    /// The step, from 1.
    Step,
    /// Definitions of tools, on the policy's own meter.
    Tools,
    /// The window that the system itself takes the model to have.
    ModelWindow,
    /// The longest answer that the system itself takes the model to give; 0 if it does not know.
    ModelOutput,
    /// How often this step's call was rejected so far.
    Attempt,
    /// The call within its turn, from 0.
    Call,
    /// The last call's prompt, as its provider reported it, on the policy's own meter; once something was taken out, no
    /// more than what is there. 0 before the first.
    LastInput,
    /// The same with the answer.
    LastTotal,
    /// What would be in the context had nothing been taken out of it, on the policy's own meter: what a client sends
    /// where the server edits.
    Sent,
    /// Minutes since the call before: beyond a provider's time the prompt cache is empty, and removing costs nothing
    /// extra.
    Idle,
}

impl Quantity {
    /// All quantities with their names.
    pub const ALL: [(&'static str, Self); 16] = [
        ("used", Self::Used),
        ("window", Self::Window),
        ("input", Self::Input),
        ("output_reserve", Self::OutputReserve),
        ("msgs", Self::Msgs),
        ("turns", Self::Turns),
        ("step", Self::Step),
        ("tools", Self::Tools),
        ("model_window", Self::ModelWindow),
        ("model_output", Self::ModelOutput),
        ("attempt", Self::Attempt),
        ("call", Self::Call),
        ("last_input", Self::LastInput),
        ("last_total", Self::LastTotal),
        ("sent", Self::Sent),
        ("idle", Self::Idle),
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
    /// Steps since each stage last acted, by stage; infinite before it did.
    pub since: Vec<f64>,
    /// Whether each stage acted in this pass of this step.
    pub fired: Vec<bool>,
}

impl Moment {
    /// Sets what a system's own table says of a model.
    pub(in crate::engine) fn set_model(&mut self, known: Option<&NamedWindow>, model: &str) {
        self.set(
            Quantity::ModelWindow,
            known.map_or(0, |k| (k.window)(model)) as f64,
        );
        self.set(
            Quantity::ModelOutput,
            known.map_or(0, |k| (k.output)(model)) as f64,
        );
    }

    /// Sets one quantity.
    pub fn set(&mut self, quantity: Quantity, value: f64) {
        self.quantities[quantity as usize] = value;
    }
}
