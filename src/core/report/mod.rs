//! Reports of a session: the recorded run, and the replay of each policy with its reasons.
//!
//! A [`Report`] is a value, rendered as Markdown ([`markdown`]) or as an HTML page ([`html`]). Texts of the session and
//! the user are [`ReportText`]; a redacted report is built from values that never contain them. The module does no I/O.

mod accuracy;
mod build;
mod compared_figure;
mod curve;
mod downsample;
mod drawing;
mod escaped;
mod html;
mod item;
mod lane;
mod markdown;
mod page;
mod played;
mod query_help;
mod redaction;
mod removed;
mod rereads;
mod sentences;
mod series;
mod survival;
mod svg;
mod track;
mod tree;

pub use accuracy::{accuracy_sentence, window_source};
pub use build::ReportSubject;
pub use compared_figure::NumberFormat;
pub use curve::{Curve, CurveKind, CurveLane, draw};
pub use drawing::{Anchor, Drawing, Ink, LANES, Shape};
pub use html::{html, html_page};
pub use markdown::{markdown, markdown_page};
pub use page::Block;
pub use played::Played;
pub use query_help::QUERY_HELP;
pub use redaction::{Plain, Redacted, ReportText};
pub use rereads::{LikelyFile, MAX_REREAD_FILES, REREADS_HEAD, RereadsReport, rereads_cells};
pub use series::{quoted, series};
pub use survival::{
    LostLine, LostReport, SurvivalReport, SurvivalRow, VALIDITY, VALIDITY_SHORT, survival_share,
};
pub use svg::svg;
pub use track::{has_tracks, track};
pub use tree::{TreeReport, TreeSubject};

use crate::analysis::{FindingKind, Severity};
use crate::engine::{ActionKind, Effect, MessageStatus, RequestSize, SummaryTraffic};
use crate::session::Kind;
use crate::tokens::Accuracy;
use crate::units::{Share, Tokens};

/// A report of a session and the policies replayed over it.
#[derive(Clone, Debug)]
pub struct Report {
    /// Texts of the session and of the user are replaced.
    pub is_redacted: bool,
    /// The session.
    pub about: About,
    /// The verdict about the recorded run, in pieces.
    pub verdict: Vec<ReportText>,
    /// Severity of the verdict.
    pub severity: Severity,
    /// The lanes, `recorded` first.
    pub lanes: Vec<LaneReport>,
    /// The facts that the lanes kept; `None` without facts or calls.
    pub survival: Option<SurvivalReport>,
    /// The conversations of the session; `None` without sub-agents and branches.
    pub tree: Option<TreeReport>,
    /// The curve; `None` without a call.
    pub curve: Option<Drawing>,
    /// Warnings about the file and the windows.
    pub warnings: Vec<ReportText>,
    /// Notes of the user on messages, in message order; none in a redacted report.
    pub message_notes: Vec<MessageNote>,
    /// Number of notes that the report omits.
    pub omitted_notes: usize,
}

/// A note of the user on a message.
#[derive(Clone, Debug)]
pub struct MessageNote {
    /// The message.
    pub item: ReportMessage,
    /// The note.
    pub text: ReportText,
}

/// Facts about a session.
#[derive(Clone, Debug)]
pub struct About {
    /// Name of the file.
    pub file: ReportText,
    /// Title, if the session has one.
    pub title: Option<ReportText>,
    /// Label of the format.
    pub format: &'static str,
    /// Messages of the full history.
    pub messages: usize,
    /// Turns.
    pub turns: usize,
    /// Model calls.
    pub calls: usize,
    /// True if the file records calls; otherwise each assistant message counts as one.
    pub calls_recorded: bool,
    /// Models that answered.
    pub models: Vec<ReportText>,
    /// The largest context window.
    pub window: Tokens,
    /// Source of the context window.
    pub window_source: &'static str,
    /// Output reserve.
    pub output_reserve: Tokens,
    /// Tokens of the full history.
    pub total: Tokens,
    /// Accuracy of the counts as text: `calibrated ±2.4 % (o200k_base fitted to recorded usage)`.
    pub accuracy: String,
    /// `≈` if counts that are not reported are estimates, else empty.
    pub accuracy_mark: &'static str,
    /// Calls with reported usage.
    pub calls_reported: usize,
    /// Tokens that are not recorded: system prompt and tool definitions.
    pub not_recorded: Tokens,
    /// Recorded tokens of the full history by kind, without zeros.
    pub by_kind: Vec<(Kind, Tokens)>,
    /// Tokens of calls and results by tool, heaviest first.
    pub by_tool: Vec<(ReportText, Tokens)>,
    /// The heaviest messages of the session.
    pub heaviest: Vec<ReportMessage>,
}

impl About {
    /// Returns the tokens of the full history by kind: what is not recorded, then the recorded kinds.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (String, Tokens)> {
        let not_recorded = ("not recorded".to_owned(), self.not_recorded);
        let kinds = self.by_kind.iter();
        let kinds = kinds.map(|(kind, tokens)| (kind.name().replace('_', " "), *tokens));
        let all = std::iter::once(not_recorded).chain(kinds);
        all.filter(|(_, tokens)| *tokens > Tokens::ZERO)
    }
}

/// A message and its tokens.
#[derive(Clone, Debug)]
pub struct ReportMessage {
    /// Index of the message.
    pub message: usize,
    /// Readable name.
    pub name: ReportText,
    /// Tokens.
    pub tokens: Tokens,
}

/// The results of a lane.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// Name of the lane.
    pub name: ReportText,
    /// Label of the policy.
    pub policy: ReportText,
    /// Kind of its line in the curve.
    pub kind: CurveKind,
    /// Its settings, in order.
    pub settings: Vec<SettingReport>,
    /// Its figures.
    pub figures: Figures,
    /// Its expected re-reads.
    pub rereads: RereadsReport,
    /// Fill of the context, in columns for a character drawing.
    pub columns: Vec<LaneColumn>,
    /// Largest difference between the system's own count and the actual one, if it counts differently.
    pub belief: Option<Belief>,
    /// Findings of the run, worst first.
    pub findings: Vec<FindingReport>,
    /// Events of its stages, in order; the first ones of long runs.
    pub events: Vec<EventReport>,
    /// Events that are not listed.
    pub more_events: usize,
    /// Messages that are not verbatim in the last context, by the event that removed them.
    pub removed: Vec<RemovalReport>,
    /// Removals that are not listed.
    pub more_removed: usize,
    /// Warnings of the run.
    pub warnings: Vec<ReportText>,
}

/// A column of the character drawing: one or more consecutive calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneColumn {
    /// Largest context, as a share of the session's largest window.
    pub fill: Share,
    /// Something was removed.
    pub removes: bool,
    /// A call overflowed at first.
    pub overflows: bool,
}

/// A setting of a policy.
#[derive(Clone, Debug)]
pub struct SettingReport {
    /// Its name.
    pub name: ReportText,
    /// Its value; of a choice, the choice.
    pub value: SettingValue,
    /// The preset's value.
    pub usual: SettingValue,
    /// Its unit.
    pub unit: ReportText,
    /// True if the value differs from the preset's.
    pub is_changed: bool,
}

/// The value of a setting.
#[derive(Clone, Debug)]
pub enum SettingValue {
    /// A number.
    Number(f64),
    /// A choice.
    Choice(ReportText),
}

/// Figures of a run.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The largest context, the one at the end included.
    pub peak: Option<Peak>,
    /// Number of compactions; `None` if the file does not record them.
    pub compactions: Option<usize>,
    /// Calls whose first attempt overflowed.
    pub overflows: usize,
    /// Calls that reach into the output reserve without an overflow.
    pub into_reserve: usize,
    /// Sum of the samples.
    pub sent: Tokens,
    /// Tokens of rejected attempts.
    pub rejected: Tokens,
    /// Summary requests. Their sizes are predicted.
    pub summaries: SummaryTraffic,
    /// Accuracy of the sum.
    pub accuracy: Accuracy,
}

/// The largest context of a run.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    /// Index of its call; `None` for the end of the session.
    pub call: Option<usize>,
    /// Tokens.
    pub tokens: Tokens,
    /// Tokens as a share of the usable window.
    pub pressure: Share,
    /// Accuracy of the count.
    pub accuracy: Accuracy,
}

/// A system's own count and the actual one.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// Index of the call.
    pub call: usize,
    /// Tokens on its own count.
    pub counted: Tokens,
    /// True tokens.
    pub actual: Tokens,
    /// Fill that the system believed, if known.
    pub believed: Option<Share>,
    /// True tokens as a share of the usable window.
    pub pressure: Share,
}

/// A finding of a run.
#[derive(Clone, Debug)]
pub struct FindingReport {
    /// Which.
    pub kind: FindingKind,
    /// Index of the call.
    pub call: usize,
    /// Text of the finding.
    pub text: ReportText,
}

/// An event of a stage, at one call or at consecutive ones.
#[derive(Clone, Debug)]
pub struct EventReport {
    /// Index of the first call.
    pub call: usize,
    /// Number of consecutive calls with this event.
    pub times: usize,
    /// The stage.
    pub stage: ReportText,
    /// Action of the stage.
    pub action: ActionKind,
    /// Outcome of the event.
    pub effect: Effect,
    /// Cause of the event.
    pub why: ReportText,
    /// Number of messages changed.
    pub messages: usize,
    /// True tokens before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// Size of the summary request, if any.
    pub request: Option<RequestSize>,
    /// Number of calls and results that became unpaired.
    pub orphans: usize,
    /// First lines of the system's own log.
    pub log: Vec<ReportText>,
}

/// Messages that an event removed and that are still missing at the end.
#[derive(Clone, Debug)]
pub struct RemovalReport {
    /// Status of the messages.
    pub status: MessageStatus,
    /// Index of the call before which they were removed; `None` for the source's own compactions.
    pub call: Option<usize>,
    /// The stage, if a stage removed them.
    pub stage: Option<ReportText>,
    /// Cause, if a stage removed them.
    pub why: Option<ReportText>,
    /// Messages.
    pub messages: usize,
    /// Removed tokens.
    pub gone: Tokens,
    /// The text that replaces them.
    pub replacement: Option<Replacement>,
    /// The largest of the messages, in order.
    pub items: Vec<ReportMessage>,
}

/// A text that replaces removed messages.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The text.
    pub text: ReportText,
    /// Its tokens.
    pub tokens: Tokens,
}

impl Report {
    /// Returns the findings of all lanes with their lane, worst first.
    pub fn findings(&self) -> Vec<(&LaneReport, &FindingReport)> {
        let lanes = self.lanes.iter();
        let mut all: Vec<_> = lanes
            .flat_map(|lane| lane.findings.iter().map(move |finding| (lane, finding)))
            .collect();
        all.sort_by_key(|(_, finding)| finding.kind);
        all
    }
}

/// Returns the status of messages, as the end of a phrase.
pub fn status_text(status: MessageStatus) -> &'static str {
    match status {
        MessageStatus::Kept => "kept",
        MessageStatus::Cleared => "cleared",
        MessageStatus::Cut => "shortened",
        MessageStatus::Summarized => "summarized",
        MessageStatus::Dropped => "dropped",
        MessageStatus::Absent => "absent",
    }
}
