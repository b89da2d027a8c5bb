//! Steps as JSON for programs in other languages.

use super::step::{Entry, EventReport, Ready, Step};
use serde::Serialize;

/// Writes steps as JSON for a program in another language. Of a request, it writes only what differs from the last one that
/// it wrote: reading hundreds of unchanged edits again would take the program longer than all else.
///
/// A summary request is `{"summarize": …}`. A request is `{"ready": …, "same": N, "parts": […]}`: its parts are the first N
/// parts of the last request, and then the listed ones. A part is `{"keep": [from, to]}` for unchanged messages,
/// `{"edit": number, "message": …}` or `{"add": …}`.
#[derive(Debug, Default)]
pub struct StepWriter {
    last: Vec<Part>,
}

/// A part of a request. Long conversations are mostly kept, and programs copy a range at once.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Part {
    /// The program's messages from the first number to before the second.
    Keep { keep: (usize, usize) },
    /// An edited or added message.
    Other(Entry),
}

/// Facts about a request besides its messages.
#[derive(Serialize)]
struct Details {
    call: usize,
    tokens: u64,
    accuracy: &'static str,
    error: Option<f64>,
    events: Vec<EventReport>,
    warnings: Vec<String>,
}

/// A request as what differs from the last one.
#[derive(Serialize)]
struct Difference<'a> {
    ready: Details,
    same: usize,
    parts: &'a [Part],
}

impl StepWriter {
    /// Writes a step.
    pub fn write(&mut self, step: Step) -> String {
        let Step::Ready(ready) = step else {
            return to_json(&step);
        };
        let Ready { call, entries, tokens, accuracy, error, events, warnings } = ready;
        let parts = parts(entries);
        // Edits and additions are shared with the last request: comparing them is comparing addresses.
        let same = self.last.iter().zip(&parts).take_while(|(last, part)| last == part).count();
        let ready = Details { call, tokens, accuracy, error, events, warnings };
        let text = to_json(&Difference { ready, same, parts: &parts[same..] });
        self.last = parts;
        text
    }

    /// Forgets the last request: the program forgot some of its messages, and their numbers may get other ones.
    pub fn forget(&mut self) {
        self.last.clear();
    }
}

fn parts(entries: Vec<Entry>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for entry in entries {
        match (parts.last_mut(), entry) {
            (Some(Part::Keep { keep }), Entry::Keep { keep: next }) if keep.1 == next => {
                keep.1 += 1;
            }
            (_, Entry::Keep { keep }) => parts.push(Part::Keep { keep: (keep, keep + 1) }),
            (_, other) => parts.push(Part::Other(other)),
        }
    }
    parts
}

/// Messages keep the order of their fields only if they are written directly.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are always JSON")
}
