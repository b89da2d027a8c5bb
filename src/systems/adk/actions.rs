//! The action of presets.

use super::assemble::assemble;
use super::estimate::{is_worth_it, prompt_tokens};
use super::event::{Event, Kind};
use super::filter::filter;
use super::request::request;
use super::select::{for_interval, for_threshold};
use crate::chat::{ChatMessage, PendingRequest, Replies, Shape, SummaryReply, n_system};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::session_state::{Effects, session_before, session_memory};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT];

/// Assembles the request of each call from all events and their summaries. A trigger is off if its number is 0.
const COMPACT: NamedAction = NamedAction {
    name: "adk.compact",
    kind: ActionKind::Summarize,
    help: "Summarizes old events before a call and after a turn, and assembles the request.",
    shape: Shape::OpenAi,
    numbers: &[
        "reported",
        "token_threshold",
        "event_retention_size",
        "compaction_interval",
        "overlap_size",
        "num_invocations_to_keep",
        "remove_amount",
    ],
    make: |_| Ok(Arc::new(Compact)),
};

/// Key of the session in memory.
const SESSION: &str = "adk_session";
const FAILED: &str = "Event compaction failed; continuing with the uncompacted history.";
/// The sentence of the system prompt that names the agent.
const NAME: &str = "Your internal name is \"";

#[derive(Debug)]
struct Compact;

#[derive(Clone, Debug, Default)]
struct Session {
    /// Recorded messages that the events contain.
    seen: Vec<ChatMessage>,
    events: Vec<Event>,
}

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let before = session_before::<Session>(&input, SESSION);
        let all = &input.messages;
        let n_system = n_system(all);
        let agent = agent(&all[..n_system]);
        let mut effects = Effects::default();
        let mut after = Session::clone(&before);
        if !all[n_system..].starts_with(&after.seen) {
            after = Session::default();
        }
        after.add(&all[n_system..], (&input, &agent), &mut effects, replies)?;
        let mut compared = None;
        if input.count("token_threshold") > 0 {
            compared = prompt_tokens(&after.events, &agent, false);
            after.by_tokens(
                compared,
                (&input, &agent, "before the call"),
                &mut effects,
                replies,
            )?;
        }
        let mut sent = assemble(&after.events);
        let keep = input.count("num_invocations_to_keep");
        if filter(&mut sent, keep, input.count("remove_amount")) {
            effects.acted.push("ContextFilterPlugin".to_owned());
        }
        let sent = sent.iter().flat_map(|event| event.messages.iter());
        let messages = all[..n_system].iter().chain(sent).cloned().collect();
        let memory = session_memory(&input, SESSION, before, after);
        Ok(effects.into_rewritten(messages, compared, memory))
    }
}

/// Returns the agent's name in the system prompt.
fn agent(system: &[ChatMessage]) -> String {
    let texts: Vec<String> = system.iter().map(|m| m.joined_text("\n")).collect();
    let named = texts.iter().find_map(|text| {
        let (_, name) = text.rsplit_once(NAME)?;
        Some(name.split('"').next()?.to_owned())
    });
    named.unwrap_or_else(|| "agent".to_owned())
}

impl Session {
    /// Adds the recorded messages that are new. The check after a turn follows if another turn begins.
    fn add(
        &mut self,
        messages: &[ChatMessage],
        (input, agent): (&RewriteInput<'_>, &str),
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<(), PendingRequest> {
        let new = &messages[self.seen.len()..];
        let is_input = |m: &ChatMessage| !m.is("assistant") && !m.is("tool");
        let last_answer = new.iter().rposition(|m| m.is("assistant"));
        let last_turn = new.iter().rposition(|m| !is_input(m)).map(|at| at + 1);
        for (nth, message) in new.iter().enumerate() {
            let raw = self.events.iter().rev().find(|e| e.range().is_none());
            let turn = raw.map_or(1, |event| event.turn);
            if is_input(message) {
                let begins = raw.is_some_and(|event| event.kind != Kind::User);
                // A caller that stops reading ends a turn too.
                if last_turn == Some(nth) {
                    self.after_turn((input, agent), effects, replies)?;
                }
                self.push(Kind::User, message, turn + usize::from(begins));
            } else if message.is("assistant") {
                self.push(Kind::Model, message, turn);
                let reported = Some(input.number("reported")).filter(|n| *n > 0.0);
                if let Some(answer) = self.events.last_mut().filter(|_| last_answer == Some(nth)) {
                    answer.prompt_tokens = reported.map(|n| n as u64);
                }
            } else if let Some(last) = self.last_responses() {
                Arc::make_mut(&mut last.messages).push(message.clone());
            } else {
                self.push(Kind::Responses, message, turn);
            }
        }
        self.seen = messages.to_vec();
        Ok(())
    }

    fn last_responses(&mut self) -> Option<&mut Event> {
        let last = self.events.last_mut();
        last.filter(|event| event.kind == Kind::Responses)
    }

    fn push(&mut self, kind: Kind, message: &ChatMessage, turn: usize) {
        self.events.push(Event {
            kind,
            messages: Arc::new(vec![message.clone()]),
            time: self.events.len() + 1,
            turn,
            prompt_tokens: None,
        });
    }

    /// Compacts after a turn: by tokens, else by the number of turns.
    fn after_turn(
        &mut self,
        (input, agent): (&RewriteInput<'_>, &str),
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<(), PendingRequest> {
        const WHEN: &str = "after the turn";
        if input.count("token_threshold") > 0 {
            let count = prompt_tokens(&self.events, agent, true);
            if self.by_tokens(count, (input, agent, WHEN), effects, replies)? {
                return Ok(());
            }
        }
        let interval = input.count("compaction_interval");
        if interval == 0 {
            return Ok(());
        }
        let chosen = for_interval(&self.events, interval, input.count("overlap_size"));
        let name = format!("sliding_window ({WHEN})");
        self.compact((None, chosen), (agent, name), effects, replies)?;
        Ok(())
    }

    /// Compacts if a count reaches the threshold. Returns whether it did.
    fn by_tokens(
        &mut self,
        count: Option<u64>,
        (input, agent, when): (&RewriteInput<'_>, &str, &str),
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<bool, PendingRequest> {
        if count.is_none_or(|count| count < input.count("token_threshold") as u64) {
            return Ok(false);
        }
        let chosen = for_threshold(&self.events, input.count("event_retention_size"));
        let name = format!("token_threshold ({when})");
        self.compact(chosen, (agent, name), effects, replies)
    }

    /// Summarizes events, and the last summary if given. Returns whether it did.
    fn compact(
        &mut self,
        (seed, chosen): (Option<usize>, Vec<usize>),
        (agent, name): (&str, String),
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<bool, PendingRequest> {
        let times = chosen.first().zip(chosen.last());
        let Some((first, last)) = times.map(|(a, b)| (&self.events[*a], &self.events[*b])) else {
            return Ok(false);
        };
        let seed_start = seed.and_then(|at| self.events[at].range());
        let start = seed_start.map_or(first.time, |(start, _)| start);
        let (end, turn) = (last.time, last.turn);
        if !is_worth_it(&self.events, (start, end)) {
            return Ok(false);
        }
        let request = request(&self.events, seed, &chosen, agent);
        let summary = match replies.reply_to(request)? {
            SummaryReply::Text(text) => text,
            SummaryReply::ToolCall => "".into(),
            SummaryReply::Failed(_) => {
                effects.log.push(FAILED.to_owned());
                return Ok(false);
            }
        };
        let summary = ChatMessage::summary("assistant", summary);
        self.push(Kind::Compaction { start, end }, &summary, turn);
        effects.acted.push(name);
        Ok(true)
    }
}
