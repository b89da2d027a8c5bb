//! The part to summarize, the two kinds of request, and the new history.

use super::estimate::{SUMMARY_RESERVE, estimate_text, estimated_tokens};
use crate::chat::{ChatMessage, Content, PendingRequest, Replies, SummaryReply, SummaryRequest};

/// Tokens that an estimate of a summary request may be too low.
// As in qwen-code 0.24.4, `services/chatCompressionService.ts`.
const MARGIN: u64 = 1_024;

const PROMPT: &str = include_str!("prompt.txt");
const DIRECTIVE: &str =
    "First, reason in your <analysis> block. Then, produce the <state_snapshot> XML.";
const NO_TOOLS: &str = "Do not call tools; tool execution is disabled for this request.";
const RESUME: &str = "Resume the prior task using the summary above. Continue from the last in-flight step; do not acknowledge the summary, do not re-introduce, do not greet the user again.";
const ACKNOWLEDGED: &str = "Got it. Thanks for the additional context!";
const ANALYSIS: [&str; 2] = ["<analysis>", "</analysis>"];

/// The conversation at a check.
pub(super) struct Conversation<'a> {
    pub(super) system: &'a [ChatMessage],
    pub(super) history: &'a [ChatMessage],
    /// The user's newest message or the newest results, which the history does not contain yet.
    pub(super) pending: &'a [ChatMessage],
    pub(super) window: u64,
    /// Tokens of the next request.
    pub(super) tokens: u64,
    /// Whether the program may ask in the conversation itself, to use its cache.
    pub(super) shares_cache: bool,
}

/// The result of a compression.
pub(super) enum Compressed {
    /// The history is too short.
    Nothing,
    /// The new history with the estimated tokens of the next request.
    History(Vec<ChatMessage>, u64),
    /// The status of a failure.
    Failed(&'static str),
}

/// `ChatCompressionService.compress`: summarizes the history.
pub(super) fn compress(
    conversation: &Conversation<'_>,
    replies: &mut Replies<'_>,
) -> Result<Compressed, PendingRequest> {
    let history = conversation.history;
    let is_answer = |m: &ChatMessage| m.is("assistant");
    if history.iter().all(is_answer) || !history.iter().any(is_answer) {
        return Ok(Compressed::Nothing);
    }
    let mut summary = None;
    if let Some(request) = conversation.shared_request()
        && let SummaryReply::Text(text) = replies.reply_to(request)?
    {
        summary = Some(without_analysis(&text)).filter(|text| !text.is_empty());
    }
    let summary = match summary {
        Some(summary) => summary,
        None => match replies.reply_to(conversation.own_request())?.into_text() {
            Ok(text) => without_analysis(&text),
            Err(_) => return Ok(Compressed::Failed("COMPRESSION_FAILED_API_ERROR")),
        },
    };
    if summary.is_empty() {
        return Ok(Compressed::Failed("COMPRESSION_FAILED_EMPTY_SUMMARY"));
    }
    let new = new_history(history, &summary);
    let rest = conversation.tokens.saturating_sub(estimated_tokens(history));
    let tokens = rest + estimated_tokens(&new);
    Ok(if tokens > conversation.tokens {
        Compressed::Failed("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT")
    } else {
        Compressed::History(new, tokens)
    })
}

impl Conversation<'_> {
    /// Returns the request in the conversation itself, with its tools; `None` if it does not fit.
    fn shared_request(&self) -> Option<SummaryRequest> {
        let text = format!("{PROMPT}\n\n{NO_TOOLS} {DIRECTIVE}");
        let tokens = self.tokens + estimate_text(&text) + SUMMARY_RESERVE;
        (self.shares_cache && tokens <= self.window).then(|| SummaryRequest {
            messages: [self.system, &self.asked(), &[ChatMessage::new("user", text)]].concat(),
            with_tools: true,
            max_tokens: Some(SUMMARY_RESERVE),
        })
    }

    /// Returns the request with instructions of its own.
    fn own_request(&self) -> SummaryRequest {
        let asked = self.asked();
        let tokens = estimated_tokens(&asked) + estimate_text(PROMPT) + estimate_text(DIRECTIVE);
        let left = self.window.saturating_sub(tokens + MARGIN);
        let system = [ChatMessage::new("system", PROMPT)];
        SummaryRequest {
            messages: [&system, &*asked, &[ChatMessage::new("user", DIRECTIVE)]].concat(),
            with_tools: false,
            max_tokens: Some(left.clamp(1, SUMMARY_RESERVE)),
        }
    }

    /// Returns the messages of a request: the history and new results, without calls that have no results.
    fn asked(&self) -> Vec<ChatMessage> {
        if self.pending.iter().any(|m| m.is("tool")) {
            return [self.history, self.pending].concat();
        }
        let n_open = usize::from(open_calls(self.history).is_some());
        self.history[..self.history.len() - n_open].to_vec()
    }
}

/// Returns the last message if it has calls.
fn open_calls(history: &[ChatMessage]) -> Option<&ChatMessage> {
    history.last().filter(|last| !last.calls().is_empty())
}

/// Returns the summary and an answer to it, which has the calls whose results are new.
fn new_history(history: &[ChatMessage], summary: &str) -> Vec<ChatMessage> {
    let summary = ChatMessage::summary("user", format!("{summary}\n\n{RESUME}"));
    let mut answer = ChatMessage::notice("assistant", ACKNOWLEDGED);
    if let Some(last) = open_calls(history) {
        answer = last.clone();
        answer.content = Content::text(ACKNOWLEDGED);
        answer.reasoning = None;
    }
    vec![summary, answer]
}

/// `stripAnalysisBlock`: removes the analysis from an answer.
fn without_analysis(text: &str) -> String {
    let [start, end] = ANALYSIS;
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, analysis)) = rest.split_once(start) {
        kept.push_str(before);
        rest = analysis.split_once(end).map_or("", |(_, after)| after.trim_start());
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_analysis_is_removed() {
        let of = |text: &str| without_analysis(text);
        assert_eq!(of(" <analysis>a</analysis>\n b <analysis>c</analysis>d "), "b d");
        assert_eq!(of("a <analysis>b"), "a");
        assert_eq!(of("<analysis>a</analysis>"), "");
    }

    #[test]
    fn an_own_request_leaves_space_for_its_answer() {
        let history =
            [ChatMessage::new("user", "x".repeat(40_000)), ChatMessage::new("assistant", "answer")];
        let of = |window| {
            let conversation = Conversation {
                system: &[],
                history: &history,
                pending: &[],
                window,
                tokens: window,
                shares_cache: true,
            };
            assert!(conversation.shared_request().is_none());
            conversation.own_request().max_tokens
        };
        assert_eq!(of(100_000), Some(20_000));
        assert_eq!(of(1_000), Some(1));
        let used = estimated_tokens(&history) + estimate_text(PROMPT) + 20 + MARGIN;
        assert_eq!(of(20_000), Some(20_000 - used));
    }
}
