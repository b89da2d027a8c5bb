//! Actions of presets.

use super::reads::replace_repeated_reads;
use super::units::{MISSING, units};
use crate::chat::{Block, BlockBody, ChatMessage, Content, PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::missing_results::{ResultPosition, add_missing};
use crate::systems::stage_settings::{check_keys, choice_setting, numbers_only};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[DEDUPE, TRUNCATE, SHAPE];

/// Prevents `cline_legacy.truncate` at the same call if it saves `enough_share`.
const DEDUPE: NamedAction = NamedAction::new(
    "cline_legacy.dedupe",
    ActionKind::Clear,
    "Replaces file reads by a notice if the same file was read again.",
    |settings| numbers_only(settings, dedupe),
)
.with_numbers(&["enough_share"]);

/// `task` is `kept` or, after a rejected request, `replaced`.
const TRUNCATE: NamedAction = NamedAction::new(
    "cline_legacy.truncate",
    ActionKind::Drop,
    "Hides a share of the messages behind the first two, with a notice in place of the first answer's text.",
    |settings| {
        check_keys(settings, &["task"])?;
        let tasks = [("kept", false), ("replaced", true)];
        let replaces_task = choice_setting(settings, "task", &tasks)?.unwrap_or(false);
        Ok(Arc::new(Truncate { replaces_task }))
    },
)
.with_numbers(&["share"]);

const SHAPE: NamedAction = NamedAction::new(
    "cline_legacy.shape",
    ActionKind::Repair,
    "Adds results for calls without one.",
    |settings| numbers_only(settings, shape),
);

/// Key of the call at which removing reads saved enough, in memory.
const ENOUGH_AT: &str = "cline_legacy_enough_at";

/// Key of whether the results behind the hidden messages are not sent, in memory.
const UNSENT: &str = "cline_legacy_unsent";

const NOTICE: &str = "[NOTE] Some previous conversation history with the user has been removed to maintain optimal context window length. The initial user task has been retained for continuity, while intermediate conversation history has been removed. Keep this in mind as you continue assisting the user. Pay special attention to the user's latest messages.";
const CONTINUE: &str = "[Continue assisting the user!]";

fn dedupe(input: &RewriteInput<'_>) -> Rewritten {
    let reads = replace_repeated_reads(&input.messages);
    let acts = !reads.edits.is_empty();
    let is_enough = acts && reads.saved_share >= input.number("enough_share");
    let enough_at = is_enough.then_some(input.call);
    Rewritten {
        edits: reads.edits.into(),
        fired: acts,
        terms: vec![("saved_share".to_owned(), reads.saved_share)],
        memory: json!({ENOUGH_AT: enough_at}).into(),
        ..Rewritten::default()
    }
}

#[derive(Debug)]
struct Truncate {
    replaces_task: bool,
}

impl Rewrite for Truncate {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let units = units(all);
        let is_enough = input.memory[ENOUGH_AT].as_u64() == Some(input.call as u64);
        if units.len() < 2 || (is_enough && !self.replaces_task) {
            return Ok(Rewritten::default());
        }
        // Results whose calls were hidden are not sent, but keep their number.
        let n_unsent = usize::from(input.memory[UNSENT] == true);
        let n_rest = units.len() - 2 + n_unsent;
        let half = n_rest as f64 * input.number("share") / 2.0;
        let mut n_hidden = (half.floor() as usize * 2).saturating_sub(n_unsent);
        // The range ends with an answer.
        if n_hidden > 0 && !all[units[1 + n_hidden].start].is("assistant") {
            n_hidden -= 1;
        }
        let kept = units.get(2 + n_hidden);
        let is_unsent = n_hidden > 0 && kept.is_some_and(|unit| all[unit.start].is("tool"));
        let hidden_end = units[1 + n_hidden + usize::from(is_unsent)].end;
        let first_answer = units[1].start;
        let mut messages = all[..units[1].end].to_vec();
        messages[first_answer] = with_notice(&all[first_answer]);
        if self.replaces_task {
            let task = units[0].start;
            messages[task] = all[task].with_text(CONTINUE);
        }
        // A call whose result is hidden gets a stand-in.
        let calls = all[first_answer].calls();
        let hidden = &units[2..2 + n_hidden];
        let results = hidden.iter().cloned().flatten().map(|idx| &all[idx]);
        let is_own =
            |m: &&ChatMessage| m.is("tool") && calls.iter().any(|call| call.id == m.call_id);
        messages.extend(results.filter(is_own).map(|result| result.with_text(MISSING)));
        messages.extend_from_slice(&all[hidden_end..]);
        Ok(Rewritten {
            messages: Some(messages),
            fired: true,
            terms: vec![("messages_hidden".to_owned(), n_hidden as f64)],
            memory: json!({UNSENT: is_unsent || (n_hidden == 0 && n_unsent > 0)}).into(),
            ..Rewritten::default()
        })
    }
}

/// `ensureToolResultsFollowToolUse`: the results of an answer are in the order of its calls.
fn shape(input: &RewriteInput<'_>) -> Rewritten {
    Rewritten {
        messages: add_missing(&input.messages, MISSING, ResultPosition::InOrder),
        ..Rewritten::default()
    }
}

/// `triggerApplyStandardContextTruncationNoticeChange`: returns an answer with the notice in place of its text; unchanged if it has only calls.
fn with_notice(answer: &ChatMessage) -> ChatMessage {
    match &answer.content {
        Content::Text(_) => answer.with_text(NOTICE),
        Content::Blocks(blocks) => {
            let mut changed = answer.clone();
            let mut blocks = blocks.clone();
            if let Some(Block { body: BlockBody::Text(text), .. }) = blocks.first_mut() {
                *text = NOTICE.into();
            }
            changed.content = Content::Blocks(blocks);
            changed
        }
        Content::Missing | Content::Null | Content::Other(_) => answer.clone(),
    }
}
