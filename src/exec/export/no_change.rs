//! Explains why a run changed nothing.

use super::job::ExportJob;
use crate::engine::{EntryBody, Idle, Outcome, Schedule, Stage, TakeKind};
use crate::exec::summary::{RequestRecord, rejection};
use crate::session::{Body, Message, Part};
use crate::units::Tokens;

/// Returns a clause with the reason why the policy did nothing.
pub(super) fn reason_for_no_change(
    job: &ExportJob,
    outcome: &Outcome,
    requests: &[RequestRecord],
) -> String {
    if job.policy.stages.is_empty() {
        return "there is no manual edit and no active policy".to_owned();
    }
    let label = &job.policy.label;
    let rejection = rejection(requests);
    let reason = match &rejection {
        Some(_) => Idle::Failed,
        None => outcome.idle.unwrap_or(Idle::NotMet),
    };
    let obstacle = || rejection.clone().unwrap_or_else(|| obstacle(job, outcome, reason));
    if job.schedule == Schedule::Replay {
        return format!(
            "{label} has not acted so far; at its last check {}",
            match reason {
                Idle::NotMet => "its trigger had not been met".to_owned(),
                _ => format!("its trigger was met, but {}", obstacle()),
            }
        );
    }
    let is_forced = job.schedule == Schedule::Now { force: true };
    match reason {
        // A forced policy ignores its trigger: it had no stage to run.
        Idle::NotMet if is_forced => format!("{label} found nothing to remove"),
        Idle::NotMet => format!("the trigger of {label} is not met"),
        _ if is_forced => format!("{label} was forced, but {}", obstacle()),
        _ => format!("{label}'s trigger is met, but {}", obstacle()),
    }
}

fn obstacle(job: &ExportJob, outcome: &Outcome, reason: Idle) -> String {
    match reason {
        Idle::NotMet => "no stage ran".to_owned(),
        Idle::InCooldown => "its cooldown after the last attempt has not passed".to_owned(),
        Idle::CacheWarm => {
            "it waits until the prompt cache has expired, and the context still fits".to_owned()
        }
        Idle::NothingToTake => nothing_to_take(job, outcome),
        Idle::GuardHeld => guard(job),
        Idle::Failed => "its summary failed".to_owned(),
    }
}

/// Explains that the context has nothing that the policy may remove, or that its settings keep all of it.
fn nothing_to_take(job: &ExportJob, outcome: &Outcome) -> String {
    let removes_results = |stage: &Stage| stage.action.takes() == Some(TakeKind::ToolResults);
    let session = &job.case.session;
    let has_result = |message: &Message| {
        let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
        session.parts_of(message).iter().any(is_result)
    };
    let entries = outcome.context.entries.iter();
    let mut originals = entries.filter_map(|entry| match &entry.body {
        EntryBody::Original(message) => session.messages.get(*message as usize),
        _ => None,
    });
    if !job.policy.stages.iter().all(removes_results) {
        "there is nothing that it may remove".to_owned()
    } else if originals.any(has_result) {
        "its settings keep all remaining tool results".to_owned()
    } else {
        "the context has no tool results to remove".to_owned()
    }
}

/// Explains which guard applied, with the value of its setting.
fn guard(job: &ExportJob) -> String {
    let mut least = job.policy.stages.iter().filter_map(|stage| stage.guard.min_saved.as_ref());
    match (least.next(), least.next()) {
        (Some(least), None) => {
            let value = job
                .knobs
                .get(&least.text)
                .map(|value| format!(" ({})", Tokens(value.max(0.0) as u64).short()));
            format!("it would save no more than {}{}", least.text, value.unwrap_or_default())
        }
        _ => "it would save too little".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Case, Policy};
    use crate::exec::{LoadOptions, Summarizer, load_bytes};
    use crate::tokens::{self, Progress};
    use crate::{formats, presets};
    use std::path::PathBuf;

    fn case() -> Case {
        let options =
            LoadOptions { counter: tokens::default_counter(), window: None, conversation: 0 };
        let text = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]"#;
        load_bytes("c.json", text.into(), &options, &Progress::default()).unwrap().case
    }

    fn reason(policy: &Policy, schedule: Schedule, reason: Idle) -> String {
        reason_after(policy, schedule, reason, &[])
    }

    fn reason_after(
        policy: &Policy,
        schedule: Schedule,
        reason: Idle,
        requests: &[RequestRecord],
    ) -> String {
        let job = ExportJob {
            case: case(),
            policy: policy.clone(),
            knobs: policy.defaults(),
            schedule,
            until: None,
            summarizer: Summarizer::Digest,
            format: formats::by_name("openai_chat").unwrap(),
            output: PathBuf::from("out.json"),
            files: None,
            given: Vec::new(),
        };
        let outcome = Outcome { idle: Some(reason), ..Outcome::default() };
        reason_for_no_change(&job, &outcome, requests)
    }

    #[test]
    fn only_a_trigger_that_is_not_met_is_reported_so() {
        let prune = presets::by_name("prune").unwrap();
        let now = Schedule::Now { force: false };
        assert_eq!(reason(&prune, now, Idle::NotMet), "the trigger of Prune is not met");
        assert_eq!(
            reason(&prune, now, Idle::GuardHeld),
            "Prune's trigger is met, but it would save no more than prune_minimum (20k)"
        );
        let forced = Schedule::Now { force: true };
        assert_eq!(
            reason(&prune, forced, Idle::NothingToTake),
            "Prune was forced, but the context has no tool results to remove"
        );
        for idle in [Idle::InCooldown, Idle::NothingToTake, Idle::GuardHeld, Idle::Failed] {
            for schedule in [now, forced, Schedule::Replay] {
                let text = reason(&prune, schedule, idle);
                assert!(!text.contains("not met") && !text.contains("not been met"), "{text}");
            }
        }
        assert!(reason(&prune, Schedule::Replay, Idle::NotMet).contains("has not acted so far"));
    }

    #[test]
    fn a_rejected_answer_is_named_with_its_reason() {
        let request = |failed: Option<&str>| RequestRecord {
            call: 12,
            stage: "compact".to_owned(),
            failed: failed.map(str::to_owned),
            ..RequestRecord::default()
        };
        let requests = [request(None), request(Some("it is empty")), request(Some("no"))];
        let text = reason_after(
            &presets::by_name("summarize").unwrap(),
            Schedule::Now { force: true },
            Idle::NothingToTake,
            &requests,
        );
        assert_eq!(
            text,
            "Summarize was forced, but the answer to summary request 2 of 3 (call 12, compact) was rejected (it is empty), 1 more answer was rejected too"
        );
    }
}
