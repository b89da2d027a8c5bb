//! Compactions that Codex carried out, and the contexts they left.

use super::super::json::{elements, member};
use super::items::{Item, Sort};
use super::lines::Line;
use super::reader::Reader;
use crate::session::{Body, Draft, Part, Role, Span};
use crate::units::Tokens;

/// Where a summary replaces everything (versions before `replacement_history`), Codex carries over what people
/// said, newest first, up to this many tokens of four bytes each.
/// <https://github.com/openai/codex/blob/main/codex-rs/core/src/compact.rs> (`COMPACT_USER_MESSAGE_MAX_TOKENS`)
const CARRIED_OVER: usize = 20_000 * 4;

/// A compaction behind which Codex may still set up the context.
#[derive(Debug)]
pub(super) struct Compaction {
    trigger: &'static str,
    before: Option<Tokens>,
    /// The new context so far.
    pub kept: Vec<usize>,
}

impl Reader {
    /// Codex replaced the context: by `history`, or else by a summary, `message`.
    pub(super) fn compacted(&mut self, line: &Line, message: &str, history: Option<Vec<Item>>) {
        self.close_compaction();
        self.is_answering = false;
        let mut kept: Vec<usize> = self.instructions.into_iter().collect();
        if let Some(history) = history {
            self.replaced(line, message, history, &mut kept);
        } else {
            kept.extend(self.carried_over());
            let summary = vec![Part {
                body: Body::Text(message.into()),
                record: 0,
                block: 0,
            }];
            kept.push(self.builder.message(Draft {
                time: line.time,
                is_summary: true,
                in_history: false,
                raw: vec![line.span.clone()],
                ..Draft::new(Role::User, summary)
            }));
        }
        self.compaction = Some(Compaction {
            trigger: self.triggers.next().unwrap_or_default(),
            before: self.size,
            kept,
        });
    }

    /// The items of a new context, each a message that was there before or else a new one.
    fn replaced(&mut self, line: &Line, message: &str, history: Vec<Item>, kept: &mut Vec<usize>) {
        // Held from here on: what is repeated may stand anywhere.
        let source = &self.builder.session().source;
        self.held.get_or_insert_with(|| source.bytes.whole());
        let places = self.places(line, history.len());
        let repeated = self.repeated(&places);
        for ((mut item, place), repeated) in history.into_iter().zip(places).zip(repeated) {
            if item.sort == Sort::NotContext {
                continue;
            }
            if let Some(repeated) = repeated {
                kept.push(repeated);
                continue;
            }
            if item.role == Role::User && !message.is_empty() && item.text() == message {
                item.sort = Sort::Summary;
            }
            let is_own_words = item.sort != Sort::Summary && !item.looks_injected;
            kept.push(self.add_at(line, place, item, is_own_words, false));
        }
    }

    /// Where the items of a new context stand; all in the whole line, should one be hard to find.
    fn places(&self, line: &Line, n: usize) -> Vec<Span> {
        let bytes: &[u8] = &self.builder.session().source.bytes.whole();
        let payload = member(bytes, &line.span, "payload");
        let list = payload.and_then(|payload| member(bytes, &payload, "replacement_history"));
        let places = list.and_then(|list| elements(bytes, &list));
        let places = places.filter(|places| places.len() == n);
        places.unwrap_or_else(|| vec![line.span.clone(); n])
    }

    /// The messages that the items at these places repeat.
    fn repeated(&mut self, places: &[Span]) -> Vec<Option<usize>> {
        let session = self.builder.session();
        self.known.learn(session);
        let mut context = session.real_context(session.messages.len());
        context.retain(|message| Some(*message) != self.instructions);
        let bytes = session.source.bytes.whole();
        let items: Vec<&[u8]> = places.iter().map(|place| &bytes[place.clone()]).collect();
        self.known.repeated(session, &context, &items)
    }

    /// What Codex carries over itself when it only wrote down its summary: the instructions from before the first
    /// turn, and the newest of what people said. (It cuts the one that does not fit; here it is left out.)
    fn carried_over(&self) -> Vec<usize> {
        let session = self.builder.session();
        let in_history = || {
            session
                .messages
                .iter()
                .enumerate()
                .filter(|(_, m)| m.in_history && !m.is_summary)
        };
        let mut left = CARRIED_OVER;
        let mut people: Vec<usize> = in_history()
            .rev()
            .filter(|(_, m)| m.role == Role::User && !m.is_injected)
            .map_while(|(idx, m)| {
                let bytes = session
                    .parts_of(m)
                    .iter()
                    .map(|p| p.body.text().len())
                    .sum();
                left = left.checked_sub(bytes)?;
                Some(idx)
            })
            .collect();
        people.reverse();
        let setup = in_history()
            .take_while(|(_, m)| m.turn == 0 && m.role != Role::Assistant)
            .map(|(idx, _)| idx)
            .filter(|idx| Some(*idx) != self.instructions);
        setup.chain(people).collect()
    }

    /// Nothing more is set up.
    pub(super) fn close_compaction(&mut self) {
        if let Some(Compaction {
            trigger,
            before,
            kept,
        }) = self.compaction.take()
        {
            self.builder.compaction(trigger, before, None, kept);
        }
    }
}
