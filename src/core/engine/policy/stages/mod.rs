//! The vocabulary of stages: when a stage acts, which content it takes, and its action.
//!
//! An action consists of a struct with its settings in a file of its own, a variant of [`Action`], its keys in
//! `policy/parse/stage.rs`, and a pure plan in `run/plan.rs` from the taken content to an edit of the context. This
//! module does not depend on any particular system.

mod action;
mod clear;
mod cut;
mod dedupe;
mod drop;
mod log;
mod named;
mod summarize;

pub use action::Action;
pub use clear::Clear;
pub use cut::{Cut, Unit};
pub use dedupe::Dedupe;
pub use drop::Drop;
pub use log::{Log, LogPiece};
pub use named::Named;
pub use summarize::Summarize;

use crate::engine::expr::Expr;
use crate::engine::vocabulary::Hook;
use crate::session::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One stage of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its id, unique in the policy.
    pub id: String,
    /// The hook at which it may act.
    pub at: Hook,
    /// Its trigger.
    pub when: Expr,
    /// The count that it compares with its limit, recorded at each check; a negative value is not a count.
    pub compares: Option<Expr>,
    /// The content that it acts on.
    pub take: Take,
    /// Its action.
    pub action: Action,
    /// Conditions that may prevent the action.
    pub guard: Guard,
    /// The context that it changes.
    pub mutates: Mutates,
    /// Treatment of calls and results that it separates.
    pub repair: Repair,
    /// Number of calls until its result is applied, for systems that work in the background; none: immediately.
    pub delay: Option<Expr>,
}

/// Treatment of calls and results that a stage separates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The stage keeps pairs whole.
    #[default]
    Whole,
    /// None: some systems do break pairs, and the preset declares it.
    None,
}

/// The context that a stage changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutates {
    /// The context kept for all later calls.
    #[default]
    Store,
    /// The context of the next call only; the store does not change.
    View,
}

/// The content that a stage acts on: everything of a kind except what it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The kind of content.
    pub what: TakeKind,
    /// Rules for kept content; an item is kept if any of them matches.
    pub keep: Vec<Keep>,
    /// Allowed positions of a cut between taken and kept content.
    pub boundary: Boundary,
    /// Maximum number of messages to take, the oldest first.
    pub oldest: Option<Expr>,
    /// Filter for tool results; no rule counts the others.
    pub results: Results,
}

impl Take {
    /// Everything: a named action selects its own content.
    pub const EVERYTHING: Self = Self {
        what: TakeKind::Messages,
        keep: Vec::new(),
        boundary: Boundary::None,
        oldest: None,
        results: Results::ALL,
    };
}

/// A filter for tool results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Only results of these tools; of any tool if empty.
    pub only: Vec<String>,
    /// Excludes results of these tools.
    pub except: Vec<String>,
    /// Only results whose call (tool and arguments) was repeated later.
    pub repeated: bool,
}

impl Results {
    /// Every result.
    pub const ALL: Self = Self { only: Vec::new(), except: Vec::new(), repeated: false };

    /// Returns whether the filter accepts every result.
    pub(crate) fn are_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && !self.repeated
    }

    /// Returns whether the filter accepts results of a tool. A name that ends in `*` matches every tool with that
    /// prefix.
    pub(crate) fn are_of(&self, tool: &str) -> bool {
        let is_it = |name: &String| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => name == tool,
        };
        (self.only.is_empty() || self.only.iter().any(is_it)) && !self.except.iter().any(is_it)
    }
}

/// The kind of content that a stage takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeKind {
    /// Whole messages.
    Messages,
    /// Contents of tool results that are not cleared.
    ToolResults,
}

impl TakeKind {
    /// Returns the name used in presets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::ToolResults => "tool_results",
        }
    }
}

/// A rule for kept content.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// Instructions and tool definitions.
    System,
    /// The first user message.
    FirstUser,
    /// The newest messages, this many.
    LastMessages(Expr),
    /// The newest turns, this many.
    LastTurns(Expr),
    /// The newest answers of the model, this many, and everything behind the first of them.
    LastAnswers(Expr),
    /// The newest messages up to this total weight.
    LastTokens(Expr),
    /// The newest tool results up to this total weight.
    LastToolTokens(Expr),
    /// The newest tool results, this many.
    LastResults(Expr),
    /// The oldest messages after the instructions, this many.
    FirstMessages(Expr),
    /// The newest user message.
    LastUser,
    /// The newest user messages up to this total weight.
    UserTokens(Expr),
}

impl Keep {
    /// Returns the number or weight that it keeps, if it has one.
    fn number(&self) -> Option<&Expr> {
        match self {
            Self::System | Self::FirstUser | Self::LastUser => None,
            Self::LastMessages(n)
            | Self::LastTurns(n)
            | Self::LastAnswers(n)
            | Self::LastTokens(n)
            | Self::LastToolTokens(n)
            | Self::LastResults(n)
            | Self::FirstMessages(n)
            | Self::UserTokens(n) => Some(n),
        }
    }

    /// Returns its name if it counts tokens.
    fn token_rule(&self) -> Option<&'static str> {
        match self {
            Self::LastTokens(_) => Some("last_tokens"),
            Self::LastToolTokens(_) => Some("last_tool_tokens"),
            Self::UserTokens(_) => Some("user_tokens"),
            Self::System
            | Self::FirstUser
            | Self::LastUser
            | Self::LastMessages(_)
            | Self::LastTurns(_)
            | Self::LastAnswers(_)
            | Self::LastResults(_)
            | Self::FirstMessages(_) => None,
        }
    }

    /// Returns whether the rule has an effect on a kind of content.
    pub(super) fn applies_to(&self, kind: TakeKind) -> bool {
        match self {
            Self::LastMessages(_) | Self::LastTurns(_) | Self::LastTokens(_) => true,
            Self::LastToolTokens(_) | Self::LastResults(_) => kind == TakeKind::ToolResults,
            Self::System
            | Self::FirstUser
            | Self::FirstMessages(_)
            | Self::LastAnswers(_)
            | Self::LastUser
            | Self::UserTokens(_) => kind == TakeKind::Messages,
        }
    }
}

/// Allowed positions of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Anywhere.
    None,
    /// Never between a call and its result: keeps more until the cut is safe.
    #[default]
    Pair,
    /// Only before a message that opens a turn: keeps more until it does.
    Turn,
    /// Only before a message that opens a turn: keeps less until it does, or more if no such message follows.
    NextTurn,
}

/// Conditions that may prevent a stage's action. Numbers are expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Minimum savings in tokens, if defined: it must save more than this.
    pub min_saved: Option<Expr>,
    /// The context must become smaller.
    pub must_shrink: bool,
    /// Number of calls of its cooldown after an attempt.
    pub cooldown: Expr,
    /// Minutes without a call after which the provider's prompt cache is assumed to be cold. The stage waits for that,
    /// since a removal then causes no additional cache miss, unless the context reaches into the reserve. None or 0: it
    /// does not wait.
    pub cold: Option<Expr>,
}

impl Stage {
    /// Replaces names by their expressions.
    pub(crate) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        let bind = |expr: &Expr| expr.bind(names);
        let keep = self.take.keep.iter().map(|keep| match keep {
            Keep::System => Keep::System,
            Keep::FirstUser => Keep::FirstUser,
            Keep::LastMessages(n) => Keep::LastMessages(bind(n)),
            Keep::LastTurns(n) => Keep::LastTurns(bind(n)),
            Keep::LastAnswers(n) => Keep::LastAnswers(bind(n)),
            Keep::LastTokens(n) => Keep::LastTokens(bind(n)),
            Keep::LastToolTokens(n) => Keep::LastToolTokens(bind(n)),
            Keep::LastResults(n) => Keep::LastResults(bind(n)),
            Keep::FirstMessages(n) => Keep::FirstMessages(bind(n)),
            Keep::LastUser => Keep::LastUser,
            Keep::UserTokens(n) => Keep::UserTokens(bind(n)),
        });
        Self {
            id: self.id.clone(),
            at: self.at,
            when: bind(&self.when),
            compares: self.compares.as_ref().map(bind),
            take: Take {
                keep: keep.collect(),
                oldest: self.take.oldest.as_ref().map(bind),
                ..self.take.clone()
            },
            action: self.action.bind(names),
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

    /// Returns the first keyword that needs tokens of messages or of their parts; `None` if it has none.
    pub(crate) fn token_rule(&self) -> Option<&'static str> {
        if self.action.takes() == Some(TakeKind::ToolResults) && self.at != Hook::ToolResult {
            return Some(self.action.kind().name());
        }
        let has_minimum = self.guard.min_saved.is_some() && self.action.takes().is_some();
        let kept = self.take.keep.iter().find_map(Keep::token_rule);
        kept.or_else(|| has_minimum.then_some("min_saved"))
    }

    /// Returns whether its content, effect, savings, cooldown and wait do not depend on measurements. Its trigger may.
    pub(crate) fn is_settled(&self) -> bool {
        let is_constant = |expr: &Expr| expr.constant_value().is_some();
        let takes = self.take.keep.iter().filter_map(Keep::number);
        let saves = self.guard.min_saved.iter().chain([&self.guard.cooldown]);
        let does = self.action.expressions();
        let mut all = takes.chain(&self.take.oldest).chain(saves).chain(does);
        let is_immediate = self.guard.cold.is_none() && self.delay.is_none();
        self.action.has_fixed_effect() && is_immediate && all.all(is_constant)
    }
}

/// A written message that replaces others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replacement {
    /// Role of the author.
    pub(crate) role: Role,
    /// Its text.
    pub(crate) text: Arc<str>,
}

/// Fills the placeholders of a template.
fn fill(template: &str, messages: usize, tokens: u64) -> Arc<str> {
    template
        .replace("{messages}", &messages.to_string())
        .replace("{tokens}", &tokens.to_string())
        .into()
}
