//! The result of `plimsoll compact` as JSON.

use crate::cli::json_values::Settings;
use crate::engine::Schedule;
use crate::exec::{Check, ExportJob, Exported, RequestRecord, Resumed, Sidecars};
use crate::units::Tokens;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// The managed conversation that was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Compaction<'a> {
    /// Tokens of the last context; with the schedule `replay`, of the history.
    tokens_before: Tokens,
    /// Tokens of the context after.
    tokens_after: Tokens,
    /// Whether the policy acted. If not, nothing is written, except for another agent with `--resumable`.
    changed: bool,
    /// Path of the new file, with `--resumable` in the agent's store; null if nothing was written.
    output: Option<Cow<'a, str>>,
    /// Files in the folder of the output, which `restore` needs; null if nothing was written.
    sidecars: Option<SidecarPaths<'a>>,
    /// Requests for summaries, in order.
    requests: Vec<RequestEntry<'a>>,
    /// Checks of the written file.
    checks: Vec<CheckEntry<'a>>,
    /// Remarks, such as why nothing changed.
    notes: &'a [String],
    /// Name of the policy.
    policy: &'a str,
    /// Values of the policy's settings.
    settings: Settings,
    /// When the policy is applied.
    schedule: ScheduleName,
    /// Format of the output.
    format: &'a str,
    /// The new session in an agent's store; null without `--resumable`.
    resumable: Option<ResumableSession<'a>>,
}

/// When the policy is applied.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScheduleName {
    /// Once, to the last context.
    Now,
    /// From the first call on.
    Replay,
}

/// Files in the folder of the output.
#[derive(Serialize, JsonSchema)]
struct SidecarPaths<'a> {
    /// Path of the records that the output does not contain.
    removed: Cow<'a, str>,
    /// Path of the manifest.
    manifest: Cow<'a, str>,
    /// Folder of files that the policy wrote; null if it wrote none.
    files: Option<FolderEntry<'a>>,
}

/// A folder of files.
#[derive(Serialize, JsonSchema)]
struct FolderEntry<'a> {
    /// Path of the folder.
    folder: Cow<'a, str>,
    /// Number of files.
    count: usize,
}

/// A request for a summary.
#[derive(Serialize, JsonSchema)]
struct RequestEntry<'a> {
    /// Call before which the request was made.
    call: usize,
    /// Id of the stage.
    stage: &'a str,
    /// Author of the answer: `digest`, `text`, or an API and its model.
    answered_by: &'a str,
    /// Content to summarize, in tokens.
    input_tokens: Tokens,
    /// Maximum of the answer, in tokens.
    max_tokens: Tokens,
    /// Number of requests to the model: more than 1 if the content was too long for one, 0 without a model.
    model_requests: usize,
    /// Tokens sent as reported by the provider; null if not reported.
    tokens_sent: Option<u64>,
    /// Tokens received as reported by the provider; null if not reported.
    tokens_received: Option<u64>,
    /// Duration in milliseconds; null without a model.
    milliseconds: Option<u64>,
    /// Why there is no usable answer; null if there is one.
    error: Option<&'a str>,
    /// Whether the answer was edited manually.
    edited: bool,
}

/// A check of the written file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckEntry<'a> {
    /// Name of the check.
    name: &'a str,
    /// Whether the check passed.
    ok: bool,
    /// Whether the check passed because the source already has the problem. A provider may reject the file.
    warning: bool,
    /// Figures, or the problem.
    detail: &'a str,
}

/// A session in an agent's store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResumableSession<'a> {
    /// Id of the new session.
    id: &'a str,
    /// Command that resumes it.
    command: &'a str,
    /// Path of its file, or of the file that the command imports.
    path: Cow<'a, str>,
    /// Content of the source that the session of another program lacks.
    losses: &'a [String],
}

/// Returns the JSON output.
pub(super) fn json_output<'a>(
    job: &'a ExportJob,
    exported: &'a Exported,
    resumed: Option<&'a Resumed>,
) -> Compaction<'a> {
    Compaction {
        tokens_before: exported.before,
        tokens_after: exported.after,
        changed: exported.changed,
        output: exported.output.as_ref().map(|path| path.to_string_lossy()),
        sidecars: exported.sidecars.as_ref().map(sidecars),
        requests: exported.requests.iter().map(request).collect(),
        checks: checks(exported),
        notes: &exported.notes,
        policy: &job.policy.name,
        settings: Settings::from(&job.knobs),
        schedule: match job.schedule {
            Schedule::Replay => ScheduleName::Replay,
            Schedule::Now { .. } => ScheduleName::Now,
        },
        format: job.format.name,
        resumable: resumed.map(resumable_session),
    }
}

/// Returns the session in an agent's store.
pub(crate) fn resumable_session(resumed: &Resumed) -> ResumableSession<'_> {
    ResumableSession {
        id: &resumed.id,
        command: &resumed.command,
        path: resumed.path.to_string_lossy(),
        losses: &resumed.losses,
    }
}

/// Returns the checks of the written file.
pub(crate) fn checks(exported: &Exported) -> Vec<CheckEntry<'_>> {
    exported.checks.iter().map(check).collect()
}

fn sidecars(sidecars: &Sidecars) -> SidecarPaths<'_> {
    SidecarPaths {
        removed: sidecars.removed.to_string_lossy(),
        manifest: sidecars.manifest.to_string_lossy(),
        files: sidecars.files.as_ref().map(|folder| FolderEntry {
            folder: folder.path.to_string_lossy(),
            count: folder.n_files,
        }),
    }
}

fn request(request: &RequestRecord) -> RequestEntry<'_> {
    RequestEntry {
        call: request.call,
        stage: &request.stage,
        answered_by: &request.summarizer,
        input_tokens: request.input,
        max_tokens: request.max_tokens,
        model_requests: request.prompts,
        tokens_sent: request.sent,
        tokens_received: request.received,
        milliseconds: request.millis,
        error: request.failed.as_deref(),
        edited: request.is_edited,
    }
}

fn check(check: &Check) -> CheckEntry<'_> {
    CheckEntry { name: check.name, ok: check.ok, warning: check.warning, detail: &check.detail }
}
