//! The options that name a model for summaries. Without one of them nothing leaves the machine.

use super::args::{Words, number};
use crate::exec::model::{Key, ModelClient, Proxy, context_length};
use crate::exec::{Model, RunLog, Summarizer, new_log, read_prompt};
use crate::progress::Progress;
use crate::providers::{APIS, Api, Endpoint, api_by_name};
use anyhow::bail;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The options as typed.
#[derive(Default)]
pub(super) struct ModelArgs {
    plain: Option<Summarizer>,
    api: Option<&'static Api>,
    model: Option<String>,
    base_url: Option<String>,
    key_env: Option<String>,
    window: Option<u64>,
    prompt: Option<PathBuf>,
    temperature: Option<f64>,
    timeout: Option<Duration>,
    wait: Option<Duration>,
    tries: Option<u32>,
    ca_file: Option<PathBuf>,
    proxy: Option<Proxy>,
    no_log: bool,
    replay: Option<PathBuf>,
    /// The first option that only a model has a use for.
    first: Option<String>,
}

impl ModelArgs {
    /// Takes an option if it is one of these.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--summarizer" => {
                let text = words.value(option)?;
                match api_by_name(&text) {
                    Some(api) => self.api = Some(api),
                    None => self.plain = Some(plain(&text)?),
                }
                return Ok(true);
            }
            "--replay-log" => {
                self.replay = Some(words.raw_value(option)?.into());
                return Ok(true);
            }
            "--model" => self.model = Some(words.value(option)?),
            "--base-url" => self.base_url = Some(words.value(option)?),
            "--key-env" => self.key_env = Some(words.value(option)?),
            "--model-window" => self.window = Some(positive(option, &words.value(option)?)? as u64),
            "--prompt" => self.prompt = Some(words.raw_value(option)?.into()),
            "--temperature" => self.temperature = Some(temperature(&words.value(option)?)?),
            "--timeout" => self.timeout = Some(seconds(option, &words.value(option)?)?),
            "--wait" => self.wait = Some(seconds(option, &words.value(option)?)?),
            "--tries" => self.tries = Some(tries(&words.value(option)?)?),
            "--ca-file" => self.ca_file = Some(words.raw_value(option)?.into()),
            "--proxy" => {
                let value = words.value(option)?;
                self.proxy = Some(match value.as_str() {
                    "none" => Proxy::Direct,
                    _ => Proxy::At(value),
                });
            }
            "--no-log" => self.no_log = true,
            _ => return Ok(false),
        }
        self.first.get_or_insert_with(|| option.to_owned());
        Ok(true)
    }

    /// Who writes summaries for a session of this name.
    pub(super) fn summarizer(self, session: &str, no_state: bool) -> anyhow::Result<Summarizer> {
        if let Some(log) = &self.replay {
            if self.api.is_some() || self.plain.is_some() || self.first.is_some() {
                bail!(
                    "--replay-log answers from the log alone; leave --summarizer and its options out"
                );
            }
            let log = RunLog::read(log).map_err(anyhow::Error::msg)?;
            return Ok(Summarizer::Log(Arc::new(log)));
        }
        let Some(api) = self.api else {
            if let Some(option) = &self.first {
                let apis: Vec<_> = APIS.iter().map(|api| api.name).collect();
                bail!(
                    "{option} is for a model; name how it is spoken to with --summarizer {}",
                    apis.join("|")
                );
            }
            return Ok(self.plain.unwrap_or(Summarizer::Digest));
        };
        if self.plain.is_some() {
            bail!("--summarizer is given twice; choose one");
        }
        let prompt = match &self.prompt {
            Some(path) => Some(read_prompt(path).map_err(anyhow::Error::msg)?),
            None => None,
        };
        let client = self.client(api)?;
        let stop = Arc::new(Progress::default());
        let window = match self.window {
            Some(window) => Some(window),
            // Not all servers tell; then what does not fit is refused, and met as such.
            None => context_length(&client, &stop).ok().flatten(),
        };
        let log = (!self.no_log && !no_state)
            .then(|| new_log(session))
            .flatten();
        Ok(Summarizer::Model(Arc::new(Model {
            client,
            window,
            prompt,
            temperature: self.temperature,
            log,
            stop,
            tell: None,
        })))
    }

    fn client(&self, api: &'static Api) -> anyhow::Result<ModelClient> {
        let Some(model) = &self.model else {
            bail!(
                "--summarizer {} needs --model NAME, as its server names it",
                api.name
            );
        };
        let endpoint = Endpoint::new(api, self.base_url.as_deref().unwrap_or_default(), model)?;
        let key = match &self.key_env {
            Some(variable) => Some(Key::from_environment(variable)?),
            // A server of one's own mostly wants none.
            None if self.base_url.is_some() => Key::from_environment(api.key_variable)
                .ok()
                .filter(|_| !endpoint.is_local()),
            None => Some(Key::from_environment(api.key_variable)?),
        };
        let mut client = ModelClient::new(endpoint, key);
        if let Some(timeout) = self.timeout {
            client.limits.total = timeout;
        }
        if let Some(wait) = self.wait {
            client.limits.first_byte = wait;
        }
        if let Some(tries) = self.tries {
            client.retries.most = tries - 1;
        }
        if let Some(proxy) = &self.proxy {
            client.proxy = proxy.clone();
        }
        client.ca_file.clone_from(&self.ca_file);
        Ok(client)
    }
}

pub(super) fn plain(text: &str) -> anyhow::Result<Summarizer> {
    match text.split_once(':') {
        None if text == "digest" => Ok(Summarizer::Digest),
        Some(("text", summary)) if !summary.trim().is_empty() => {
            Ok(Summarizer::Text(summary.to_owned()))
        }
        _ => {
            let apis: Vec<_> = APIS.iter().map(|api| api.name).collect();
            bail!(
                "--summarizer {text}: choose digest, text:THE SUMMARY, or {}",
                apis.join(", ")
            )
        }
    }
}

fn positive(option: &str, text: &str) -> anyhow::Result<f64> {
    match number(text) {
        Some(n) if n > 0.0 => Ok(n),
        _ => bail!("{option} {text}: give a number above 0"),
    }
}

fn seconds(option: &str, text: &str) -> anyhow::Result<Duration> {
    Ok(Duration::from_secs_f64(positive(option, text)?.min(1e6)))
}

fn tries(text: &str) -> anyhow::Result<u32> {
    match text.parse() {
        Ok(n) if (1..=100).contains(&n) => Ok(n),
        _ => bail!("--tries {text}: give a whole number from 1 to 100"),
    }
}

fn temperature(text: &str) -> anyhow::Result<f64> {
    match number(text) {
        Some(n) if (0.0..=2.0).contains(&n) => Ok(n),
        _ => bail!("--temperature {text}: give a number from 0 to 2"),
    }
}
