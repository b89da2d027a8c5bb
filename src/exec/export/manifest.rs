//! The manifest of an export: policy, tokens before and after, summary requests, checks, and the recipe that restores
//! the source.

use super::job::ExportJob;
use super::pieces::SourcePiece;
use super::policy_files::WrittenFile;
use super::removed::RemovedRecord;
use crate::engine::{ManualEdits, Outcome, Schedule};
use crate::exec::check::Check;
use crate::exec::files::MAX_SESSION_BYTES;
use crate::exec::outputs::FileId;
use crate::exec::summary::{RequestRecord, Summarizer};
use crate::json::{Map, Value, json, to_value};
use crate::units::Tokens;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The fields of a manifest that a restore needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    /// The source.
    pub(crate) source: FileId,
    /// The managed file.
    pub(crate) managed: FileId,
    /// The sidecar with the removed records.
    pub(crate) removed: FileId,
    /// The parts of the source, in order.
    pub(crate) restore: Vec<SourcePart>,
}

/// A part of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SourcePart {
    /// Bytes of the managed file: `[start, length]`.
    Managed(usize, usize),
    /// The next lines of the sidecar, by their number.
    Removed(usize),
}

/// Converts pieces to the parts of a recipe.
pub(super) fn source_parts(pieces: &[SourcePiece]) -> Vec<SourcePart> {
    let mut parts: Vec<SourcePart> = Vec::new();
    for piece in pieces {
        match (piece.managed, parts.last_mut()) {
            (Some(start), _) => parts.push(SourcePart::Managed(start, piece.span.len())),
            (None, Some(SourcePart::Removed(n))) => *n += 1,
            (None, _) => parts.push(SourcePart::Removed(1)),
        }
    }
    parts
}

/// Restores the source from the managed file and the removed records.
///
/// # Errors
/// Returns one line that names the file that changed.
pub(crate) fn restored_source(
    recipe: &Recipe,
    managed: &[u8],
    removed: impl Iterator<Item = Result<RemovedRecord, String>>,
) -> Result<Vec<u8>, String> {
    let stated = recipe.source.bytes;
    let too_large = || format!("the manifest states {stated} bytes, which is too large to restore");
    let mut bytes = Vec::new();
    if stated as u64 > MAX_SESSION_BYTES || bytes.try_reserve_exact(stated).is_err() {
        return Err(too_large());
    }
    let write = |part: &[u8]| bytes.extend_from_slice(part);
    write_parts(stated, &recipe.restore, managed, removed, write)?;
    Ok(bytes)
}

/// Writes every part of the source, in order, up to the `stated` number of bytes.
///
/// # Errors
/// Returns one line that names the file that changed.
pub(super) fn write_parts(
    stated: usize,
    parts: &[SourcePart],
    managed: &[u8],
    removed: impl Iterator<Item = Result<RemovedRecord, String>>,
    mut write: impl FnMut(&[u8]),
) -> Result<(), String> {
    let mut left = stated;
    let mut write = |part: &[u8]| {
        let rest = left.checked_sub(part.len());
        let longer = || format!("the manifest yields more than the {stated} bytes that it states");
        left = rest.ok_or_else(longer)?;
        write(part);
        Ok::<_, String>(())
    };
    let mut lines = removed.enumerate();
    for part in parts {
        match part {
            SourcePart::Managed(start, length) => {
                let end = start.checked_add(*length);
                let bytes = end.and_then(|end| managed.get(*start..end));
                write(bytes.ok_or("the managed file is shorter than it was")?)?;
            }
            SourcePart::Removed(n) => {
                for _ in 0..*n {
                    let (line, removed) = lines.next().ok_or("the sidecar lacks lines")?;
                    let changed = || format!("line {} of the sidecar was changed", line + 1);
                    write(&removed?.into_bytes().ok_or_else(changed)?)?;
                }
            }
        }
    }
    Ok(())
}

/// The content of a manifest besides checks and recipe.
pub(super) struct ManifestContent<'a> {
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

/// Returns the manifest as JSON.
pub(super) fn manifest(content: &ManifestContent<'_>, checks: &[Check], recipe: &Recipe) -> Value {
    let (job, outcome) = (content.job, content.outcome);
    let case = &job.case;
    let knobs = job.knobs.iter().map(|(name, value)| (name.to_owned(), json!(value)));
    let events = outcome.events.iter().map(|event| {
        json!({
            "call": event.call + 1, "stage": event.stage, "action": value(&event.action), "when": event.cause.when,
            "before": value(&event.before), "after": value(&event.after), "did": event.effect.name(), "log": event.log,
        })
    });
    let call = job.until.unwrap_or(case.session.calls.len().saturating_sub(1));
    let fit = case.ledger.fit.as_ref();
    let mut whole = json!({
        "plimsoll": env!("CARGO_PKG_VERSION"),
        "policy": {
            "name": job.policy.name,
            "label": job.policy.label,
            "settings": Value::Object(knobs.collect::<Map<_, _>>()),
        },
        "schedule": if job.schedule == Schedule::Replay { "replay" } else { "now" },
        "manual_edits": manual_edits(&case.manual_edits),
        "until_call": job.until.map(|call| call + 1),
        "window": value(&case.windows.at(call)),
        "output_reserve": value(&job.policy.output_reserve(&job.knobs, case, call)),
        "counter": case.ledger.counter.name,
        "calibration": fit.map(|fit| json!({"factor": fit.factor, "error": fit.error.0})),
        "tokens": {"before": value(&content.before), "after": value(&content.after)},
        "summaries": summaries(&job.summarizer, content.requests),
        "requests": value(content.requests),
        "events": events.collect::<Vec<_>>(),
        "files": {"folder": content.folder, "written": value(content.files)},
        "checks": value(checks),
        "notes": content.notes,
    });
    let recipe = value(recipe);
    if let (Value::Object(whole), Value::Object(recipe)) = (&mut whole, recipe) {
        whole.extend(recipe);
    }
    whole
}

/// Makes a value of a type whose serialization cannot fail.
fn value(of: &(impl Serialize + ?Sized)) -> Value {
    to_value(of).unwrap_or_default()
}

/// Returns the manual edits as message numbers.
fn manual_edits(edits: &ManualEdits) -> Value {
    let numbers = |messages: &[usize]| messages.iter().map(|m| m + 1).collect::<Vec<_>>();
    json!({
        "pinned": numbers(&edits.pinned),
        "cleared": numbers(&edits.cleared),
        "dropped": numbers(&edits.dropped),
    })
}

/// Describes the source of summaries, without the key.
fn summaries(summarizer: &Summarizer, requests: &[RequestRecord]) -> Value {
    let mut names: Vec<&str> = requests.iter().map(|request| &*request.summarizer).collect();
    names.dedup();
    let Summarizer::Model(model) = summarizer else {
        return json!({"summarizers": names});
    };
    let endpoint = &model.client.endpoint;
    json!({
        "summarizers": names,
        "model": endpoint.model,
        "host": endpoint.host(),
        "api": endpoint.api.name,
        "window": value(&model.window),
        "temperature": model.temperature,
        "own_prompt": model.prompt.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    #[test]
    fn a_restore_yields_no_more_bytes_than_the_manifest_states() {
        let file = |bytes| FileId {
            name: String::new(),
            format: String::new(),
            bytes,
            sha256: String::new(),
        };
        let recipe = |stated| Recipe {
            source: file(stated),
            managed: file(0),
            removed: file(0),
            restore: vec![SourcePart::Managed(0, 4); 3],
        };
        let restored = |stated| restored_source(&recipe(stated), b"text", iter::empty());
        assert_eq!(restored(12).as_deref(), Ok(&b"texttexttext"[..]));
        assert!(restored(11).unwrap_err().contains("more than the 11 bytes"));
        assert!(restored(usize::MAX).unwrap_err().contains("too large"));
    }
}
