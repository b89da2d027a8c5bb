//! Results of batches of requests: a line with the answer to each request of another file.

use super::calls::answer_of;
use super::exchange::error_of;
use super::wires::Wire;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{Row, map_rows};
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::Span;

pub(crate) const BATCH_RESULTS: Format = Format {
    name: "batch_results",
    label: "Batch results",
    detect,
    parse,
    recorded: &[RecordedData::Usage],
    ..Format::READ_ONLY
};

/// Paths to the answer in the lines of `OpenAI` and Anthropic.
const ANSWERS: [&[&str]; 2] = [&["response", "body"], &["result", "message"]];

fn detect(probe: &Probe) -> Option<String> {
    let is_result = |v: &Value| {
        json::str_at(v, &["custom_id"]).is_some()
            && (json::at(v, &["response", "body"]).is_some()
                || json::str_at(v, &["result", "type"]).is_some())
    };
    let records = probe.records();
    let all_are = !records.is_empty() && records.iter().all(|r| is_result(&r.value));
    all_are.then(|| "lines with a `custom_id` and the answer to a request of a batch".to_owned())
}

/// A line of the file.
struct BatchResult {
    span: Span,
    id: String,
    /// API and position of the answer.
    answer: Option<(&'static Wire, Span)>,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let read = |row: Row| {
        let id = json::str_at(&row.value, &["custom_id"]).unwrap_or_default().to_owned();
        let answer = ANSWERS.iter().find_map(|path| {
            let value = json::at(&row.value, path).filter(|value| error_of(value).is_none())?;
            let place = |place: Span, key: &&str| json::member(bytes, &place, key);
            let place = path.iter().try_fold(row.span.clone(), place)?;
            Some((Wire::of_answer(value)?, place))
        });
        BatchResult { span: row.span, id, answer }
    };
    let results = map_rows(&input.bytes, progress, &mut log, read)?;
    let n_answers = results.iter().filter(|result| result.answer.is_some()).count();
    let mut sessions = Vec::with_capacity(n_answers);
    for result in results {
        progress.check_cancelled()?;
        let Some((wire, place)) = result.answer else {
            log.report.count_record("result (failed)", false);
            continue;
        };
        let number = (n_answers > 1).then_some(sessions.len() + 1);
        let mut transcript = Transcript::new(input, BATCH_RESULTS.name, number);
        transcript.title(&result.id);
        let answer = answer_of(bytes, wire, &place);
        for why in answer.warnings {
            log.notes.add(result.span.start, why);
        }
        log.report.count_record("result", answer.draft.is_some());
        if let Some(draft) = answer.draft {
            transcript.add_answer(answer.recorded, draft);
        }
        sessions.extend(transcript.finish());
    }
    if !sessions.is_empty() {
        log.notes
            .once(0, "the requests of a batch are in another file: only the answers are shown");
    }
    log.finish(input, sessions, "results of a batch without an answer")
}
