//! What a conversation is to the others that its file holds.

use super::{Body, Message, Session};
use std::collections::HashMap;

/// What a conversation is to the others that its file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// The file's conversation, or one of several that stand side by side.
    #[default]
    Main,
    /// What a sub-agent did. None of it is part of the conversation of the agent that started it.
    SubAgent(SubAgent),
    /// Another course of the main conversation, from which a person went back. It begins with what both share.
    Branch,
}

/// What is known of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAgent {
    /// Its id, where it has one.
    pub id: Option<Box<str>>,
    /// What kind of agent it is, as the file calls it.
    pub kind: Option<Box<str>>,
    /// Id of the tool call that started it.
    pub call: Option<Box<str>>,
}

/// A conversation of a file as a list tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its title.
    pub title: String,
    /// What it is to the others.
    pub track: Track,
    /// Where it begins in the main conversation, where that is known.
    pub start: Option<Start>,
    /// How long it is; none where its file was not read yet.
    pub size: Option<Size>,
}

/// Where a conversation begins in the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// This call (index of a step) asked for a sub-agent.
    AskedAt(usize),
    /// A branch has this many first messages in common with it.
    After(usize),
    /// It belongs to this one (index) of several main ones; nobody knows where it begins.
    Of(usize),
}

/// How long a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Messages of its history.
    pub messages: usize,
    /// Model calls.
    pub calls: usize,
}

impl Conversation {
    /// The conversations of a file, in their order.
    pub fn all(sessions: &[Session]) -> Vec<Self> {
        let mut mains = sessions.iter().filter(|s| s.track == Track::Main);
        // Beside another one nobody knows whose they are.
        let main = mains.next().filter(|_| mains.next().is_none());
        let calls = main.map(steps_of_calls).unwrap_or_default();
        let start = |session: &Session| match &session.track {
            Track::Main => None,
            Track::SubAgent(agent) => asked_at(&calls, agent),
            Track::Branch => main.map(|main| Start::After(in_common(main, session))),
        };
        let told = |session| Self::of(session, start(session));
        sessions.iter().map(told).collect()
    }

    /// One of several that stand side by side, of which nothing but the title was read.
    pub fn unread(title: String) -> Self {
        Self {
            title,
            track: Track::Main,
            start: None,
            size: None,
        }
    }

    /// The conversations of sub-agents that this main one started.
    pub fn started_in<'a>(main: &Session, agents: impl Iterator<Item = &'a Session>) -> Vec<Self> {
        let calls = steps_of_calls(main);
        let start = |session: &Session| match &session.track {
            Track::SubAgent(agent) => asked_at(&calls, agent),
            _ => None,
        };
        agents
            .map(|session| Self::of(session, start(session)))
            .collect()
    }

    /// Those of sub-agents that this main one started, of which only so much is known: a title, who it is, how long it is.
    pub fn sub_agents(
        main: &Session,
        agents: impl Iterator<Item = (String, SubAgent, Option<Size>)>,
    ) -> Vec<Self> {
        let calls = steps_of_calls(main);
        let told = |(title, agent, size)| Self {
            title,
            start: asked_at(&calls, &agent),
            track: Track::SubAgent(agent),
            size,
        };
        agents.map(told).collect()
    }

    /// Whether it is the same one in a file that has grown, where its number may be another.
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
    /// That of a conversation.
    pub fn of(session: &Session) -> Self {
        Self {
            messages: session.messages.iter().filter(|m| m.in_history).count(),
            calls: session.steps.len(),
        }
    }
}

fn asked_at(calls: &HashMap<&str, usize>, agent: &SubAgent) -> Option<Start> {
    let step = calls.get(agent.call.as_deref()?).copied();
    step.map(Start::AskedAt)
}

/// The step that asked for each tool call.
fn steps_of_calls(session: &Session) -> HashMap<&str, usize> {
    let of_message = |message: &'_ Message| {
        let step = message.step;
        let parts = &session.parts[message.parts.clone()];
        parts.iter().filter_map(move |part| match &part.body {
            Body::ToolCall { call, .. } => Some((&**call, step?)),
            _ => None,
        })
    };
    session.messages.iter().flat_map(of_message).collect()
}

/// How many messages two conversations of one file begin with in common.
fn in_common(a: &Session, b: &Session) -> usize {
    let pairs = a.messages.iter().zip(&b.messages);
    pairs.take_while(|(a, b)| a.raw == b.raw).count()
}
