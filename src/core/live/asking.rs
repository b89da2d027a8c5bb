//! A summary request that waits for its answer, in parts if it overflows the window.

use super::step::Ask;
use crate::chat::message_to_json;
use crate::engine::{Case, Reply, Request};
use crate::presets::{MAX_HALVINGS, OwnPrompt, verbatim_prompt};
use crate::session::{is_blank, says_too_long};
use std::sync::Arc;

/// A summary request that waits for its answer.
#[derive(Debug)]
pub(super) struct Asking {
    request: Request,
    /// Our own prompt; none if a real system words the request.
    own: Option<OwnParts>,
}

/// The parts of our own prompt.
#[derive(Debug)]
struct OwnParts {
    prompt: OwnPrompt,
    max_tokens: u64,
    parts: Vec<String>,
    /// Index of the part that is asked now.
    next: usize,
    so_far: Option<String>,
    halvings: usize,
}

/// Step that follows an answer.
pub(super) enum Answered {
    /// The next part, or smaller parts, are asked.
    More,
    /// The run continues.
    Reply(Reply),
}

impl Asking {
    /// Creates the prompt of a request; a model with this window answers it.
    pub(super) fn new(case: &Case, request: Request, window: u64) -> Self {
        let own = match verbatim_prompt(&request) {
            Some(_) => None,
            None => OwnPrompt::new(case, &request, None).map(|prompt| {
                let max_tokens = prompt.max_part_tokens(case, Some(window));
                let parts = prompt.parts(case, &request, max_tokens);
                OwnParts { prompt, max_tokens, parts, next: 0, so_far: None, halvings: 0 }
            }),
        };
        Self { request, own }
    }

    /// Returns what a model is asked now. `number` is the number of a message of the program.
    pub(super) fn ask(&self, number: impl Fn(usize) -> Option<usize>) -> Ask {
        let request = &self.request;
        let (messages, max_tokens, with_tools) = match (&self.own, &request.verbatim) {
            (Some(own), _) => {
                let part = own.parts.get(own.next).map_or("", String::as_str);
                let messages = own.prompt.messages(own.so_far.as_deref(), part);
                (messages, own.prompt.max_tokens, false)
            }
            (None, Some(verbatim)) => {
                let max_tokens = verbatim.max_tokens.unwrap_or(request.max_tokens.0);
                (verbatim.messages.clone(), max_tokens, verbatim.with_tools)
            }
            (None, None) => (Vec::new(), request.max_tokens.0, false),
        };
        let covers = request.covers.iter().filter_map(|range| {
            let numbers = || range.clone().filter_map(&number);
            Some(numbers().min()?..numbers().max()? + 1)
        });
        Ask {
            call: request.call + 1,
            stage: request.stage.clone(),
            messages: messages.iter().map(message_to_json).collect(),
            max_tokens,
            verbatim: self.own.is_none(),
            with_tools,
            part: self.own.as_ref().map_or((1, 1), |own| (own.next + 1, own.parts.len())),
            covers: covers.collect(),
            previous: request.written.iter().map(ToString::to_string).collect(),
        }
    }

    /// Takes the text that the model wrote.
    pub(super) fn answer(&mut self, text: &str) -> Answered {
        if let Some(own) = &mut self.own
            && own.next + 1 < own.parts.len()
            && !is_blank(text)
        {
            own.next += 1;
            own.so_far = Some(text.to_owned());
            return Answered::More;
        }
        Answered::Reply(Reply::Summary(Arc::from(text)))
    }

    /// Takes the reason why the model wrote nothing.
    pub(super) fn fail(&mut self, case: &Case, why: &str) -> Answered {
        if let Some(own) = &mut self.own
            && own.halvings < MAX_HALVINGS
            && says_too_long(&why.to_lowercase())
        {
            own.halvings += 1;
            own.max_tokens = own.prompt.halved(own.max_tokens);
            own.parts = own.prompt.parts(case, &self.request, own.max_tokens);
            (own.next, own.so_far) = (0, None);
            return Answered::More;
        }
        Answered::Reply(Reply::Failed(why.to_owned()))
    }
}
