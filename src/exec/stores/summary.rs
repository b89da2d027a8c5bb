//! What a list says of a session: read whole, weighed roughly where its provider reported nothing.

use crate::engine::{Case, recorded};
use crate::exec::database::Snapshot;
use crate::exec::load::{self, LoadError};
use crate::exec::{LoadOptions, Several};
use crate::formats::{self, RecordedData};
use crate::presets::models;
use crate::progress::Progress;
use crate::session::{Body, Conversation, Session};
use crate::tokens;
use crate::units::{Share, Tokens};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// Which way of reading and weighing summaries are made by: what an earlier one left is read anew. It goes up whenever a
/// list would say something else of the same file.
pub(super) const READING: u32 = 5;

/// What a list says of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Its title.
    pub title: String,
    /// The folder in which the agent worked.
    pub project: Option<String>,
    /// Name of the format.
    pub format: String,
    /// Messages that can be numbered.
    pub messages: usize,
    /// Calls of a model.
    pub calls: usize,
    /// Compactions of the program's own.
    pub compactions: usize,
    /// Tokens of its largest context, the one at the end included.
    pub peak: u64,
    /// How they are known.
    pub peak_basis: PeakBasis,
    /// That context's part of the model's window.
    pub peak_share: f64,
    /// Conversations of the file; the rest here is of the first, unless each is listed by itself.
    pub conversations: usize,
    /// Bytes of its text.
    pub bytes: u64,
    /// Its id, where its program has other sessions name it by that.
    pub id: Option<String>,
    /// Id of the session that started it, where it is a sub-agent's.
    pub parent: Option<String>,
}

/// How the size of a context is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PeakBasis {
    /// The provider reported it.
    Reported,
    /// By its characters.
    Estimated,
}

impl SessionSummary {
    /// Reads a file. Blocks.
    ///
    /// # Errors
    /// What [`crate::exec::load()`] says, in one line.
    pub(super) fn read(path: &Path, progress: &Progress) -> Result<Self, String> {
        let said = |error: LoadError| error.to_string();
        let parsed = load::parsed_alone(path, progress).map_err(said)?;
        let n = Conversation::all(&parsed.sessions).len();
        let name = load::file_name(path);
        let first = parsed.sessions.into_iter().next();
        let first = first.ok_or_else(|| said(load::no_such_conversation(&name, n)))?;
        let session = Arc::new(first);
        let peak = if let Some(peak) = reported_peak(&session) {
            peak
        } else {
            let case = load::case_of(&name, Arc::clone(&session), &options(0), progress);
            peak(&case.map_err(said)?)
        };
        let identity = formats::identity_of(&session.source);
        Ok(Self {
            id: identity.map(|identity| identity.id.into()),
            parent: parsed.report.parent,
            ..Self::of(&session, peak, n)
        })
    }

    /// Of one of several sessions of a file.
    ///
    /// # Errors
    /// What [`Several::case`] says, in one line.
    pub(super) fn of_one(several: &Several, number: usize) -> Result<Self, String> {
        let case = several.case(number, &options(number), &Progress::default());
        let case = case.map_err(|error| error.to_string())?;
        let raw = case
            .session
            .messages
            .iter()
            .flat_map(|message| &message.raw);
        Ok(Self {
            bytes: raw.map(|span| span.len() as u64).sum(),
            ..Self::of(&case.session, peak(&case), 1)
        })
    }

    /// Reads one session of a database. Blocks.
    ///
    /// # Errors
    /// What [`Snapshot::load`] says, in one line.
    pub(super) fn of_entry(snapshot: &Snapshot, path: &Path, entry: usize) -> Result<Self, String> {
        let loaded = snapshot.load(path, &options(entry), &Progress::default());
        let loaded = loaded.map_err(|error| error.to_string())?;
        let told = &snapshot.entries()[entry];
        Ok(Self {
            id: Some(told.id.clone()),
            parent: told.parent.clone(),
            ..Self::of(&loaded.case.session, peak(&loaded.case), 1)
        })
    }

    /// The format's name for people.
    pub fn format_label(&self) -> &str {
        formats::by_name(&self.format).map_or(&self.format, |format| format.label)
    }

    /// Its format could tell of compactions: where it cannot, that there are none means nothing.
    pub fn records_compactions(&self) -> bool {
        let format = formats::by_name(&self.format);
        self.compactions > 0
            || format.is_some_and(|f| f.recorded.contains(&RecordedData::Compactions))
    }

    fn of(session: &Session, (peak, peak_basis, share): Peak, conversations: usize) -> Self {
        Self {
            title: session.title.clone(),
            project: session.project.clone(),
            format: session.source.format.to_owned(),
            messages: session.messages.iter().filter(|m| m.in_history).count(),
            calls: session.calls.len(),
            compactions: session.compactions.len(),
            peak: peak.0,
            peak_basis,
            peak_share: share.0,
            conversations,
            bytes: session.source.bytes.len() as u64,
            id: None,
            parent: None,
        }
    }
}

fn options(conversation: usize) -> LoadOptions {
    LoadOptions {
        counter: tokens::sampling_counter(),
        window: None,
        conversation,
    }
}

/// The largest context, and its share of the model's window.
type Peak = (Tokens, PeakBasis, Share);

/// Returns the largest context if every call reported its usage: nothing but the messages after the last call is counted
/// then. `None` if those contain media, which the model's provider decides the size of.
fn reported_peak(session: &Session) -> Option<Peak> {
    let inputs = session.calls.iter().map(|step| Some(step.usage?.input));
    let inputs: Vec<Tokens> = inputs.collect::<Option<_>>()?;
    let last = *inputs.last()?;
    let (step, largest) = inputs
        .into_iter()
        .enumerate()
        .max_by_key(|(_, input)| *input)?;
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
    Some(if end > largest {
        let window = windows.at(session.calls.len() - 1);
        (end, PeakBasis::Estimated, end.share_of(window))
    } else {
        (
            largest,
            PeakBasis::Reported,
            largest.share_of(windows.at(step)),
        )
    })
}

/// The largest context, or all that there is where nothing was answered.
fn peak(case: &Case) -> Peak {
    let really = recorded(case, Tokens::ZERO, None);
    let Some(peak) = really.peak() else {
        let (total, window) = (case.ledger.total(), case.windows.at(0));
        return (total, PeakBasis::Estimated, total.share_of(window));
    };
    let last = case.session.calls.len() - 1;
    let is_reported = |step: usize| case.session.calls[step].usage.is_some();
    let basis = if peak.step.is_some_and(is_reported) {
        PeakBasis::Reported
    } else {
        PeakBasis::Estimated
    };
    let window = case.windows.at(peak.step.unwrap_or(last));
    (peak.tokens, basis, peak.tokens.share_of(window))
}
