//! Options of a conversation, which the program states before it begins.

use super::LiveError;
use crate::session::Calibration;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of a conversation. As JSON, every member but `window` may be missing.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Context window of the model, in tokens.
    pub window: u64,
    /// Notation of the messages, one of [`notations`](crate::formats::live::notations). Default: as the messages have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Name of the model, for policies that have rules of their own per model and for counting images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Settings of the policy by name. Default: those of the policy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, f64>,
    /// Name of the token counter. Default: `o200k_base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// Calibration of the counts, as `plimsoll inspect --json` prints it for recorded sessions. Without it, the counts are
    /// corrected by each reported usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationOption>,
    /// Members of the request besides its messages that are part of the context, as JSON text: `system`, `instructions`,
    /// `tools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// A calibration: actual tokens are `factor` times the counted ones, and every call has `overhead` more.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationOption {
    /// Tokens of content that no message contains.
    pub overhead: f64,
    /// Actual tokens per counted token.
    pub factor: f64,
    /// Mean absolute error, as a share.
    #[serde(default)]
    pub error: f64,
}

impl Options {
    /// Options with a window and defaults.
    pub fn new(window: u64) -> Self {
        Self {
            window,
            format: None,
            model: None,
            settings: BTreeMap::new(),
            counter: None,
            calibration: None,
            request: None,
        }
    }

    /// Reads options from JSON.
    ///
    /// # Errors
    /// [`LiveError::Option`] names the wrong member.
    pub fn from_json(text: &str) -> Result<Self, LiveError> {
        serde_json::from_str(text).map_err(|error| LiveError::Option(format!("options: {error}")))
    }

    /// Returns the calibration for counts of this counter.
    pub(super) fn calibration(&self, counter: &str) -> Option<Calibration> {
        let calibration = self.calibration.as_ref()?;
        Some(Calibration {
            counter: counter.to_owned(),
            overhead: calibration.overhead,
            factor: calibration.factor,
            error: calibration.error,
        })
    }
}
