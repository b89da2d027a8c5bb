//! Asks the questions of a session.

use super::contexts::{AskedSession, PlayedSamples, PromptContext};
use super::parallel::parallel;
use super::points::QuestionPoint;
use crate::analysis::probes::{Choice, Order, Probe, ProbeAnswers};
use crate::analysis::statistics::Generator;
use crate::chat::ChatMessage;
use crate::exec::summary::{Ending, Exchange};
use crate::json::Value;
use crate::providers::Prompt;
use std::sync::{Mutex, PoisonError};

/// Maximum tokens of the answer to a probe, including reasoning. The answer is one letter; the rest is for models that
/// reason first. An answer that is cut before its letter counts as a guess.
pub(super) const MAX_ANSWER: u64 = 512;

/// Number of sets of baseline answers: one selects the probes, the other scores them.
pub(super) const SETS: usize = 2;

/// The context that a question is asked with.
#[derive(Clone, Copy, Debug)]
enum ContextSource {
    NoContext,
    FullContext,
    Lane {
        /// Index of the lane.
        lane: usize,
        /// Index of the sample.
        sample: usize,
    },
}

/// The questions of one context: they are sent one after another, so that the provider's cache has the context.
struct QuestionUnit<'a> {
    point: usize,
    source: ContextSource,
    /// Names of the series: one for each set of answers.
    series: Vec<String>,
    context: Option<&'a PromptContext>,
}

/// Asks all questions of a session with the contexts of its points and returns the answers by point and probe.
/// `on_answers` gets the answers so far.
pub(super) fn ask(
    asked: AskedSession<'_, '_>,
    on_answers: &(dyn Fn(&Mutex<AnswersByPoint>) + Sync),
) -> AnswersByPoint {
    let points = asked.points;
    let units = units(asked);
    let all = Mutex::new(unanswered(points, asked.lanes));
    parallel(asked.concurrency, &units, |unit| {
        for (set, series) in unit.series.iter().enumerate() {
            for (idx, probe) in points[unit.point].probes.iter().enumerate() {
                let pair = Order::BOTH.map(|order| choice(asked, unit, probe, order, series));
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                let answers = &mut all[unit.point][idx];
                match unit.source {
                    ContextSource::NoContext => answers.none[set] = pair,
                    ContextSource::FullContext => answers.full[set] = pair,
                    ContextSource::Lane { lane, sample } => answers.lanes[lane][sample] = pair,
                }
            }
            on_answers(&all);
        }
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Answers by point and probe.
pub(super) type AnswersByPoint = Vec<Vec<ProbeAnswers>>;

/// Returns the probes of all points without answers.
fn unanswered(points: &[QuestionPoint], lanes: &[PlayedSamples]) -> AnswersByPoint {
    let empty = |point: &QuestionPoint| {
        let lanes = lanes.iter().map(|lane| {
            let is_asked = lane.is_asked_at(point);
            vec![[None; 2]; if is_asked { lane.samples.len() } else { 0 }]
        });
        ProbeAnswers { lanes: lanes.collect(), ..ProbeAnswers::default() }
    };
    let of_point = |point: &QuestionPoint| vec![empty(point); point.probes.len()];
    points.iter().map(of_point).collect()
}

/// Lists all contexts, point by point in a mixed order, so that a run that ends early has whole points from everywhere.
fn units<'a>(asked: AskedSession<'a, '_>) -> Vec<QuestionUnit<'a>> {
    static EMPTY: PromptContext =
        PromptContext { messages: Vec::new(), tokens: crate::units::Tokens::ZERO };
    let points = asked.points;
    let mut order: Vec<usize> = (0..points.len()).collect();
    Generator::new(points.len() as u64).shuffle(&mut order);
    let mut units = Vec::new();
    for point in order {
        let mut add = |source, context, series| {
            units.push(QuestionUnit { point, source, series, context });
        };
        let call = points[point].call;
        let sets = |name: &str| (0..SETS).map(|set| format!("{name} {set} {call}")).collect();
        add(ContextSource::NoContext, Some(&EMPTY), sets("no context"));
        add(ContextSource::FullContext, asked.full[point].as_ref(), sets("full context"));
        let lanes = asked.lanes.iter().enumerate();
        for (lane, played) in lanes.filter(|(_, lane)| lane.is_asked_at(&points[point])) {
            for (sample, played) in played.samples.iter().enumerate() {
                let (context, series) = (&played.contexts[point], played.series.clone());
                add(ContextSource::Lane { lane, sample }, context.as_ref(), vec![series]);
            }
        }
    }
    units
}

/// Asks one question.
fn choice(
    asked: AskedSession<'_, '_>,
    unit: &QuestionUnit<'_>,
    probe: &Probe,
    order: Order,
    series: &str,
) -> Option<Choice> {
    let question = Question::new(probe.text(order), MAX_ANSWER);
    let exchange = asked.answer(unit.context, question, series)?;
    match exchange.ending {
        Ending::Refused => Some(Choice::Refused),
        Ending::ToolCall => Some(Choice::Empty),
        _ if exchange.failed.is_some() => None,
        _ => Some(Choice::parse(answer_text(&exchange), probe.options(order))),
    }
}

/// Returns the text of an answer without the thoughts that some local models put before it. It is empty if the answer
/// was cut off within them.
pub(super) fn answer_text(exchange: &Exchange) -> &str {
    match exchange.text.rsplit_once("</think>") {
        Some((_, answer)) => answer,
        None if exchange.text.trim_start().starts_with("<think>") => "",
        None => &exchange.text,
    }
}

/// A question about a context.
pub(super) struct Question {
    /// A last message; `None` if the context alone is sent.
    pub(super) text: Option<String>,
    /// Definitions of the tools that the model may call.
    pub(super) tools: Vec<Value>,
    pub(super) max_tokens: u64,
}

impl Question {
    /// Creates a question in words.
    pub(super) fn new(text: String, max_tokens: u64) -> Self {
        Self { text: Some(text), tools: Vec::new(), max_tokens }
    }
}

impl AskedSession<'_, '_> {
    /// Sends a question after a context and counts the result. A request that overflows the model's window is not sent.
    pub(super) fn answer(
        &self,
        context: Option<&PromptContext>,
        question: Question,
        series: &str,
    ) -> Option<Exchange> {
        let sender = self.sender;
        let Some(context) = context else {
            sender.skip(|questions| questions.without_context += 1);
            return None;
        };
        let Question { text, tools, max_tokens } = question;
        let weight = text.as_ref().map(|text| self.case.ledger.weigh(text));
        let tokens = (context.tokens + weight.unwrap_or_default()).0;
        let settings = sender.settings();
        if settings.window.is_some_and(|window| tokens + max_tokens > window) {
            sender.skip(|questions| questions.too_long += 1);
            return None;
        }
        let question = text.map(|text| ChatMessage::new("user", text));
        let prompt = Prompt {
            messages: context.messages.iter().cloned().chain(question).collect(),
            max_tokens,
            temperature: settings.temperature,
            tools,
            repeats_prefix: true,
        };
        let exchange = sender.answer(&prompt, tokens, series);
        sender.count(|questions| questions.add(exchange.as_ref()));
        exchange
    }
}
