//! [`plimsoll_core::live::Manager`] as a class of Node: JSON in and out. `index.mjs` is its interface for programs.
//!
//! A panic becomes an error of JavaScript, so that a defect here does not end the program.

use napi::bindgen_prelude::*;
use napi_derive::napi;
use plimsoll_core::live;
use plimsoll_core::session::says_too_long;
use plimsoll_core::units::Millis;
use serde::Deserialize;

/// One live conversation under a policy.
#[napi]
pub struct Manager {
    manager: live::Manager,
    steps: live::StepWriter,
}

impl From<live::Manager> for Manager {
    fn from(manager: live::Manager) -> Self {
        Self { manager, steps: live::StepWriter::default() }
    }
}

/// Usage of a request, as its provider reported it.
#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    output_tokens: Option<u64>,
}

#[napi]
impl Manager {
    /// Creates a manager with the name or the text of a policy, and options as JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(policy: String, options: String) -> Result<Self> {
        let options = live::Options::from_json(&options).map_err(error)?;
        live::Manager::new(&policy, options).map(Self::from).map_err(error)
    }

    /// Continues from a state.
    #[napi(factory, catch_unwind)]
    pub fn restore(state: String) -> Result<Self> {
        live::Manager::restore(&state, &[]).map(Self::from).map_err(error)
    }

    /// Returns the state.
    #[napi(catch_unwind)]
    pub fn state(&self) -> Result<String> {
        Ok(self.manager.state())
    }

    /// Appends a message. Returns the number of messages.
    #[napi(catch_unwind)]
    pub fn push(&mut self, message: String) -> Result<u32> {
        let length = self.manager.push(&message).map_err(error)?;
        u32::try_from(length).map_err(error)
    }

    /// Forgets the messages from this number on.
    #[napi(catch_unwind)]
    pub fn truncate(&mut self, length: u32) -> Result<()> {
        self.steps.forget();
        self.manager.truncate(length as usize).map_err(error)
    }

    /// Sets the time of the next request, in seconds since 1970.
    #[napi(catch_unwind)]
    pub fn time(&mut self, seconds: f64) -> Result<()> {
        self.manager.set_time(Millis((seconds * 1000.0) as i64));
        Ok(())
    }

    /// Returns the next request as what differs from the last one, or the summary that it needs.
    #[napi(catch_unwind)]
    pub fn step(&mut self) -> Result<String> {
        let step = self.manager.step().map_err(error)?;
        Ok(self.steps.write(step))
    }

    /// Answers the summary request. Returns why the policy rejects the summary, if it does.
    #[napi(catch_unwind)]
    pub fn answer(&mut self, text: String) -> Result<Option<String>> {
        self.manager.answer(&text).map_err(error)
    }

    /// States why there is no summary.
    #[napi(catch_unwind)]
    pub fn fail(&mut self, why: String) -> Result<()> {
        self.manager.fail(&why).map_err(error)
    }

    /// Records the reported usage of the last request.
    #[napi(catch_unwind)]
    pub fn report(&mut self, usage: String) -> Result<()> {
        let usage: Usage = serde_json::from_str(&usage).map_err(error)?;
        self.manager.report(usage.input_tokens, usage.output_tokens).map_err(error)
    }

    /// Records that the provider rejected the last request as too long.
    #[napi(catch_unwind)]
    pub fn rejected(&mut self, text: String) -> Result<()> {
        self.manager.reject(&text).map_err(error)
    }
}

/// Returns whether the error of a provider says that the context is too long.
#[napi]
pub fn is_context_overflow(text: String) -> bool {
    says_too_long(&text.to_lowercase())
}

fn error(error: impl std::fmt::Display) -> Error {
    Error::from_reason(error.to_string())
}
