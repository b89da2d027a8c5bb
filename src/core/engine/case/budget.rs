//! The budget of each call: the context window and the tokens reserved for the answer.

use crate::units::{Share, Tokens};
use serde::{Deserialize, Serialize};

/// The context window at every call and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowPlan {
    per_call: Vec<Tokens>,
    /// The smallest window of all calls, cached because every frame and every replay reads it.
    smallest: Tokens,
    largest: Tokens,
    /// Source of most of the windows.
    pub source: WindowSource,
    /// Warnings, as sentences (for example: a recorded usage above the window raised it).
    pub warnings: Vec<String>,
}

/// Source of a context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// Set by the user.
    User,
    /// Recorded in the file.
    Recorded,
    /// From the table of models, which contains the session's models.
    ModelTable,
    /// Unknown: the window of another model of the same family, or a common size.
    Assumed,
}

impl WindowPlan {
    /// Creates a plan with one window per call; a session without calls has one entry.
    pub fn new(per_call: Vec<Tokens>, source: WindowSource, warnings: Vec<String>) -> Self {
        let windows = || per_call.iter().copied();
        Self {
            smallest: windows().min().unwrap_or_default(),
            largest: windows().max().unwrap_or_default(),
            per_call,
            source,
            warnings,
        }
    }

    /// Creates a plan with one window for all calls.
    pub fn constant(window: Tokens, calls: usize, source: WindowSource) -> Self {
        Self::new(vec![window; calls.max(1)], source, Vec::new())
    }

    /// Returns one window per call.
    pub fn per_call(&self) -> &[Tokens] {
        &self.per_call
    }

    /// Returns the window at a call; after the last call, the last known window.
    #[inline]
    pub fn at(&self, call: usize) -> Tokens {
        self.per_call.get(call).or(self.per_call.last()).copied().unwrap_or_default()
    }

    /// Returns whether the window changes during the session.
    pub fn varies(&self) -> bool {
        self.smallest != self.largest
    }

    /// Returns the smallest window of the session.
    pub fn smallest(&self) -> Tokens {
        self.smallest
    }

    /// Returns the largest window of the session.
    pub fn largest(&self) -> Tokens {
        self.largest
    }
}

/// Window and output reserve at one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The model's hard limit.
    pub window: Tokens,
    /// Tokens reserved for the answer.
    pub output_reserve: Tokens,
}

impl Budget {
    /// Returns the window minus the reserve.
    #[inline]
    pub fn usable(self) -> Tokens {
        self.window - self.output_reserve
    }

    /// Returns whether a context is larger than the window, so that a provider would reject the call.
    #[inline]
    pub fn overflows(self, used: Tokens) -> bool {
        used > self.window
    }

    /// Returns used tokens as a share of the usable window. Above 1 the context reaches into the output reserve; infinite
    /// if nothing is usable.
    #[inline]
    pub fn pressure(self, used: Tokens) -> Share {
        match self.usable() {
            Tokens::ZERO if used > Tokens::ZERO => Share(f64::INFINITY),
            usable => used.share_of(usable),
        }
    }
}
