//! Insights about missing content: edits without their text, missing instructions, and expected re-reads.

use super::{Certainty, Insight, InsightKind, Level, counted, whole_percent};
use crate::analysis::loss::{Loss, Names};
use crate::analysis::rereads::{ExpectedRereads, FileReads};
use crate::engine::Case;
use crate::units::Share;

/// Maximum number of quoted characters of an instruction.
const MAX_CHARS: usize = 80;

/// Returns the insights about a lane's losses and expected re-reads. `floor` is the loss of the lane `recorded`; `lane`
/// is `None` for that lane itself, of which only the instructions are reported.
pub fn loss_insights(
    case: &Case,
    (names, files): (&Names, &FileReads),
    lane: Option<&str>,
    (loss, expected): (&Loss, &ExpectedRereads),
    floor: &Loss,
) -> Vec<Insight> {
    let mut found = Vec::new();
    if lane.is_some() {
        found.extend(blind_edits(loss, floor));
        found.extend(rereads(case, files, expected));
    }
    found.extend(instruction(case, names, loss));
    for insight in &mut found {
        insight.lane = lane.map(str::to_owned);
    }
    found
}

/// Reports edits of text that the context no longer held.
fn blind_edits(loss: &Loss, floor: &Loss) -> Option<Insight> {
    let blind = &loss.at_risk.blind_edits;
    let first = blind.first()?;
    let known = floor.at_risk.blind_edits.len();
    if blind.len() <= known {
        return None;
    }
    let in_recorded = format!(" ({known} in the recorded context)");
    Some(Insight {
        message: Some(first.message),
        text: format!(
            "{} of {} would have failed: the text to replace was no longer in the context{}.",
            blind.len(),
            counted(loss.at_risk.edits, "edit"),
            if known > 0 { &in_recorded } else { "" },
        ),
        evidence: format!(
            "first at call {}: {} of its {} in the context",
            first.call + 1,
            first.seen,
            counted(first.lines, "old line"),
        ),
        advice: "Keep more recent messages, or the content of files in use.",
        call: Some(first.call),
        ..Insight::new(InsightKind::BlindEdits, Level::Warning, Certainty::Likely)
    })
}

/// Reports the instruction that was missing longest.
fn instruction(case: &Case, names: &Names, loss: &Loss) -> Option<Insight> {
    let calls = |idx: usize| -> usize {
        let gone = loss.standing[idx].gone.iter();
        gone.map(ExactSizeIterator::len).sum()
    };
    let gone = (0..loss.standing.len()).filter(|idx| calls(*idx) > 0);
    let n = gone.clone().count();
    let longest = gone.max_by_key(|idx| (calls(*idx), std::cmp::Reverse(*idx)))?;
    let instruction = &names.instructions()[longest];
    let first = loss.standing[longest].gone.first()?.start;
    let mut head: String = instruction.text.chars().take(MAX_CHARS).collect();
    if head.len() < instruction.text.len() {
        head.push('…');
    }
    let all = case.session.calls.len();
    let (certainty, doubt) = if loss.is_predicted {
        (Certainty::Likely, "; a summary may paraphrase it")
    } else {
        (Certainty::Certain, "")
    };
    Some(Insight {
        message: Some(instruction.message),
        text: format!(
            "{n} of {} {} no longer verbatim in the context: “{head}”.",
            counted(loss.standing.len(), "standing instruction"),
            if n == 1 { "is" } else { "are" },
        ),
        evidence: format!(
            "given in message {}, first missing at call {}, missing at {} of {}{doubt}",
            instruction.message + 1,
            first + 1,
            calls(longest),
            counted(all, "call"),
        ),
        advice: "Put standing instructions into the system prompt, or keep user messages.",
        call: Some(first),
        ..Insight::new(InsightKind::InstructionGone, Level::Note, certainty)
    })
}

/// Reports the re-reads that a lane is expected to cause.
fn rereads(case: &Case, files: &FileReads, own: &ExpectedRereads) -> Option<Insight> {
    let first = own.removals.first()?;
    if own.total.is_none() {
        return None;
    }
    let likely = own.removals.iter().max_by(|a, b| a.extra.total_cmp(&b.extra))?;
    let share = Share(first.call as f64 / case.session.calls.len().max(1) as f64);
    Some(Insight {
        message: Some(likely.message),
        text: format!(
            "Expected: the agent {}; up to call {} ({} of the session) the lane had every file that it read.",
            own.total.words(),
            first.call,
            whole_percent(share),
        ),
        evidence: format!(
            "{} of a file's content; most likely read again: {} ({}, removed at call {})",
            counted(own.total.removals, "removal"),
            files.name(likely.file),
            whole_percent(Share(likely.probability)),
            likely.call + 1,
        ),
        advice: "Compare settings with sweep or Tune: their cost contains the price of re-reads.",
        call: Some(first.call),
        ..Insight::new(InsightKind::ExpectedRereads, Level::Note, Certainty::Inferred)
    })
}
