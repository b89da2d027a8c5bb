//! A conversation to write as a session of another agent's program, see [`super::Resume`].
//!
//! The program sends instructions and tool definitions of its own. Those at the start of the source are left out.
//! Instructions within the conversation become messages of the user. Thoughts are left out: their signatures are valid
//! for the program that received them only.
//!
//! # How to write a handoff
//!
//! 1. `formats/NAME/handoff.rs` writes a [`Handoff`] as a file of the program. Message ids come from [`HandoffIds`], the
//!    session id is [`super::resume::NO_SESSION`] or one that step 2 replaces, and an unknown folder is empty. Keep the
//!    title if the program reads one. A medium that the program cannot read becomes its placeholder.
//! 2. `formats/NAME/resume.rs` has `const RESUME`, see [`super::Resume`]. Its `to_new_session` sets id, time and folder in
//!    any file of the program, and returns the path in the store and the command. Change nothing else: a copy keeps all
//!    records.
//! 3. `FORMAT` names it: `resume: Some(resume::RESUME)`. If the program names the folders of projects, set `projects`. If
//!    it adds files by a command of its own, set `import`.
//! 4. Set `is_left_out` if the program leaves out some messages when it resumes, and write a text before these.
//! 5. Resume the result with the real program: a row of `AGENTS` in `tests/cli/handoff.rs`, a class in
//!    `tests/resume/agents.py`, and a run of `tests/resume/run.py`.

mod ids;
mod lines;

pub(super) use ids::HandoffIds;
pub(super) use lines::{JsonLines, id_patches};

use super::content::Media;
use super::message_list::{PlainBlock, PlainMessage, plain_messages};
use crate::json::{Map, Value};
use crate::session::{Managed, ManagedEntry, Role, Session};
use crate::units::Millis;
use std::collections::{HashMap, HashSet};

/// A conversation for another program.
#[derive(Debug)]
pub(super) struct Handoff {
    /// Working folder, if recorded.
    pub(super) project: Option<String>,
    /// Title, if recorded.
    pub(super) title: Option<String>,
    /// Name of the last model, if recorded.
    pub(super) model: Option<String>,
    /// Messages in order.
    pub(super) messages: Vec<HandoffMessage>,
    /// Source of new ids.
    pub(super) ids: HandoffIds,
}

/// A message with its time: the recorded one, but never before that of an earlier message. Without a recorded one, it is
/// that of the message before, and at the start that of the first message that has one (else 1970-01-01).
#[derive(Debug)]
pub(super) struct HandoffMessage {
    pub(super) time: Millis,
    pub(super) content: HandoffContent,
}

/// Content of a message.
#[derive(Debug)]
pub(super) enum HandoffContent {
    /// A message of the user.
    User(Vec<HandoffBlock>),
    /// An answer with its calls, each with its result.
    Answer(Vec<AnswerBlock>),
}

/// A block of a user message or of a result.
#[derive(Debug)]
pub(super) enum HandoffBlock {
    Text(String),
    Media(Media),
}

/// A block of an answer.
#[derive(Debug)]
pub(super) enum AnswerBlock {
    Text(String),
    Call(HandoffCall),
}

/// A tool call with its result.
#[derive(Debug)]
pub(super) struct HandoffCall {
    /// Unique id of up to 64 letters, digits, dashes and underscores, which all providers accept.
    pub(super) id: String,
    /// Name of the tool.
    pub(super) tool: String,
    /// Arguments as an object.
    pub(super) arguments: Value,
    /// The tool failed.
    pub(super) is_error: bool,
    /// Text of the result.
    pub(super) text: String,
    /// Media of the result.
    pub(super) media: Vec<HandoffBlock>,
}

impl Handoff {
    /// Prepares the managed conversation of a session.
    pub(super) fn new(session: &Session, managed: &Managed) -> Self {
        let mut handoff = Self {
            project: session.project.clone().filter(|project| !project.trim().is_empty()),
            title: Some(session.title.clone()).filter(|title| *title != session.source.name),
            model: session.models.last().cloned(),
            messages: Vec::new(),
            ids: HandoffIds::new(session),
        };
        let first = session.messages.iter().find_map(|message| message.time);
        let mut time = first.unwrap_or(Millis(0));
        for message in plain_messages(session, managed) {
            time = time.max(message.time.unwrap_or(time));
            handoff.add(message, time);
        }
        CallIds::default().assign(&mut handoff.messages);
        handoff
    }

    /// Returns the time of the first message.
    pub(super) fn start(&self) -> Millis {
        self.messages.first().map_or(Millis(0), |message| message.time)
    }

    /// Returns the time of the last message.
    pub(super) fn end(&self) -> Millis {
        self.messages.last().map_or(Millis(0), |message| message.time)
    }

    fn add(&mut self, message: PlainMessage, time: Millis) {
        if message.role == Role::System && self.messages.is_empty() {
            return;
        }
        let (mut user, mut answer) = (Vec::new(), Vec::new());
        for block in message.blocks {
            match block {
                PlainBlock::Thinking(_) | PlainBlock::Tool(_) => {}
                PlainBlock::Result { call, is_error, text, media } => {
                    self.answer_call(&call, is_error, text, media);
                }
                PlainBlock::Call { call, tool, arguments } => {
                    answer.push(AnswerBlock::Call(HandoffCall {
                        id: call,
                        tool,
                        arguments: arguments_object(&arguments),
                        is_error: false,
                        text: String::new(),
                        media: Vec::new(),
                    }));
                }
                // Media of an answer are in a user message after it, see `plain_messages`.
                block if message.role == Role::Assistant => {
                    if let Some(HandoffBlock::Text(text)) = handoff_block(block) {
                        answer.push(AnswerBlock::Text(text));
                    }
                }
                block => user.extend(handoff_block(block)),
            }
        }
        if !answer.is_empty() {
            self.messages.push(HandoffMessage { time, content: HandoffContent::Answer(answer) });
        }
        if !user.is_empty() {
            self.messages.push(HandoffMessage { time, content: HandoffContent::User(user) });
        }
    }

    /// Sets the result of a call of the last answer. A repeated result is left out.
    fn answer_call(&mut self, id: &str, is_error: bool, text: String, media: Vec<PlainBlock>) {
        let Some(HandoffMessage { content: HandoffContent::Answer(blocks), .. }) =
            self.messages.last_mut()
        else {
            return;
        };
        let call = blocks.iter_mut().find_map(|block| match block {
            AnswerBlock::Call(call) if call.id == id => Some(call),
            _ => None,
        });
        if let Some(call) = call.filter(|call| call.text.is_empty() && call.media.is_empty()) {
            call.is_error = is_error;
            call.text = text;
            call.media = media.into_iter().filter_map(handoff_block).collect();
        }
    }
}

impl HandoffMessage {
    /// Returns the blocks of an answer.
    #[cfg(test)]
    fn answer(&self) -> &[AnswerBlock] {
        if let HandoffContent::Answer(blocks) = &self.content { blocks } else { &[] }
    }
}

impl HandoffCall {
    /// Returns the result as blocks, of which the first is the text if there is any.
    pub(super) fn into_result(self) -> Vec<HandoffBlock> {
        let text = (!self.text.is_empty()).then_some(HandoffBlock::Text(self.text));
        text.into_iter().chain(self.media).collect()
    }
}

/// Returns whether the calls of an answer wait for results.
pub(super) fn has_calls(blocks: &[AnswerBlock]) -> bool {
    blocks.iter().any(|block| matches!(block, AnswerBlock::Call(_)))
}

/// Returns the number of messages of a managed conversation that a program replaces by its own: instructions before the first
/// other message.
pub fn n_replaced(session: &Session, managed: &Managed) -> usize {
    let is_instruction = |entry: &&ManagedEntry| match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => {
            session.messages[*message].role == Role::System
        }
        ManagedEntry::Written { role, .. } => *role == Role::System,
    };
    managed.entries.iter().take_while(is_instruction).count()
}

fn handoff_block(block: PlainBlock) -> Option<HandoffBlock> {
    match block {
        PlainBlock::Text(text) => Some(HandoffBlock::Text(text)),
        PlainBlock::Native(value) => Some(HandoffBlock::Text(value.to_string())),
        PlainBlock::Media(media) => Some(HandoffBlock::Media(media)),
        _ => None,
    }
}

/// Returns the arguments of a call as an object, which some programs require.
fn arguments_object(arguments: &str) -> Value {
    match crate::json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ if arguments.is_empty() => Value::Object(Map::new()),
        _ => Value::Object(Map::from_iter([("_raw".to_owned(), Value::from(arguments))])),
    }
}

/// Maximum length of a call's id.
const MAX_ID: usize = 64;

/// Replaces the ids of calls that a provider would reject.
#[derive(Default)]
struct CallIds {
    new: HashMap<String, String>,
    count: usize,
}

impl CallIds {
    fn assign(&mut self, messages: &mut [HandoffMessage]) {
        let calls = || {
            let blocks = messages.iter().flat_map(|message| match &message.content {
                HandoffContent::Answer(blocks) => &blocks[..],
                HandoffContent::User(_) => &[],
            });
            blocks.filter_map(|block| match block {
                AnswerBlock::Call(call) => Some(&call.id),
                AnswerBlock::Text(_) => None,
            })
        };
        let used: HashSet<&String> = calls().collect();
        for id in calls().filter(|id| !is_accepted(id)) {
            let new = loop {
                self.count += 1;
                let new = format!("call_{}", self.count);
                if !used.contains(&new) {
                    break new;
                }
            };
            self.new.insert(id.clone(), new);
        }
        for message in messages {
            let HandoffContent::Answer(blocks) = &mut message.content else { continue };
            for block in blocks {
                if let AnswerBlock::Call(call) = block
                    && let Some(new) = self.new.get(&call.id)
                {
                    call.id.clone_from(new);
                }
            }
        }
    }
}

fn is_accepted(id: &str) -> bool {
    let is_sign = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> HandoffMessage {
        let call = HandoffCall {
            id: id.to_owned(),
            tool: "read".to_owned(),
            arguments: arguments_object(""),
            is_error: false,
            text: String::new(),
            media: Vec::new(),
        };
        let content = HandoffContent::Answer(vec![AnswerBlock::Call(call)]);
        HandoffMessage { time: Millis(0), content }
    }

    #[test]
    fn ids_that_providers_reject_are_replaced() {
        let long = "x".repeat(65);
        let mut messages: Vec<_> = ["call_1", "a.b", &long, "ok-1"].map(call).into();
        CallIds::default().assign(&mut messages);
        let ids: Vec<&str> = messages
            .iter()
            .flat_map(HandoffMessage::answer)
            .map(|block| if let AnswerBlock::Call(call) = block { &*call.id } else { "" })
            .collect();
        assert_eq!(ids, ["call_1", "call_2", "call_3", "ok-1"]);
    }

    #[test]
    fn arguments_are_objects() {
        let text = |arguments| arguments_object(arguments).to_string();
        assert_eq!(text("{\"a\":1.0}"), "{\"a\":1.0}");
        assert_eq!(text(""), "{}");
        assert_eq!(text("[1]"), "{\"_raw\":\"[1]\"}");
    }
}
