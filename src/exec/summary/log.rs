//! Logs of live runs: one line per request, with its answer. A run can be repeated from its log without a model and
//! with the same result. Logs contain private text, but never a key.

use super::model::Model;
use super::reply::{ModelReply, SummaryFailure};
use crate::chat::message_to_json;
use crate::exec::files::{create_private_file, read_text, sha256};
use crate::exec::model::FailureScope;
use crate::json::{Value, json, to_value};
use crate::providers::Prompt;
use crate::session::is_blank;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum size of a log, in bytes. Each request repeats the text to summarize.
const MAX_BYTES: u64 = 1 << 30;

/// The log of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLog {
    /// Version of the program that wrote it.
    pub plimsoll: String,
    /// Name of the model and its host.
    pub model: String,
    /// Context window of the model, if known.
    #[serde(default)]
    pub window: Option<u64>,
    /// The user's own prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Temperature.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Prompts and answers, in order.
    #[serde(skip)]
    pub(super) exchanges: Vec<Exchange>,
}

/// A prompt with its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// Identifies the prompt.
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default, rename = "ended")]
    pub(crate) ending: Ending,
    #[serde(default)]
    pub(crate) failed: Option<String>,
    #[serde(default)]
    pub(crate) is_too_long: bool,
    #[serde(default, rename = "breaks_the_run")]
    pub(crate) is_fatal: bool,
    /// The prompts that the failure concerns.
    #[serde(skip)]
    pub(crate) scope: FailureScope,
    #[serde(default)]
    pub(crate) sent: Option<u64>,
    #[serde(default)]
    pub(crate) received: Option<u64>,
    /// Tool and arguments of the first tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) called: Option<(String, String)>,
    /// The part of `sent` that was read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cache_read: Option<u64>,
    /// The part of `sent` that joined the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cache_write: Option<u64>,
    #[serde(default)]
    pub(crate) millis: u64,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// The answer is complete.
    #[default]
    #[serde(rename = "whole")]
    Complete,
    /// The answer was cut off at its limit.
    CutOff,
    /// The model called a tool.
    #[serde(rename = "called")]
    ToolCall,
    /// The model refused, or the provider filtered the answer.
    Refused,
}

impl Exchange {
    pub(super) fn reply(&self) -> Result<ModelReply, SummaryFailure> {
        match &self.failed {
            Some(reason) => Err(SummaryFailure {
                reason: reason.clone(),
                is_too_long: self.is_too_long,
                is_fatal: self.is_fatal,
            }),
            None if self.ending == Ending::ToolCall => Ok(ModelReply::ToolCall),
            // Characters that nobody can see say nothing.
            None if is_blank(&self.text) => Ok(ModelReply::Text(Arc::from(""))),
            None => Ok(ModelReply::Text(Arc::from(self.text.as_str()))),
        }
    }
}

impl RunLog {
    /// Creates the first line of the log of a model.
    pub(crate) fn of(model: &Model) -> Self {
        Self {
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.name(),
            window: model.window,
            prompt: model.prompt.clone(),
            temperature: model.temperature,
            exchanges: Vec::new(),
        }
    }

    /// Reads a log.
    ///
    /// # Errors
    /// Returns one line if it cannot be read or is not a log.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = read_text(path, MAX_BYTES).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut log: Self = serde_json::from_str(head)
            .map_err(|_error| format!("{shown} is not the log of a run"))?;
        for (idx, line) in lines.enumerate() {
            // A killed run leaves an incomplete last line.
            match serde_json::from_str(line) {
                Ok(exchange) => log.exchanges.push(exchange),
                Err(_) if idx + 2 == text.lines().count() => {}
                Err(error) => {
                    return Err(format!("{shown}: line {} is invalid ({error})", idx + 2));
                }
            }
        }
        Ok(log)
    }
}

/// Returns the key of a prompt, which is independent of the model.
pub(super) fn key_of(prompt: &Prompt) -> String {
    sha256(request_of(prompt).to_string().as_bytes())
}

fn request_of(prompt: &Prompt) -> Value {
    json!({
        "messages": prompt.messages.iter().map(message_to_json).collect::<Vec<_>>(),
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.temperature,
        "tools": prompt.tools,
    })
}

/// Writes a log. The file is created with the first exchange.
#[derive(Debug)]
pub(crate) struct LogWriter {
    path: PathBuf,
    head: RunLog,
    file: RefCell<Option<File>>,
    error: RefCell<Option<String>>,
}

impl LogWriter {
    pub(super) fn new(path: &Path, model: &Model) -> Self {
        Self {
            path: path.to_owned(),
            head: RunLog::of(model),
            file: RefCell::new(None),
            error: RefCell::new(None),
        }
    }

    /// Returns the path of the log, if it was created.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.borrow().is_some().then_some(&*self.path)
    }

    /// Returns the first error of writing the log.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.borrow().clone()
    }

    /// Adds an exchange. Errors are kept for a note and do not end the run.
    pub(super) fn add(&self, prompt: &Prompt, exchange: &Exchange) {
        if let Err(error) = self.try_add(prompt, exchange) {
            let line = format!("cannot write the log {} ({error})", self.path.display());
            self.error.borrow_mut().get_or_insert(line);
        }
    }

    fn try_add(&self, prompt: &Prompt, exchange: &Exchange) -> io::Result<()> {
        let mut slot = self.file.borrow_mut();
        if slot.is_none() {
            *slot = Some(self.open()?);
        }
        let Some(file) = slot.as_mut() else {
            return Ok(());
        };
        let mut line = to_value(exchange)?;
        if let Value::Object(fields) = &mut line {
            fields.insert("request".to_owned(), request_of(prompt));
        }
        writeln!(file, "{line}")?;
        file.sync_data()
    }

    fn open(&self) -> io::Result<File> {
        let mut file = create_log(&self.path)?;
        writeln!(file, "{}", serde_json::to_string(&self.head)?)?;
        Ok(file)
    }
}

/// Creates the file of a log and its folder. Only the user can read it, since logs contain private text.
pub(crate) fn create_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    create_private_file(path)
}
