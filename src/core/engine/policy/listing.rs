//! The place of a policy in lists of policies: its kind, and the evidence for its behaviour.

use super::Policy;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kinds of policies, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// A strategy of no particular system.
    Strategy,
    /// An agent that writes code.
    CodingAgent,
    /// An agent for other work.
    OtherAgent,
    /// A library that agents are built with.
    Framework,
    /// A provider that manages the context on its server.
    Provider,
}

impl PolicyKind {
    /// All kinds, in order.
    pub const ALL: [Self; 5] =
        [Self::Strategy, Self::CodingAgent, Self::OtherAgent, Self::Framework, Self::Provider];

    /// Returns the name used in presets and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::CodingAgent => "coding_agent",
            Self::OtherAgent => "other_agent",
            Self::Framework => "framework",
            Self::Provider => "provider",
        }
    }

    /// Returns the title of its group in a list.
    pub fn title(self) -> &'static str {
        match self {
            Self::Strategy => "Strategies",
            Self::CodingAgent => "Coding agents",
            Self::OtherAgent => "Other agents",
            Self::Framework => "Frameworks",
            Self::Provider => "Providers",
        }
    }
}

/// Evidence for the behaviour of a preset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Proof {
    /// The system's own code returned the same in test cases.
    Cases {
        /// Number of test cases.
        cases: usize,
        /// Version or commit of the system.
        version: String,
    },
    /// No test case.
    Without(Evidence),
}

/// Evidence other than test cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The system's code or documentation was read.
    Facts,
    /// The system's code is not public; the behaviour was observed from outside.
    Observed,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cases { cases, version } => write!(f, "proven ({version}, {cases} cases)"),
            Self::Without(Evidence::Facts) => f.write_str("facts"),
            Self::Without(Evidence::Observed) => f.write_str("observed"),
        }
    }
}

impl Policy {
    /// Returns the first sentence of its description.
    pub fn first_sentence(&self) -> &str {
        let end = self.help.find(". ");
        end.map_or(&self.help, |end| &self.help[..=end])
    }

    /// Returns whether its name, label, kind, proof or description contains all these words, in any case.
    pub fn matches(&self, words: &[impl AsRef<str>]) -> bool {
        let (title, name) = self.kind.map_or(("", ""), |kind| (kind.title(), kind.name()));
        let proof = self.proof.as_ref().map(ToString::to_string).unwrap_or_default();
        let text = [&*self.name, &self.label, title, name, &proof, &self.help].join("\n");
        let text = text.to_lowercase();
        let mut words = words.iter().map(|word| word.as_ref().to_lowercase());
        words.all(|word| text.contains(&word))
    }
}
