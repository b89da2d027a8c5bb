//! Relations between the conversations of a file.

use super::{Body, Message, Session};
use std::collections::HashMap;

/// Relation of a conversation to the others of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// The file's conversation, or one of several independent ones.
    #[default]
    Main,
    /// A sub-agent's conversation, which is not part of the conversation that started it.
    SubAgent(SubAgent),
    /// An abandoned branch of the main conversation. It begins with the messages that both share.
    Branch,
}

/// Recorded properties of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAgent {
    /// Id, if it has one.
    pub id: Option<Box<str>>,
    /// Kind of agent, as recorded.
    pub kind: Option<Box<str>>,
    /// Id of the tool call that started it.
    pub call: Option<Box<str>>,
}

/// A conversation of a file, as displayed in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Title of the conversation.
    pub title: String,
    /// Relation to the others.
    pub track: Track,
    /// Its start in the main conversation, if known.
    pub start: Option<Start>,
    /// Its size; `None` if its file was not read yet.
    pub size: Option<Size>,
}

/// Start of a conversation in the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Index of the call that started the sub-agent.
    StartedAt(usize),
    /// Number of first messages that a branch shares with the main conversation.
    After(usize),
    /// Index of the main conversation it belongs to, out of several. The position is not known.
    Of(usize),
}

/// Size of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of messages of its history.
    pub messages: usize,
    /// Number of model calls.
    pub calls: usize,
}

impl Conversation {
    /// Lists the conversations of a file, in order.
    pub fn all(sessions: &[Session]) -> Vec<Self> {
        let mut mains = sessions.iter().filter(|s| s.track == Track::Main);
        // With several main conversations, the relation of the others is not known.
        let main = mains.next().filter(|_| mains.next().is_none());
        let calls = main.map(callers_of_tools).unwrap_or_default();
        let start = |session: &Session| match &session.track {
            Track::Main => None,
            Track::SubAgent(agent) => started_at(&calls, agent),
            Track::Branch => main.map(|main| Start::After(in_common(main, session))),
        };
        let conversation = |session| Self::of(session, start(session));
        sessions.iter().map(conversation).collect()
    }

    /// Creates an independent conversation of which only the title was read.
    pub fn unread(title: String) -> Self {
        Self { title, track: Track::Main, start: None, size: None }
    }

    /// Lists the conversations of sub-agents that the main one started.
    pub fn started_in<'a>(main: &Session, agents: impl Iterator<Item = &'a Session>) -> Vec<Self> {
        let calls = callers_of_tools(main);
        let start = |session: &Session| match &session.track {
            Track::SubAgent(agent) => started_at(&calls, agent),
            _ => None,
        };
        agents.map(|session| Self::of(session, start(session))).collect()
    }

    /// Lists the sub-agents that the main conversation started, from their titles, properties and sizes.
    pub fn sub_agents(
        main: &Session,
        agents: impl Iterator<Item = (String, SubAgent, Option<Size>)>,
    ) -> Vec<Self> {
        let calls = callers_of_tools(main);
        let conversation = |(title, agent, size)| Self {
            title,
            start: started_at(&calls, &agent),
            track: Track::SubAgent(agent),
            size,
        };
        agents.map(conversation).collect()
    }

    /// Returns whether this is the same conversation in a file that has grown. Its number may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.track, &other.track) {
            (Track::SubAgent(a), Track::SubAgent(b)) if a.id.is_some() || b.id.is_some() => {
                a.id == b.id
            }
            (Track::SubAgent(a), Track::SubAgent(b)) => {
                a.call == b.call && self.title == other.title
            }
            (Track::Branch, Track::Branch) => {
                self.start == other.start && self.title == other.title
            }
            (a, b) => a == b,
        }
    }

    fn of(session: &Session, start: Option<Start>) -> Self {
        Self {
            title: session.title.clone(),
            track: session.track.clone(),
            start,
            size: Some(Size::of(session)),
        }
    }
}

impl Size {
    /// Returns the size of a conversation.
    pub fn of(session: &Session) -> Self {
        Self { messages: session.n_history(), calls: session.calls.len() }
    }
}

fn started_at(calls: &HashMap<&str, usize>, agent: &SubAgent) -> Option<Start> {
    let caller = calls.get(agent.call.as_deref()?).copied();
    caller.map(Start::StartedAt)
}

/// Returns the index of the call that made each tool call.
fn callers_of_tools(session: &Session) -> HashMap<&str, usize> {
    let of_message = |message: &'_ Message| {
        let caller = message.call;
        let parts = &session.parts[message.parts.clone()];
        parts.iter().filter_map(move |part| match &part.body {
            Body::ToolCall { call, .. } => Some((&**call, caller?)),
            _ => None,
        })
    };
    session.messages.iter().flat_map(of_message).collect()
}

/// Returns the number of first messages that two conversations share.
fn in_common(a: &Session, b: &Session) -> usize {
    let pairs = a.messages.iter().zip(&b.messages);
    pairs.take_while(|(a, b)| a.raw == b.raw).count()
}
