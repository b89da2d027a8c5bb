//! Insights about recorded compactions and the provider's cache.

use super::{
    Certainty, Insight, InsightInput, InsightKind, Level, OwnCompaction, counted, those,
    whole_percent,
};
use crate::analysis::cost::{Break, Cause};
use crate::session::RecordedCompaction;
use crate::units::{Share, Tokens};
use std::collections::HashSet;

/// Smallest share freed by a useful compaction. Chosen: a summary costs about a full context, and after it everything
/// is written to the cache again. With less freed, the next compaction follows before that is saved.
const LITTLE: f64 = 0.15;
/// Smallest share of all sent tokens for which cache misses are reported. Chosen, and equal to that of unused results
/// (`waste.rs`).
const BREAKS: f64 = 0.02;
/// Number of messages after a compaction in which repeated calls are counted: about 20 calls, within which nearly all
/// re-reads happen that a compaction causes.
const SOON: usize = 40;
/// Minimum number of repeated calls to report. Chosen: agents repeat one or two calls without any compaction, such as a
/// test.
const MIN_REPEATED: usize = 3;

/// Reports recorded compactions that freed little or nothing.
pub(super) fn grew_or_freed_little(input: &InsightInput<'_>) -> Vec<Insight> {
    let mut found = Vec::new();
    for event in &input.recorded.events {
        let freed = Share(1.0 - event.after.as_f64() / event.before.as_f64().max(1.0));
        if freed.0 >= LITTLE || event.before == Tokens::ZERO {
            continue;
        }
        let grew = event.after >= event.before;
        let compaction = input.case.session.compactions.iter().find(|c| c.call == event.call);
        let is_reported = compaction.is_some_and(|c| c.tokens_before.and(c.tokens_after).is_some());
        let (kind, level, what) = if grew {
            let what = "made the context no smaller";
            (InsightKind::CompactionGrew, Level::Bad, what)
        } else {
            let kind = InsightKind::CompactionFreedLittle;
            (kind, Level::Warning, "freed little")
        };
        let certainty = if is_reported { Certainty::Certain } else { Certainty::Likely };
        found.push(Insight {
            call: Some(last_call(input, event.call)),
            text: if event.call < input.case.session.calls.len() {
                let call = event.call + 1;
                format!("The recorded compaction before call {call} {what}.")
            } else {
                format!("The recorded compaction after the last call {what}.")
            },
            evidence: format!("{} → {} tokens", event.before.short(), event.after.short()),
            advice: "Keep less of the newest messages, or clear tool results before summarizing.",
            ..Insight::new(kind, level, certainty)
        });
    }
    found
}

/// Fill below which a compaction leaves much of the window unused. Chosen: the bundled presets of systems compact at 70
/// to 95 % of the window, except Gemini CLI and Hermes, whose 50 % leave half of it unused.
const LOW: f64 = 0.6;
/// Ratio of two fills from which the program's trigger has changed. Between two compactions of one trigger, the
/// contexts differ by the size of a result.
const CHANGED: f64 = 1.5;

/// Reports the share of the context window at which the recorded program compacts.
pub(super) fn fill(input: &InsightInput<'_>) -> Vec<Insight> {
    let own = &input.own_compactions;
    let shares = || own.iter().map(|compaction| compaction.share().0);
    let (least, most) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
    let Some(first) = own.first().filter(|_| most.is_finite()) else {
        return Vec::new();
    };
    let percents = (whole_percent(Share(least)), whole_percent(Share(most)));
    let fill = if percents.0 == percents.1 {
        percents.0
    } else {
        format!("{} to {}", percents.0, percents.1)
    };
    let (level, advice) = if most < LOW {
        let advice = "Much of the window stays unused: check the window that the program assumes, or raise its trigger.";
        (Level::Warning, advice)
    } else {
        (Level::Note, "Compare it with the triggers of the lanes.")
    };
    vec![Insight {
        call: Some(last_call(input, first.call)),
        text: format!("The recorded program compacts at {fill} of the context window."),
        evidence: format!(
            "{}; first {}",
            those(own.len(), "automatic compaction", "automatic compactions"),
            sizes(first)
        ),
        advice,
        ..Insight::new(InsightKind::CompactionFill, level, Certainty::Certain)
    }]
}

/// Reports the first automatic compaction at a fill that differs much from the one before.
pub(super) fn trigger_changed(input: &InsightInput<'_>) -> Vec<Insight> {
    let own = input.own_compactions.windows(2);
    let mut changes = own.filter_map(|pair| {
        let [before, after] = pair else {
            return None;
        };
        let ratio = before.share().0 / after.share().0;
        let has_changed = ratio.is_finite() && !(1.0 / CHANGED..CHANGED).contains(&ratio);
        has_changed.then_some((before, after))
    });
    let Some((before, after)) = changes.next() else {
        return Vec::new();
    };
    let shares = [before, after].map(|compaction| whole_percent(compaction.share()));
    let [was, is] = shares;
    let text = if after.share() < before.share() {
        format!(
            "The program's window collapsed: it compacted at {was} of the context window, then at {is}."
        )
    } else {
        format!("The program's trigger rose from {was} to {is} of the context window.")
    };
    vec![Insight {
        call: Some(last_call(input, after.call)),
        text,
        evidence: format!("{}, then {}", sizes(before), sizes(after)),
        advice: "Check the context window that the program assumes after a compaction, and set it if you can.",
        ..Insight::new(InsightKind::TriggerChanged, Level::Warning, Certainty::Certain)
    }]
}

/// Returns `468k of 1M tokens before call 48`.
fn sizes(compaction: &OwnCompaction) -> String {
    format!(
        "{} of {} tokens before call {}",
        compaction.before.short(),
        compaction.window.short(),
        compaction.call + 1
    )
}

/// Returns a call that exists: this one, or the last.
fn last_call(input: &InsightInput<'_>, call: usize) -> usize {
    call.min(input.case.session.calls.len().saturating_sub(1))
}

/// Reports calls that were repeated soon after a compaction removed their results.
pub(super) fn repeated_calls(input: &InsightInput<'_>) -> Vec<Insight> {
    let mut found = Vec::new();
    let session = &input.case.session;
    for compaction in &session.compactions {
        let (at, call) = (compaction.before_message, compaction.call);
        let split = input.tools.partition_point(|used| used.message < at);
        let (before, after) = input.tools.split_at(split);
        let kept = |message: &usize| compaction.kept.contains(message);
        let gone = before.iter().filter(|used| !kept(&used.message));
        let repeats = &input.case.index.repeats;
        let known: HashSet<_> = gone.map(|used| repeats.same_call(used.part)).collect();
        let soon = after.iter().take_while(|used| used.message < at + SOON);
        let again: Vec<_> =
            soon.filter(|used| known.contains(&repeats.same_call(used.part))).collect();
        let Some(first) = again.first().filter(|_| again.len() >= MIN_REPEATED) else {
            continue;
        };
        let tokens: Tokens = again.iter().map(|used| used.tokens).sum();
        found.push(Insight {
            call: Some(call),
            message: Some(first.message),
            text: format!(
                "{} an earlier call within {} messages after the compaction before call {}.",
                those(again.len(), "call repeats", "calls repeat"),
                SOON,
                call + 1
            ),
            evidence: format!(
                "{} tokens came back, first by {}",
                tokens.short(),
                input.name(first.message)
            ),
            advice: "Keep files in use through a compaction, or name them in its summary.",
            stake: tokens,
            ..Insight::new(InsightKind::RepeatedCalls, Level::Note, Certainty::Certain)
        });
    }
    found
}

/// Reports calls that did not read an earlier prefix from the cache.
pub(super) fn cache_breaks(input: &InsightInput<'_>) -> Vec<Insight> {
    let breaks = input.audit.map_or(&[][..], |audit| &audit.breaks);
    let is_reported = |b: &&Break| input.share_of_sent(b.tokens).0 >= BREAKS;
    let reported = breaks.iter().filter(is_reported).filter(|b| b.cause != Cause::Compaction);
    reported
        .map(|found| Insight {
            call: Some(found.first),
            text: format!(
                "{} missed the provider's cache: {}.",
                counted(found.calls, "call"),
                because(found.cause)
            ),
            evidence: format!(
                "{} tokens resent without the cache, {} of all tokens sent{}",
                found.tokens.short(),
                whole_percent(input.share_of_sent(found.tokens)),
                found.usd.map_or(String::new(), |usd| format!(", ${:.2} more", usd.0))
            ),
            advice: advice(found.cause),
            stake: found.tokens,
            ..Insight::new(InsightKind::CacheBreaks, Level::Warning, Certainty::Certain)
        })
        .collect()
}

fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::NeverCached => "no call of this session used it",
        Cause::Compaction => "the history had been compacted",
        Cause::ModelChange => "another model answered",
        Cause::EffortChange => "the reasoning effort changed",
        Cause::ToolChange => "tool definitions were added",
        Cause::Gap => "the pause was longer than the cache lifetime",
        Cause::Abort => "the call before was aborted or failed",
        Cause::UserTurn => "a new user message, which often changes earlier reasoning or reminders",
        Cause::Unexplained => "no cause found in the file",
    }
}

fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::Gap => {
            "Request the longer cache lifetime, or compact right after a pause, when it costs nothing extra."
        }
        Cause::ModelChange => {
            "Change models when the context is small, such as right after a compaction."
        }
        Cause::EffortChange => {
            "Change the effort when the context is small, such as right after a compaction."
        }
        Cause::ToolChange => "Load all tools at the start.",
        Cause::NeverCached => {
            "Switch the cache on: mark the prompt for it if the provider requires that, and check that every gateway passes it on."
        }
        Cause::Compaction | Cause::Abort | Cause::UserTurn | Cause::Unexplained => {
            "Keep the start of the prompt unchanged from call to call; put changing content at its end."
        }
    }
}

/// Content below this is not reported: reminders and lists of tools that a program adds to a context have hundreds of
/// tokens.
const MIN_UNRECORDED: Tokens = Tokens(2_000);

/// Reports content that the program put into the context after a recorded compaction without recording it, such as
/// files that it attached again: the overhead that reported usage shows grew by more than the error of the counts.
pub(super) fn unrecorded_content(input: &InsightInput<'_>) -> Vec<Insight> {
    let (session, ledger) = (&input.case.session, &input.case.ledger);
    let grown = |compaction: &RecordedCompaction| {
        let call = compaction.call;
        session.calls.get(call)?.usage?;
        let before = ledger.overhead_at(call.checked_sub(1)?);
        let more = ledger.overhead_at(call).0.checked_sub(before.0)?;
        let context = input.recorded.samples.get(call)?.tokens.as_f64();
        let is_visible = more >= MIN_UNRECORDED.0 && !ledger.is_within_error(more as f64, context);
        is_visible.then_some((call, Tokens(more)))
    };
    let found: Vec<(usize, Tokens)> = session.compactions.iter().filter_map(grown).collect();
    let Some((call, most)) = found.iter().copied().max_by_key(|(_, more)| *more) else {
        return Vec::new();
    };
    vec![Insight {
        text: format!(
            "About {} tokens after {} are not recorded: losses and expected re-reads there are upper bounds.",
            most.short(),
            match found.len() {
                1 => "a recorded compaction".to_owned(),
                n => format!("one of {n} recorded compactions"),
            }
        ),
        evidence: format!(
            "call {} reports so much more than what is recorded explains, compared with the calls before the compaction",
            call + 1
        ),
        advice: "The program may have attached files again: what looks lost may still be there.",
        call: Some(call),
        ..Insight::new(InsightKind::UnrecordedContent, Level::Note, Certainty::Likely)
    }]
}
