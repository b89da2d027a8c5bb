//! What a real system does in its own words: a named action, a rule of counting, a window of its own.
//!
//! The engine knows only these shapes. What stands behind them is written in the layer `systems`, a file each, and
//! handed in as a [`Registry`] when a policy is read.

use super::file::{NewFile, Storage};
use super::memory::Memory;
use super::stages::Hook;
use crate::chat::{ChatMessage, Dialogue, Messages, Rule, Shape, Wants};
use crate::units::Millis;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What policies may name beyond the engine's own vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Registry {
    /// Named actions, a list a system.
    pub actions: &'static [&'static [NamedAction]],
    /// Rules of counting.
    pub meters: &'static [&'static NamedMeter],
    /// Ways to tell a model's window.
    pub windows: &'static [&'static NamedWindow],
}

/// An action of a real system's own.
#[derive(Clone, Copy, Debug)]
pub struct NamedAction {
    /// Name in presets: `system.what_it_does`.
    pub name: &'static str,
    /// The verb shown in events and JSON: `clear`, `cut`, `drop`, `spill`, `summarize`, `inject`, `log`, `repair`.
    pub verb: &'static str,
    /// One sentence for people who read a preset.
    pub help: &'static str,
    /// How the system lays out its messages.
    pub shape: Shape,
    /// Names of its numbers; a preset gives each as an expression.
    pub numbers: &'static [&'static str],
    /// Makes it from what else the preset says about it (a table, perhaps empty).
    pub make: fn(&toml::Table) -> Result<Arc<dyn Rewrite>, String>,
}

/// A rule of counting of a real system's own.
#[derive(Clone, Copy, Debug)]
pub struct NamedMeter {
    /// Name in presets.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// How the system lays out its messages.
    pub shape: Shape,
    /// What a message adds, in units of the system's own (characters, tokens, fractions of tokens).
    pub units: fn(&ChatMessage) -> u64,
    /// Tokens of this many units in all; rounding belongs here where the system rounds the sum.
    pub tokens: fn(u64) -> u64,
    /// Units of the tools' definitions, where the system counts them.
    pub tools: fn(&[Value]) -> u64,
}

impl NamedMeter {
    /// What a message adds: worked out once and kept with the message.
    pub fn weigh(&self, message: &ChatMessage) -> u64 {
        message.weigh(self.rule(), self.units)
    }

    /// What all messages add: only those that are new since it was last asked for are looked at.
    pub fn weigh_all(&self, messages: &Messages) -> u64 {
        messages.weigh(self.rule(), |message| self.weigh(message))
    }

    fn rule(&self) -> Rule {
        Rule {
            name: self.name,
            by: self.units as usize,
        }
    }
}

/// A system's own way to tell a model's context window.
#[derive(Clone, Copy, Debug)]
pub struct NamedWindow {
    /// Name in presets.
    pub name: &'static str,
    /// Tokens for a model (lower or upper case as recorded; empty if nobody knows).
    pub window: fn(&str) -> u64,
    /// The longest answer that it takes the model to give; 0 if it does not know.
    pub output: fn(&str) -> u64,
}

/// What a named action does. It is a pure function: state that must outlive a step is kept in [`Memory`].
pub trait Rewrite: fmt::Debug + Send + Sync {
    /// The messages as they are afterwards, or [`Wants`] until every answer it needs is there.
    ///
    /// # Errors
    /// [`Wants`] if a summary is needed first.
    fn rewrite(&self, scene: Scene<'_>, dialogue: &mut Dialogue<'_>) -> Result<Rewritten, Wants>;
}

/// What a named action sees.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The conversation, instructions first, in the action's shape.
    pub messages: Messages,
    /// Definitions of tools in the file, as JSON.
    pub tools: &'a [Value],
    /// Its numbers by name.
    pub numbers: &'a [(&'static str, f64)],
    /// Where in a step it acts.
    pub at: Hook,
    /// Index of the step.
    pub step: usize,
    /// The turn, from 1, and the call within it, from 0.
    pub turn: (u32, u32),
    /// Seconds since the session's first step.
    pub now: f64,
    /// When the session's first step was, where the file says.
    pub since: Option<Millis>,
    /// Model of the step; empty if nobody knows.
    pub model: &'a str,
    /// Its true window in tokens.
    pub window: u64,
    /// What the action kept from earlier steps.
    pub memory: Memory,
    /// What the provider answered in the place of a call, where a person placed an error; else empty.
    pub error: &'a str,
    /// Where its files go.
    pub storage: &'a Storage,
}

/// What a named action did.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// The conversation afterwards; none if nothing changed, or only what `edits` has.
    pub messages: Option<Vec<ChatMessage>>,
    /// Single messages that change or go while all others stay where they are, first to last.
    pub edits: Vec<MessageEdit>,
    /// It ran as the system counts it (its cooldown starts), whether or not anything changed.
    pub fired: bool,
    /// Terms of its own arithmetic with their values, for the event.
    pub terms: Vec<(String, f64)>,
    /// Lines that the system itself logs or shows.
    pub log: Vec<String>,
    /// Files that it writes.
    pub files: Vec<NewFile>,
    /// The system gives up here: its error, in its own words.
    pub halt: Option<String>,
    /// What to keep for later steps; what it does not name stays as it was.
    pub memory: Memory,
}

/// A change of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageEdit {
    /// Its place in the conversation that the action saw.
    pub at: usize,
    /// What stands there afterwards; nothing if it is left out.
    pub now: Option<ChatMessage>,
}

impl Rewritten {
    /// The conversation afterwards, if that was the one before; none if nothing changed.
    pub fn after(&self, before: &[ChatMessage]) -> Option<Vec<ChatMessage>> {
        let edits = || (!self.edits.is_empty()).then(|| edited(before, &self.edits));
        self.messages.clone().or_else(edits)
    }
}

/// A conversation with edits made.
pub(super) fn edited(before: &[ChatMessage], edits: &[MessageEdit]) -> Vec<ChatMessage> {
    let mut edits = edits.iter().peekable();
    let after = |(at, message): (usize, &ChatMessage)| {
        let edit = edits.next_if(|edit| edit.at == at);
        edit.map_or_else(|| Some(message.clone()), |edit| edit.now.clone())
    };
    before.iter().enumerate().filter_map(after).collect()
}

impl Scene<'_> {
    /// One of the numbers that the preset gives; 0 if it names none.
    pub fn number(&self, name: &str) -> f64 {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, value)| *value)
    }

    /// The same as a whole number.
    pub fn count(&self, name: &str) -> usize {
        self.number(name).max(0.0) as usize
    }
}
