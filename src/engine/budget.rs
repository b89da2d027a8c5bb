//! How much room there is: the window of each step and what is reserved for the answer.

use crate::units::{Share, Tokens};

/// The context window at every step, and how it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowPlan {
    per_step: Vec<Tokens>,
    /// Of all steps: asked for in every frame and by every replay.
    smallest: Tokens,
    largest: Tokens,
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
    /// One window a step; a session without steps has one entry.
    pub fn new(per_step: Vec<Tokens>, source: WindowSource, warnings: Vec<String>) -> Self {
        let windows = || per_step.iter().copied();
        Self {
            smallest: windows().min().unwrap_or_default(),
            largest: windows().max().unwrap_or_default(),
            per_step,
            source,
            warnings,
        }
    }

    /// The same window at every step.
    pub fn constant(window: Tokens, steps: usize, source: WindowSource) -> Self {
        Self::new(vec![window; steps.max(1)], source, Vec::new())
    }

    /// One window a step.
    pub fn per_step(&self) -> &[Tokens] {
        &self.per_step
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
        self.smallest != self.largest
    }

    /// The smallest window of the session.
    pub fn smallest(&self) -> Tokens {
        self.smallest
    }

    /// The largest window of the session.
    pub fn largest(&self) -> Tokens {
        self.largest
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
