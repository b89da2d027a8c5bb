//! Summaries of sessions for lists. Contexts without reported usage are estimated.

use super::copies::CallIds;
use super::usage::{ConversationUsage, FileUsage};
use crate::engine::{Budget, Case, WindowSource, recorded};
use crate::exec::database::Snapshot;
use crate::exec::files::{LoadError, file_name};
use crate::exec::load::{FileSessions, LoadOptions, case_of, load_entry, parse_file, started_by};
use crate::formats::{self, RecordedData};
use crate::presets::models;
use crate::progress::Progress;
use crate::session::{Body, Call, Session};
use crate::tokens;
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Version of the summaries, increased when the summary of the same file changes. Older cached summaries are discarded.
pub(super) const SUMMARY_VERSION: u32 = 10;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Title of the session.
    pub title: String,
    /// Folder in which the agent worked.
    pub project: Option<String>,
    /// Name of the format.
    pub format: String,
    /// Number of messages in the history.
    pub messages: usize,
    /// Number of model calls.
    pub calls: usize,
    /// Number of recorded compactions.
    pub compactions: usize,
    /// Tokens of the largest context, including the one at the end.
    pub peak: u64,
    /// Accuracy of that count.
    pub peak_accuracy: PeakAccuracy,
    /// The largest context in each context window that the session used, and the window, in tokens.
    pub fills: Vec<(u64, u64)>,
    /// Source of the context windows.
    pub window_source: WindowSource,
    /// Number of conversations in the file. The other fields describe the first, unless each is listed.
    pub conversations: usize,
    /// Size in bytes.
    pub bytes: u64,
    /// Version of the agent, if recorded.
    pub agent_version: Option<String>,
    /// Id by which other sessions refer to it, if any.
    pub id: Option<String>,
    /// Id of the session that started it, if it belongs to a sub-agent.
    pub parent: Option<String>,
    /// Time of the first call with a time, in milliseconds since 1970.
    pub begun: Option<i64>,
    /// Time of the last call with a time, in milliseconds since 1970.
    pub ended: Option<i64>,
    /// Hashes of the calls whose answer has an id, to find them in other sessions.
    pub call_ids: Vec<u64>,
}

/// How exactly the peak is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeakAccuracy {
    /// The provider reported it.
    Reported,
    /// Estimated at least in part. Without recorded usage, instructions and tools that are not recorded are not included.
    Estimated,
}

impl SessionSummary {
    /// Summarizes a file. Blocks.
    ///
    /// # Errors
    /// Returns one line if the file cannot be read.
    pub(super) fn read(path: &Path, progress: &Progress) -> Result<Self, String> {
        let line = |error: LoadError| error.to_string();
        let parsed = parse_file(path, progress).map_err(line)?;
        let n = parsed.sessions.len();
        let name = file_name(path);
        let first = parsed.sessions.into_iter().next();
        let first = first.ok_or_else(|| line(LoadError::no_such_conversation(&name, n)))?;
        let session = Arc::new(first);
        let peak = if let Some(peak) = reported_peak(&session) {
            peak
        } else {
            let case = case_of(&name, Arc::clone(&session), &options(0), progress);
            peak(&case.map_err(line)?)
        };
        Ok(Self::of_file(path, &session, peak, (n, parsed.report.parent)))
    }

    /// Summarizes a file with what the calls of all its conversations used. Blocks.
    ///
    /// # Errors
    /// Returns one line if the file cannot be read.
    pub(super) fn read_with_usage(
        path: &Path,
        progress: &Progress,
    ) -> Result<(Self, FileUsage), String> {
        let line = |error: LoadError| error.to_string();
        let parsed = parse_file(path, progress).map_err(line)?;
        let (n, name) = (parsed.sessions.len(), file_name(path));
        let (mut summary, mut usage) = (None, FileUsage::default());
        for (number, session) in parsed.sessions.into_iter().enumerate() {
            let case = case_of(&name, Arc::new(session), &exact(number), progress).map_err(line)?;
            if number == 0 {
                let parent = parsed.report.parent.clone();
                summary = Some(Self::of_file(path, &case.session, peak(&case), (n, parent)));
            }
            usage.conversations.push(ConversationUsage::new(number, &case));
        }
        let summary = summary.ok_or_else(|| line(LoadError::no_such_conversation(&name, n)))?;
        Ok((summary, usage))
    }

    fn of_file(
        path: &Path,
        session: &Session,
        peak: SessionPeak,
        (conversations, parent): (usize, Option<String>),
    ) -> Self {
        let identity = || formats::identity_of(&session.source).map(|known| known.id.into());
        let id: Option<String> = session.id.clone().or_else(identity);
        let parent = parent.or_else(|| started_by(path, session.source.format, id.as_deref()));
        Self {
            // Some sub-agents have the id of the session that started them.
            id: id.filter(|id| parent.as_ref() != Some(id)),
            parent,
            ..Self::of(session, peak, conversations)
        }
    }

    /// Summarizes a session of a file with several.
    ///
    /// # Errors
    /// Returns one line if the session cannot be read.
    pub(super) fn of_session(
        sessions: &FileSessions,
        number: usize,
        has_usage: bool,
    ) -> Result<(Self, Option<FileUsage>), String> {
        let options = if has_usage { exact(number) } else { options(number) };
        let case = sessions.case(number, &options, &Progress::default());
        let case = case.map_err(|error| error.to_string())?;
        let raw = case.session.messages.iter().flat_map(|message| &message.raw);
        let summary = Self {
            bytes: raw.map(|span| span.len() as u64).sum(),
            ..Self::of(&case.session, peak(&case), 1)
        };
        Ok((summary, has_usage.then(|| FileUsage::of(number, &case))))
    }

    /// Summarizes a session of a database. Blocks.
    ///
    /// # Errors
    /// Returns one line if the session cannot be read.
    pub(super) fn of_entry(
        snapshot: &Snapshot,
        path: &Path,
        number: usize,
        has_usage: bool,
    ) -> Result<(Self, Option<FileUsage>), String> {
        let options = if has_usage { exact(number) } else { options(number) };
        let loaded = load_entry(snapshot, path, &options, &Progress::default());
        let case = loaded.map_err(|error| error.to_string())?.case;
        let entry = &snapshot.entries()[number];
        let summary = Self {
            id: Some(entry.id.clone()),
            parent: entry.parent.clone(),
            ..Self::of(&case.session, peak(&case), 1)
        };
        Ok((summary, has_usage.then(|| FileUsage::of(number, &case))))
    }

    /// Returns the label of the format.
    pub fn format_label(&self) -> &str {
        formats::label(&self.format)
    }

    /// Returns true if the number of compactions is meaningful, since the format records them.
    pub fn records_compactions(&self) -> bool {
        let format = formats::by_name(&self.format);
        self.compactions > 0
            || format.is_some_and(|f| f.recorded.contains(&RecordedData::Compactions))
    }

    /// Returns the largest context as a share of the usable window, as [`crate::engine::Outcome::peak_share`] does.
    pub fn peak_share(&self, output_reserve: Tokens) -> Share {
        let shares = self.fills.iter().map(|(tokens, window)| {
            let window = Tokens(*window);
            let budget = Budget { window, output_reserve };
            budget.pressure(Tokens(*tokens)).0
        });
        Share(shares.fold(0.0, f64::max))
    }

    /// Sets the context window of all calls.
    pub(super) fn set_window(&mut self, window: Tokens) {
        let largest = self.fills.iter().map(|(tokens, _)| *tokens).max();
        self.fills = largest.into_iter().map(|tokens| (tokens, window.0)).collect();
        self.window_source = WindowSource::User;
    }

    /// Returns whether a context was larger than its context window.
    pub fn is_above_window(&self) -> bool {
        self.fills.iter().any(|(tokens, window)| tokens > window)
    }

    fn of(session: &Session, peak: SessionPeak, conversations: usize) -> Self {
        let CallIds { begun, ids } = CallIds::of(session);
        let times = session.calls.iter().filter_map(|call| call.time.map(|time| time.0));
        Self {
            begun,
            ended: times.max(),
            call_ids: ids,
            title: session.title.clone(),
            project: session.project.clone(),
            agent_version: session.agent_version.clone(),
            format: session.source.format.to_owned(),
            messages: session.n_history(),
            calls: session.calls.len(),
            compactions: session.compactions.len(),
            peak: peak.tokens.0,
            peak_accuracy: peak.accuracy,
            window_source: peak.source,
            fills: peak.fills.into_iter().map(|(window, tokens)| (tokens.0, window.0)).collect(),
            conversations,
            bytes: session.source.bytes.len() as u64,
            id: None,
            parent: None,
        }
    }
}

fn options(conversation: usize) -> LoadOptions {
    LoadOptions { counter: tokens::sampling_counter(), window: None, conversation }
}

/// Returns the options of the other commands, so that costs are the same.
fn exact(conversation: usize) -> LoadOptions {
    LoadOptions { counter: tokens::default_counter(), window: None, conversation }
}

/// The largest context.
struct SessionPeak {
    tokens: Tokens,
    accuracy: PeakAccuracy,
    /// The largest context by window.
    fills: BTreeMap<Tokens, Tokens>,
    /// Source of the context windows.
    source: WindowSource,
}

/// Returns the largest context of each window.
fn fills(contexts: impl Iterator<Item = (Tokens, Tokens)>) -> BTreeMap<Tokens, Tokens> {
    let mut fills = BTreeMap::new();
    for (tokens, window) in contexts {
        let largest: &mut Tokens = fills.entry(window).or_default();
        *largest = tokens.max(*largest);
    }
    fills
}

/// Returns the largest context if every call reported its usage: nothing but the messages after the last call is counted
/// then. `None` if those contain media, which the model's provider decides the size of, if a compaction follows the last
/// call, or if the last call may be a request of another kind.
fn reported_peak(session: &Session) -> Option<SessionPeak> {
    let inputs = session.calls.iter().map(Call::reported_size);
    let inputs: Vec<Tokens> = inputs.collect::<Option<_>>()?;
    let last = *inputs.last()?;
    let largest = inputs.iter().copied().max()?;
    let is_compacted = session.compactions.iter().any(|c| c.call >= inputs.len());
    if is_compacted || last.0.saturating_mul(2) < largest.0 {
        return None;
    }
    let since = &session.messages[session.calls[session.calls.len() - 1].context_end..];
    let parts = since
        .iter()
        .filter(|message| message.in_history)
        .flat_map(|message| session.parts_of(message));
    let count = tokens::sampling_counter().count;
    let mut end = last;
    for part in parts {
        match &part.body {
            Body::Media { .. } => return None,
            body => end.0 += u64::from(count(body.text())),
        }
    }
    let windows = models::window_plan(session, None);
    let contexts = inputs.iter().enumerate();
    let contexts = contexts.map(|(call, tokens)| (*tokens, windows.at(call)));
    Some(SessionPeak {
        tokens: largest.max(end),
        accuracy: if end > largest { PeakAccuracy::Estimated } else { PeakAccuracy::Reported },
        fills: fills(contexts.chain([(end, windows.at(inputs.len()))])),
        source: windows.source,
    })
}

/// Returns the largest context, or the whole session if it has no calls.
fn peak(case: &Case) -> SessionPeak {
    let outcome = recorded(case, Tokens::ZERO, None);
    let Some(peak) = outcome.peak() else {
        let (total, window) = (case.ledger.total(), case.windows.at(0));
        return SessionPeak {
            tokens: total,
            accuracy: PeakAccuracy::Estimated,
            fills: fills([(total, window)].into_iter()),
            source: case.windows.source,
        };
    };
    let is_reported = |call: usize| case.session.calls[call].reported_size().is_some();
    let accuracy = if peak.call.is_some_and(is_reported) {
        PeakAccuracy::Reported
    } else {
        PeakAccuracy::Estimated
    };
    let contexts = outcome.samples.iter().map(|s| (s.tokens, s.window));
    let end = (outcome.end, case.windows.at(outcome.samples.len()));
    SessionPeak {
        tokens: peak.tokens,
        accuracy,
        fills: fills(contexts.chain([end])),
        source: case.windows.source,
    }
}
