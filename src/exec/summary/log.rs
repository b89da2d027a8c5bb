//! Logs of live runs: each request with its answer, as one line of a file in the program's data folder. A run can be
//! made again from its log, without a model and to the same bytes. Logs hold private text and never a key.

use super::model::{Failed, Model, Said};
use crate::chat::message_to_json;
use crate::exec::export::sha256;
use crate::exec::load::read_text;
use crate::exec::place::reason;
use crate::providers::Prompt;
use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of a log: each request repeats what is to be summarized.
const LONGEST: u64 = 1 << 30;
/// Bytes of a log's first line, which may hold a person's own prompt.
const LONGEST_HEAD: u64 = 1 << 20;

/// A run as its log has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLog {
    /// Version of the program that wrote it.
    pub plimsoll: String,
    /// The model, and where.
    pub model: String,
    /// Its window, where it was known.
    #[serde(default)]
    pub window: Option<u64>,
    /// The person's own prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// How freely it chose words.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// What was asked and answered, in order.
    #[serde(skip)]
    pub(super) exchanges: Vec<Exchange>,
}

/// One question with its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// What the question is recognized by.
    pub(super) key: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) ended: Ended,
    #[serde(default)]
    pub(super) failed: Option<String>,
    #[serde(default)]
    pub(super) is_too_long: bool,
    #[serde(default)]
    pub(super) breaks_the_run: bool,
    #[serde(default)]
    pub(super) sent: Option<u64>,
    #[serde(default)]
    pub(super) received: Option<u64>,
    #[serde(default)]
    pub(super) millis: u64,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    /// As it should.
    #[default]
    Whole,
    /// At its limit.
    CutOff,
    /// With a call of a tool.
    Called,
    /// With a refusal, or filtered by the provider.
    Refused,
}

impl Exchange {
    pub(super) fn said(&self) -> Result<Said, Failed> {
        match &self.failed {
            Some(why) => Err(Failed {
                why: why.clone(),
                is_too_long: self.is_too_long,
                breaks_the_run: self.breaks_the_run,
            }),
            None if self.ended == Ended::Called => Ok(Said::Called),
            None => Ok(Said::Text(Arc::from(self.text.as_str()))),
        }
    }
}

impl RunLog {
    /// Reads a log.
    ///
    /// # Errors
    /// One line: it cannot be read, or is no log.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = read_text(path, LONGEST).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut log: Self =
            serde_json::from_str(head).map_err(|_error| format!("{shown} is no log of a run"))?;
        for (idx, line) in lines.enumerate() {
            // A run that was killed leaves half a line at the end.
            match serde_json::from_str(line) {
                Ok(exchange) => log.exchanges.push(exchange),
                Err(_) if idx + 2 == text.lines().count() => {}
                Err(error) => {
                    return Err(format!(
                        "{shown}: line {} cannot be read ({error})",
                        idx + 2
                    ));
                }
            }
        }
        Ok(log)
    }

    /// Questions with their answers in it.
    pub fn n_exchanges(&self) -> usize {
        self.exchanges.len()
    }
}

/// What a question is recognized by: its messages, tools and limit, whoever is asked.
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

/// A log being written: the file is made with the first line.
#[derive(Debug)]
pub(in crate::exec) struct LogWriter {
    path: PathBuf,
    head: RunLog,
    file: RefCell<Option<File>>,
    trouble: RefCell<Option<String>>,
}

impl LogWriter {
    pub(super) fn new(path: &Path, model: &Model) -> Self {
        Self {
            path: path.to_owned(),
            head: RunLog {
                plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
                model: model.name(),
                window: model.window,
                prompt: model.prompt.clone(),
                temperature: model.temperature,
                exchanges: Vec::new(),
            },
            file: RefCell::new(None),
            trouble: RefCell::new(None),
        }
    }

    /// Where it lies, once something was written; and why something was not.
    pub(in crate::exec) fn outcome(&self) -> (Option<&Path>, Option<String>) {
        let is_written = self.file.borrow().is_some();
        (
            is_written.then_some(&*self.path),
            self.trouble.borrow().clone(),
        )
    }

    /// Adds an exchange. A log that cannot be written stops nothing; it is told.
    pub(super) fn add(&self, prompt: &Prompt, exchange: &Exchange) {
        if let Err(error) = self.try_add(prompt, exchange) {
            let why = format!(
                "the log {} cannot be written ({error})",
                self.path.display()
            );
            self.trouble.borrow_mut().get_or_insert(why);
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
        let mut line = serde_json::to_value(exchange)?;
        if let Value::Object(fields) = &mut line {
            fields.insert("request".to_owned(), request_of(prompt));
        }
        writeln!(file, "{line}")?;
        file.sync_data()
    }

    fn open(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // Private text: for its owner alone.
            options.mode(0o600);
        }
        let mut file = options.open(&self.path)?;
        writeln!(file, "{}", serde_json::to_string(&self.head)?)?;
        Ok(file)
    }
}

/// The folder that logs lie in; none without a home.
pub fn logs_folder() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.data_dir().join("plimsoll").join("runs"))
}

/// A place for the log of a run on a session of this name; none without a home.
pub fn new_log(session: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let name: String = session.chars().filter(|c| is_plain(*c)).take(60).collect();
    let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let now = now.replace(':', "-");
    Some(logs_folder()?.join(format!("{now}-{name}.jsonl")))
}

/// A log as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was written last, where the platform tells.
    pub written: Option<SystemTime>,
    /// The model, and where; none if the file is no log.
    pub model: Option<String>,
}

/// The logs that are there, by name, which begins with the time.
pub fn logs() -> Vec<LogFile> {
    logs_folder().map_or_else(Vec::new, |folder| logs_in(&folder))
}

/// The same in a folder.
pub fn logs_in(folder: &Path) -> Vec<LogFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let path = entry.path();
        let is_log = path.extension().is_some_and(|e| e == "jsonl");
        let metadata = entry.metadata().ok().filter(|m| is_log && m.is_file())?;
        Some(LogFile {
            bytes: metadata.len(),
            written: metadata.modified().ok(),
            model: model_of(&path),
            path,
        })
    });
    let mut files: Vec<_> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Who answered in a log, from its first line alone.
fn model_of(path: &Path) -> Option<String> {
    let mut head = String::new();
    let file = File::open(path).ok()?.take(LONGEST_HEAD);
    BufReader::new(file).read_line(&mut head).ok()?;
    Some(serde_json::from_str::<RunLog>(&head).ok()?.model)
}

/// Removes a log.
///
/// # Errors
/// One line that names it, when it is there and cannot be removed.
pub fn remove_log(log: &Path) -> Result<(), String> {
    match fs::remove_file(log) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
            "{} cannot be removed ({}); check its permissions",
            log.display(),
            reason(&error)
        )),
        _ => Ok(()),
    }
}

/// Removes every log; how many there were.
///
/// # Errors
/// When one cannot be removed.
pub fn clear_logs() -> io::Result<usize> {
    let all = logs();
    for log in &all {
        fs::remove_file(&log.path)?;
    }
    Ok(all.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_listed_with_their_model_and_removed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let head = r#"{"plimsoll":"0.1.0","model":"m at localhost:1"}"#;
        let log = file("2026-01-01-a.jsonl", &format!("{head}\n"));
        file("2026-01-02-b.jsonl", "no log");
        file("notes.txt", head);
        let listed = logs_in(folder.path());
        let models: Vec<_> = listed.iter().map(|log| log.model.as_deref()).collect();
        assert_eq!(models, [Some("m at localhost:1"), None]);
        assert!(listed[0].written.is_some() && listed[0].bytes == head.len() as u64 + 1);
        assert_eq!(remove_log(&log), Ok(()));
        assert_eq!(remove_log(&log), Ok(()), "it is gone either way");
        assert_eq!(logs_in(folder.path()).len(), 1);
        assert!(
            remove_log(folder.path())
                .unwrap_err()
                .contains("cannot be removed")
        );
        assert_eq!(logs_in(&folder.path().join("nowhere")), []);
    }
}
