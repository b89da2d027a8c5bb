//! Options that select the author of summaries. Without a model nothing leaves the machine.

use super::args::{GlobalOptions, first_given, number};
use crate::exec::model::{Key, ModelClient, Proxy, context_length};
use crate::exec::{Model, RunLog, Summarizer, new_log, read_prompt};
use crate::progress::Progress;
use crate::providers::{APIS, Api, Endpoint, api_by_name};
use anyhow::bail;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options that select the summarizer.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Summaries")]
pub(super) struct ModelArgs {
    #[arg(long, value_name = "NAME", value_parser = choice, help = summarizer_help())]
    summarizer: Option<Choice>,
    #[command(flatten)]
    api: ApiArgs,
    /// Repeat a logged run without a model
    #[arg(long = "replay-log", value_name = "LOG", conflicts_with_all = ["summarizer", "ApiArgs"])]
    replay: Option<PathBuf>,
}

/// Options that apply to a model only. `plimsoll help models` lists them.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "ApiArgs", multiple = true)]
pub(super) struct ApiArgs {
    /// Model, as its server names it (required with an API)
    #[arg(long, hide = true, value_name = "NAME")]
    model: Option<String>,
    /// Server [default: the provider's]
    #[arg(long, hide = true, value_name = "URL")]
    base_url: Option<String>,
    /// Environment variable with the key [default: the provider's usual one]
    #[arg(long, hide = true, value_name = "VAR")]
    key_env: Option<String>,
    /// Context window of the model [default: as the server reports]
    #[arg(long, hide = true, value_name = "TOKENS", value_parser = positive, allow_negative_numbers = true)]
    model_window: Option<f64>,
    /// Prompt for policies whose system has none
    #[arg(long, hide = true, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Sampling temperature, 0 to 2 [default: the server's]
    #[arg(long, hide = true, value_name = "T", value_parser = temperature, allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Time limit for an answer [default: 1800]
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Time limit until an answer begins [default: 300]
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    wait: Option<Duration>,
    /// Attempts per request while the server is busy, 1 to 100 [default: 5]
    #[arg(long, hide = true, value_name = "N", value_parser = tries, allow_negative_numbers = true)]
    tries: Option<u32>,
    /// PEM file with certificates to trust besides the system's
    #[arg(long, hide = true, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Proxy, or none [default: the environment's]
    #[arg(long, hide = true, value_name = "URL", value_parser = proxy)]
    proxy: Option<Proxy>,
    /// Keep no log of requests and answers
    #[arg(long, hide = true)]
    no_log: bool,
}

/// A summarizer as typed.
#[derive(Clone, Debug)]
enum Choice {
    Offline(Summarizer),
    Api(&'static Api),
}

impl ModelArgs {
    /// Returns the summarizer for the session named `session`.
    pub(super) fn summarizer(
        self,
        session: &str,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Summarizer> {
        if let Some(log) = &self.replay {
            let log = RunLog::read(log).map_err(anyhow::Error::msg)?;
            return Ok(Summarizer::Log(Arc::new(log)));
        }
        match self.summarizer {
            Some(Choice::Api(api)) => {
                let model = self.api.model(api, session, shared)?;
                Ok(Summarizer::Model(Arc::new(model)))
            }
            offline => {
                if let Some(option) = self.api.first() {
                    bail!("{option} requires a model: add --summarizer {}", api_names("|"));
                }
                Ok(match offline {
                    Some(Choice::Offline(summarizer)) => summarizer,
                    _ => Summarizer::Digest,
                })
            }
        }
    }
}

impl ApiArgs {
    /// Returns the name of the first option that was given.
    pub(super) fn first(&self) -> Option<&'static str> {
        first_given([
            ("--model", self.model.is_some()),
            ("--base-url", self.base_url.is_some()),
            ("--key-env", self.key_env.is_some()),
            ("--model-window", self.model_window.is_some()),
            ("--prompt", self.prompt.is_some()),
            ("--temperature", self.temperature.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--wait", self.wait.is_some()),
            ("--tries", self.tries.is_some()),
            ("--ca-file", self.ca_file.is_some()),
            ("--proxy", self.proxy.is_some()),
            ("--no-log", self.no_log),
        ])
    }

    /// Returns the model of an API, with a new log for the session named `session`.
    pub(super) fn model(
        &self,
        api: &'static Api,
        session: &str,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Model> {
        let prompt = match &self.prompt {
            Some(path) => Some(read_prompt(path).map_err(anyhow::Error::msg)?),
            None => None,
        };
        let client = self.client(api)?;
        let stop = Arc::new(Progress::default());
        let window = match self.model_window {
            Some(window) => Some(window as u64),
            // Not all servers report it; a request that overflows is then rejected and handled.
            None => context_length(&client, &stop).ok().flatten(),
        };
        let log = (!self.no_log && !shared.no_state).then(|| new_log(session)).flatten();
        Ok(Model {
            client,
            window,
            prompt,
            temperature: self.temperature,
            log,
            stop,
            on_event: None,
        })
    }

    fn client(&self, api: &'static Api) -> anyhow::Result<ModelClient> {
        let Some(model) = &self.model else {
            bail!("--summarizer {} needs --model NAME, as its server names it", api.name);
        };
        let endpoint = Endpoint::new(api, self.base_url.as_deref().unwrap_or_default(), model)?;
        let key = match &self.key_env {
            Some(variable) => Some(Key::from_environment(variable)?),
            // Local servers usually need no key.
            None if self.base_url.is_some() => {
                Key::from_environment(api.key_variable).ok().filter(|_| !endpoint.is_local())
            }
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
            client.retries.max_retries = tries - 1;
        }
        if let Some(proxy) = &self.proxy {
            client.proxy = proxy.clone();
        }
        client.ca_file.clone_from(&self.ca_file);
        Ok(client)
    }
}

/// Parses the name of an API.
pub(super) fn api(text: &str) -> anyhow::Result<&'static Api> {
    api_by_name(text).ok_or_else(|| anyhow::anyhow!("choose from {}", api_names(", ")))
}

/// Returns the names of the APIs.
pub(super) fn api_names(separator: &str) -> String {
    APIS.map(|api| api.name).join(separator)
}

fn summarizer_help() -> String {
    format!(
        "Author of summaries: digest (offline), text:SUMMARY, or an API: {}. An API receives the messages to summarize; \
         `plimsoll help models` lists its options [default: digest]",
        api_names(", ")
    )
}

/// Parses the name of a summarizer.
fn choice(text: &str) -> anyhow::Result<Choice> {
    match api_by_name(text) {
        Some(api) => Ok(Choice::Api(api)),
        None => offline(text).map(Choice::Offline),
    }
}

/// Parses the name of a summarizer that needs no model.
pub(super) fn offline(text: &str) -> anyhow::Result<Summarizer> {
    match text.split_once(':') {
        None if text == "digest" => Ok(Summarizer::Digest),
        Some(("text", summary)) if !summary.trim().is_empty() => {
            Ok(Summarizer::Text(summary.to_owned()))
        }
        _ => bail!("choose from digest, text:SUMMARY, {}", api_names(", ")),
    }
}

/// Parses a proxy; `none` connects directly.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a parser")]
fn proxy(text: &str) -> anyhow::Result<Proxy> {
    Ok(match text {
        "none" => Proxy::Direct,
        _ => Proxy::At(text.to_owned()),
    })
}

fn positive(text: &str) -> anyhow::Result<f64> {
    match number(text) {
        Some(n) if n > 0.0 => Ok(n),
        _ => bail!("give a number above 0"),
    }
}

fn seconds(text: &str) -> anyhow::Result<Duration> {
    Ok(Duration::from_secs_f64(positive(text)?.min(1e6)))
}

fn tries(text: &str) -> anyhow::Result<u32> {
    match text.parse() {
        Ok(n) if (1..=100).contains(&n) => Ok(n),
        _ => bail!("give a whole number from 1 to 100"),
    }
}

fn temperature(text: &str) -> anyhow::Result<f64> {
    match number(text) {
        Some(n) if (0.0..=2.0).contains(&n) => Ok(n),
        _ => bail!("give a number from 0 to 2"),
    }
}
