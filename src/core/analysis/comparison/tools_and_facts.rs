//! The tools of two sessions, and the facts that only one of them contains.

use crate::analysis::facts::{Fact, FactKind, at_end};
use crate::analysis::tools::{ToolUse, tool_uses};
use crate::engine::Case;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

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
    let mix = |(tool, uses): (&str, _)| ToolMix { tool: tool.to_owned(), uses };
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
    /// Index of the latest message that states it; earlier statements count as replaced.
    pub message: u32,
}

/// The facts that are true at the end of two sessions. A fact is the same if kind and text are. Each matches at most
/// one.
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
        let (a, b) = rayon::join(|| at_end(a), || at_end(b));
        let [in_a, in_b] = [&a, &b].map(|facts| counts(facts));
        let only = [missing_in(&a, in_b), missing_in(&b, in_a)];
        Self { shared: a.len() - only[0].len(), only }
    }
}

/// Identifies a fact among sessions.
type FactKey<'a> = (FactKind, &'a str);

fn key(fact: &Fact) -> FactKey<'_> {
    (fact.kind, &fact.text)
}

fn counts(facts: &[Fact]) -> HashMap<FactKey<'_>, usize> {
    let mut counts = HashMap::new();
    for fact in facts {
        *counts.entry(key(fact)).or_default() += 1;
    }
    counts
}

/// Returns the facts that match none of `others`.
fn missing_in<'a>(facts: &'a [Fact], mut others: HashMap<FactKey<'a>, usize>) -> Vec<OnlyFact> {
    let missing = facts.iter().filter(|fact| match others.get_mut(&key(fact)) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    });
    let missing = missing.map(|fact| OnlyFact {
        kind: fact.kind,
        text: fact.text.clone(),
        message: fact.message,
    });
    missing.collect()
}
