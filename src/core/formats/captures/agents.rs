//! Finds the conversations of sub-agents: they begin with a text that a tool call of another conversation contains.

use super::calls::is_of_program;
use crate::formats::contexts::SUMMARY_TITLE;
use crate::formats::{json, title};
use crate::json::Value;
use crate::session::{Body, Role, Session, SubAgent, Track};
use std::collections::HashMap;

/// Minimum length of a prompt by which a sub-agent is found.
// Chosen: a shorter text may be the argument of any call.
const MIN_PROMPT: usize = 16;
/// Maximum number of prompts that are remembered.
// Chosen: a session starts a few sub-agents. Every other argument of its calls is remembered as well.
const MAX_PROMPTS: usize = 1_000_000;

/// The call that contains a prompt.
struct StartingCall {
    session: usize,
    call: Box<str>,
    kind: Option<Box<str>>,
    title: Option<String>,
}

/// Sets the titles, marks the conversations of sub-agents and orders all: those with tools first, then by number of calls, sub-agents last.
pub(super) fn link(sessions: &mut [Session]) {
    let mut prompts: HashMap<Box<str>, StartingCall> = HashMap::new();
    for (at, session) in sessions.iter().enumerate() {
        for part in &session.parts {
            if let Body::ToolCall { call, arguments, .. } = &part.body {
                add_prompts(&mut prompts, at, call, arguments);
            }
        }
    }
    for (at, session) in sessions.iter_mut().enumerate() {
        let mut own = first_texts(session).filter(|text| !is_of_program(text));
        let title = own.find_map(title::first_line);
        drop(own);
        if let Some(title) = title {
            let is_summary = session.title.ends_with(SUMMARY_TITLE);
            session.title = title;
            session.title.push_str(if is_summary { SUMMARY_TITLE } else { "" });
        }
        let started = first_texts(session).find_map(|text| prompts.get(text.trim()));
        let Some(started) = started.filter(|started| started.session != at) else {
            continue;
        };
        if let Some(title) = &started.title {
            session.title.clone_from(title);
        }
        session.track = Track::SubAgent(SubAgent {
            id: Some(started.call.clone()),
            kind: started.kind.clone(),
            call: Some(started.call.clone()),
        });
    }
    sessions.sort_by_key(|session| {
        let is_agent = matches!(session.track, Track::SubAgent(_));
        let has_tools = session.parts.iter().any(|p| matches!(p.body, Body::ToolDefinition { .. }));
        (is_agent, !has_tools, std::cmp::Reverse(session.calls.len()))
    });
}

fn add_prompts(
    prompts: &mut HashMap<Box<str>, StartingCall>,
    session: usize,
    call: &str,
    arguments: &str,
) {
    let Ok(Value::Object(members)) = crate::json::from_str(arguments) else {
        return;
    };
    let value = Value::Object(members);
    let text = |keys: [&str; 3]| keys.iter().find_map(|key| json::str_at(&value, &[key]));
    for argument in value.as_object().into_iter().flatten().filter_map(|(_, v)| v.as_str()) {
        let prompt = argument.trim();
        if prompt.len() < MIN_PROMPT || prompts.len() >= MAX_PROMPTS {
            continue;
        }
        prompts.entry(prompt.into()).or_insert_with(|| StartingCall {
            session,
            call: call.into(),
            kind: text(["subagent_type", "agent_type", "agent"]).map(Into::into),
            title: text(["description", "title", "name"]).and_then(title::first_line),
        });
    }
}

/// Returns the texts of the first messages of the user.
fn first_texts(session: &Session) -> impl Iterator<Item = &str> {
    let before_answer = session.messages.iter().take_while(|m| m.role != Role::Assistant);
    let users = before_answer.filter(|m| m.role == Role::User);
    users.flat_map(|m| session.parts_of(m)).filter_map(|part| match &part.body {
        Body::Text(text) => Some(&**text),
        _ => None,
    })
}
