//! A model as the writer of summaries: live over HTTP with every exchange logged, or as a log has it.

use super::Summarizer;
use super::log::{Ended, Exchange, LogWriter, RunLog, key_of};
use crate::engine::Case;
use crate::exec::model::{AskError, AskErrorKind, ModelClient, News, ask};
use crate::progress::Progress;
use crate::providers::{Answer, Prompt, Stop, plain_line};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Characters of a refusal that are shown.
const MOST_WORDS: usize = 300;

/// A model that writes summaries.
#[derive(Clone)]
pub struct Model {
    /// Which, where, and how patiently.
    pub client: ModelClient,
    /// Its context window in tokens, where it is known: what does not fit is not sent.
    pub window: Option<u64>,
    /// A prompt of the person's own, for policies that bring none with their actions.
    pub prompt: Option<String>,
    /// How freely it chooses words; its own default if none.
    pub temperature: Option<f64>,
    /// Where requests and answers are logged; nowhere if none.
    pub log: Option<PathBuf>,
    /// Stops it.
    pub stop: Arc<Progress>,
    /// Hears what happens, on the thread of the export.
    pub tell: Option<Arc<dyn Fn(ModelNews) + Send + Sync>>,
}

/// What happens while a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelNews {
    /// A question was sent: its number in the run, from 1, and its tokens by our count.
    Asked(usize, u64),
    /// The answer so far.
    Text(String),
    /// It is asked again after a while, and why.
    Waits(String),
}

impl Model {
    /// As a person would name it.
    pub fn name(&self) -> String {
        format!(
            "{} at {}",
            self.client.endpoint.model,
            self.client.endpoint.host()
        )
    }

    fn say(&self, news: ModelNews) {
        if let Some(tell) = &self.tell {
            tell(news);
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.name())
    }
}

/// Why a question got no answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failed {
    /// One line for people, and what a policy's rule reads.
    pub(super) why: String,
    /// What was asked is too long for the model.
    pub(super) is_too_long: bool,
    /// No answer can be had any more: the run is pointless.
    pub(super) breaks_the_run: bool,
}

impl Failed {
    /// The answer is none; what follows is the policy's own rule.
    pub(super) fn answer(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            is_too_long: false,
            breaks_the_run: false,
        }
    }

    /// No answer can be had any more.
    pub(super) fn fatal(why: impl Into<String>) -> Self {
        Self {
            breaks_the_run: true,
            ..Self::answer(why)
        }
    }

    /// What was asked does not fit.
    pub(super) fn too_long(why: impl Into<String>) -> Self {
        Self {
            is_too_long: true,
            ..Self::answer(why)
        }
    }

    fn of_error(error: &AskError) -> Self {
        Self {
            why: error.to_string(),
            is_too_long: error.kind == AskErrorKind::ContextTooLong,
            breaks_the_run: !matches!(
                error.kind,
                AskErrorKind::ContextTooLong | AskErrorKind::BadAnswer
            ),
        }
    }
}

/// What a model said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// A text, perhaps empty.
    Text(Arc<str>),
    /// It called a tool instead.
    Called,
}

/// What questions cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) questions: usize,
    pub(super) sent: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) millis: Option<u64>,
    /// An answer was cut off at its limit.
    pub(super) is_cut_off: bool,
}

/// Who is asked.
enum Source<'a> {
    Live(&'a Model, Option<LogWriter>),
    Log(&'a RunLog, usize),
}

/// Asks, and remembers what was answered.
pub(super) struct Voice<'a> {
    source: Source<'a>,
    known: HashMap<String, Result<Said, Failed>>,
    spent: Spent,
    n_asked: usize,
}

impl<'a> Voice<'a> {
    /// The voice of a summarizer, if it is a model's.
    pub(super) fn of(summarizer: &'a Summarizer) -> Option<Self> {
        let source = match summarizer {
            Summarizer::Digest | Summarizer::Text(_) => return None,
            Summarizer::Model(model) => {
                let log = model.log.as_ref().map(|path| LogWriter::new(path, model));
                Source::Live(model, log)
            }
            Summarizer::Log(log) => Source::Log(log, 0),
        };
        Some(Self {
            source,
            known: HashMap::new(),
            spent: Spent::default(),
            n_asked: 0,
        })
    }

    pub(super) fn log(&self) -> Option<&LogWriter> {
        match &self.source {
            Source::Live(_, log) => log.as_ref(),
            Source::Log(..) => None,
        }
    }

    /// The model's window, where it is known.
    pub(super) fn window(&self) -> Option<u64> {
        match &self.source {
            Source::Live(model, _) => model.window,
            Source::Log(log, _) => log.window,
        }
    }

    /// The person's own prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        match &self.source {
            Source::Live(model, _) => model.prompt.as_deref(),
            Source::Log(log, _) => log.prompt.as_deref(),
        }
    }

    pub(super) fn temperature(&self) -> Option<f64> {
        match &self.source {
            Source::Live(model, _) => model.temperature,
            Source::Log(log, _) => log.temperature,
        }
    }

    /// What was spent since this was last asked.
    pub(super) fn take_spent(&mut self) -> Spent {
        std::mem::take(&mut self.spent)
    }

    /// The answer to a question of so many tokens; the same question is asked once.
    pub(super) fn ask(
        &mut self,
        case: &Case,
        prompt: &Prompt,
        tokens: u64,
    ) -> Result<Said, Failed> {
        let key = key_of(prompt);
        self.spent.questions += 1;
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.n_asked += 1;
        let exchange = match &mut self.source {
            Source::Live(model, log) => {
                let exchange = live(model, prompt, self.n_asked, tokens, &key);
                if let Some(log) = log {
                    log.add(prompt, &exchange);
                }
                exchange
            }
            Source::Log(log, next) => {
                match log.exchanges.get(*next).filter(|known| known.key == key) {
                    Some(exchange) => {
                        *next += 1;
                        exchange.clone()
                    }
                    None => {
                        return Err(Failed::fatal(format!(
                            "the log holds no answer to request {}: it belongs to another session, policy or setting",
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
        self.spent.is_cut_off |= exchange.ended == Ended::CutOff;
        let said = exchange
            .said()
            .and_then(|said| within(case, said, exchange.received, prompt.max_tokens));
        self.known.insert(key, said.clone());
        said
    }
}

/// Tokens that an answer may be counted wrong by, as a share, where the provider does not say: its vocabulary is another.
const MARGIN: f64 = 0.1;

/// An answer, unless both the provider's count and ours say that it is longer than the limit it was asked with. What it
/// weighs in the session's books is no matter: they are fitted to another model's reports.
fn within(case: &Case, said: Said, received: Option<u64>, limit: u64) -> Result<Said, Failed> {
    let Said::Text(text) = &said else {
        return Ok(said);
    };
    let counted = case.ledger.counted(text).0;
    let least = match received {
        Some(received) => received.min(counted) as f64,
        None => counted as f64 / (1.0 + MARGIN),
    };
    if least <= limit as f64 {
        return Ok(said);
    }
    Err(Failed::answer(format!(
        "the answer has {} tokens, more than the {limit} allowed",
        received.unwrap_or(counted)
    )))
}

/// Asks the model itself.
fn live(model: &Model, prompt: &Prompt, number: usize, tokens: u64, key: &str) -> Exchange {
    model.say(ModelNews::Asked(number, tokens));
    let begin = Instant::now();
    let answer = ask(&model.client, prompt, &model.stop, &mut |news| match news {
        News::Text(text) => model.say(ModelNews::Text(text.to_owned())),
        News::Waits { because, .. } => model.say(ModelNews::Waits(because.to_string())),
        News::Sent { .. } => {}
    });
    let millis = begin.elapsed().as_millis() as u64;
    let exchange = Exchange {
        key: key.to_owned(),
        millis,
        ..Exchange::default()
    };
    match answer {
        Ok(answer) => answered(exchange, answer),
        Err(error) => {
            let failed = Failed::of_error(&error);
            Exchange {
                failed: Some(failed.why),
                is_too_long: failed.is_too_long,
                breaks_the_run: failed.breaks_the_run,
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
        ended: match answer.stop {
            _ if is_refused => Ended::Refused,
            Stop::ToolCall => Ended::Called,
            Stop::Length => Ended::CutOff,
            _ => Ended::Whole,
        },
        failed: is_refused.then(|| refused(answer.refusal.as_deref())),
        text: answer.text,
        ..exchange
    }
}

/// Why a refused or filtered answer is not used, whatever text came with it.
fn refused(words: Option<&str>) -> String {
    match words.map(|words| plain_line(words, MOST_WORDS)) {
        Some(words) => format!("the model refused to answer ({words})"),
        None => "the model refused to answer, or its provider filtered the answer".to_owned(),
    }
}
