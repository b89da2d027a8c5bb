//! Plays the lines in order: what the history was, what became of it, and what was taken back.

use super::FORMAT;
use super::line::Line;
use super::record::Record;
use crate::formats::notes::Notes;
use crate::formats::transcript::Transcript;
use crate::formats::{ImportReport, Input, Parsed, Refused, ParseError, Warning, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Calibration, Draft, Role, Session, StepDraft, Track};
use std::collections::{HashMap, HashSet};

/// No more than so many conversations that were taken back are kept.
const MOST_REWINDS: usize = 50;

/// What happened, in order.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are messages")]
enum Happened {
    Message(Record),
    /// The history from here on.
    History(Vec<Record>),
}

impl Happened {
    /// What the calls so far report is not believed: we wrote their context.
    fn forget(&mut self) {
        let records = match self {
            Self::Message(record) => std::slice::from_mut(record),
            Self::History(records) => records,
        };
        for step in records.iter_mut().filter_map(|record| record.step.as_mut()) {
            step.usage = None;
        }
    }
}

/// Reads the session of these lines.
pub(super) fn read(
    input: &Input,
    lines: Vec<Line>,
    progress: &Progress,
    notes: Notes,
    mut warnings: Vec<Warning>,
) -> Result<Parsed, ParseError> {
    let mut replay = Replay {
        notes,
        ..Replay::default()
    };
    for line in lines {
        progress.go_on()?;
        replay.line(line);
    }
    let Replay {
        log,
        taken_back,
        mut notes,
        mut report,
        title,
        calibration,
        ..
    } = replay;
    let mut branches = Vec::new();
    for (n, log) in taken_back.into_iter().enumerate() {
        let mut aside = Notes::default();
        let transcript = Transcript::new(input, FORMAT.name, Some(n + 2));
        if let Some(mut session) = told(transcript, log, progress, &mut aside)? {
            session.title = format!("{} (taken back {})", session.title, n + 1);
            session.track = Track::Branch;
            branches.push(session);
        }
    }
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    transcript.title(title.as_deref().unwrap_or_default());
    transcript.builder.calibration(calibration);
    let session = told(transcript, log, progress, &mut notes)?;
    if !branches.is_empty() {
        report.note("messages taken back", false);
    }
    warnings.extend(notes.warnings(&input.bytes));
    warnings.sort_by_key(|w| w.line);
    let sessions: Vec<Session> = session.into_iter().chain(branches).collect();
    if sessions.is_empty() {
        let looks_like = "this looks like a Gemini CLI session without a message".to_owned();
        return Err(Refused { looks_like }.into());
    }
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

#[derive(Default)]
struct Replay {
    log: Vec<Happened>,
    /// Where in the log the message of an id stands: its index, and the index within a history.
    places: HashMap<Box<str>, (usize, usize)>,
    taken_back: Vec<Vec<Happened>>,
    notes: Notes,
    report: ImportReport,
    title: Option<Box<str>>,
    calibration: Option<Calibration>,
}

impl Replay {
    fn line(&mut self, line: Line) {
        let in_context = match &line {
            Line::Message(record) => record.said.is_some() || record.results.is_some(),
            Line::History(_) => true,
            Line::Rewind(..) | Line::Head(_) | Line::Managed(_) | Line::Unknown(_) => false,
        };
        if !matches!(line, Line::Managed(_)) {
            self.report.note(line.label(), in_context);
        }
        match line {
            Line::Message(record) => self.message(record),
            Line::History(records) => {
                for (n, record) in records.iter().enumerate() {
                    if let Some(id) = &record.id {
                        self.places.insert(id.clone(), (self.log.len(), n));
                    }
                }
                self.log.push(Happened::History(records));
            }
            Line::Rewind(id, span) => self.rewind(&id, span.start),
            Line::Head(title) => self.title = title.or(self.title.take()),
            Line::Managed(calibration) => {
                self.log.iter_mut().for_each(Happened::forget);
                self.calibration = calibration.or(self.calibration.take());
            }
            Line::Unknown(span) => self
                .notes
                .once(span.start, "a record of no known kind; not counted"),
        }
    }

    fn message(&mut self, record: Record) {
        if !super::record::KINDS.contains(&&*record.kind) {
            let kind = json::quoted(&record.kind);
            let text = format!("messages of the type `{kind}` are unknown to us; not counted");
            self.notes.once(record.span.start, text);
        }
        let place = record
            .id
            .as_ref()
            .and_then(|id| self.places.get(id).copied());
        match place.and_then(|(at, n)| Some((self.log.get_mut(at)?, n))) {
            Some((Happened::Message(before), _)) => *before = record,
            Some((Happened::History(list), n)) if n < list.len() => list[n] = record,
            _ => {
                if let Some(id) = &record.id {
                    self.places.insert(id.clone(), (self.log.len(), 0));
                }
                self.log.push(Happened::Message(record));
            }
        }
    }

    /// Everything from this message on is taken back; what was there stays as a conversation of its own.
    fn rewind(&mut self, id: &str, at: usize) {
        if self.taken_back.len() < MOST_REWINDS && !self.log.is_empty() {
            self.taken_back.push(self.log.clone());
        }
        if let Some((place, n)) = self.places.get(id).copied() {
            self.log.truncate(place + 1);
            match self.log.last_mut() {
                Some(Happened::History(list)) if n > 0 => list.truncate(n),
                _ => {
                    self.log.pop();
                }
            }
        } else {
            self.notes.add(
                at,
                "this goes back to a message that is not there: everything is taken back",
            );
            self.log.clear();
        }
        let len = self.log.len();
        self.places.retain(|_, (place, _)| *place < len);
    }
}

/// The conversation of what happened.
fn told(
    mut transcript: Transcript,
    mut log: Vec<Happened>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<Option<Session>, Cancelled> {
    once_each(&mut log);
    let mut teller = Teller::default();
    for happened in log {
        progress.go_on()?;
        match happened {
            Happened::Message(record) => teller.message(&mut transcript, record, notes),
            Happened::History(records) => teller.history(&mut transcript, records),
        }
    }
    Ok(transcript.finish())
}

/// Results that stand in a message of their own are left out beside their calls.
fn once_each(log: &mut [Happened]) {
    for happened in &mut *log {
        if let Happened::History(records) = happened {
            let answered: HashSet<Box<str>> = records
                .iter()
                .flat_map(Record::answered)
                .map(Into::into)
                .collect();
            for record in &mut *records {
                record.without(&answered);
            }
        }
    }
    let messages = |happened: &Happened| match happened {
        Happened::Message(record) => record.answered().map(Into::into).collect::<Vec<Box<str>>>(),
        Happened::History(_) => Vec::new(),
    };
    let answered: HashSet<Box<str>> = log.iter().flat_map(messages).collect();
    for happened in log {
        if let Happened::Message(record) = happened {
            record.without(&answered);
        }
    }
}

/// Tells a conversation and remembers what stands where.
#[derive(Default)]
struct Teller {
    /// The messages of each record, by its id.
    messages: HashMap<Box<str>, Vec<usize>>,
    /// The messages of the context as it is now.
    context: Vec<usize>,
}

impl Teller {
    fn message(&mut self, transcript: &mut Transcript, record: Record, notes: &mut Notes) {
        let usage = record.step.as_ref().and_then(|s| s.usage);
        let usage = notes.usage(record.span.start, usage);
        let step = record.step.map(|step| StepDraft { usage, ..step });
        let mut told = Vec::new();
        match (record.said, step) {
            (Some(said), Some(step)) => told.push(transcript.add_answer(step, said)),
            (Some(said), None) => told.push(transcript.add_message(said)),
            // A call without an answer that is worth a message was made all the same.
            (None, Some(step)) if step.usage.is_some() => {
                transcript.builder.step(step);
            }
            (None, _) => {}
        }
        told.extend(record.results.map(|results| transcript.add_message(results)));
        self.context.extend(&told);
        if let Some(id) = record.id {
            self.messages.insert(id, told);
        }
    }

    /// A new history is a compaction, unless it says what was there already.
    fn history(&mut self, transcript: &mut Transcript, records: Vec<Record>) {
        let before = bodies(transcript.builder.session(), &self.context);
        if is_same(before, records.iter().flat_map(Record::bodies)) {
            return;
        }
        let mut kept = Vec::new();
        for record in records {
            let known = record.id.as_ref().and_then(|id| self.messages.get(id));
            let session = transcript.builder.session();
            let same = known.filter(|known| is_same(bodies(session, known), record.bodies()));
            if let Some(known) = same {
                kept.extend(known);
                continue;
            }
            let is_new = known.is_none();
            let mut told = Vec::new();
            for draft in record.said.into_iter().chain(record.results) {
                told.push(transcript.add_message(Draft {
                    in_history: false,
                    is_summary: is_new && draft.role == Role::User,
                    ..draft
                }));
            }
            kept.extend(&told);
            if let Some(id) = record.id {
                self.messages.insert(id, told);
            }
        }
        self.context.clone_from(&kept);
        transcript.builder.compaction("", None, None, kept);
    }
}

/// What these messages say.
fn bodies<'a>(session: &'a Session, messages: &'a [usize]) -> impl Iterator<Item = &'a Body> {
    let parts = |idx: &usize| session.parts_of(&session.messages[*idx]);
    messages.iter().flat_map(parts).map(|part| &part.body)
}

/// The same is said in the same order; how a result is marked is the record's affair.
fn is_same<'a>(a: impl Iterator<Item = &'a Body>, b: impl Iterator<Item = &'a Body>) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.collect(), b.collect());
    let same = |(a, b): (&&Body, &&Body)| match (a, b) {
        (
            Body::ToolResult { call, text, .. },
            Body::ToolResult {
                call: other_call,
                text: other_text,
                ..
            },
        ) => call == other_call && text == other_text,
        (a, b) => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(same)
}
