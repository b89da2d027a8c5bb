//! The actions that stages name, with the properties that the parser, the engine and the window depend on.

use super::{Clear, Cut, Dedupe, Drop, Log, Named, Summarize, TakeKind};
use crate::engine::expr::Expr;
use crate::engine::vocabulary::ActionKind;
use std::collections::BTreeMap;

/// The action of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Clears tool results and keeps the pairs.
    Clear(Clear),
    /// Shortens tool results.
    Cut(Cut),
    /// Replaces repeated tool results by pointers to the newest copy.
    Dedupe(Dedupe),
    /// Removes messages.
    Drop(Drop),
    /// Replaces messages by a summary.
    Summarize(Summarize),
    /// Writes a log line.
    Log(Log),
    /// Runs an action of a real system.
    Named(Named),
}

/// Properties of an action. The methods of [`Action`] with the same names describe them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
struct Properties {
    kind: ActionKind,
    takes: Option<TakeKind>,
    acts_on_new_results: bool,
    reads_errors: bool,
    spills: bool,
    has_fixed_effect: bool,
    is_size_only: bool,
    system: Option<&'static str>,
}

impl Properties {
    /// Creates the properties of an action that only edits what its stage takes, or only logs.
    const fn plain(kind: ActionKind, takes: Option<TakeKind>) -> Self {
        Self {
            kind,
            takes,
            acts_on_new_results: false,
            reads_errors: false,
            spills: false,
            has_fixed_effect: false,
            is_size_only: false,
            system: None,
        }
    }
}

impl Action {
    fn properties(&self) -> Properties {
        let (messages, results) = (Some(TakeKind::Messages), Some(TakeKind::ToolResults));
        match self {
            Self::Clear(_) => Properties {
                has_fixed_effect: true,
                ..Properties::plain(ActionKind::Clear, results)
            },
            Self::Cut(cut) => {
                let kind = if cut.spills { ActionKind::Spill } else { ActionKind::Cut };
                Properties {
                    acts_on_new_results: true,
                    spills: cut.spills,
                    ..Properties::plain(kind, results)
                }
            }
            Self::Dedupe(_) => Properties::plain(ActionKind::Dedupe, results),
            Self::Drop(_) => Properties {
                has_fixed_effect: true,
                ..Properties::plain(ActionKind::Drop, messages)
            },
            Self::Summarize(summarize) => Properties {
                has_fixed_effect: true,
                is_size_only: summarize.is_opaque,
                ..Properties::plain(ActionKind::Summarize, messages)
            },
            Self::Log(_) => Properties::plain(ActionKind::Log, None),
            Self::Named(named) => Properties {
                acts_on_new_results: true,
                reads_errors: true,
                system: named.spec.name.split('.').next(),
                ..Properties::plain(named.spec.kind, None)
            },
        }
    }

    /// Returns its kind, which events and JSON show.
    pub fn kind(&self) -> ActionKind {
        self.properties().kind
    }

    /// Returns the kind of content that the action takes by the rules of its stage; `None` if it selects its own.
    pub fn takes(&self) -> Option<TakeKind> {
        self.properties().takes
    }

    /// Returns whether the action can be used at `tool_result`.
    pub(crate) fn acts_on_new_results(&self) -> bool {
        self.properties().acts_on_new_results
    }

    /// Returns whether the action may read the text of a provider error. Only real systems have such rules.
    pub fn reads_errors(&self) -> bool {
        self.properties().reads_errors
    }

    /// Returns whether the action may move texts to files by the settings of its stage.
    pub fn spills(&self) -> bool {
        self.properties().spills
    }

    /// Returns whether its effect depends only on its settings, not on the texts in the context.
    pub(super) fn has_fixed_effect(&self) -> bool {
        self.properties().has_fixed_effect
    }

    /// Returns whether only the provider can read what it writes, so that a run knows only the size.
    pub fn is_size_only(&self) -> bool {
        self.properties().is_size_only
    }

    /// Returns the real system that the action belongs to, by the name before the dot.
    pub fn system(&self) -> Option<&'static str> {
        self.properties().system
    }

    /// Returns the expressions in its settings.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Clear(_) | Self::Dedupe(_) | Self::Drop(_) => Vec::new(),
            Self::Cut(cut) => cut.expressions(),
            Self::Summarize(summarize) => summarize.expressions(),
            Self::Log(log) => log.expressions(),
            Self::Named(named) => named.expressions(),
        }
    }

    /// Replaces names by their expressions.
    pub(super) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        match self {
            Self::Summarize(summarize) => Self::Summarize(summarize.bind(names)),
            Self::Cut(cut) => Self::Cut(cut.bind(names)),
            Self::Log(log) => Self::Log(log.bind(names)),
            Self::Named(action) => Self::Named(action.bind(names)),
            Self::Clear(_) | Self::Dedupe(_) | Self::Drop(_) => self.clone(),
        }
    }
}
