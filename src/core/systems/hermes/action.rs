//! The action of presets: the checks of the loop that compress the context.

use super::compress::{Compressed, Settings, compress};
use super::estimate::{sent, stored};
use super::state::{State, threshold};
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::json::{Value, json, to_value};
use crate::languages::python::{Layout, python_dumps};
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[NamedAction::new(
    "hermes.compress",
    ActionKind::Summarize,
    "Replaces old results by lines, and everything between the first and the newest messages with a summary.",
    |settings| summarizing(settings, compress_if_due),
)
.with_numbers(&[
    "reported",
    "tools_tokens",
    "threshold",
    "target_ratio",
    "protect_first_n",
    "protect_last_n",
    "max_tokens",
    "forced",
])];

/// Key of the compressor's state in memory.
const STATE: &str = "hermes_state";
/// Maximum compressions at the start of a turn, and again before its calls.
// As in hermes-agent 0.19.0, `max_compression_attempts` (`agent/conversation_loop.py`).
const MAX_ATTEMPTS: u32 = 3;

fn compress_if_due(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let mut turn = Turn::new(input, replies);
    turn.state.update(input.count("reported") as u64, turn.settings.threshold);
    if input.flag("forced") {
        turn.compress()?;
        return Ok(turn.finished());
    }
    if input.call_in_turn == 0 {
        turn.state.attempts = 0;
        turn.check_at_start()?;
    } else {
        turn.check_after_tools()?;
    }
    turn.check_before_call()?;
    Ok(turn.finished())
}

/// The context of a turn and the checks before its next call.
struct Turn<'a, 'r> {
    replies: &'a mut Replies<'r>,
    system: Vec<ChatMessage>,
    /// The history without instructions.
    history: Vec<ChatMessage>,
    /// Tokens of the tool definitions.
    tool_tokens: u64,
    settings: Settings,
    state: State,
    done: Rewritten,
}

impl<'a, 'r> Turn<'a, 'r> {
    fn new(input: &RewriteInput<'_>, replies: &'a mut Replies<'r>) -> Self {
        let (system, history) = input.messages.split_at(n_system(&input.messages));
        let max_tokens = input.count("max_tokens") as u64;
        let threshold = threshold(input.window, input.number("threshold"), max_tokens);
        let state = serde_json::from_str(&input.memory[STATE].to_string());
        Self {
            replies,
            system: system.to_vec(),
            history: history.to_vec(),
            tool_tokens: tool_tokens(input.tools).max(input.count("tools_tokens") as u64),
            settings: Settings {
                window: input.window,
                threshold,
                // The limits of the ratio are those of `ContextCompressor` too.
                tail: (threshold as f64 * input.number("target_ratio").clamp(0.1, 0.8)) as u64,
                protect_first: input.count("protect_first_n"),
                protect_last: input.count("protect_last_n"),
            },
            state: state.unwrap_or_default(),
            done: Rewritten::default(),
        }
    }

    /// Returns the tokens of a request, estimated from the stored history.
    fn stored_tokens(&self) -> u64 {
        let system = self.system.iter().map(|m| m.joined_text("\n").chars().count() as u64);
        system.sum::<u64>().div_ceil(4) + stored(&self.history) + self.tool_tokens
    }

    /// Records the tokens as compared, and returns whether they require a compression.
    fn compare(&mut self, tokens: u64) -> bool {
        self.done.compared = Some(tokens);
        self.done.terms = vec![("used".to_owned(), tokens as f64)];
        self.state.acts(tokens, self.settings.threshold)
    }

    /// Checks the stored history at the start of a turn.
    fn check_at_start(&mut self) -> Result<(), PendingRequest> {
        let limits = self.settings;
        let is_short = self.history.len() <= limits.protect_first + limits.protect_last + 1;
        if is_short && stored(&self.history) < limits.threshold {
            return Ok(());
        }
        let mut tokens = self.stored_tokens();
        if self.state.defers(tokens, limits.threshold) {
            return Ok(());
        }
        self.state.last_prompt = self.state.last_prompt.map(|last| last.max(tokens));
        for _ in 0..MAX_ATTEMPTS {
            if !self.compare(tokens) {
                break;
            }
            let (n_before, tokens_before) = (self.history.len(), tokens);
            self.compress()?;
            tokens = self.stored_tokens();
            // As in hermes-agent 0.19.0, `agent/turn_context.py`: saving less than a twentieth is no progress.
            if self.history.len() >= n_before && tokens as f64 >= tokens_before as f64 * 0.95 {
                break;
            }
        }
        Ok(())
    }

    /// Checks the newest prompt after the tools of the previous call.
    fn check_after_tools(&mut self) -> Result<(), PendingRequest> {
        let tokens = match self.state.last_prompt {
            Some(0) => stored(&self.history) + self.tool_tokens,
            last => last.unwrap_or(0),
        };
        if self.compare(tokens) {
            self.compress()?;
        }
        Ok(())
    }

    /// Checks the request as it would be sent.
    fn check_before_call(&mut self) -> Result<(), PendingRequest> {
        while self.history.len() > 1 && self.state.attempts < MAX_ATTEMPTS {
            let request = [&self.system[..], &self.history].concat();
            let tokens = sent(&request) + self.tool_tokens;
            let defers = self.state.defers(tokens, self.settings.threshold);
            if defers || !self.compare(tokens) {
                break;
            }
            self.state.attempts += 1;
            self.compress()?;
        }
        Ok(())
    }

    /// Compresses the history and resets what the state knows about its size.
    fn compress(&mut self) -> Result<(), PendingRequest> {
        match compress(&self.history, self.settings, &mut self.state, self.replies)? {
            Compressed::Unchanged => return Ok(()),
            Compressed::Aborted(why) => {
                self.done.log.push(why);
                return Ok(());
            }
            Compressed::Pruned(after) => self.history = after,
            Compressed::Summarized(after) => {
                self.history = after;
                self.state.is_unverified = true;
            }
        }
        self.done.fired = true;
        self.state.compressed_estimate = self.stored_tokens();
        self.state.last_prompt = None;
        self.state.awaits_usage = true;
        Ok(())
    }

    fn finished(mut self) -> Rewritten {
        self.done.memory = json!({STATE: to_value(&self.state).unwrap_or_default()}).into();
        if self.done.fired {
            self.done.messages = Some([self.system, self.history].concat());
        }
        self.done
    }
}

/// Returns the estimated tokens of tool definitions.
fn tool_tokens(tools: &[Value]) -> u64 {
    let chars = |tool: &Value| {
        let tool = tool.get("function").unwrap_or(tool);
        let text = |key: &str| tool[key].as_str().map_or(0, |text| text.chars().count());
        let parameters = python_dumps(&tool["parameters"], Layout::COMPACT);
        text("name") + text("description") + parameters.chars().count()
    };
    tools.iter().map(chars).sum::<usize>().div_ceil(4) as u64
}
