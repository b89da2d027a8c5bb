//! The model that writes an export's summaries: how a person names it, and what is heard while it is asked.

use super::connection::ConnectionDraft;
use super::draft::{typed, typed_path};
use crate::exec::model::{Key, KeyError, ModelClient};
use crate::exec::{Model, ModelNews, new_log, refuse_output};
use crate::progress::Progress;
use crate::providers::{APIS, Api, Endpoint, api_by_name};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The model as a person names it. The key is not here: it is never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDraft {
    /// Name of the API that is spoken.
    pub api: &'static str,
    /// Address of the server; the provider's own if empty.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// Environment variable that holds the key; the provider's usual one if empty.
    pub key_variable: String,
    /// Its window in tokens; asked of the server if empty.
    pub window: String,
    /// A prompt of the person's own; the policy's if empty.
    pub prompt: String,
    /// Requests and answers are logged.
    pub keeps_log: bool,
    /// In this new file; in one in the program's own folder if empty.
    pub log: String,
    /// How it is reached.
    pub connection: ConnectionDraft,
}

impl Default for ModelDraft {
    fn default() -> Self {
        Self {
            api: APIS[0].name,
            base_url: String::new(),
            model: String::new(),
            key_variable: String::new(),
            window: String::new(),
            prompt: String::new(),
            keeps_log: true,
            log: String::new(),
            connection: ConnectionDraft::default(),
        }
    }
}

/// A key or a password as it is typed: shown nowhere, not even for debugging.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Private(pub String);

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private")
    }
}

/// What a draft does not say about a run that asks a model.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The key as typed.
    pub key: &'a Private,
    /// Name of the session.
    pub session: &'a str,
    /// The program may keep something of its own.
    pub keeps_state: bool,
    /// The run's ear and brake.
    pub line: &'a Line,
    /// The window that is to be drawn when something is heard.
    pub ctx: &'a egui::Context,
}

/// What is heard while a model is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Questions asked so far.
    pub asked: usize,
    /// Tokens of the current one.
    pub tokens: u64,
    /// Its answer so far.
    pub text: String,
    /// Why it waits to ask again.
    pub waits: Option<String>,
}

/// The ear and the brake of a run that asks a model.
#[derive(Clone, Debug, Default)]
pub struct Line {
    heard: Arc<Mutex<Heard>>,
    stop: Arc<Progress>,
}

impl Line {
    /// What was heard so far.
    pub fn heard(&self) -> Heard {
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends it: the connection is closed.
    pub fn cancel(&self) {
        self.stop.cancel();
    }

    fn hear(&self, news: ModelNews) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        match news {
            ModelNews::Asked(number, tokens) => {
                *heard = Heard {
                    asked: number,
                    tokens,
                    ..Heard::default()
                };
            }
            ModelNews::Text(text) => (heard.text, heard.waits) = (text, None),
            ModelNews::Waits(why) => heard.waits = Some(why),
        }
    }
}

impl ModelDraft {
    /// The API that is spoken.
    pub fn api(&self) -> &'static Api {
        api_by_name(self.api).unwrap_or(APIS[0])
    }

    /// Where the model is.
    ///
    /// # Errors
    /// One line that says what is wrong with the address or the name.
    pub fn endpoint(&self) -> Result<Endpoint, String> {
        Endpoint::new(self.api(), &self.base_url, &self.model).map_err(|error| error.to_string())
    }

    /// The variable that the key is looked for in.
    pub fn variable(&self) -> &str {
        match self.key_variable.trim() {
            "" => self.api().key_variable,
            variable => variable,
        }
    }

    /// The model, ready to be asked.
    ///
    /// # Errors
    /// One line that says what is missing.
    pub fn model(&self, asker: Asker<'_>) -> Result<Model, String> {
        let endpoint = self.endpoint()?;
        let key = self.key(asker.key, &endpoint)?;
        let window = match self.window.trim().replace(['_', ',', ' '], "") {
            text if text.is_empty() => None,
            text => Some(text.parse().map_err(|_error| {
                format!("the window {:?} is no number of tokens", self.window.trim())
            })?),
        };
        let prompt = self.prompt.trim();
        let (ear, ctx) = (asker.line.clone(), asker.ctx.clone());
        Ok(Model {
            client: self.connection.applied(ModelClient::new(endpoint, key))?,
            window,
            prompt: (!prompt.is_empty()).then(|| prompt.to_owned()),
            temperature: self.connection.temperature()?,
            log: self.log(asker)?,
            stop: Arc::clone(&asker.line.stop),
            tell: Some(Arc::new(move |news| {
                ear.hear(news);
                ctx.request_repaint();
            })),
        })
    }

    /// The file of the log, if one is kept.
    fn log(&self, asker: Asker<'_>) -> Result<Option<PathBuf>, String> {
        match (self.keeps_log, typed_path(&self.log)) {
            (false, _) => Ok(None),
            // Known before anything is asked: an answer that was paid for is not lost.
            (true, Some(path)) => refuse_output(&path)
                .map(|()| Some(path))
                .map_err(|why| format!("the log: {why}")),
            (true, None) if asker.keeps_state => Ok(new_log(asker.session)),
            (true, None) => Err(
                "started with --no-state, the program keeps nothing of its own: name the log's file, or keep no log"
                    .to_owned(),
            ),
        }
    }

    /// The key: as typed, else from the environment. A server on this machine mostly wants none.
    fn key(&self, key: &Private, endpoint: &Endpoint) -> Result<Option<Key>, String> {
        if typed(key).is_some() {
            let key = Key::typed(key.0.clone());
            return key.map(Some).map_err(|error| error.to_string());
        }
        match Key::from_environment(self.variable()) {
            Ok(key) => Ok(Some(key)),
            Err(KeyError::Missing(_)) if endpoint.is_local() => Ok(None),
            Err(KeyError::Missing(variable)) => Err(format!(
                "there is no key: type one, or start the program with it in {variable}"
            )),
            Err(error) => Err(error.to_string()),
        }
    }
}
