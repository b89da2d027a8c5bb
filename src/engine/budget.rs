//! How much room there is: the window of each step and what is reserved for the answer.

use crate::units::{Share, Tokens};

/// The context window at every step, and how it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowPlan {
    /// One window a step; a session without steps has one entry.
    pub per_step: Vec<Tokens>,
    /// Where most of them come from.
    pub source: WindowSource,
    /// What is odd, as sentences (a recorded usage above the window raised it).
    pub warnings: Vec<String>,
}

/// Where a window comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// The person set it.
    ByHand,
    /// The file records it.
    Recorded,
    /// Our table of models.
    ModelTable,
    /// Nobody knows; a usual size is assumed, and shown as assumed.
    Assumed,
}

impl WindowPlan {
    /// The same window at every step.
    pub fn constant(window: Tokens, steps: usize, source: WindowSource) -> Self {
        Self {
            per_step: vec![window; steps.max(1)],
            source,
            warnings: Vec::new(),
        }
    }

    /// The window at a step; the last one known for what lies behind.
    #[inline]
    pub fn at(&self, step: usize) -> Tokens {
        self.per_step
            .get(step)
            .or(self.per_step.last())
            .copied()
            .unwrap_or_default()
    }

    /// The window is not the same at every step.
    pub fn varies(&self) -> bool {
        self.per_step.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// The largest window of the session.
    pub fn largest(&self) -> Tokens {
        self.per_step.iter().copied().max().unwrap_or_default()
    }
}

/// Window and output reserve at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The model's hard limit.
    pub window: Tokens,
    /// Room kept for the answer.
    pub output_reserve: Tokens,
}

impl Budget {
    /// Window minus reserve.
    #[inline]
    pub fn usable(self) -> Tokens {
        self.window - self.output_reserve
    }

    /// Used as a share of usable; above 1 the call overflows, and infinite where nothing is usable.
    #[inline]
    pub fn pressure(self, used: Tokens) -> Share {
        match self.usable() {
            Tokens::ZERO if used > Tokens::ZERO => Share(f64::INFINITY),
            usable => used.share_of(usable),
        }
    }
}
