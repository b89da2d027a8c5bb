//! The action of presets.

use super::assemble::assemble;
use super::estimate::{is_worth_it, prompt_tokens};
use super::event::{AdkEvent, AdkEventKind};
use super::filter::filter;
use super::paired::paired;
use super::request::summary_request;
use super::select::{Chosen, for_interval, for_threshold};
use crate::chat::{ChatMessage, Mark, Messages, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::growing_list::GrowingList;
use crate::systems::session_state::{Effects, session_before, session_memory};
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT];

/// Assembles the request of each call from all events and their summaries. A trigger is off if its number is 0.
const COMPACT: NamedAction = NamedAction::new(
    "adk.compact",
    ActionKind::Summarize,
    "Summarizes old events before a call and after a turn, and assembles the request.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&[
    "reported",
    "token_threshold",
    "event_retention_size",
    "compaction_interval",
    "overlap_size",
    "num_invocations_to_keep",
    "remove_amount",
]);

/// Key of the session in memory.
const SESSION: &str = "adk_session";
const FAILED: &str = "Event compaction failed; continuing with the uncompacted history.";
/// The sentence of the system prompt that names the agent.
const NAME: &str = "Your internal name is \"";

#[derive(Clone, Debug, Default)]
struct Session {
    /// The end of the conversation that the events contain.
    seen: Option<Mark>,
    /// Number of its messages behind the instructions.
    n_seen: usize,
    events: GrowingList<AdkEvent>,
    has_summaries: bool,
}

/// `CompactionRequestProcessor`, after the check that follows a turn.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let before = session_before::<Session>(input, SESSION);
    let all = &input.messages;
    let mut effects = Effects::default();
    let mut after = Session::clone(&before);
    if !after.is_start_of(all) {
        after = Session::default();
    }
    after.add(input, &mut effects, replies)?;
    let mut compared = None;
    if input.count("token_threshold") > 0 {
        compared = prompt_tokens(&after.events, &|| agent(all), false);
        after.by_tokens(compared, "before the call", input, &mut effects, replies)?;
    }
    let keep = input.count("num_invocations_to_keep");
    let edits = (keep == 0 && !after.has_summaries).then(|| paired(all));
    let edits = edits.flatten();
    let messages = edits.is_none().then(|| {
        let mut sent = assemble(&after.events.to_vec());
        if filter(&mut sent, keep, input.count("remove_amount")) {
            effects.acted.push("ContextFilterPlugin".to_owned());
        }
        let sent = sent.iter().flat_map(|event| event.messages.iter());
        all[..n_system(all)].iter().chain(sent).cloned().collect()
    });
    Ok(Rewritten {
        messages,
        edits: edits.unwrap_or_default(),
        memory: session_memory(input, SESSION, before, after),
        ..effects.into_rewritten(compared)
    })
}

/// Returns the agent's name in the system prompt.
fn agent(messages: &[ChatMessage]) -> String {
    let system = &messages[..n_system(messages)];
    let texts: Vec<_> = system.iter().map(|m| m.joined_text("\n")).collect();
    let named = texts.iter().find_map(|text| {
        let (_, name) = text.rsplit_once(NAME)?;
        Some(name.split('"').next()?.to_owned())
    });
    named.unwrap_or_else(|| "agent".to_owned())
}

impl Session {
    /// Returns whether a conversation begins with the recorded messages of the session.
    fn is_start_of(&self, all: &Messages) -> bool {
        if self.seen.as_ref().is_some_and(|end| all.since(end).is_some()) {
            return true;
        }
        let recorded = self.events.iter().filter(|event| event.range().is_none());
        let mut recorded = recorded.flat_map(|event| event.messages.iter());
        let mut messages = all[n_system(all)..].iter();
        recorded.all(|message| messages.next() == Some(message))
    }

    /// Adds the recorded messages that are new. The check after a turn follows if another turn begins.
    fn add(
        &mut self,
        input: &RewriteInput<'_>,
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<(), PendingRequest> {
        let messages = &input.messages[n_system(&input.messages)..];
        let new = &messages[self.n_seen..];
        let is_input = |m: &ChatMessage| AdkEventKind::of(m) == AdkEventKind::User;
        let last_answer = new.iter().rposition(|m| m.is("assistant"));
        let last_turn = new.iter().rposition(|m| !is_input(m)).map(|at| at + 1);
        for (nth, message) in new.iter().enumerate() {
            let raw = self.events.iter().rev().find(|e| e.range().is_none());
            let turn = raw.map_or(1, |event| event.turn);
            match AdkEventKind::of(message) {
                AdkEventKind::User => {
                    let begins = raw.is_some_and(|event| event.kind != AdkEventKind::User);
                    // A caller that stops reading ends a turn too.
                    if last_turn == Some(nth) {
                        self.after_turn(input, effects, replies)?;
                    }
                    self.push(AdkEventKind::User, message, turn + usize::from(begins));
                }
                kind => match self.last_responses().filter(|_| kind == AdkEventKind::Responses) {
                    Some(last) => last.add(message),
                    None => self.push(kind, message, turn),
                },
            }
            let reported = Some(input.number("reported")).filter(|n| *n > 0.0);
            if last_answer == Some(nth)
                && let Some(answer) = self.events.last_mut()
            {
                answer.prompt_tokens = reported.map(|n| n as u64);
            }
        }
        self.n_seen = messages.len();
        self.seen = Some(input.messages.mark());
        Ok(())
    }

    fn last_responses(&mut self) -> Option<&mut AdkEvent> {
        let last = self.events.last_mut();
        last.filter(|event| event.kind == AdkEventKind::Responses)
    }

    fn push(&mut self, kind: AdkEventKind, message: &ChatMessage, turn: usize) {
        self.events.push(AdkEvent {
            time: self.events.len() + 1,
            turn,
            ..AdkEvent::new(kind, message)
        });
    }

    /// Compacts after a turn: by tokens, else by the number of turns.
    fn after_turn(
        &mut self,
        input: &RewriteInput<'_>,
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<(), PendingRequest> {
        const WHEN: &str = "after the turn";
        if input.count("token_threshold") > 0 {
            let count = prompt_tokens(&self.events, &|| agent(&input.messages), true);
            if self.by_tokens(count, WHEN, input, effects, replies)? {
                return Ok(());
            }
        }
        let interval = input.count("compaction_interval");
        if interval == 0 {
            return Ok(());
        }
        let events = self.events.to_vec();
        let chosen = for_interval(&events, interval, input.count("overlap_size"));
        let name = format!("sliding_window ({WHEN})");
        self.compact(&events, chosen, name, input, effects, replies)?;
        Ok(())
    }

    /// Compacts if a count reaches the threshold. Returns whether it did.
    fn by_tokens(
        &mut self,
        count: Option<u64>,
        when: &str,
        input: &RewriteInput<'_>,
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<bool, PendingRequest> {
        if count.is_none_or(|count| count < input.count("token_threshold") as u64) {
            return Ok(false);
        }
        let events = self.events.to_vec();
        let chosen = for_threshold(&events, input.count("event_retention_size"));
        let name = format!("token_threshold ({when})");
        self.compact(&events, chosen, name, input, effects, replies)
    }

    /// Summarizes events, and the last summary if given. Returns whether it did.
    fn compact(
        &mut self,
        events: &[AdkEvent],
        Chosen { seed, events: chosen }: Chosen,
        name: String,
        input: &RewriteInput<'_>,
        effects: &mut Effects,
        replies: &mut Replies<'_>,
    ) -> Result<bool, PendingRequest> {
        let times = chosen.first().zip(chosen.last());
        let Some((first, last)) = times.map(|(a, b)| (&events[*a], &events[*b])) else {
            return Ok(false);
        };
        let seed_start = seed.and_then(|at| events[at].range());
        let start = seed_start.map_or(first.time, |(start, _)| start);
        let (end, turn) = (last.time, last.turn);
        if !is_worth_it(events, (start, end)) {
            return Ok(false);
        }
        let request = summary_request(events, seed, &chosen, &agent(&input.messages));
        let Ok(summary) = replies.reply_to(request)?.into_text() else {
            effects.log.push(FAILED.to_owned());
            return Ok(false);
        };
        let summary = ChatMessage::summary("assistant", summary);
        self.push(AdkEventKind::Compaction { start, end }, &summary, turn);
        self.has_summaries = true;
        effects.acted.push(name);
        Ok(true)
    }
}
