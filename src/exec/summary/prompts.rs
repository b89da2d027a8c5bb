//! What is asked of a model for a request: a real system's own words, or our prompt with the conversation as text.
//!
//! The summarizer has a window, too. A real system's request that does not fit fails, and what follows is that system's
//! own rule. Ours is asked in parts, each with the summary so far.

use super::model::{Failed, Model, Said, Voice};
use crate::chat::{Ask, ChatMessage};
use crate::engine::{Case, Request, transcript, transcript_parts};
use crate::exec::load::read_text;
use crate::presets::{self, models};
use crate::providers::Prompt;
use crate::units::Tokens;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// How often parts are made smaller when a server refuses them.
const MOST_HALVINGS: usize = 5;

/// Tokens that a request may be counted wrong by, as a share: the model's vocabulary is another.
const MARGIN: f64 = 0.1;

/// Bytes of a prompt of one's own.
const LONGEST_PROMPT: u64 = 1 << 20;

/// A prompt of a person's own, from a file.
///
/// # Errors
/// One line: it cannot be read, or says nothing.
pub fn read_prompt(path: &Path) -> Result<String, String> {
    match read_text(path, LONGEST_PROMPT) {
        Ok(text) if text.trim().is_empty() => {
            Err(format!("the prompt {} is empty", path.display()))
        }
        Ok(text) => Ok(text),
        Err(error) => Err(format!("the prompt {error}")),
    }
}

/// What came of a request.
pub(super) struct Asked {
    pub(super) answer: Result<Said, Failed>,
    /// What was unusual about it.
    pub(super) note: Option<String>,
}

/// Asks what a request is about.
pub(super) fn ask(case: &Case, request: &Request, voice: &mut Voice<'_>) -> Asked {
    match &request.ask {
        Some(ask) => Asked {
            answer: ask_as_system(case, request, ask, voice),
            note: None,
        },
        None => ask_in_our_words(case, request, voice),
    }
}

/// A real system's request as it would send it.
fn ask_as_system(
    case: &Case,
    request: &Request,
    ask: &Ask,
    voice: &mut Voice<'_>,
) -> Result<Said, Failed> {
    let max_tokens = ask.max_tokens.unwrap_or(request.max_tokens.0);
    let input = weight_of_ask(case, request, ask);
    if let Some(window) = voice.window().filter(|window| input > *window) {
        return Err(Failed::too_long(format!(
            "context_length_exceeded: this model's maximum context length is {window} tokens; the messages resulted in about {input} tokens"
        )));
    }
    let prompt = Prompt {
        messages: ask.messages.clone(),
        max_tokens: voice.window().map_or(max_tokens, |window| {
            max_tokens.min(window.saturating_sub(input).max(1))
        }),
        temperature: voice.temperature(),
        tools: if ask.with_tools {
            tools(case)
        } else {
            Vec::new()
        },
    };
    voice.ask(case, &prompt, input)
}

fn weight_of(case: &Case, messages: &[ChatMessage]) -> u64 {
    let texts = messages.iter().filter_map(ChatMessage::text);
    texts.map(|text| case.ledger.weigh(text).0).sum()
}

/// Tokens that a real system's request sends.
fn weight_of_ask(case: &Case, request: &Request, ask: &Ask) -> u64 {
    request.input.0.max(weight_of(case, &ask.messages))
}

fn tools(case: &Case) -> Vec<Value> {
    use crate::session::Body;
    let definitions = case
        .session
        .parts
        .iter()
        .filter_map(|part| match &part.body {
            Body::ToolDefinition { json, .. } => serde_json::from_str(json).ok(),
            _ => None,
        });
    definitions.collect()
}

/// Our prompt, and the conversation behind it: at once where that fits, else in parts.
fn ask_in_our_words(case: &Case, request: &Request, voice: &mut Voice<'_>) -> Asked {
    let Some(words) = voice
        .prompt()
        .or(presets::prompt(&request.prompt))
        .map(str::to_owned)
    else {
        let why = format!(
            "there is no prompt {:?}; give one with --prompt",
            request.prompt
        );
        return Asked {
            answer: Err(Failed::fatal(why)),
            note: None,
        };
    };
    let question = Question {
        case,
        words,
        // The prefix stands in the summary's message, too, and vocabularies differ.
        max_tokens: room_for_answer(case, request),
        temperature: voice.temperature(),
    };
    let whole = transcript(case, request);
    let weight = case.ledger.weigh(&whole).0;
    let mut most = voice.window().map(|window| question.room(window));
    if most.is_none_or(|most| weight <= most) {
        match question.ask(voice, None, &whole) {
            Err(failed) if failed.is_too_long => most = Some(weight / 2),
            answer => return Asked { answer, note: None },
        }
    }
    let mut most = most.unwrap_or(weight / 2).max(1);
    for _ in 0..MOST_HALVINGS {
        let parts = transcript_parts(case, request, most);
        match question.ask_in_parts(voice, &parts) {
            Err(failed) if failed.is_too_long => most = (most / 2).max(1),
            answer => {
                let n = parts.len();
                let note = format!(
                    "the messages to summarize ({weight} tokens) overflow the model's window; they were sent in {n} parts, each with the summary so far"
                );
                return Asked {
                    answer,
                    note: Some(note),
                };
            }
        }
    }
    Asked {
        answer: Err(Failed::too_long(
            "even a small part of the messages to summarize overflows the model's window",
        )),
        note: None,
    }
}

/// Questions that a request is taken to come to before any is asked, however little of it fits the model.
const MOST_FORESEEN: u64 = 1_000;

/// What a request comes to, as far as that is known before: for each question the tokens that it sends and the most
/// that it gets back.
pub(in crate::exec) fn questions(
    case: &Case,
    request: &Request,
    model: &Model,
) -> Vec<(Tokens, Tokens)> {
    if let Some(ask) = &request.ask {
        let most = ask.max_tokens.map_or(request.max_tokens, Tokens);
        return vec![(Tokens(weight_of_ask(case, request, ask)), most)];
    }
    let words = model.prompt.as_deref();
    let words = words
        .or(presets::prompt(&request.prompt))
        .unwrap_or_default();
    let question = Question {
        case,
        words: words.to_owned(),
        max_tokens: room_for_answer(case, request),
        temperature: None,
    };
    let listed = || models::lookup(&model.client.endpoint.model);
    let window = model.window.or_else(|| Some(listed()?.input_window().0));
    let room = window.map_or(u64::MAX, |window| question.room(window));
    let whole = transcript(case, request);
    let weight = case.ledger.weigh(&whole).0;
    let most = Tokens(question.max_tokens);
    if weight <= room {
        let (_, sent) = question.text(None, &whole);
        return vec![(Tokens(sent), most)];
    }
    let parts = weight.div_ceil(room).clamp(1, MOST_FORESEEN);
    let (_, words) = question.text(None, "");
    let part = |nth: u64| {
        // From the second on, each carries the summary so far.
        let so_far = if nth > 0 { most } else { Tokens::ZERO };
        (Tokens(weight / parts + words) + so_far, most)
    };
    (0..parts).map(part).collect()
}

fn room_for_answer(case: &Case, request: &Request) -> u64 {
    let prefix = case.ledger.weigh(&request.prefix).0;
    let room = request.max_tokens.0.saturating_sub(prefix) as f64;
    (room * (1.0 - MARGIN)).floor().max(1.0) as u64
}

struct Question<'a> {
    case: &'a Case,
    words: String,
    max_tokens: u64,
    temperature: Option<f64>,
}

impl Question<'_> {
    /// Tokens of the conversation that fit a window beside the prompt, the answer and a summary so far.
    fn room(&self, window: u64) -> u64 {
        let fixed = self.case.ledger.weigh(&self.words).0 + 2 * self.max_tokens;
        let room = window.saturating_sub(fixed) as f64;
        (room * (1.0 - MARGIN)).floor().max(1.0) as u64
    }

    /// What the person's message says, and the tokens of that and of the prompt.
    fn text(&self, so_far: Option<&str>, part: &str) -> (String, u64) {
        let mut text = String::new();
        if let Some(so_far) = so_far {
            let _ = write!(text, "<summary so far>\n{so_far}\n</summary so far>\n\n");
        }
        let _ = write!(text, "<conversation>\n{part}</conversation>");
        let tokens = self.case.ledger.weigh(&text) + self.case.ledger.weigh(&self.words);
        (text, tokens.0)
    }

    fn ask(&self, voice: &mut Voice<'_>, so_far: Option<&str>, part: &str) -> Result<Said, Failed> {
        let (text, tokens) = self.text(so_far, part);
        let prompt = Prompt {
            messages: vec![
                ChatMessage::new("system", self.words.as_str()),
                ChatMessage::new("user", text),
            ],
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            tools: Vec::new(),
        };
        voice.ask(self.case, &prompt, tokens)
    }

    fn ask_in_parts(&self, voice: &mut Voice<'_>, parts: &[String]) -> Result<Said, Failed> {
        let mut so_far: Option<Arc<str>> = None;
        for part in parts {
            match self.ask(voice, so_far.as_deref(), part)? {
                Said::Text(text) if !text.trim().is_empty() => so_far = Some(text),
                Said::Text(_) => return Err(Failed::answer("the model gave an empty summary")),
                Said::Called => return Ok(Said::Called),
            }
        }
        so_far
            .map(Said::Text)
            .ok_or_else(|| Failed::answer("there is nothing to summarize"))
    }
}
