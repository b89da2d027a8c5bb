//! Histories of browser-use (`AgentHistoryList.save_to_file`): a document with a step for each call.
//!
//! - A call is sent the system prompt, which is not recorded, and one message (`state_message`) that states the task, the
//!   steps before and the page. The program writes it anew for every call.
//! - Older versions do not record that message: the results of the steps are shown instead.
//! - Usage is not recorded.
//!
//! <https://github.com/browser-use/browser-use/blob/main/browser_use/agent/views.py>

use super::content::text_part;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role};

pub(super) const FORMAT: Format = Format {
    name: "browser_use",
    label: "browser-use history",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Member of the document with the steps.
const HISTORY: &str = "history";

fn detect(probe: &Probe) -> Option<String> {
    let history = probe.document()?.get(HISTORY)?.as_array()?;
    let is_step = |step: &Value| {
        step.get("model_output").is_some()
            && step.get("result").is_some_and(Value::is_array)
            && step.get("state").is_some_and(Value::is_object)
    };
    (!history.is_empty() && history.iter().all(is_step))
        .then(|| "a `history` of `model_output`, `result` and `state`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let rows = rows::rows_at(bytes, &whole, &[HISTORY], progress, &mut log.notes)?;
    let mut before: Option<&Row> = None;
    for row in &rows {
        progress.check_cancelled()?;
        let has_answer = step(row, before, &mut transcript, &mut log);
        log.report.count_record("step", has_answer);
        before = Some(row);
    }
    let session = transcript.finish();
    let what = "a browser-use history without an answer";
    log.finish(input, session.into_iter().collect(), what)
}

/// Adds a step. Returns whether it has an answer.
fn step(row: &Row, before: Option<&Row>, transcript: &mut Transcript, log: &mut ReadLog) -> bool {
    let time = json::millis_at(&row.value, &["metadata", "step_start_time"]);
    let draft = |role, parts| Draft {
        time,
        raw: vec![row.span.clone()],
        is_injected: role == Role::User,
        ..Draft::new(role, parts)
    };
    let state = json::str_at(&row.value, &["state_message"]).unwrap_or_default();
    if let Some(text) = text_part(0, state) {
        if before.is_some() {
            let note = "the program writes its message anew for every call: \
                        the messages before are shown as removed";
            log.notes.once(row.span.start, note);
            transcript.builder.compaction("", None, None, Vec::new());
        }
        transcript.add_message(draft(Role::User, vec![text]));
    } else {
        let note = "the requests are not recorded: the results of the steps are shown instead";
        log.notes.once(row.span.start, note);
        let results = before.map(|before| results(&before.value)).unwrap_or_default();
        if !results.is_empty() {
            transcript.add_message(draft(Role::User, results));
        }
    }
    let Some(output) = row.value.get("model_output").filter(|output| !output.is_null()) else {
        return false;
    };
    let parts: Vec<Part> = text_part(0, &content::text_or_json(output)).into_iter().collect();
    let call = CallDraft { time, ..CallDraft::default() };
    transcript.add_answer(call, draft(Role::Assistant, parts));
    true
}

/// Returns the texts of the results of a step.
fn results(step: &Value) -> Vec<Part> {
    let results = step.get("result").and_then(Value::as_array).into_iter().flatten().enumerate();
    let text = |(idx, result): (usize, &Value)| {
        let text = content::first(result, &["error", "long_term_memory", "extracted_content"]);
        text_part(idx, text?.as_str()?)
    };
    results.filter_map(text).collect()
}
