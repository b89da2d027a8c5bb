//! A report of a run, for people and for bug reports: what happened, what each policy would have done, and why.
//!
//! A [`Report`] is a value, rendered as Markdown ([`markdown`]) or as one page ([`html`]). Texts of the session and of the
//! person are [`Shown`]; a redacted report is built from values that never held them. It reads and writes nothing.

mod build;
mod curve;
mod drawing;
mod html;
mod known;
mod lane;
mod markdown;
mod removed;
mod sentences;
mod series;
mod shown;
mod svg;
mod thin;
mod track;
mod words;

pub use build::{Played, Subject};
pub use curve::{Curve, CurveKind, CurveLane, draw};
pub use drawing::{Anchor, Drawing, Ink, LANES, Shape};
pub use html::html;
pub use known::{basis, basis_sentence, window_source};
pub use markdown::markdown;
pub use series::{quoted, series};
pub use shown::{Plain, Redacted, Shown};
pub use svg::svg;
pub use track::{has_tracks, track};

use crate::analysis::{FindingKind, Severity};
use crate::engine::{Did, Fate};
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// What there is to say about a session and the policies played over it.
#[derive(Clone, Debug)]
pub struct Report {
    /// Texts of the session and of the person are replaced.
    pub is_redacted: bool,
    /// The session.
    pub about: About,
    /// The sentence about what really happened, in pieces.
    pub verdict: Vec<Shown>,
    /// How bad that is.
    pub severity: Severity,
    /// The lanes, `recorded` first.
    pub lanes: Vec<LaneReport>,
    /// The curve; none where there is no call.
    pub curve: Option<Drawing>,
    /// What was odd about the file and the windows.
    pub warnings: Vec<Shown>,
}

/// Facts about a session.
#[derive(Clone, Debug)]
pub struct About {
    /// Name of the file.
    pub file: Shown,
    /// Its title, where it has one of its own.
    pub title: Option<Shown>,
    /// Name of the format, for people.
    pub format: &'static str,
    /// Messages of the full history.
    pub messages: usize,
    /// Turns.
    pub turns: usize,
    /// Model calls.
    pub steps: usize,
    /// The file records its calls; else each assistant message counts as one.
    pub steps_recorded: bool,
    /// Models that answered.
    pub models: Vec<Shown>,
    /// The largest context window.
    pub window: Tokens,
    /// Where it comes from.
    pub window_source: &'static str,
    /// Room kept for the answer.
    pub output_reserve: Tokens,
    /// Tokens of the full history.
    pub total: Tokens,
    /// How counts are known, as a sentence.
    pub basis: String,
    /// A count that nobody reported is a guess.
    pub is_estimate: bool,
    /// Calls for which the provider reported what was sent.
    pub calls_reported: usize,
    /// Tokens of the full history by kind, none left out but zeros.
    pub by_kind: Vec<(Kind, Tokens)>,
    /// Tokens of calls and results by tool, heaviest first.
    pub by_tool: Vec<(Shown, Tokens)>,
    /// The heaviest messages of the session.
    pub heaviest: Vec<Item>,
}

/// A message and what it weighs.
#[derive(Clone, Debug)]
pub struct Item {
    /// Index of the message.
    pub message: usize,
    /// What a person would call it.
    pub name: Shown,
    /// Tokens.
    pub tokens: Tokens,
}

/// What one policy did.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// Name of the lane.
    pub name: Shown,
    /// What is played, for people.
    pub policy: Shown,
    /// What kind of line it is in the curve.
    pub kind: CurveKind,
    /// Its settings, in order.
    pub settings: Vec<Setting>,
    /// Its figures.
    pub figures: Figures,
    /// How full it was, in so many columns that they can be drawn with characters.
    pub columns: Vec<Column>,
    /// Where the system's own count is furthest from the true one, if it counts in its own way.
    pub belief: Option<Belief>,
    /// What its run shows to be wrong, worst first.
    pub findings: Vec<FindingReport>,
    /// What its stages did, in order; of long runs the first.
    pub events: Vec<EventReport>,
    /// Events that are not listed.
    pub more_events: usize,
    /// What is not in its last context as it was said, by what took it out.
    pub removed: Vec<Removal>,
    /// Removals that are not listed.
    pub more_removed: usize,
    /// What is odd about its run.
    pub warnings: Vec<Shown>,
}

/// Some calls in a row, where there are more than can be told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// The most that was in the context, as a share of the session's largest window.
    pub fill: Share,
    /// Something was removed.
    pub removes: bool,
    /// A call did not fit at first.
    pub overflows: bool,
}

/// A knob as it was set.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: Shown,
    /// Its value; of a choice, the choice.
    pub value: SettingValue,
    /// The preset's value.
    pub usual: SettingValue,
    /// Its unit.
    pub unit: Shown,
    /// The value is not the preset's.
    pub is_changed: bool,
}

/// A value of a knob.
#[derive(Clone, Debug)]
pub enum SettingValue {
    /// A number.
    Number(f64),
    /// One of several words.
    Choice(Shown),
}

/// How a count is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CountIs {
    /// The provider reported it.
    Reported,
    /// Counted with the model's own vocabulary.
    Exact,
    /// Fitted to what the provider reported, with this error.
    Calibrated(Share),
    /// A guess.
    Estimated,
}

/// Figures of a run.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The largest context, the one at the end included.
    pub peak: Option<Peak>,
    /// Firings that removed something; none where the file does not tell.
    pub compactions: Option<usize>,
    /// Calls whose first try did not fit.
    pub overflows: usize,
    /// Sum of the samples.
    pub sent: Tokens,
    /// Tokens of rejected tries.
    pub rejected: Tokens,
    /// Requests for summaries, and what they sent and got back.
    pub summaries: (usize, Tokens, Tokens),
    /// How the sum is known.
    pub known: CountIs,
    /// Summaries have a predicted size: nobody wrote them.
    pub has_predicted: bool,
}

/// The largest context of a run.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    /// Index of its step; none for the end.
    pub step: Option<usize>,
    /// Tokens.
    pub tokens: Tokens,
    /// As a share of usable.
    pub pressure: Share,
    /// How it is known.
    pub known: CountIs,
}

/// What a system believed, and what was true.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// Index of the step.
    pub step: usize,
    /// Tokens on its own count.
    pub counted: Tokens,
    /// True tokens.
    pub truly: Tokens,
    /// How full it believed the context to be, where it says.
    pub believed: Option<Share>,
    /// True tokens as a share of usable.
    pub pressure: Share,
}

/// Something that a run shows.
#[derive(Clone, Debug)]
pub struct FindingReport {
    /// Which.
    pub kind: FindingKind,
    /// Index of the step.
    pub step: usize,
    /// In words.
    pub text: Shown,
}

/// What a stage did, once or in a run of calls.
#[derive(Clone, Debug)]
pub struct EventReport {
    /// Index of the first step.
    pub step: usize,
    /// How many calls in a row it was done before.
    pub times: usize,
    /// The stage.
    pub stage: Shown,
    /// What it does.
    pub action: &'static str,
    /// What came of it.
    pub did: Did,
    /// Why.
    pub why: Shown,
    /// Messages that it touched.
    pub messages: usize,
    /// True tokens before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// What a summary request would send and get back, where one was made.
    pub request: Option<(Tokens, Tokens)>,
    /// Calls and results that lost their partner.
    pub orphans: usize,
    /// What the system itself logged, its first lines.
    pub log: Vec<Shown>,
}

/// What one event took out and is not back at the end.
#[derive(Clone, Debug)]
pub struct Removal {
    /// What became of it.
    pub fate: Fate,
    /// Index of the step before which it went; none for what the source's own compaction took.
    pub step: Option<usize>,
    /// The stage, where a stage did it.
    pub stage: Option<Shown>,
    /// Why, where a stage did it.
    pub why: Option<Shown>,
    /// Messages.
    pub messages: usize,
    /// True tokens that are gone.
    pub gone: Tokens,
    /// What stands in its place: text and tokens.
    pub instead: Option<(Shown, Tokens)>,
    /// The heaviest of the messages, in their order.
    pub items: Vec<Item>,
}

impl Report {
    /// The findings of all lanes with their lane, worst first.
    pub fn findings(&self) -> Vec<(&LaneReport, &FindingReport)> {
        let lanes = self.lanes.iter();
        let mut all: Vec<_> = lanes
            .flat_map(|lane| lane.findings.iter().map(move |finding| (lane, finding)))
            .collect();
        all.sort_by_key(|(_, finding)| finding.kind);
        all
    }
}

/// What became of messages, as the end of a phrase.
pub(crate) fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Cleared => "cleared",
        Fate::Cut => "shortened",
        Fate::Summarized => "summarized",
        Fate::Dropped => "dropped",
        Fate::Absent => "absent",
    }
}
