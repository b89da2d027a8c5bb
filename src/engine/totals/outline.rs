//! The outline of a run that was computed from sums: its prompts, their shared prefixes, and the content that they
//! received.

use super::Totals;
use super::account::{Deed, Text, Told, What};
use super::plain::{Actor, Scene};
use crate::engine::budget::Budget;
use crate::engine::event::{Cause, Did, Event};
use crate::engine::outcome::{Outcome, Sample};
use crate::engine::own_trigger::OwnMeasure;
use crate::engine::seen::{PartSight, Seen, SeenChange, Sight, TextChange};
use crate::session::Kind;
use crate::units::Tokens;
use std::ops::Range;

pub(super) fn outline(
    scene: &Scene<'_>,
    budget: Budget,
    (totals, told): &(Totals, Told),
    actor: Option<&Actor>,
) -> Outcome {
    let mut outcome = Outcome {
        samples: samples(scene, budget, told),
        events: told
            .deeds
            .iter()
            .filter_map(|deed| event(scene, deed))
            .collect(),
        seen: Witness::new(scene, actor).seen(&told.deeds),
        compactions: totals.compactions,
        overflows: totals.overflows,
        tokens_rejected: totals.rejected,
        summaries: totals.summaries,
        ..Outcome::default()
    };
    outcome.stop_at(totals.end, budget);
    outcome
}

fn samples(scene: &Scene<'_>, budget: Budget, told: &Told) -> Vec<Sample> {
    let (course, steps) = (scene.course, &scene.case.session.calls);
    let mut samples: Vec<Sample> = Vec::with_capacity(steps.len());
    let mut deeds = told.deeds.iter().peekable();
    let mut cache = Cache::new(scene);
    for stretch in &told.stretches {
        for step in stretch.calls.clone() {
            let added = |said: u64, more: i64| Tokens((said.cast_signed() + more).cast_unsigned());
            let tokens = added(course.truth[step], stretch.truth);
            let before = samples.last().map_or(Tokens::ZERO, |sample| sample.tokens);
            let unchanged = match deeds.next_if(|deed| deed.call == step) {
                Some(deed) => cache.after(deed, before),
                None => before,
            };
            let pressure = budget.pressure(tokens);
            let overflows = pressure.0 > 1.0;
            samples.push(Sample {
                step,
                turn: steps[step].turn,
                window: budget.window,
                metered: added(course.metered[step], stretch.metered),
                tokens,
                pressure,
                believed: None,
                overflows,
                refused: false,
                rejected: if overflows { tokens } else { Tokens::ZERO },
                unchanged: unchanged.min(tokens),
                by_kind: [0; Kind::ALL.len()],
            });
        }
    }
    samples
}

/// The prefix that a prompt after a compaction shares with the prompt before.
struct Cache<'a> {
    scene: &'a Scene<'a>,
    /// The rank of the oldest remaining message, without instructions, and whether a written text precedes it.
    oldest: usize,
    is_written: bool,
}

impl<'a> Cache<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        Self {
            oldest: scene.course.preamble,
            is_written: false,
            scene,
        }
    }

    /// Returns the shared tokens. `before` is the prompt of the call before: all of it is shared if it was not changed.
    fn after(&mut self, deed: &Deed, before: Tokens) -> Tokens {
        let (course, overhead) = (self.scene.course, self.scene.case.ledger.overhead);
        let Some(last) = deed.call.checked_sub(1) else {
            return Tokens::ZERO;
        };
        let there = course.ranks[last];
        match &deed.what {
            What::Cleared(results, weight) => {
                let message = course.results.messages[results.start];
                let rank = course.history.partition_point(|m| *m < message);
                if rank >= there {
                    return before;
                }
                // Earlier results are cleared already and weigh as much as their marker.
                let n = course.results.messages.partition_point(|m| *m < message);
                let gone = course.results.truth_before[n];
                overhead + Tokens(course.truth_before[rank] - gone + weight * n as u64)
            }
            What::Replaced { ranks, text } => {
                let n_spoken = there.saturating_sub(self.oldest) + usize::from(self.is_written);
                self.oldest = ranks.end;
                self.is_written = text.is_some();
                if there <= course.preamble || n_spoken == 0 {
                    return before;
                }
                overhead + Tokens(course.truth_before[course.preamble])
            }
        }
    }
}

/// Returns the event of a compaction that paid for a summary or left almost nothing.
fn event(scene: &Scene<'_>, deed: &Deed) -> Option<Event> {
    let nothing = Event {
        step: deed.call,
        stage: String::new(),
        action: "summarize",
        cause: Cause::default(),
        before: Tokens::ZERO,
        after: Tokens::ZERO,
        messages: Vec::new(),
        request: None,
        did: Did::Removed,
        measured: OwnMeasure::default(),
        orphans: 0,
        forgotten: 0,
        left: 0,
        log: Vec::new(),
        files: Vec::new(),
        error: None,
    };
    if let What::Replaced {
        text: Some(Text::Summary(sent, received)),
        ..
    } = deed.what
    {
        let request = Some((Tokens(sent), Tokens(received)));
        return Some(Event { request, ..nothing });
    }
    let wiped = deed.wiped?;
    let course = scene.course;
    let (action, touched) = match &deed.what {
        What::Cleared(results, _) => ("clear", &course.results.messages[results.clone()]),
        What::Replaced { ranks, .. } => ("drop", &course.history[ranks.clone()]),
    };
    let range = |message: &u32| *message as usize..*message as usize + 1;
    Some(Event {
        action,
        before: wiped.before,
        after: wiped.after,
        messages: touched.iter().map(range).collect(),
        left: wiped.left,
        ..nothing
    })
}

/// Records the content that calls received.
struct Witness<'a> {
    scene: &'a Scene<'a>,
    actor: Option<&'a Actor>,
    seen: Seen,
    /// The current written text.
    text: Option<u32>,
}

impl<'a> Witness<'a> {
    fn new(scene: &'a Scene<'a>, actor: Option<&'a Actor>) -> Self {
        Self {
            scene,
            actor,
            seen: Seen::default(),
            text: None,
        }
    }

    fn seen(mut self, deeds: &[Deed]) -> Seen {
        for deed in deeds {
            let step = deed.call as u32;
            match &deed.what {
                What::Cleared(results, _) => self.cleared(step, results),
                What::Replaced { ranks, text } => {
                    self.gone(step, ranks);
                    self.written(step, text.as_ref());
                }
            }
        }
        self.seen
    }

    fn gone(&mut self, step: u32, ranks: &Range<usize>) {
        for message in &self.scene.course.history[ranks.clone()] {
            match self.seen.changes.last_mut() {
                Some(last) if last.step == step && last.messages.end == *message => {
                    last.messages.end += 1;
                }
                _ => self.seen.changes.push(SeenChange {
                    step,
                    messages: *message..message + 1,
                    now: Sight::Gone,
                }),
            }
        }
    }

    /// Replaces the current written text.
    fn written(&mut self, step: u32, text: Option<&Text>) {
        let text = text.and_then(|text| self.actor?.text(self.scene, text));
        let last = self.text.map(|text| &self.seen.texts[text as usize]);
        if let (Some(last), Some(text)) = (last, &text)
            && !text.is_predicted
            && last.text == text.text
        {
            return;
        }
        let now = text.map(|text| {
            self.seen.texts.push(text);
            self.seen.texts.len() as u32 - 1
        });
        let gone = self.text.map(|text| (text, false));
        let come = now.map(|text| (text, true));
        for (text, is_there) in gone.into_iter().chain(come) {
            self.seen.text_changes.push(TextChange {
                step,
                text,
                is_there,
            });
        }
        self.text = now;
    }

    fn cleared(&mut self, step: u32, results: &Range<usize>) {
        let (scene, course) = (self.scene, self.scene.course);
        let marker = *self.text.get_or_insert_with(|| {
            let marker = self.actor.and_then(|actor| actor.marker(scene));
            self.seen.texts.extend(marker);
            self.seen.text_changes.push(TextChange {
                step,
                text: 0,
                is_there: true,
            });
            0
        });
        let messages = &course.results.messages;
        for of_message in messages[results.clone()].chunk_by(|a, b| a == b) {
            let message = of_message[0];
            let first = self.seen.parts.len() as u32;
            // Some results of a message may have been cleared before.
            let from = messages.partition_point(|m| *m < message);
            let is_cleared = |part: u32| {
                let own = &course.results.parts[from..results.end];
                own.binary_search(&part).is_ok()
            };
            let index = &scene.case.index;
            for part in scene.case.session.messages[message as usize].parts.clone() {
                let sight = if index.kinds[part] == Kind::ToolResult && is_cleared(part as u32) {
                    PartSight::Text(marker)
                } else if index.owner[part].is_some_and(is_cleared) {
                    PartSight::Gone
                } else {
                    PartSight::Kept
                };
                self.seen.parts.push(sight);
            }
            self.seen.changes.push(SeenChange {
                step,
                messages: message..message + 1,
                now: Sight::Partly(first),
            });
        }
    }
}
