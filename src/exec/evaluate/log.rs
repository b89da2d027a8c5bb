//! The log of an evaluation: one line per request with its answer. A broken run continues from it; a finished one is
//! repeated without a model. Contexts are stored once, since all questions of a context begin with it.

use crate::chat::{ChatMessage, message_to_json};
use crate::exec::files::{read_text, sha256};
use crate::exec::summary::{Exchange, Model, RunLog, create_log};
use crate::json::{Value, json};
use crate::providers::Prompt;
use crate::units::Usd;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Maximum size of a log, in bytes, the same as of a session. It contains every summary request with the text to
/// summarize.
const MAX_BYTES: u64 = 4 << 30;

/// The log of an evaluation.
#[derive(Debug, Default)]
pub struct EvaluationLog {
    /// Model, window, prompt and temperature of the run.
    pub settings: RunLog,
    path: Option<PathBuf>,
    /// The file exists and belongs to this run.
    is_opened: bool,
    /// Bytes before an incomplete last line, which is removed before anything is added.
    whole: Option<u64>,
    file: Option<File>,
    answers: HashMap<String, Exchange>,
    /// Names of the series.
    series: HashSet<String>,
    /// Contexts that are in the file.
    contexts: HashSet<String>,
    /// Price of the requests since the log was created or opened, including the estimated price of those in flight. Only
    /// counted with a budget.
    pub(super) spent: Usd,
    /// First error of writing it.
    error: Option<String>,
}

/// A request, split into the messages that other requests begin with as well, and the rest.
pub(super) struct LoggedRequest<'a> {
    prompt: &'a Prompt,
    context: String,
    rest: Value,
    /// Identifies the request in its series.
    pub(super) key: String,
}

/// A line with an answer.
#[derive(Serialize, Deserialize)]
struct AnswerLine {
    answer: Exchange,
    /// Equal requests of different series have answers of their own.
    series: String,
    /// Hash of the context; see the line with this hash.
    #[serde(default)]
    context: String,
    #[serde(default)]
    request: Value,
}

/// A line with a context.
#[derive(Serialize, Deserialize)]
struct ContextLine {
    context_sha256: String,
    #[serde(default)]
    messages: Value,
}

impl<'a> LoggedRequest<'a> {
    /// Identifies a request in a series.
    pub(super) fn new(prompt: &'a Prompt, series: &str) -> Self {
        let before = before_last(&prompt.messages);
        let context = sha256(messages(before).to_string().as_bytes());
        let rest = json!({
            "message": prompt.messages.last().map(message_to_json),
            "max_tokens": prompt.max_tokens,
            "temperature": prompt.temperature,
            "tools": prompt.tools,
        });
        let key = sha256(format!("{context}\n{rest}\n{series}").as_bytes());
        Self { prompt, context, rest, key }
    }
}

fn messages(messages: &[ChatMessage]) -> Value {
    messages.iter().map(message_to_json).collect()
}

impl EvaluationLog {
    /// Creates a log for a new run. The file is created with the first answer; without a path nothing is written.
    pub fn new(model: &Model, path: Option<PathBuf>) -> Self {
        Self { settings: RunLog::of(model), path, ..Self::default() }
    }

    /// Opens the log of an earlier run. New answers are added to it.
    ///
    /// # Errors
    /// Returns one line if it cannot be read or is not a log.
    pub fn open(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = read_text(path, MAX_BYTES).map_err(|error| error.to_string())?;
        // A killed run leaves an incomplete last line.
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole.lines();
        let head = lines.next().unwrap_or_default();
        let not_a_log = |_error| format!("{shown} is not the log of an evaluation");
        let settings = serde_json::from_str(head).map_err(not_a_log)?;
        let mut log =
            Self { settings, path: Some(path.to_owned()), is_opened: true, ..Self::default() };
        for (idx, line) in lines.enumerate() {
            if let Ok(context) = serde_json::from_str::<ContextLine>(line) {
                log.contexts.insert(context.context_sha256);
                continue;
            }
            let invalid = |error| format!("{shown}: line {} is invalid ({error})", idx + 2);
            let line: AnswerLine = serde_json::from_str(line).map_err(invalid)?;
            log.answers.insert(line.answer.key.clone(), line.answer);
            log.series.insert(line.series);
        }
        log.whole = (whole.len() < text.len()).then_some(whole.len() as u64);
        Ok(log)
    }

    /// Returns the path of the log, if it has answers.
    pub fn path(&self) -> Option<&Path> {
        let is_used = self.file.is_some() || !self.answers.is_empty();
        self.path.as_deref().filter(|_| is_used)
    }

    /// Returns the first error of writing the log.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the number of answers.
    pub fn n_answers(&self) -> usize {
        self.answers.len()
    }

    /// Returns the number of samples of a lane when the log was opened.
    pub fn n_samples(&self, lane: &str) -> usize {
        let mut n = 0;
        while self.series.contains(&series(lane, n)) {
            n += 1;
        }
        n
    }

    /// Returns the answer to a request.
    pub(super) fn answer(&self, request: &LoggedRequest<'_>) -> Option<&Exchange> {
        self.answers.get(&request.key)
    }

    /// Adds an answer. Errors are kept for a note and do not end the run.
    pub(super) fn add(&mut self, request: &LoggedRequest<'_>, series: &str, exchange: &Exchange) {
        self.answers.insert(request.key.clone(), exchange.clone());
        if let (Some(path), None) = (self.path.clone(), &self.error)
            && let Err(error) = self.try_add(&path, request, series, exchange)
        {
            self.error = Some(unwritable(&path, &error));
        }
    }

    fn try_add(
        &mut self,
        path: &Path,
        request: &LoggedRequest<'_>,
        series: &str,
        exchange: &Exchange,
    ) -> io::Result<()> {
        let mut lines = String::new();
        if self.file.is_none() {
            if self.is_opened {
                if let Some(whole) = self.whole.take() {
                    File::options().write(true).open(path)?.set_len(whole)?;
                }
                self.file = Some(File::options().append(true).open(path)?);
            } else {
                self.file = Some(create_log(path)?);
                lines = serde_json::to_string(&self.settings)? + "\n";
            }
        }
        if self.contexts.insert(request.context.clone()) {
            let context = ContextLine {
                context_sha256: request.context.clone(),
                messages: messages(before_last(&request.prompt.messages)),
            };
            lines += &(serde_json::to_string(&context)? + "\n");
        }
        let answer = AnswerLine {
            answer: exchange.clone(),
            series: series.to_owned(),
            context: request.context.clone(),
            request: request.rest.clone(),
        };
        lines += &(serde_json::to_string(&answer)? + "\n");
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.write_all(lines.as_bytes())?;
        file.sync_data()
    }
}

/// Returns the name of the series of a lane's sample.
pub(super) fn series(lane: &str, sample: usize) -> String {
    format!("{lane} {sample}")
}

fn before_last(messages: &[ChatMessage]) -> &[ChatMessage] {
    messages.split_last().map_or(&[], |(_, before)| before)
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    format!("cannot write the log {} ({error})", path.display())
}
