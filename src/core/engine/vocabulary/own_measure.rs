//! The size of a context in a policy's own count.

use crate::units::{Share, Tokens};

/// The context at one moment, in a policy's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnMeasure {
    /// Tokens on its meter.
    pub metered: Tokens,
    /// Fill that it believes, if the preset defines it.
    pub believed: Option<Share>,
}
