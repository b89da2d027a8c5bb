//! Extension points for real systems: named actions, counting rules and context windows.
//!
//! The engine defines only these interfaces. The layer `systems` implements them in a folder for each system, and lists
//! them in a [`Registry`], which the parser of policies receives. The documentation of `systems` explains how to write
//! an action.
pub(super) mod edits;
pub(super) mod memory;
pub(super) mod window;

use crate::chat::{ChatMessage, Messages, PendingRequest, Replies, Rule, Shape};
use crate::engine::case::storage::{NewFile, Storage};
use crate::engine::vocabulary::{ActionKind, Hook};
use crate::json::{Value, json};
use crate::units::Millis;
use edits::{Edits, MessageEdit};
use memory::Memory;
use std::fmt;
use std::sync::Arc;
use window::NamedWindow;

/// Names that policies may use in addition to the engine's own vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Registry {
    /// Named actions, one list per system.
    pub actions: &'static [&'static [NamedAction]],
    /// Counting rules.
    pub meters: &'static [&'static NamedMeter],
    /// Rules for a model's context window.
    pub windows: &'static [&'static NamedWindow],
}

/// An action of a real system.
#[derive(Clone, Copy, Debug)]
pub struct NamedAction {
    /// Name in presets: `system.what_it_does`.
    pub name: &'static str,
    /// Its kind.
    pub kind: ActionKind,
    /// One sentence for people who read a preset.
    pub help: &'static str,
    /// Format of the system's messages.
    pub shape: Shape,
    /// Names of its numbers; a preset defines each as an expression. The action reads them with
    /// [`RewriteInput::number`].
    pub numbers: &'static [&'static str],
    /// Creates it from the keys of the stage's `do` other than `named`, `answer_tokens` and its numbers. Returns an
    /// error for an unknown key.
    pub make: MakeRewrite,
}

/// Creates a named action from the settings of a stage.
pub type MakeRewrite = fn(&toml::Table) -> Result<Arc<dyn Rewrite>, String>;

impl NamedAction {
    /// Creates an action without numbers, of a system whose messages have the shape of `OpenAI`.
    pub const fn new(
        name: &'static str,
        kind: ActionKind,
        help: &'static str,
        make: MakeRewrite,
    ) -> Self {
        Self { name, kind, help, shape: Shape::OpenAi, numbers: &[], make }
    }

    /// Returns the action with another shape of messages.
    #[must_use]
    pub const fn with_shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// Returns the action with these numbers.
    #[must_use]
    pub const fn with_numbers(self, numbers: &'static [&'static str]) -> Self {
        Self { numbers, ..self }
    }
}

/// A counting rule of a real system.
#[derive(Clone, Copy, Debug)]
pub struct NamedMeter {
    /// Name in presets.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Format of the system's messages.
    pub shape: Shape,
    /// Returns the units that a message adds, in the system's own unit (characters, tokens, fractions of tokens).
    pub units: fn(&ChatMessage) -> u64,
    /// Converts the total of units to tokens, including the system's rounding of the sum.
    pub tokens: fn(u64) -> u64,
    /// Returns the units of tool definitions, if the system counts them.
    pub tools: fn(&[Value]) -> u64,
}

impl NamedMeter {
    /// Returns the units that a message adds; computed once and cached in the message.
    pub fn weigh(&self, message: &ChatMessage) -> u64 {
        message.weigh(self.rule(), self.units)
    }

    /// Returns the units that all messages add; only messages that are new since the last use are processed.
    pub fn weigh_all(&self, messages: &Messages) -> u64 {
        messages.weigh(self.rule(), |message| self.weigh(message))
    }

    fn rule(&self) -> Rule {
        Rule { name: self.name, by: self.units as usize }
    }
}

/// The behavior of a named action. It is a pure function: state that must outlive a call is kept in [`Memory`].
pub trait Rewrite: fmt::Debug + Send + Sync {
    /// Returns the messages afterwards, or [`PendingRequest`] until all required answers are available.
    ///
    /// # Errors
    /// [`PendingRequest`] if a summary is needed first.
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest>;
}

/// The input of a named action.
#[derive(Debug)]
pub struct RewriteInput<'a> {
    /// The conversation, instructions first, in the action's shape.
    pub messages: Messages,
    /// Definitions of tools in the file, as JSON.
    pub tools: &'a [Value],
    /// Its numbers by name.
    pub numbers: &'a [(&'static str, f64)],
    /// The hook at which it acts.
    pub at: Hook,
    /// Index of the call.
    pub call: usize,
    /// The turn, from 1.
    pub turn: u32,
    /// The call within its turn, from 0.
    pub call_in_turn: u32,
    /// Seconds since the session's first call.
    pub now: f64,
    /// Time of the session's first call, if recorded.
    pub since: Option<Millis>,
    /// Model of the call; empty if unknown.
    pub model: &'a str,
    /// Its true window in tokens.
    pub window: u64,
    /// State that the action kept from earlier calls.
    pub memory: Memory,
    /// Provider error in place of an answer, if the user placed one; else empty.
    pub error: &'a str,
    /// Location of its files.
    pub storage: &'a Storage,
}

/// The result of a named action.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// The conversation afterwards; none if nothing changed or `edits` has all changes.
    pub messages: Option<Vec<ChatMessage>>,
    /// Changes and removals of single messages, first to last; all others stay in place.
    pub edits: Edits,
    /// The count that the system compared with its limit, if it compared one.
    pub compared: Option<u64>,
    /// Whether it ran by the system's own count (its cooldown starts), even if nothing changed.
    pub fired: bool,
    /// Whether it only repeats the change of its last event, for a view that is rebuilt for each call. There is no
    /// other event then.
    pub repeats: bool,
    /// Terms of its calculation with their values, for the event.
    pub terms: Vec<(String, f64)>,
    /// Lines that the system logs or shows.
    pub log: Vec<String>,
    /// Files that it writes.
    pub files: Vec<NewFile>,
    /// The error with which the system stops here, verbatim.
    pub halt: Option<String>,
    /// State for later calls; keys that it does not contain are unchanged.
    pub memory: Memory,
}

impl Rewritten {
    /// Creates the result of a check that compared a count, which changed nothing yet. The count is its term `used`.
    pub fn counted(used: u64) -> Self {
        Self {
            compared: Some(used),
            terms: vec![("used".to_owned(), used as f64)],
            ..Self::default()
        }
    }

    /// Creates the result of edits; nothing has happened if there are none.
    pub fn edited(edits: impl Into<Edits>) -> Self {
        let edits = edits.into();
        Self { fired: !edits.is_empty(), edits, ..Self::default() }
    }

    /// Creates the result of edits that are made anew for every request. They count as a repetition if there are as
    /// many as at the call before; `key` keeps their number in memory.
    pub fn edited_for_request(input: &RewriteInput<'_>, key: &str, edits: Edits) -> Self {
        let n_before = input.memory[key].as_u64().unwrap_or(0);
        Self {
            repeats: edits.len() as u64 == n_before,
            memory: json!({key: edits.len()}).into(),
            edits,
            ..Self::default()
        }
    }

    /// Adds an error, which is logged and stops the system.
    #[must_use]
    pub fn stopped_by(mut self, why: String) -> Self {
        self.fired = true;
        self.log.push(why.clone());
        self.halt = Some(why);
        self
    }

    /// Returns the conversation after the action, given the one before; none if nothing changed.
    pub fn after(&self, before: &[ChatMessage]) -> Option<Vec<ChatMessage>> {
        let edits = || (!self.edits.is_empty()).then(|| edited(before, &self.edits));
        self.messages.clone().or_else(edits)
    }
}

/// Applies edits to a conversation.
pub(super) fn edited(before: &[ChatMessage], edits: &[MessageEdit]) -> Vec<ChatMessage> {
    let mut edits = edits.iter().peekable();
    let after = |(at, message): (usize, &ChatMessage)| {
        let edit = edits.next_if(|edit| edit.at == at);
        edit.map_or_else(|| Some(message.clone()), |edit| edit.now.clone())
    };
    before.iter().enumerate().filter_map(after).collect()
}

impl RewriteInput<'_> {
    /// Returns one of the preset's numbers; 0 if the name is unknown.
    pub fn number(&self, name: &str) -> f64 {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, value)| *value)
    }

    /// Returns whether one of the preset's numbers, a switch, is on: not 0.
    pub fn flag(&self, name: &str) -> bool {
        self.number(name) != 0.0
    }

    /// Returns one of the preset's numbers as a whole number.
    pub fn count(&self, name: &str) -> usize {
        self.number(name).max(0.0) as usize
    }
}
