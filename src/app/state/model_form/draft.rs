//! Settings of the model of an export or a measurement.

use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model_form::connection::ConnectionDraft;
use crate::app::state::model_form::run::RunHandle;
use crate::app::state::model_form::typed::{Secret, typed, typed_path};
use crate::app::state::wording;
use crate::exec::model::{Key, KeyError, ModelClient};
use crate::exec::{Model, check_is_new, new_log};
use crate::providers::{APIS, Api, Endpoint, api_by_name};
use std::path::PathBuf;
use std::sync::Arc;

/// Model settings as entered. The key is kept elsewhere and never saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDraft {
    /// Name of the API.
    pub api: &'static str,
    /// URL of the server; the provider's default if empty.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// Environment variable with the key; the provider's usual one if empty.
    pub key_variable: String,
    /// Context window in tokens; requested from the server if empty.
    pub window: String,
    /// Custom prompt; the policy's if empty.
    pub prompt: String,
    /// Log requests and answers.
    pub keeps_log: bool,
    /// New log file; a file in the program's folder if empty.
    pub log: String,
    /// Connection settings.
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

/// A path in the model settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPath {
    /// Log of requests and answers.
    Log,
    /// Certificates to trust.
    CaFile,
}

impl ModelPath {
    /// Returns the field of this path.
    pub fn of(self, draft: &ModelDraft) -> &String {
        match self {
            Self::Log => &draft.log,
            Self::CaFile => &draft.connection.ca_file,
        }
    }

    /// Returns the field of this path, to change it.
    pub fn of_mut(self, draft: &mut ModelDraft) -> &mut String {
        match self {
            Self::Log => &mut draft.log,
            Self::CaFile => &mut draft.connection.ca_file,
        }
    }
}

/// The inputs of a model run that are not in the draft.
#[derive(Clone, Copy, Debug)]
pub struct ModelRunInputs<'a> {
    /// The key as typed.
    pub key: &'a Secret,
    /// Display name of the session.
    pub session: &'a str,
    /// The program may save its own files.
    pub keeps_state: bool,
    /// Progress and cancellation of the run.
    pub run: &'a RunHandle,
    /// The window to redraw on progress.
    pub repaint: &'a Repaint,
}

impl ModelDraft {
    /// Returns the selected API.
    pub fn api(&self) -> &'static Api {
        api_by_name(self.api).unwrap_or(APIS[0])
    }

    /// Returns the address of the model.
    ///
    /// # Errors
    ///
    /// Returns a one-line message if the URL or the name is invalid.
    pub fn endpoint(&self) -> Result<Endpoint, String> {
        Endpoint::new(self.api(), &self.base_url, &self.model).map_err(|error| error.to_string())
    }

    /// Returns the error in the settings, in one line.
    pub fn problem(&self) -> Option<String> {
        let endpoint = self.endpoint().err();
        endpoint.or_else(|| self.connection.problem())
    }

    /// Returns the environment variable that contains the key.
    pub fn variable(&self) -> &str {
        match self.key_variable.trim() {
            "" => self.api().key_variable,
            variable => variable,
        }
    }

    /// Returns a configured model client.
    ///
    /// # Errors
    ///
    /// Returns a one-line message that names the missing setting.
    pub fn model(&self, inputs: ModelRunInputs<'_>) -> Result<Model, String> {
        let endpoint = self.endpoint()?;
        let key = self.key(inputs.key, &endpoint)?;
        let prompt = self.prompt.trim();
        let (run, repaint) = (inputs.run.clone(), inputs.repaint.clone());
        Ok(Model {
            client: self.connection.applied(ModelClient::new(endpoint, key))?,
            window: self.window()?,
            prompt: (!prompt.is_empty()).then(|| prompt.to_owned()),
            temperature: self.connection.temperature()?,
            log: self.log(inputs)?,
            stop: Arc::clone(&inputs.run.stop),
            on_event: Some(Arc::new(move |event| {
                run.update(event);
                repaint.now();
            })),
        })
    }

    /// Returns the context window in tokens, if one is entered.
    fn window(&self) -> Result<Option<u64>, String> {
        match self.window.trim() {
            "" => Ok(None),
            text => wording::typed_tokens(text)
                .map(|tokens| Some(tokens.0))
                .ok_or_else(|| format!("the window {text:?} is not a number of tokens")),
        }
    }

    /// Returns the log file, if a log is kept.
    fn log(&self, inputs: ModelRunInputs<'_>) -> Result<Option<PathBuf>, String> {
        match (self.keeps_log, typed_path(&self.log)) {
            (false, _) => Ok(None),
            // Checked before any request, so that a paid answer is not lost.
            (true, Some(path)) => check_is_new(&path)
                .map(|()| Some(path))
                .map_err(|why| format!("the log: {why}")),
            (true, None) if inputs.keeps_state => Ok(new_log(inputs.session)),
            (true, None) => Err(
                "started with --no-state, the program saves no files: enter a log file, or turn the log off"
                    .to_owned(),
            ),
        }
    }

    /// Returns the typed key, else the one from the environment. A local server usually needs none.
    fn key(&self, key: &Secret, endpoint: &Endpoint) -> Result<Option<Key>, String> {
        if typed(key).is_some() {
            let key = Key::typed(key.0.clone());
            return key.map(Some).map_err(|error| error.to_string());
        }
        match Key::from_environment(self.variable()) {
            Ok(key) => Ok(Some(key)),
            Err(KeyError::Missing(_)) if endpoint.is_local() => Ok(None),
            Err(KeyError::Missing(variable)) => {
                Err(format!("no API key: enter one, or set {variable} before starting the program"))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
