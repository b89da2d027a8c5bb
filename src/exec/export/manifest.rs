//! The manifest of an export: what was done with what, figures before and after, requests, checks, and the recipe by
//! which the source is put together again.

use super::ExportJob;
use super::files::WrittenFile;
use super::pieces::Piece;
use super::removed::Removed;
use crate::engine::{ByHand, Outcome, Schedule};
use crate::exec::check::Check;
use crate::exec::load::MOST_BYTES;
use crate::exec::summary::{RequestRecord, Summarizer};
use crate::units::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What a restore needs of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::exec) struct Recipe {
    /// The source.
    pub(in crate::exec) source: FileMark,
    /// The managed file.
    pub(in crate::exec) managed: FileMark,
    /// The sidecar with what was taken out.
    pub(in crate::exec) removed: FileMark,
    /// How to put the source together, in order.
    pub(in crate::exec) restore: Vec<Take>,
}

/// A file by which it is recognized again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::exec) struct FileMark {
    /// Its name, without folder.
    pub(in crate::exec) name: String,
    /// Its format.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::exec) format: String,
    /// Its length.
    pub(in crate::exec) bytes: usize,
    /// Its hash.
    pub(in crate::exec) sha256: String,
}

/// One stretch of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::exec) enum Take {
    /// So many bytes of the managed file, from a place on: `[start, length]`.
    Managed(usize, usize),
    /// So many lines of the sidecar, one after another.
    Removed(usize),
}

/// The recipe that pieces make.
pub(super) fn recipe(pieces: &[Piece]) -> Vec<Take> {
    let mut takes: Vec<Take> = Vec::new();
    for piece in pieces {
        match (piece.managed, takes.last_mut()) {
            (Some(start), _) => takes.push(Take::Managed(start, piece.span.len())),
            (None, Some(Take::Removed(n))) => *n += 1,
            (None, _) => takes.push(Take::Removed(1)),
        }
    }
    takes
}

/// Puts the source together again.
///
/// # Errors
/// One line: which file is not what it was.
pub(in crate::exec) fn put_together(
    recipe: &Recipe,
    managed: &[u8],
    removed: impl Iterator<Item = Result<Removed, String>>,
) -> Result<Vec<u8>, String> {
    let stated = recipe.source.bytes;
    let too_large = || format!("there is no room for the {stated} bytes that the manifest states");
    let mut bytes = Vec::new();
    if stated as u64 > MOST_BYTES || bytes.try_reserve_exact(stated).is_err() {
        return Err(too_large());
    }
    let put = |stretch: &[u8]| bytes.extend_from_slice(stretch);
    each_stretch(stated, &recipe.restore, managed, removed, put)?;
    Ok(bytes)
}

/// Passes every stretch of the source to `put`, in order: no more than the `stated` bytes.
///
/// # Errors
/// One line: which file is not what it was.
pub(super) fn each_stretch(
    stated: usize,
    restore: &[Take],
    managed: &[u8],
    removed: impl Iterator<Item = Result<Removed, String>>,
    mut put: impl FnMut(&[u8]),
) -> Result<(), String> {
    let mut left = stated;
    let mut put = |stretch: &[u8]| {
        let rest = left.checked_sub(stretch.len());
        let longer = || format!("the manifest yields more than the {stated} bytes that it states");
        left = rest.ok_or_else(longer)?;
        put(stretch);
        Ok::<_, String>(())
    };
    let mut lines = removed.enumerate();
    for take in restore {
        match take {
            Take::Managed(start, length) => {
                let end = start.checked_add(*length);
                let stretch = end.and_then(|end| managed.get(*start..end));
                put(stretch.ok_or("the managed file is shorter than it was")?)?;
            }
            Take::Removed(n) => {
                for _ in 0..*n {
                    let (line, removed) = lines.next().ok_or("the sidecar lacks lines")?;
                    let stretch = removed?.into_bytes();
                    let broken = || format!("line {} of the sidecar was changed", line + 1);
                    put(&stretch.ok_or_else(broken)?)?;
                }
            }
        }
    }
    Ok(())
}

/// What a manifest tells beyond the recipe.
pub(super) struct Told<'a> {
    pub(super) job: &'a ExportJob,
    pub(super) base: &'a Path,
    pub(super) outcome: &'a Outcome,
    pub(super) before: Tokens,
    pub(super) after: Tokens,
    pub(super) notes: &'a [String],
    pub(super) requests: &'a [RequestRecord],
    pub(super) files: &'a [WrittenFile],
    pub(super) folder: Option<String>,
}

/// The whole manifest.
pub(super) fn manifest(told: &Told<'_>, checks: &[Check], recipe: &Recipe) -> Value {
    let (job, outcome) = (told.job, told.outcome);
    let case = &job.case;
    let knobs = job
        .knobs
        .iter()
        .map(|(name, value)| (name.to_owned(), json!(value)));
    let events = outcome.events.iter().map(|event| {
        json!({
            "step": event.step + 1, "stage": event.stage, "action": event.action, "when": event.cause.when,
            "before": event.before, "after": event.after, "did": event.did.name(), "log": event.log,
        })
    });
    let step = job
        .until
        .unwrap_or(case.session.calls.len().saturating_sub(1));
    let fit = case.ledger.fit.as_ref();
    let mut whole = json!({
        "plimsoll": env!("CARGO_PKG_VERSION"),
        "policy": {
            "name": job.policy.name,
            "label": job.policy.label,
            "knobs": Value::Object(knobs.collect::<Map<_, _>>()),
        },
        "schedule": if job.schedule == Schedule::Replay { "replay" } else { "now" },
        "by_hand": by_hand(&case.by_hand),
        "until_step": job.until.map(|step| step + 1),
        "window": case.windows.at(step),
        "output_reserve": job.policy.output_reserve(&job.knobs, case, step),
        "counter": case.ledger.counter.name,
        "calibration": fit.map(|fit| json!({"factor": fit.factor, "error": fit.error.0})),
        "tokens": {"before": told.before, "after": told.after},
        "summaries": summaries(&job.summarizer, told.requests),
        "requests": told.requests,
        "events": events.collect::<Vec<_>>(),
        "files": {"folder": told.folder, "written": told.files},
        "checks": checks,
        "notes": told.notes,
    });
    let recipe = serde_json::to_value(recipe).unwrap_or_default();
    if let (Value::Object(whole), Value::Object(recipe)) = (&mut whole, recipe) {
        whole.extend(recipe);
    }
    whole
}

/// What a person marked, as numbers of messages.
fn by_hand(by_hand: &ByHand) -> Value {
    let numbers = |messages: &[usize]| messages.iter().map(|m| m + 1).collect::<Vec<_>>();
    json!({
        "pinned": numbers(&by_hand.pinned),
        "cleared": numbers(&by_hand.cleared),
        "dropped": numbers(&by_hand.dropped),
    })
}

/// Who wrote summaries; never where a key came from.
fn summaries(summarizer: &Summarizer, requests: &[RequestRecord]) -> Value {
    let mut by: Vec<&str> = requests.iter().map(|request| &*request.by).collect();
    by.dedup();
    let Summarizer::Model(model) = summarizer else {
        return json!({"by": by});
    };
    let endpoint = &model.client.endpoint;
    json!({
        "by": by,
        "model": endpoint.model,
        "host": endpoint.host(),
        "api": endpoint.api.name,
        "window": model.window,
        "temperature": model.temperature,
        "own_prompt": model.prompt.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    #[test]
    fn a_manifest_makes_no_more_bytes_than_it_states() {
        let mark = |bytes| FileMark {
            name: String::new(),
            format: String::new(),
            bytes,
            sha256: String::new(),
        };
        let recipe = |stated| Recipe {
            source: mark(stated),
            managed: mark(0),
            removed: mark(0),
            restore: vec![Take::Managed(0, 4); 3],
        };
        let made = |stated| put_together(&recipe(stated), b"text", iter::empty());
        assert_eq!(made(12).as_deref(), Ok(&b"texttexttext"[..]));
        assert!(made(11).unwrap_err().contains("more than the 11 bytes"));
        assert!(made(usize::MAX).unwrap_err().contains("no room"));
    }
}
