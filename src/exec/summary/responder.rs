//! Replies to prompts: from a live model, with every exchange logged, or from the log of an earlier run.

use super::log::{Ending, Exchange, LogWriter, RunLog, key_of};
use super::model::{Model, ModelEvent};
use super::reply::{ModelReply, SummaryFailure};
use super::summarizer::Summarizer;
use crate::engine::Case;
use crate::exec::model::{AskEvent, ask};
use crate::figure::grouped;
use crate::providers::{Answer, Prompt, Stop, plain_line};
use std::collections::HashMap;
use std::time::Instant;

/// Maximum number of characters of a refusal that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// Tokens and time of the prompts for one summary request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) prompts: usize,
    pub(super) sent: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) millis: Option<u64>,
    /// A reply was cut off at its limit.
    pub(super) is_cut_off: bool,
}

/// Sends prompts for a run that has a log of its own.
pub(crate) trait Exchanges {
    /// Returns the answer to a prompt of this many tokens.
    fn exchange(&self, prompt: &Prompt, tokens: u64) -> Exchange;

    /// Returns the settings of the model, as the first line of a log has them.
    fn settings(&self) -> &RunLog;
}

/// The source of replies.
enum AnswerSource<'a> {
    Live(&'a Model, Option<LogWriter>),
    Log(&'a RunLog, usize),
    Shared(&'a dyn Exchanges),
}

/// Replies to prompts. The same prompt gets the same reply without being sent again.
pub(super) struct Responder<'a> {
    source: AnswerSource<'a>,
    replies: HashMap<String, Result<ModelReply, SummaryFailure>>,
    spent: Spent,
    n_sent: usize,
}

impl<'a> Responder<'a> {
    /// Creates the responder of a model or a log.
    pub(super) fn new(summarizer: &'a Summarizer) -> Option<Self> {
        let source = match summarizer {
            Summarizer::Digest | Summarizer::Text(_) => return None,
            Summarizer::Model(model) => {
                let log = model.log.as_ref().map(|path| LogWriter::new(path, model));
                AnswerSource::Live(model, log)
            }
            Summarizer::Log(log) => AnswerSource::Log(log, 0),
        };
        Some(Self::from_source(source))
    }

    /// Creates the responder of a run that has a log of its own.
    pub(super) fn through(exchanges: &'a dyn Exchanges) -> Self {
        Self::from_source(AnswerSource::Shared(exchanges))
    }

    fn from_source(source: AnswerSource<'a>) -> Self {
        Self { source, replies: HashMap::new(), spent: Spent::default(), n_sent: 0 }
    }

    pub(super) fn log(&self) -> Option<&LogWriter> {
        match &self.source {
            AnswerSource::Live(_, log) => log.as_ref(),
            AnswerSource::Log(..) | AnswerSource::Shared(_) => None,
        }
    }

    /// Returns the model's context window, if known.
    pub(super) fn window(&self) -> Option<u64> {
        match &self.source {
            AnswerSource::Live(model, _) => model.window,
            AnswerSource::Log(log, _) => log.window,
            AnswerSource::Shared(shared) => shared.settings().window,
        }
    }

    /// Returns the user's own prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        match &self.source {
            AnswerSource::Live(model, _) => model.prompt.as_deref(),
            AnswerSource::Log(log, _) => log.prompt.as_deref(),
            AnswerSource::Shared(shared) => shared.settings().prompt.as_deref(),
        }
    }

    pub(super) fn temperature(&self) -> Option<f64> {
        match &self.source {
            AnswerSource::Live(model, _) => model.temperature,
            AnswerSource::Log(log, _) => log.temperature,
            AnswerSource::Shared(shared) => shared.settings().temperature,
        }
    }

    /// Returns tokens and time since the last call.
    pub(super) fn take_spent(&mut self) -> Spent {
        std::mem::take(&mut self.spent)
    }

    /// Returns the reply to a prompt of this many tokens.
    pub(super) fn reply(
        &mut self,
        case: &Case,
        prompt: &Prompt,
        tokens: u64,
    ) -> Result<ModelReply, SummaryFailure> {
        let key = key_of(prompt);
        self.spent.prompts += 1;
        if let Some(reply) = self.replies.get(&key) {
            return reply.clone();
        }
        self.n_sent += 1;
        let exchange = match &mut self.source {
            AnswerSource::Live(model, log) => {
                let exchange = send(model, prompt, self.n_sent, tokens, &key);
                if let Some(log) = log {
                    log.add(prompt, &exchange);
                }
                exchange
            }
            AnswerSource::Shared(shared) => shared.exchange(prompt, tokens),
            AnswerSource::Log(log, next) => {
                match log.exchanges.get(*next).filter(|found| found.key == key) {
                    Some(exchange) => {
                        *next += 1;
                        exchange.clone()
                    }
                    None => {
                        return Err(SummaryFailure::fatal(format!(
                            "the log has no answer to request {}: it belongs to another session, policy or setting",
                            *next + 1
                        )));
                    }
                }
            }
        };
        let add = |sum: &mut Option<u64>, n: Option<u64>| {
            *sum = n.map(|n| n + sum.unwrap_or(0)).or(*sum);
        };
        add(&mut self.spent.sent, exchange.sent);
        add(&mut self.spent.received, exchange.received);
        add(&mut self.spent.millis, Some(exchange.millis));
        self.spent.is_cut_off |= exchange.ending == Ending::CutOff;
        let reply = exchange
            .reply()
            .and_then(|reply| within_limit(case, reply, exchange.received, prompt.max_tokens));
        self.replies.insert(key, reply.clone());
        reply
    }
}

/// Relative error of our count of an answer for which the provider reports none, since its vocabulary differs. Chosen:
/// without it, valid answers at the limit would be rejected, and a much larger one would accept answers that are too
/// long.
const MARGIN: f64 = 0.1;

/// Rejects a reply if both the provider's count and ours exceed its limit. The calibrated count is not used, since it
/// is fitted to another model.
fn within_limit(
    case: &Case,
    reply: ModelReply,
    received: Option<u64>,
    limit: u64,
) -> Result<ModelReply, SummaryFailure> {
    let ModelReply::Text(text) = &reply else {
        return Ok(reply);
    };
    let counted = case.ledger.counted(text).0;
    let least = match received {
        Some(received) => received.min(counted) as f64,
        None => counted as f64 / (1.0 + MARGIN),
    };
    if least <= limit as f64 {
        return Ok(reply);
    }
    Err(SummaryFailure::unusable(format!(
        "the answer has {} tokens, more than the {} allowed",
        grouped(received.unwrap_or(counted)),
        grouped(limit)
    )))
}

/// Sends a prompt to the model.
pub(crate) fn send(
    model: &Model,
    prompt: &Prompt,
    number: usize,
    tokens: u64,
    key: &str,
) -> Exchange {
    model.emit(ModelEvent::Sent { number, tokens });
    let begin = Instant::now();
    let answer = ask(&model.client, prompt, &model.stop, &mut |news| match news {
        AskEvent::Text(text) => model.emit(ModelEvent::Text(text.to_owned())),
        AskEvent::Waits { because, .. } => model.emit(ModelEvent::Waits(because.to_string())),
        AskEvent::Sent { .. } => {}
    });
    let millis = begin.elapsed().as_millis() as u64;
    let exchange = Exchange { key: key.to_owned(), millis, ..Exchange::default() };
    match answer {
        Ok(answer) => answered(exchange, answer),
        Err(error) => {
            let failure = SummaryFailure::from(&error);
            Exchange {
                failed: Some(failure.reason),
                is_too_long: failure.is_too_long,
                is_fatal: failure.is_fatal,
                scope: error.scope,
                ..exchange
            }
        }
    }
}

fn answered(exchange: Exchange, answer: Answer) -> Exchange {
    let usage = answer.usage;
    let is_refused = answer.stop == Stop::Refused || answer.refusal.is_some();
    Exchange {
        sent: usage.map(|usage| usage.input.0),
        received: usage.and_then(|usage| usage.output).map(|output| output.0),
        cache_read: usage.and_then(|usage| usage.cache_read).map(|read| read.0),
        cache_write: usage.and_then(|usage| usage.cache_write).map(|written| written.0),
        ending: match answer.stop {
            _ if is_refused => Ending::Refused,
            Stop::ToolCall => Ending::ToolCall,
            Stop::Length => Ending::CutOff,
            _ => Ending::Complete,
        },
        failed: is_refused.then(|| refusal_line(answer.refusal.as_deref())),
        text: answer.text,
        called: answer.calls.into_iter().next().map(|call| (call.tool, call.arguments)),
        ..exchange
    }
}

/// Describes a refused or filtered answer, which is not used whatever its text.
fn refusal_line(text: Option<&str>) -> String {
    match text.map(|text| plain_line(text, MAX_SHOWN_CHARS)) {
        Some(text) => format!("the model refused to answer ({text})"),
        None => "the model refused to answer, or its provider filtered the answer".to_owned(),
    }
}
