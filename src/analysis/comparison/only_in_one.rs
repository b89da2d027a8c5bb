//! Tools and facts that only one of two sessions contains.

use crate::analysis::facts::{Fact, FactKind, list};
use crate::analysis::{ToolUse, tool_uses};
use crate::engine::Case;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// The use of a tool in both sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolMix {
    /// Name of the tool.
    pub tool: String,
    /// Its use in each session.
    pub uses: [ToolUse; 2],
}

/// Returns the use of each tool, most called first.
pub fn tool_mix(cases: [&Case; 2]) -> Vec<ToolMix> {
    let mut tools: BTreeMap<&str, [ToolUse; 2]> = BTreeMap::new();
    for (side, case) in cases.into_iter().enumerate() {
        for (tool, tool_use) in tool_uses(case) {
            tools.entry(tool).or_default()[side] = tool_use;
        }
    }
    let mix = |(tool, uses): (&str, _)| ToolMix {
        tool: tool.to_owned(),
        uses,
    };
    let mut all: Vec<ToolMix> = tools.into_iter().map(mix).collect();
    all.sort_by_key(|ToolMix { uses: [a, b], .. }| {
        Reverse((a.calls + b.calls, a.tokens + b.tokens))
    });
    all
}

/// A fact that only one session states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlyFact {
    /// Its kind.
    pub kind: FactKind,
    /// Its text.
    pub text: Box<str>,
    /// Index of the first message that states it.
    pub message: u32,
}

/// The facts of two sessions. A fact is the same if kind and text are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactDifference {
    /// Number of facts that both sessions state.
    pub shared: usize,
    /// Facts that only A and only B state, in their order.
    pub only: [Vec<OnlyFact>; 2],
}

impl FactDifference {
    /// Compares the facts of two sessions.
    pub fn new(cases: [&Case; 2]) -> Self {
        let [a, b] = cases.map(|case| &case.session);
        let (a, b) = rayon::join(|| list(a), || list(b));
        let ([in_a, in_b], [all_a, all_b]) = ([&a, &b].map(|facts| keys(facts)), [&a, &b]);
        Self {
            shared: in_a.intersection(&in_b).count(),
            only: [missing_in(all_a, &in_b), missing_in(all_b, &in_a)],
        }
    }
}

/// Identifies a fact among sessions.
type Key<'a> = (FactKind, &'a str);

fn key(fact: &Fact) -> Key<'_> {
    (fact.kind, &fact.text)
}

fn keys(facts: &[Fact]) -> HashSet<Key<'_>> {
    facts.iter().map(key).collect()
}

/// Returns the facts that are not among `known`, each once.
fn missing_in(facts: &[Fact], known: &HashSet<Key<'_>>) -> Vec<OnlyFact> {
    let mut found = HashSet::new();
    let missing = facts
        .iter()
        .filter(|fact| !known.contains(&key(fact)) && found.insert(key(fact)));
    let missing = missing.map(|fact| OnlyFact {
        kind: fact.kind,
        text: fact.text.clone(),
        message: fact.message,
    });
    missing.collect()
}
