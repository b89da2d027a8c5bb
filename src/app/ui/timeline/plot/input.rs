//! Input and output of the timeline, as plain values.

use crate::app::state::messages::cumulative::Heat;
use crate::app::state::model::selection::CallRange;
use crate::app::state::timeline::state::Axis;
use crate::engine::{Budget, ProviderError, Sample};
use crate::session::Kind;
use crate::units::{Share, Tokens};
use egui::{Color32, Rect};

/// Input of the timeline. Calls are indices from 0; displayed numbers start at 1.
#[derive(Clone, Copy)]
pub struct TimelineInput<'a> {
    /// Changes whenever any sample changes; results derived from the samples are cached until then.
    pub revision: u64,
    /// The lane whose context is stacked by kind, one sample per call.
    pub area: &'a [Sample],
    /// Tokens that are not recorded, by call, at the bottom of the stack.
    pub unrecorded: &'a dyn Fn(usize) -> Tokens,
    /// The lanes drawn as lines.
    pub lanes: &'a [LaneLine<'a>],
    /// Usage reported by the provider, by call.
    pub recorded_usage: &'a [(usize, Tokens)],
    /// The context window at each call; the last value applies to later calls.
    pub windows: &'a [Tokens],
    /// Tokens reserved for the answer.
    pub output_reserve: Tokens,
    /// Trigger of the focused policy as a share of the usable window; `None` without such a setting.
    pub trigger: Option<Share>,
    /// Unit of the horizontal axis.
    pub axis: Axis,
    /// The first call of each turn, ascending.
    pub turn_starts: &'a [usize],
    /// The recorded compactions, ascending by call.
    pub recorded_compactions: &'a [CompactionFlag],
    /// Calls with a restart of the program before them, ascending.
    pub restarts: &'a [usize],
    /// Assumed provider errors, by call.
    pub errors: &'a [ProviderError],
    /// The curve of a setting under the pointer.
    pub reference_curve: Option<ReferenceCurve<'a>>,
    /// The curve of another session; `None` without a comparison.
    pub compared_session: Option<&'a ComparedCurve<'a>>,
    /// Cumulative tokens by call; empty until known.
    pub heat: &'a [Heat],
    /// The selected call.
    pub selected: Option<usize>,
    /// The selected range of calls.
    pub range: Option<CallRange>,
    /// Zoom to the selected range in this frame.
    pub zooms_to_range: bool,
    /// The call that is compared with the selected one.
    pub compared: Option<usize>,
    /// The only kind in the stacked area; `None` for all.
    pub isolated: Option<Kind>,
    /// Width of the right end of the legend row that is reserved for the caller's controls.
    pub corner: f32,
    /// Lines of the hover card below its first one; a long line ends in an ellipsis.
    pub hover_text: &'a dyn Fn(usize) -> Vec<String>,
    /// Keys work without focus, since no other control uses them.
    pub takes_keys: bool,
}

/// A recorded compaction, shown as a flag.
#[derive(Clone, Debug)]
pub struct CompactionFlag {
    /// The call before which it happened.
    pub call: usize,
    /// Short text, such as `recorded compaction 183k → 37k`.
    pub label: String,
}

/// A reference curve: thin and dotted, with its name at the end.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceCurve<'a> {
    /// Name.
    pub name: &'a str,
    /// Color.
    pub color: Color32,
    /// One sample per call.
    pub samples: &'a [Sample],
}

/// The curve of another session on the same axis.
#[derive(Clone, Copy, Debug)]
pub struct ComparedCurve<'a> {
    /// Name.
    pub name: &'a str,
    /// Color.
    pub color: Color32,
    /// Tokens of the context of each call.
    pub contexts: &'a [Tokens],
    /// Its context window, the largest if it changes.
    pub window: Tokens,
    /// Its usable window, the largest if it changes.
    pub usable_window: Tokens,
    /// The first call of each turn, ascending.
    pub turn_starts: &'a [usize],
    /// Stretched to the length of the open session. Otherwise equal calls or turns are at the same position.
    pub is_by_share: bool,
}

/// A lane as a line.
#[derive(Clone, Copy, Debug)]
pub struct LaneLine<'a> {
    /// Name.
    pub name: &'a str,
    /// Color.
    pub color: Color32,
    /// One sample per call.
    pub samples: &'a [Sample],
    /// Stale: a new result is being computed.
    pub dim: bool,
    /// The lane has the focus.
    pub focused: bool,
    /// Calls with a compaction, ascending.
    pub compactions: &'a [usize],
    /// Calls with an event that changed nothing, ascending.
    pub no_ops: &'a [usize],
    /// The first call of each run of calls at which its system would have stopped.
    pub halts: &'a [usize],
    /// The first call without a file's content that an earlier call had. The line is dashed from there on.
    pub first_removal: Option<usize>,
    /// Its own count differs from the actual one, and is drawn while the lane has the focus.
    pub counts_otherwise: bool,
}

impl LaneLine<'_> {
    /// Returns whether its own count is drawn.
    pub(crate) fn shows_count(&self) -> bool {
        self.focused && self.counts_otherwise
    }
}

/// Result of the user input in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimelineResponse {
    /// The call under the pointer.
    pub hovered: Option<usize>,
    /// The call selected by pointer or key.
    pub clicked_call: Option<usize>,
    /// The range selected by pointer or key.
    pub range: Option<CallRange>,
    /// A click outside the selected range: it ends.
    pub clears_range: bool,
    /// The range that is shown and the part of the plot that shows it; the whole plot if the range is out of view.
    pub shown_range: Option<(CallRange, Rect)>,
    /// The call that was chosen for a comparison with the selected one.
    pub compared: Option<usize>,
    /// The kind whose entry of the legend was clicked.
    pub kind: Option<Kind>,
    /// Index of the recorded compaction whose flag was clicked.
    pub flag: Option<usize>,
    /// The call whose text is to be copied.
    pub copied: Option<usize>,
    /// New trigger.
    pub trigger: Option<Share>,
    /// New output reserve, from a drag of the usable window.
    pub output_reserve: Option<Tokens>,
    /// New window.
    pub window: Option<Tokens>,
    /// The call whose restart mark is to be added or removed.
    pub restart: Option<usize>,
    /// The part of the legend row reserved for the caller.
    pub corner: Option<Rect>,
}

impl TimelineInput<'_> {
    /// Returns the number of calls.
    pub fn calls(&self) -> usize {
        let lanes = self.lanes.iter().map(|lane| lane.samples.len());
        let reported = self.recorded_usage.last().map(|(call, _)| call + 1);
        let all = lanes.chain([self.area.len()]).chain(reported);
        all.max().unwrap_or_default()
    }

    /// Returns window and output reserve at a call.
    pub fn budget(&self, call: usize) -> Budget {
        let window = self.windows.get(call).or(self.windows.last());
        Budget { window: window.copied().unwrap_or_default(), output_reserve: self.output_reserve }
    }

    /// Returns the tokens of the trigger at a call.
    pub fn trigger_tokens(&self, call: usize) -> Option<f64> {
        self.trigger.map(|share| share.0 * self.budget(call).usable().as_f64())
    }

    /// Returns the tokens of the hover card: of the stacked lane, else of the focused one.
    pub fn tokens_at(&self, call: usize) -> Option<Tokens> {
        let focused =
            self.lanes.iter().find(|lane| lane.focused).map_or(&[][..], |lane| lane.samples);
        self.area.get(call).or(focused.get(call)).map(|sample| sample.tokens)
    }

    /// Returns the largest value of all curves.
    pub fn heaviest(&self) -> Tokens {
        let lanes = self.lanes.iter().flat_map(|lane| lane.samples).map(|sample| sample.tokens);
        let area = self.area.iter().map(|sample| sample.tokens.max(stacked(sample)));
        let reported = self.recorded_usage.iter().map(|(_, tokens)| *tokens);
        let compared = self.compared_session.map_or(&[][..], |other| other.contexts);
        let compared = compared.iter().copied();
        let all = lanes.chain(area).chain(reported).chain(compared);
        let heaviest = all.max().unwrap_or_default();
        // A policy's own count far above all others may leave the plot, so that the actual values remain readable.
        let most = heaviest.max(self.windows.iter().copied().max().unwrap_or_default());
        let counted = self.counting().map(|lane| lane.samples).unwrap_or_default();
        let counted = counted.iter().map(|sample| sample.metered).max();
        heaviest.max(counted.unwrap_or_default().min(most))
    }

    /// Returns the lane whose own count is drawn.
    pub(crate) fn counting(&self) -> Option<&LaneLine<'_>> {
        self.lanes.iter().find(|lane| lane.shows_count())
    }
}

/// Returns the height of a sample's stack. For the recorded lane it may differ from the reported usage.
fn stacked(sample: &Sample) -> Tokens {
    sample.by_kind.iter().map(|tokens| Tokens::from(*tokens)).sum()
}
