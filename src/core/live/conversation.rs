//! The messages of a program as a session that grows.

use super::{LiveError, Options};
use crate::engine::{GrowingCase, Meter, WindowPlan, WindowSource};
use crate::formats::live::{
    MessageReader, PLAIN, PlannedMessage, notation, notations, parse_message,
};
use crate::names::unknown;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Managed, Role, Session, SessionBuilder, Source};
use crate::tokens::{self, TokenLedger};
use crate::units::{Millis, Tokens};

/// The messages of a program as a session that grows.
#[derive(Debug)]
pub(super) struct Conversation {
    growing: GrowingCase,
    reader: MessageReader,
    builder: SessionBuilder,
    model: Option<String>,
    /// The first message of the session that each message of the program is.
    first: Vec<usize>,
    /// The message of the program that each message of the session is; `None` if it is part of the request.
    of: Vec<Option<usize>>,
    /// The call whose answer may follow.
    open: Option<OpenCall>,
}

/// A call whose answer may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenCall {
    /// No message of the answer is known.
    Unanswered,
    /// The answer has begun, and may continue.
    Continues,
}

/// A message of the program that is not in the session yet.
#[derive(Debug)]
pub(super) struct Pushed {
    pub(super) text: String,
    drafts: Vec<Draft>,
}

/// Returns the notation of messages that are not read yet.
pub(super) fn detected(messages: &[String]) -> &'static str {
    let values = messages.iter().filter_map(|text| parse_message(text).ok());
    values.into_iter().find_map(|value| notation(&value)).unwrap_or(PLAIN)
}

impl Conversation {
    /// Creates an empty conversation in a notation.
    pub(super) fn new(format: &str, options: &Options, meter: &Meter) -> Result<Self, LiveError> {
        let reader = MessageReader::new(format).ok_or_else(|| {
            let known: Vec<_> = notations().collect();
            LiveError::Option(unknown("no live notation is named", format, &known))
        })?;
        let counter = match &options.counter {
            None => tokens::default_counter(),
            Some(name) => tokens::by_name(name).ok_or_else(|| {
                let known: Vec<_> = tokens::COUNTERS.iter().map(|counter| counter.name).collect();
                LiveError::Option(unknown("no counter is named", name, &known))
            })?,
        };
        let source =
            || Source { name: "live".to_owned(), format: reader.format, bytes: Vec::new().into() };
        let mut session = SessionBuilder::new(source()).finish();
        session.default_vendor = reader.vendor;
        session.models.extend(options.model.clone());
        session.calibration = options.calibration(counter.name);
        // Nothing can cancel it.
        let ledger = TokenLedger::count(&session, counter, &Progress::default())
            .map_err(|_cancelled| LiveError::Order("the count was cancelled"))?;
        let window = Tokens(options.window);
        let windows = WindowPlan::constant(window, 1, WindowSource::User);
        let mut conversation = Self {
            growing: GrowingCase::new(session, ledger, windows, meter.clone()),
            builder: SessionBuilder::new(source()),
            reader,
            model: options.model.clone(),
            first: Vec::new(),
            of: Vec::new(),
            open: None,
        };
        if let Some(request) = &options.request {
            let drafts = conversation.reader.read_request(request);
            let drafts = drafts.map_err(|why| LiveError::Option(format!("request: {why}")))?;
            conversation.add_request(drafts);
        }
        Ok(conversation)
    }

    /// Returns the notation of the messages.
    pub(super) fn format(&self) -> &'static str {
        self.reader.format
    }

    /// Returns the case that a run plays.
    pub(super) fn case(&self) -> &crate::engine::Case {
        self.growing.case()
    }

    /// Returns the number of the program's messages in the session.
    pub(super) fn n_messages(&self) -> usize {
        self.first.len()
    }

    /// Reads a message of the program, whose number is known for errors.
    pub(super) fn read(&mut self, text: &str, number: usize) -> Result<Pushed, LiveError> {
        let error = |reason: String| LiveError::Message { number: number + 1, reason };
        let drafts = self.reader.read(text).map_err(error)?;
        let value = parse_message(text).ok();
        match value.as_ref().and_then(notation) {
            Some(other) if other != self.reader.format && self.reader.format == PLAIN => {
                Err(error(format!("it has the notation of {other}; name it as the format")))
            }
            _ => Ok(Pushed { text: text.to_owned(), drafts }),
        }
    }

    /// Adds messages, and a call whose context they complete. Returns whether no other call lies between it and the last one.
    pub(super) fn add(&mut self, pushed: Vec<Pushed>, time: Option<Millis>) -> bool {
        let Self { growing, builder, reader, first, of, open, model, .. } = self;
        let mut is_next = true;
        let answers_in_runs = reader.answers_in_runs();
        growing.grow(|session| {
            builder.swap(session);
            for Pushed { text, drafts } in pushed {
                let number = first.len();
                first.push(builder.len());
                let span = builder.append_bytes(text.as_bytes());
                for mut draft in drafts {
                    draft.raw = vec![span.clone()];
                    if draft.role != Role::Assistant {
                        *open = None;
                    } else if open.is_none() {
                        // A call that was made without the manager.
                        is_next = false;
                        builder.call(CallDraft { time: draft.time, ..CallDraft::default() });
                    }
                    if draft.role == Role::Assistant {
                        *open = answers_in_runs.then_some(OpenCall::Continues);
                    }
                    builder.message(draft);
                    of.push(Some(number));
                }
            }
            builder.call(CallDraft { model: model.clone(), time, ..CallDraft::default() });
            *open = Some(OpenCall::Unanswered);
            builder.swap(session);
        });
        is_next
    }

    /// Returns the number of the program's message that a message of the session is.
    pub(super) fn number(&self, message: usize) -> Option<usize> {
        *self.of.get(message)?
    }

    /// Returns the text of a message of the program.
    pub(super) fn text(&self, number: usize) -> String {
        let session = &self.case().session;
        let message = &session.messages[self.first[number]];
        let raw = message.raw.first().map(|span| session.raw(span));
        raw.map_or_else(String::new, |raw| String::from_utf8_lossy(&raw).into_owned())
    }

    /// Returns whether a message of the session has content.
    pub(super) fn has_content(&self, message: usize) -> bool {
        !self.case().session.messages[message].parts.is_empty()
    }

    /// Writes the messages of a context.
    pub(super) fn write(&self, managed: &Managed) -> Result<Vec<PlannedMessage>, LiveError> {
        let written = self.reader.write(&self.case().session, managed);
        written.map_err(|error| LiveError::Write(error.to_string()))
    }

    /// Adds what a request contains besides its messages.
    fn add_request(&mut self, drafts: Vec<Draft>) {
        let Self { growing, builder, of, .. } = self;
        growing.grow(|session: &mut Session| {
            builder.swap(session);
            for draft in drafts {
                builder.message(draft);
                of.push(None);
            }
            builder.swap(session);
        });
    }
}
