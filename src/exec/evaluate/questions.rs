//! Asks the questions of a session.

use super::contexts::{PlayedSamples, PromptContext};
use super::parallel::parallel;
use super::points::Point;
use super::sender::Sender;
use crate::analysis::probes::{Choice, Order, Probe, ProbeAnswers};
use crate::analysis::statistics::Generator;
use crate::chat::ChatMessage;
use crate::exec::summary::{Ending, Exchange};
use crate::providers::Prompt;
use crate::tokens::TokenLedger;

/// Maximum tokens of the answer to a probe, including reasoning.
pub(super) const MAX_ANSWER: u64 = 512;

/// Number of sets of baseline answers: one selects the probes, the other scores them.
pub(super) const SETS: usize = 2;

/// The context that a question is asked with.
#[derive(Clone, Copy, Debug)]
enum Source {
    NoContext,
    FullContext,
    /// Index of the lane and of the sample.
    Lane(usize, usize),
}

/// The questions of one context: they are sent one after another, so that the provider's cache has the context.
struct Unit<'a> {
    point: usize,
    source: Source,
    /// Names of the series: one for each set of answers.
    series: Vec<String>,
    context: Option<&'a PromptContext>,
}

/// Asks all questions of a session with the contexts of its points and returns the answers by point and probe.
pub(super) fn ask(
    sender: &Sender<'_>,
    concurrency: usize,
    ledger: &TokenLedger,
    points: &[Point],
    full: &[Option<PromptContext>],
    lanes: &[PlayedSamples],
) -> Vec<Vec<ProbeAnswers>> {
    let units = units(points, full, lanes);
    let answers = parallel(concurrency, &units, |unit| {
        let sets = unit.series.iter().map(|series| {
            let ask = |probe: &Probe| {
                Order::BOTH.map(|order| choice(sender, ledger, unit.context, probe, order, series))
            };
            let probes = points[unit.point].probes.iter();
            probes.map(ask).collect::<Vec<_>>()
        });
        sets.collect::<Vec<_>>()
    });
    let empty = |_: &Probe| ProbeAnswers {
        lanes: lanes
            .iter()
            .map(|lane| vec![[None; 2]; lane.samples.len()])
            .collect(),
        ..ProbeAnswers::default()
    };
    let mut all: Vec<Vec<_>> = points
        .iter()
        .map(|p| p.probes.iter().map(empty).collect())
        .collect();
    for (unit, sets) in units.iter().zip(answers) {
        for (set, pairs) in sets.into_iter().enumerate() {
            for (answers, pair) in all[unit.point].iter_mut().zip(pairs) {
                match unit.source {
                    Source::NoContext => answers.none[set] = pair,
                    Source::FullContext => answers.full[set] = pair,
                    Source::Lane(lane, sample) => answers.lanes[lane][sample] = pair,
                }
            }
        }
    }
    all
}

/// Lists all contexts, point by point in a mixed order, so that a run that ends early has whole points from everywhere.
fn units<'a>(
    points: &[Point],
    full: &'a [Option<PromptContext>],
    lanes: &'a [PlayedSamples],
) -> Vec<Unit<'a>> {
    static EMPTY: PromptContext = PromptContext {
        messages: Vec::new(),
        tokens: crate::units::Tokens::ZERO,
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    Generator::new(points.len() as u64).shuffle(&mut order);
    let mut units = Vec::new();
    for point in order {
        let mut add = |source, context, series| {
            units.push(Unit {
                point,
                source,
                series,
                context,
            });
        };
        let call = points[point].call;
        let sets = |name: &str| {
            (0..SETS)
                .map(|set| format!("{name} {set} {call}"))
                .collect()
        };
        add(Source::NoContext, Some(&EMPTY), sets("no context"));
        add(
            Source::FullContext,
            full[point].as_ref(),
            sets("full context"),
        );
        for (lane, played) in lanes.iter().enumerate() {
            for (sample, (series, played)) in played.samples.iter().enumerate() {
                let context = played.contexts[point].as_ref();
                add(Source::Lane(lane, sample), context, vec![series.clone()]);
            }
        }
    }
    units
}

/// Asks one question.
fn choice(
    sender: &Sender<'_>,
    ledger: &TokenLedger,
    context: Option<&PromptContext>,
    probe: &Probe,
    order: Order,
    series: &str,
) -> Option<Choice> {
    let exchange = question(
        sender,
        ledger,
        context?,
        probe.text(order),
        MAX_ANSWER,
        series,
    )?;
    match exchange.ending {
        Ending::Refused => Some(Choice::Refused),
        Ending::ToolCall => Some(Choice::Empty),
        _ if exchange.failed.is_some() => None,
        _ => Some(Choice::parse(answer_text(&exchange), probe.options(order))),
    }
}

/// Returns the text of an answer without the thoughts that some local models put before it.
pub(super) fn answer_text(exchange: &Exchange) -> &str {
    let thoughts = exchange.text.rsplit_once("</think>");
    thoughts.map_or(&*exchange.text, |(_, answer)| answer)
}

/// Sends a question after a context. A request that overflows the model's window is not sent.
pub(super) fn question(
    sender: &Sender<'_>,
    ledger: &TokenLedger,
    context: &PromptContext,
    text: String,
    max_tokens: u64,
    series: &str,
) -> Option<Exchange> {
    let tokens = (context.tokens + ledger.weigh(&text)).0;
    let settings = sender.settings();
    if settings
        .window
        .is_some_and(|window| tokens + max_tokens > window)
    {
        sender.skip();
        return None;
    }
    let question = ChatMessage::new("user", text);
    let prompt = Prompt {
        messages: context.messages.iter().cloned().chain([question]).collect(),
        max_tokens,
        temperature: settings.temperature,
        tools: Vec::new(),
        repeats_prefix: true,
    };
    sender.answer(&prompt, tokens, series)
}
