//! Usage of the calls of session files.

use crate::analysis::cost::Billing;
use crate::analysis::usage::{RecordedUsage, recorded_usage};
use crate::engine::{Case, recorded};
use crate::presets::prices::Prices;
use crate::session::Track;
use crate::units::{Millis, Tokens};
use serde::{Deserialize, Serialize};

/// Usage of a file's calls, by conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileUsage {
    /// The conversations, in the order of their numbers.
    pub conversations: Vec<ConversationUsage>,
}

/// Usage of a conversation's calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationUsage {
    /// Index in the file.
    pub number: usize,
    /// Title of the conversation.
    pub title: String,
    /// Relation to the other conversations of the file.
    pub relation: Relation,
    /// Number of messages of the history.
    pub messages: usize,
    /// Time of the first and of the last call with a time.
    pub times: Option<(Millis, Millis)>,
    /// Tokens of the context at the end, which no call has sent yet, and the context window.
    pub end: (Tokens, Tokens),
    /// The calls in compact form: most lists need sums only.
    #[serde(with = "serde_bytes")]
    packed: Vec<u8>,
}

/// Relation of a conversation to the others of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// A session of its own.
    Main,
    /// The conversation of a sub-agent, with the recorded kind.
    SubAgent(Option<String>),
    /// An abandoned branch.
    Branch,
}

impl FileUsage {
    /// Returns the usage of a single conversation.
    pub(super) fn of(number: usize, case: &Case) -> Self {
        Self { conversations: vec![ConversationUsage::new(number, case)] }
    }
}

impl FileUsage {
    /// Returns the usage with another context window of all calls.
    pub(super) fn with_window(&self, window: Tokens) -> Self {
        let mut all = self.clone();
        for conversation in &mut all.conversations {
            let mut usage = conversation.usage();
            usage.set_window(window);
            conversation.end.1 = window;
            conversation.packed = packed(&usage);
        }
        all
    }
}

/// Returns the calls in compact form.
fn packed(usage: &RecordedUsage) -> Vec<u8> {
    // Writing to memory does not fail.
    postcard::to_allocvec(usage).unwrap_or_default()
}

impl ConversationUsage {
    /// Returns what a conversation used.
    pub(super) fn new(number: usize, case: &Case) -> Self {
        let session = &case.session;
        let outcome = recorded(case, Tokens::ZERO, None);
        let usage = recorded_usage(case, Billing::at(Prices::in_use()), &outcome);
        let times = || usage.calls.iter().filter_map(|call| call.time);
        Self {
            number,
            title: session.title.clone(),
            relation: match &session.track {
                Track::Main => Relation::Main,
                Track::SubAgent(agent) => Relation::SubAgent(agent.kind.as_deref().map(Into::into)),
                Track::Branch => Relation::Branch,
            },
            messages: session.n_history(),
            times: times().min().zip(times().max()),
            end: (outcome.end, case.windows.at(outcome.samples.len())),
            packed: packed(&usage),
        }
    }

    /// Returns the calls.
    pub fn usage(&self) -> RecordedUsage {
        // The cache has a version, and its bytes are those that were written.
        postcard::from_bytes(&self.packed).unwrap_or_default()
    }
}
