//! The vocabulary of stages: when one acts, what it takes, what it does to that.
//!
//! An action is a settings struct in a file of its own, a variant of [`Action`], and a pure plan from what was taken
//! to an [`Edit`]. Nothing here knows of any particular system.

mod clear;
mod cut;
mod drop;
mod log;
mod named;
mod summarize;

pub use clear::Clear;
pub use cut::{Cut, Unit};
pub use drop::Drop;
pub use log::{Log, LogPiece};
pub use named::Named;
pub use summarize::{Place, Summarize};

use super::expr::Expr;
use crate::session::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One step of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its id, unique in the policy.
    pub id: String,
    /// Where in a step it may act.
    pub at: Hook,
    /// Whether it acts.
    pub when: Expr,
    /// What it acts on.
    pub take: Take,
    /// What it does to that.
    pub action: Action,
    /// What may still hold it back.
    pub guard: Guard,
    /// What it changes.
    pub mutates: Mutates,
    /// What is done about calls and results that it separates.
    pub repair: Repair,
    /// Steps until what it does lands, for systems that work in the background; none: at once.
    pub delay: Option<Expr>,
}

/// What is done about calls and results that a stage separates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Nothing need be: it keeps pairs whole.
    #[default]
    Whole,
    /// Nothing is: some systems do break pairs, and the preset says so.
    None,
}

/// What a stage changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutates {
    /// What is kept for all later calls.
    #[default]
    Store,
    /// What the next call sees, and nothing else: the store is as before afterwards.
    View,
}

/// Where in a step a stage may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// A tool has answered; before its result joins the context.
    ToolResult,
    /// The program was started again; before anything else.
    Resume,
    /// A person has spoken; before the first call of the turn.
    TurnStart,
    /// Results of tools have come in; before the next call.
    AfterTools,
    /// Before every call.
    BeforeCall,
    /// The call did not fit, and is tried again if something was done; or a person placed an error of the provider
    /// there, whose words a named action reads.
    OverflowError,
    /// The answer is there.
    AfterCall,
    /// The turn's last answer is there.
    TurnEnd,
    /// Only when a person asks.
    Manual,
}

/// What a stage acts on: everything of a kind but what is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// Of what kind.
    pub what: What,
    /// What is spared; an item is spared if any of these says so.
    pub keep: Vec<Keep>,
    /// Where a cut between taken and kept may fall.
    pub boundary: Boundary,
    /// Of messages that could be taken no more than so many, the oldest.
    pub oldest: Option<Expr>,
    /// Of tool results only some; the others count for no rule.
    pub results: Results,
}

impl Take {
    /// Everything: a named action takes what it wants itself.
    pub const EVERYTHING: Self = Self {
        what: What::Messages,
        keep: Vec::new(),
        boundary: Boundary::None,
        oldest: None,
        results: Results::ALL,
    };
}

/// Which tool results a stage is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Those of these tools; of any if empty.
    pub only: Vec<String>,
    /// Not those of these tools.
    pub except: Vec<String>,
    /// Those whose very call (tool and arguments) was made again later.
    pub repeated: bool,
}

impl Results {
    /// Every result.
    pub const ALL: Self = Self {
        only: Vec::new(),
        except: Vec::new(),
        repeated: false,
    };

    /// Whether it is about every result.
    pub(super) fn are_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && !self.repeated
    }

    /// Whether it is about results of a tool. A name that ends in `*` stands for every tool that begins so.
    pub(super) fn are_of(&self, tool: &str) -> bool {
        let is_it = |name: &String| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => name == tool,
        };
        (self.only.is_empty() || self.only.iter().any(is_it)) && !self.except.iter().any(is_it)
    }
}

/// What kind of thing a stage takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Whole messages.
    Messages,
    /// Contents of tool results that are not cleared yet.
    ToolResults,
}

/// What a stage spares.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// Instructions and tool definitions.
    System,
    /// The first message of a person.
    FirstUser,
    /// The newest messages, this many.
    LastMessages(Expr),
    /// The newest turns, this many.
    LastTurns(Expr),
    /// The newest messages that weigh no more than this together.
    LastTokens(Expr),
    /// The newest tool results that weigh no more than this together.
    LastToolTokens(Expr),
    /// The newest tool results, this many.
    LastResults(Expr),
    /// The oldest messages behind the instructions, this many.
    FirstMessages(Expr),
    /// The newest message of a person.
    LastUser,
    /// The newest messages of a person that weigh no more than this together.
    UserTokens(Expr),
}

impl Keep {
    /// How many or how much it spares, where it says.
    fn number(&self) -> Option<&Expr> {
        match self {
            Self::System | Self::FirstUser | Self::LastUser => None,
            Self::LastMessages(n)
            | Self::LastTurns(n)
            | Self::LastTokens(n)
            | Self::LastToolTokens(n)
            | Self::LastResults(n)
            | Self::FirstMessages(n)
            | Self::UserTokens(n) => Some(n),
        }
    }
}

/// Where a cut may fall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Anywhere.
    None,
    /// Never between a call and its result: more is kept until the cut is safe.
    #[default]
    Pair,
    /// Only before a message that opens a turn: more is kept until it does.
    Turn,
    /// The same, but less is kept until it does; where no such message follows, more is.
    NextTurn,
}

/// What may still hold a stage back. Numbers are expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// It must save more than this (tokens), where it says so.
    pub min_saved: Option<Expr>,
    /// The context must become smaller.
    pub must_shrink: bool,
    /// Steps it rests after an attempt.
    pub cooldown: Expr,
    /// Minutes without a call after which the provider's prompt cache is taken to be cold: it waits for that, since what
    /// is removed then costs nothing extra, unless the context no longer fits. None, or 0: it does not wait.
    pub cold: Option<Expr>,
}

/// What a stage does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Empties tool results and keeps the pairs.
    Clear(Clear),
    /// Shortens tool results.
    Cut(Cut),
    /// Removes messages.
    Drop(Drop),
    /// Puts a summary in the place of messages.
    Summarize(Summarize),
    /// Says a line.
    Log(Log),
    /// Does what a real system does in its own words.
    Named(Named),
}

impl Action {
    /// The verb shown in events and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Clear(_) => "clear",
            Self::Cut(cut) if cut.spills => "spill",
            Self::Cut(_) => "cut",
            Self::Drop(_) => "drop",
            Self::Summarize(_) => "summarize",
            Self::Log(_) => "log",
            Self::Named(named) => named.spec.verb,
        }
    }

    /// The real system whose own action it is, by the name before the dot.
    pub(super) fn system(&self) -> Option<&'static str> {
        match self {
            Self::Named(named) => named.spec.name.split('.').next(),
            _ => None,
        }
    }
}

impl Stage {
    /// The same with names replaced by what they stand for.
    pub(super) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        let bind = |expr: &Expr| expr.bind(names);
        let keep = self.take.keep.iter().map(|keep| match keep {
            Keep::System => Keep::System,
            Keep::FirstUser => Keep::FirstUser,
            Keep::LastMessages(n) => Keep::LastMessages(bind(n)),
            Keep::LastTurns(n) => Keep::LastTurns(bind(n)),
            Keep::LastTokens(n) => Keep::LastTokens(bind(n)),
            Keep::LastToolTokens(n) => Keep::LastToolTokens(bind(n)),
            Keep::LastResults(n) => Keep::LastResults(bind(n)),
            Keep::FirstMessages(n) => Keep::FirstMessages(bind(n)),
            Keep::LastUser => Keep::LastUser,
            Keep::UserTokens(n) => Keep::UserTokens(bind(n)),
        });
        let action = match &self.action {
            Action::Summarize(summarize) => Action::Summarize(Summarize {
                max_tokens: bind(&summarize.max_tokens),
                ..summarize.clone()
            }),
            Action::Cut(cut) => Action::Cut(cut.bind(names)),
            Action::Log(log) => Action::Log(log.bind(names)),
            Action::Named(its_own) => Action::Named(its_own.bind(names)),
            other => other.clone(),
        };
        Self {
            id: self.id.clone(),
            at: self.at,
            when: bind(&self.when),
            take: Take {
                keep: keep.collect(),
                oldest: self.take.oldest.as_ref().map(bind),
                ..self.take.clone()
            },
            action,
            guard: Guard {
                min_saved: self.guard.min_saved.as_ref().map(bind),
                must_shrink: self.guard.must_shrink,
                cooldown: bind(&self.guard.cooldown),
                cold: self.guard.cold.as_ref().map(bind),
            },
            mutates: self.mutates,
            repair: self.repair,
            delay: self.delay.as_ref().map(bind),
        }
    }
}

impl Stage {
    /// Whether nothing that is measured decides what it takes, does and saves, nor whether it rests or waits: its trigger
    /// alone may ask.
    pub(super) fn is_settled(&self) -> bool {
        let is_constant = |expr: &Expr| expr.constant_value().is_some();
        let takes = self.take.keep.iter().filter_map(Keep::number);
        let saves = self.guard.min_saved.iter().chain([&self.guard.cooldown]);
        let does = match &self.action {
            Action::Clear(_) | Action::Drop(_) => None,
            Action::Summarize(summarize) => Some(&summarize.max_tokens),
            Action::Cut(_) | Action::Log(_) | Action::Named(_) => return false,
        };
        let mut all = takes.chain(&self.take.oldest).chain(saves).chain(does);
        self.guard.cold.is_none() && self.delay.is_none() && all.all(is_constant)
    }
}

/// A message of ours to be put in the place of others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replacement {
    /// Who it speaks as.
    pub(super) role: Role,
    /// Its text.
    pub(super) text: Arc<str>,
}

/// Fills the placeholders of a text of ours.
fn fill(template: &str, messages: usize, tokens: u64) -> Arc<str> {
    template
        .replace("{messages}", &messages.to_string())
        .replace("{tokens}", &tokens.to_string())
        .into()
}
