//! Builds sessions for tests of the engine.
#![allow(dead_code, reason = "each test file uses a part of it")]

use plimsoll_core::engine::{Case, Context, Outcome, WindowPlan, WindowSource};
use plimsoll_core::session::{
    Body, Draft, ModelVendor, Part, Role, Session, SessionBuilder, Source,
};
use plimsoll_core::tokens::{Progress, TokenLedger, default_counter};
use plimsoll_core::units::Tokens;
use std::collections::HashSet;
use std::sync::Arc;

/// A builder of a session.
#[derive(Debug)]
pub(crate) struct Talk {
    drafts: Vec<Draft>,
    compaction: Option<(usize, String)>,
}

pub(crate) fn part(body: Body) -> Part {
    Part { body, record: 0, block: 0 }
}

pub(crate) fn text(text: &str) -> Part {
    part(Body::Text(text.into()))
}

impl Talk {
    /// Starts with a system prompt.
    pub(crate) fn new() -> Self {
        let system = Draft::new(Role::System, vec![text("You are a careful agent.")]);
        Self { drafts: vec![system], compaction: None }
    }

    /// Adds a turn: a request, then calls, each with a result of `words` words.
    pub(crate) fn turn(&mut self, calls: usize, words: usize) -> &mut Self {
        let number = self.drafts.len();
        self.drafts.push(Draft::new(Role::User, vec![text(&format!("Please do task {number}."))]));
        for idx in 0..calls {
            self.call(&format!("call_{number}_{idx}"), words);
        }
        self.drafts.push(Draft::new(Role::Assistant, vec![text("That is done.")]));
        self
    }

    /// Adds a call and its result.
    pub(crate) fn call(&mut self, id: &str, words: usize) -> &mut Self {
        let arguments = format!("{{\"path\":\"src/{id}.rs\"}}").into();
        let call = Body::ToolCall { call: id.into(), tool: "read".into(), arguments };
        self.drafts.push(Draft::new(Role::Assistant, vec![part(call)]));
        let content = "line ".repeat(words);
        let result = Body::ToolResult {
            call: id.into(),
            tool: "read".into(),
            is_error: false,
            text: content.into(),
        };
        self.drafts.push(Draft::new(Role::Tool, vec![part(result)]));
        self
    }

    /// Adds a message.
    pub(crate) fn message(&mut self, role: Role, parts: Vec<Part>) -> &mut Self {
        self.drafts.push(Draft::new(role, parts));
        self
    }

    /// Makes a session of one turn.
    pub(crate) fn tool_calls(calls: usize, words: usize) -> Self {
        let mut talk = Self::new();
        talk.turn(calls, words);
        talk
    }

    /// Makes a session of turns with `calls` calls each.
    pub(crate) fn turns(turns: usize, calls: usize, words: usize) -> Self {
        let mut talk = Self::new();
        for _ in 0..turns {
            talk.turn(calls, words);
        }
        talk
    }

    /// Records a compaction of everything before this message.
    pub(crate) fn compact_before(&mut self, message: usize, summary: &str) {
        self.compaction = Some((message, summary.to_owned()));
    }

    pub(crate) fn session(&self) -> Session {
        let source =
            Source { name: "talk".to_owned(), format: "openai_chat", bytes: Vec::new().into() };
        let mut builder = SessionBuilder::new(source);
        builder.default_vendor(ModelVendor::OpenAi);
        for (idx, draft) in self.drafts.iter().enumerate() {
            if let Some((at, summary)) = &self.compaction
                && *at == idx
            {
                let mut draft = Draft::new(Role::User, vec![text(summary)]);
                (draft.is_summary, draft.in_history) = (true, false);
                let before = builder.len();
                builder.compaction("auto", None, None, vec![before]);
                builder.message(draft);
            }
            builder.message(draft.clone());
        }
        builder.finish()
    }
}

/// Makes a case with exact counts and a constant window.
pub(crate) fn case(talk: &Talk, window: u64) -> Case {
    case_of(talk.session(), window)
}

/// Makes a case of a session with exact counts and a constant window.
pub(crate) fn case_of(session: Session, window: u64) -> Case {
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default())
        .expect("nobody cancels");
    let windows = WindowPlan::constant(Tokens(window), session.calls.len(), WindowSource::User);
    Case::new(Arc::new(session), ledger, windows)
}

pub(crate) fn windows(window: u64, case: &Case) -> WindowPlan {
    WindowPlan::constant(Tokens(window), case.session.calls.len(), WindowSource::User)
}

/// Checks that every call in the context has its result there, and the reverse.
pub(crate) fn pairs_are_whole(case: &Case, context: &Context) -> Result<(), String> {
    let parts = |entry: &plimsoll_core::engine::Entry| {
        let message = &case.session.messages[entry.message()? as usize];
        Some(case.session.parts_of(message))
    };
    let in_context = || context.entries.iter().filter_map(parts).flatten();
    let calls: HashSet<_> = in_context()
        .filter_map(|p| if let Body::ToolCall { call, .. } = &p.body { Some(call) } else { None })
        .collect();
    let results: HashSet<_> = in_context()
        .filter_map(|p| if let Body::ToolResult { call, .. } = &p.body { Some(call) } else { None })
        .collect();
    let orphans: Vec<_> = results.difference(&calls).collect();
    // Only the newest call may still wait for its result.
    let waiting = calls.difference(&results).count();
    if orphans.is_empty() && waiting <= 1 {
        return Ok(());
    }
    Err(format!("results without their call: {orphans:?}; {waiting} calls without their result"))
}

/// Returns the events as text, for failed assertions.
pub(crate) fn event_words(outcome: &Outcome) -> String {
    let words = |e: &plimsoll_core::engine::Event| {
        format!("{} at {}: {} -> {}", e.action, e.call, e.before.0, e.after.0)
    };
    outcome.events.iter().map(words).collect::<Vec<_>>().join("; ")
}
