//! What the timeline shows and what it tells back, as plain values.

use crate::app::carried::Heat;
use crate::engine::{Budget, ProviderError, Sample};
use crate::units::{Share, Tokens};
use egui::{Color32, Rect};

/// Everything the timeline draws. Steps are indices from 0; people read numbers from 1.
#[derive(Clone, Copy)]
pub struct TimelineInput<'a> {
    /// Another number whenever any of the samples are others: what was computed from them is kept until then.
    pub revision: u64,
    /// The lane whose context is stacked by kind, one sample a step.
    pub area: &'a [Sample],
    /// What of that the file does not hold, by step: known as the rest of what was reported, and stacked lowest.
    pub unseen: &'a dyn Fn(usize) -> Tokens,
    /// The lanes drawn as lines.
    pub lanes: &'a [LaneLine<'a>],
    /// What the provider reported, by step.
    pub recorded_usage: &'a [(usize, Tokens)],
    /// The context window at each step; the last one holds for steps beyond.
    pub windows: &'a [Tokens],
    /// Room kept for the answer.
    pub output_reserve: Tokens,
    /// Where the focused policy acts, as a share of usable; none where it has no such knob.
    pub trigger: Option<Share>,
    /// What the horizontal axis counts.
    pub axis: Axis,
    /// The step each turn begins with, ascending.
    pub turn_starts: &'a [usize],
    /// The recorded compactions: step and a few words.
    pub recorded_compactions: &'a [(usize, String)],
    /// Steps before which the program is taken to have been started again, ascending.
    pub restarts: &'a [usize],
    /// Errors that the provider is taken to have given, by step.
    pub errors: &'a [ProviderError],
    /// Curves that are no lanes: what a setting would do, the bound of hindsight.
    pub ghosts: &'a [Ghost<'a>],
    /// What came in at each step and stayed; none while that is not known.
    pub heat: &'a [Heat],
    /// The step all panels look at.
    pub selected: Option<usize>,
    /// How much of the legend's row, from its right end, the caller needs for controls of its own.
    pub corner: f32,
    /// What the hover card says below its first line; a line too long for it is cut off with an ellipsis.
    pub hover_text: &'a dyn Fn(usize) -> Vec<String>,
    /// Whether keys work although the timeline has no focus (nothing else wants them).
    pub takes_keys: bool,
}

/// A curve that is no lane: drawn thin and dotted, with its name at its end.
#[derive(Clone, Copy, Debug)]
pub struct Ghost<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its color.
    pub color: Color32,
    /// One sample a step.
    pub samples: &'a [Sample],
}

/// A lane as a line.
#[derive(Clone, Copy, Debug)]
pub struct LaneLine<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its color.
    pub color: Color32,
    /// One sample a step.
    pub samples: &'a [Sample],
    /// It is stale: a newer result is being computed.
    pub dim: bool,
    /// It is the one that is looked at.
    pub focused: bool,
    /// Its compactions: step and a few words.
    pub events: &'a [(usize, String)],
    /// Steps at which it ran and changed nothing, ascending.
    pub no_ops: &'a [usize],
    /// The first step of each run of steps at which its system would have given up.
    pub halts: &'a [usize],
    /// The first step that used something which the lane had removed: from there on its line is dashed.
    pub horizon: Option<usize>,
    /// Its own count is another than the true one: drawn beside it while the lane is looked at.
    pub counts_otherwise: bool,
}

impl LaneLine<'_> {
    /// Its own count is drawn.
    pub(super) fn shows_count(&self) -> bool {
        self.focused && self.counts_otherwise
    }
}

/// What the horizontal axis counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Model calls.
    #[default]
    Calls,
    /// Turns, each as wide as any other.
    Turns,
}

/// What happened in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimelineResponse {
    /// The step under the pointer.
    pub hovered: Option<usize>,
    /// The step that was chosen, by pointer or key.
    pub clicked_step: Option<usize>,
    /// Where the trigger was put.
    pub trigger: Option<Share>,
    /// The output reserve that the usable line was put to.
    pub output_reserve: Option<Tokens>,
    /// Where the window line was put.
    pub window: Option<Tokens>,
    /// The step whose restart mark is to be placed or taken away.
    pub restart: Option<usize>,
    /// The end of the legend's row that was kept free for the caller.
    pub corner: Option<Rect>,
}

impl TimelineInput<'_> {
    /// How many steps there are.
    pub fn steps(&self) -> usize {
        let lanes = self
            .lanes
            .iter()
            .map(|lane| lane.samples.len())
            .max()
            .unwrap_or(0);
        self.area
            .len()
            .max(lanes)
            .max(self.recorded_usage.last().map_or(0, |(step, _)| step + 1))
    }

    /// Window and output reserve at a step.
    pub fn budget(&self, step: usize) -> Budget {
        let window = self
            .windows
            .get(step)
            .or(self.windows.last())
            .copied()
            .unwrap_or_default();
        Budget {
            window,
            output_reserve: self.output_reserve,
        }
    }

    /// Tokens at which the trigger lies, at a step.
    pub fn trigger_tokens(&self, step: usize) -> Option<f64> {
        self.trigger
            .map(|share| share.0 * self.budget(step).usable().as_f64())
    }

    /// The tokens the hover card tells: of the stacked lane, else of the focused one.
    pub fn tokens_at(&self, step: usize) -> Option<Tokens> {
        let focused = self
            .lanes
            .iter()
            .find(|lane| lane.focused)
            .map_or(&[][..], |lane| lane.samples);
        self.area
            .get(step)
            .or(focused.get(step))
            .map(|sample| sample.tokens)
    }

    /// The heaviest of everything that is drawn as a curve.
    pub fn heaviest(&self) -> Tokens {
        let lanes = self
            .lanes
            .iter()
            .flat_map(|lane| lane.samples)
            .map(|sample| sample.tokens);
        let area = self
            .area
            .iter()
            .map(|sample| sample.tokens.max(stacked(sample)));
        let reported = self.recorded_usage.iter().map(|(_, tokens)| *tokens);
        let heaviest = lanes.chain(area).chain(reported).max().unwrap_or_default();
        // A count far above everything else may leave the plot: what is true keeps its room.
        let most = heaviest.max(self.windows.iter().copied().max().unwrap_or_default());
        let counted = self.counting().map(|lane| lane.samples).unwrap_or_default();
        let counted = counted.iter().map(|sample| sample.metered).max();
        heaviest.max(counted.unwrap_or_default().min(most))
    }

    /// The lane whose own count is drawn.
    pub(super) fn counting(&self) -> Option<&LaneLine<'_>> {
        self.lanes.iter().find(|lane| lane.shows_count())
    }
}

/// The height of a sample's stack, which on the recorded lane may differ from what was reported.
fn stacked(sample: &Sample) -> Tokens {
    sample
        .by_kind
        .iter()
        .map(|tokens| Tokens::from(*tokens))
        .sum()
}
