//! The action of presets.

use crate::chat::{
    Arguments, ChatMessage, PendingRequest, Replies, Rule, SummaryRequest, n_system,
};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[NamedAction::new(
    "claude_code.compact",
    ActionKind::Summarize,
    "Replaces all but the newest answers with a summary. Keeps so many that the request for the summary fits in the window.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["used", "excess"])];

/// The replay's own summary request: the text of Claude Code's is not public.
const REQUEST: &str = "Summarize the conversation so far, so that the work can go on without it.";
const PREFIX: &str = "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n";
/// Tokens of Claude Code's summary request, about 6,500 characters.
const REQUEST_TOKENS: f64 = 1_625.0;
/// Characters of a call as JSON, without its id, tool and arguments.
const CALL: usize = 50;
const CHARS_PER_TOKEN: usize = 4;
const RULE: Rule = Rule::new("claude code: tokens");

/// `excess` is the number of tokens by which the rejected call of `used` tokens was too large.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let (system, rest) = input.messages.split_at(n_system(&input.messages));
    // An answer with what follows is a group; what stands before the first answer is one as well.
    let mut starts: Vec<usize> = (0..rest.len()).filter(|at| rest[*at].is("assistant")).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([rest.len()]);
    let sizes: Vec<f64> =
        starts.iter().zip(ends).map(|(start, end)| size(&rest[*start..end])).collect();
    let n_kept = n_kept(&sizes, input.number("excess"), input.number("used") - size(system));
    let at = starts.len().checked_sub(n_kept).map_or(0, |first| starts[first]);
    let (older, kept) = rest.split_at(at);
    if !older.iter().any(|message| message.is("assistant")) {
        return Ok(Rewritten::default());
    }
    let request = [system, older, &[ChatMessage::new("user", REQUEST)]].concat();
    let reply = replies.reply_to(SummaryRequest::new(request))?.into_text();
    Ok(match reply {
        Ok(text) => {
            let summary = ChatMessage::summary("user", format!("{PREFIX}{text}"));
            Rewritten {
                messages: Some([system, &[summary], kept].concat()),
                fired: true,
                ..Rewritten::default()
            }
        }
        Err(why) => Rewritten { fired: true, log: vec![why], ..Rewritten::default() },
    })
}

/// Returns how many of the newest groups are kept. `sizes` are estimates of all groups, `used` is the provider's count of
/// them.
fn n_kept(sizes: &[f64], excess: f64, used: f64) -> usize {
    let Some((newest, before)) = sizes.split_last() else {
        return 0;
    };
    let sum: f64 = sizes.iter().sum();
    let scale = if sum > 0.0 { (used / sum).max(1.0) } else { 1.0 };
    let missing = excess / scale + REQUEST_TOKENS - newest;
    if sizes.len() <= 3 || missing <= 0.0 {
        return 1;
    }
    let mut found = 0.0;
    let is_enough = |size: &f64| {
        found += size;
        found >= missing
    };
    let n = before.iter().rev().position(is_enough).map_or(before.len(), |nth| nth + 1);
    // At least half of the groups are summarized.
    1 + if n + 1 >= before.len() { (before.len() / 2).max(1) } else { n }
}

/// Estimates the tokens of messages.
fn size(messages: &[ChatMessage]) -> f64 {
    messages.iter().map(|message| message.weigh(RULE, tokens) as f64).sum()
}

fn tokens(message: &ChatMessage) -> u64 {
    let calls = message.calls().iter().map(|call| {
        let id = call.id.as_ref().map_or(0, |id| id.len());
        let function = call.function.as_ref().map_or(0, |function| {
            let arguments = match &function.arguments {
                Arguments::Text(text) => text.len(),
                Arguments::Json(value) => value.to_string().len(),
                Arguments::Missing => 0,
            };
            function.name.len() + arguments
        });
        CALL + id + function
    });
    (message.joined_text("").len() + calls.sum::<usize>()).div_ceil(CHARS_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use super::n_kept;

    /// Answers that the program kept after rejections, by equal groups behind an opening of 2,700 tokens.
    #[test]
    fn the_summary_request_fits_with_what_is_left() {
        let kept = |n: usize, size: f64, newest: f64, used: f64, limit: f64| {
            let mut sizes = vec![2_700.0];
            sizes.extend(std::iter::repeat_n(size, n - 1));
            sizes.push(newest);
            n_kept(&sizes, used - limit, used - 3_000.0)
        };
        assert_eq!(kept(21, 1_055.0, 1_171.0, 250_000.0, 200_000.0), 7);
        assert_eq!(kept(21, 1_055.0, 1_171.0, 204_315.0, 200_000.0), 2);
        assert_eq!(kept(21, 2_055.0, 2_171.0, 204_315.0, 200_000.0), 2);
        assert_eq!(kept(41, 555.0, 671.0, 230_000.0, 200_000.0), 9);
        assert_eq!(kept(41, 555.0, 671.0, 204_315.0, 200_000.0), 4);
        assert_eq!(kept(41, 130.0, 246.0, 204_315.0, 200_000.0), 13);
        assert_eq!(kept(11, 57.0, 57.0, 204_315.0, 200_000.0), 6);
        assert_eq!(kept(4, 130.0, 130.0, 204_315.0, 200_000.0), 3);
        assert_eq!(kept(3, 57.0, 57.0, 214_315.0, 200_000.0), 2);
    }
}
