//! Tool results that a run changed before the first call that could read them: the first call after they joined the
//! context.

use crate::engine::{Case, Outcome, PartVisibility, Received, Visibility};
use crate::session::{Body, Kind};

/// Number of leading characters of a result by which its preview is recognized: a longer first line may be shortened.
///
/// Chosen: half as many are not specific (`total 48`), and twice as many would not be found in a preview that shortens
/// lines.
const PREVIEW_CHARS: usize = 24;

/// Tool results that a run changed before a call read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstRead {
    /// Number of results that were removed or cut.
    pub(crate) cut: usize,
    /// Index of the first call that lacked one of these.
    pub(super) call: Option<usize>,
    /// Number of results that were moved to a file and replaced by a preview.
    pub(super) spilled: usize,
}

/// The first call that could read each tool result of a session.
pub(crate) struct FirstReaders {
    /// By message: the index of that call plus 1; 0 for messages without results, and if no call follows.
    calls: Vec<u32>,
}

/// The part of a result that its first call receives.
enum Remains {
    Whole,
    /// A preview of a file with the whole result.
    Preview,
    /// Its beginning or its end.
    Some,
    Nothing,
}

impl FirstReaders {
    /// Finds the first readers of a session's results.
    pub(crate) fn new(case: &Case) -> Self {
        let session = &case.session;
        let mut calls = vec![0; session.messages.len()];
        for call in 0..session.calls.len() {
            for message in session.new_messages(call) {
                let mut parts = session.messages[message].parts.clone();
                let has_result = parts.any(|part| case.index.kinds[part] == Kind::ToolResult);
                if has_result && session.messages[message].in_history {
                    calls[message] = call as u32 + 1;
                }
            }
        }
        Self { calls }
    }

    /// Returns what a run changed before it was read.
    pub(crate) fn check(&self, case: &Case, outcome: &Outcome) -> FirstRead {
        let mut found = FirstRead::default();
        for change in &outcome.received.changes {
            if change.now == Visibility::Whole {
                continue;
            }
            for message in change.messages.clone() {
                // Later changes concern results that were read.
                if change.call < self.calls[message as usize] {
                    let at = (change.call, change.now);
                    found.add_message(case, outcome, message as usize, at);
                }
            }
        }
        found
    }
}

impl FirstRead {
    /// Adds the results of a message that its first reader received changed.
    fn add_message(
        &mut self,
        case: &Case,
        outcome: &Outcome,
        message: usize,
        (call, now): (u32, Visibility),
    ) {
        let parts = case.session.messages[message].parts.clone();
        for (nth, part) in parts.clone().enumerate() {
            let Body::ToolResult { text, .. } = &case.session.parts[part].body else {
                continue;
            };
            let received = &outcome.received;
            let remains = match now {
                Visibility::Whole => Remains::Whole,
                Visibility::Gone => gone(received, call, text),
                Visibility::Partly(first) => match received.parts_from(first, parts.len())[nth] {
                    PartVisibility::Kept => Remains::Whole,
                    PartVisibility::Gone => Remains::Nothing,
                    PartVisibility::Text(idx) => replaced(outcome, idx, text),
                },
            };
            // A result that no call could hold whole must be cut.
            let fits = || {
                let call = call as usize;
                let alone = case.ledger.overhead_at(call) + case.ledger.part(part);
                alone <= case.windows.at(call)
            };
            match remains {
                Remains::Whole => {}
                Remains::Preview => self.spilled += 1,
                Remains::Some if !fits() => {}
                Remains::Some | Remains::Nothing => {
                    self.cut += 1;
                    let call = call as usize;
                    self.call = Some(self.call.map_or(call, |first| first.min(call)));
                }
            }
        }
    }
}

/// Returns what remains of a result whose message is gone: another message may hold its text.
fn gone(received: &Received, call: u32, result: &str) -> Remains {
    let changes = &received.text_changes;
    let first = changes.partition_point(|change| change.call < call);
    let added = changes[first..].iter().take_while(|c| c.call == call);
    let mut texts = added.map(|change| &received.texts[change.text as usize]);
    if texts.any(|text| !text.is_predicted && text.text.contains(result.trim())) {
        Remains::Whole
    } else {
        Remains::Nothing
    }
}

/// Returns what remains of a result that a text replaces.
fn replaced(outcome: &Outcome, text: u32, result: &str) -> Remains {
    let text = &outcome.received.texts[text as usize];
    if text.text.contains(result.trim()) {
        return Remains::Whole;
    }
    if !has_preview(&text.text, result) {
        return Remains::Nothing;
    }
    let event = outcome.events.get(text.event as usize);
    if event.is_some_and(|event| !event.files.is_empty()) {
        Remains::Preview
    } else {
        Remains::Some
    }
}

/// Returns whether a text contains the beginning or the end of a result.
fn has_preview(text: &str, result: &str) -> bool {
    let mut lines = result.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = lines.next().map(|line| match line.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => &line[..end],
        None => line,
    });
    let tail =
        lines.next_back().map(|line| match line.char_indices().nth_back(PREVIEW_CHARS - 1) {
            Some((start, _)) => &line[start..],
            None => line,
        });
    head.into_iter().chain(tail).any(|end| text.contains(end))
}
