//! An evaluation of the compactions that a file records.

use crate::evaluate::{PlannedJob, evaluate, job_of, model_of, replayed, text};
use crate::reader::{read, reply};
use crate::server::Server;
use plimsoll::engine::Case;
use plimsoll::exec::evaluate::{EvaluationLog, RECORDED, Tier};
use plimsoll::exec::model::ModelClient;
use plimsoll::exec::{LoadOptions, load_bytes};
use plimsoll::json::{Value, json};
use plimsoll::progress::Progress;
use plimsoll::providers::{Endpoint, api_by_name};
use plimsoll::tokens::default_counter;
use plimsoll::units::Tokens;
use std::fmt::Write as _;

/// Number of recorded compactions.
const COMPACTIONS: usize = 10;
/// Number of calls before each of them.
const CALLS: usize = 8;

/// The lines of a session.
#[derive(Default)]
struct Lines {
    text: String,
    n: usize,
    parent: Value,
}

impl Lines {
    fn push(&mut self, mut line: Value) {
        self.n += 1;
        let id = format!("00000000-0000-4000-8000-{:012}", self.n);
        let (minutes, seconds) = (self.n / 60, self.n % 60);
        line["parentUuid"] = self.parent.clone();
        line["uuid"] = json!(id);
        line["timestamp"] =
            json!(format!("2026-01-01T{:02}:{:02}:{seconds:02}.000Z", minutes / 60, minutes % 60));
        line["isSidechain"] = json!(false);
        line["sessionId"] = json!("s");
        line["cwd"] = json!("/work");
        line["version"] = json!("2.1.0");
        self.parent = json!(id);
        let _ = writeln!(self.text, "{line}");
    }

    fn user(&mut self, content: &Value) {
        self.push(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn assistant(&mut self, block: &Value) {
        let message = json!({"id": format!("msg_{}", self.n), "type": "message", "role": "assistant", "model": "m",
            "content": [block], "stop_reason": null});
        self.push(json!({"type": "assistant", "message": message}));
    }
}

/// Returns a session of Claude Code whose summaries keep the metrics with an even number.
fn session() -> String {
    let mut lines = Lines::default();
    lines.user(&json!("Measure everything."));
    let mut kept = String::new();
    for compaction in 0..COMPACTIONS {
        for idx in compaction * CALLS..(compaction + 1) * CALLS {
            let (id, metric) =
                (format!("toolu_{idx}"), format!("metric_{idx} = {}", 1_000 + 83 * idx));
            lines.assistant(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "measure"}}));
            let output = format!("{metric}\n{}", "line of output ".repeat(60));
            lines.user(&json!([{"type": "tool_result", "tool_use_id": id, "content": output}]));
            if idx % 2 == 0 {
                let _ = writeln!(kept, "{metric}");
            }
        }
        lines.parent = Value::Null;
        lines.push(json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 4_000}}));
        let summary = format!("This session is being continued.\n{kept}");
        lines.push(
            json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": summary}}),
        );
    }
    lines.assistant(&json!({"type": "text", "text": "Done."}));
    lines.text
}

fn case() -> Case {
    let options =
        LoadOptions { counter: default_counter(), window: Some(Tokens(4_000)), conversation: 0 };
    let bytes = session().into_bytes();
    let loaded = load_bytes("talk.jsonl", bytes, &options, &Progress::default());
    loaded.expect("it is a session").case
}

#[test]
fn a_recorded_compaction_is_measured_against_the_context_without_it() {
    let case = case();
    assert_eq!(case.session.compactions.len(), COMPACTIONS);
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let job = PlannedJob::new(job_of(Tier::Probes, case.clone(), &["none"], 2));
    assert_eq!(job.job.lanes.len(), 2, "none and recorded");
    let server = Server::new(|request, client| client.send(&reply(&read(&request.json(), "A"))));
    let endpoint = Endpoint::new(api_by_name("openai").expect("an API"), &server.url(), "reader");
    let model = model_of(ModelClient::new(endpoint.expect("an address"), None));
    let mut log = EvaluationLog::new(&model, Some(path.clone()));
    let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    let report = &evaluation.report;
    assert_eq!(evaluation.stopped, None);
    assert_eq!(report.sessions[0].problems, [] as [&str; 0]);
    let questions = report.requests.questions;
    assert_eq!(questions.answered, report.requests.planned_questions);
    assert_eq!(questions.planned(), questions.answered);
    // Two sets with each baseline, two samples of `none` and one of the recorded run, in both orders.
    assert_eq!(questions.answered, job.plan.n_probes() * 2 * (2 + 2 + 2 + 1));
    let probes = report.probes.as_ref().expect("tier 1");
    assert!(probes.selection.selected > 20, "{:?}", probes.selection);
    let [none, recorded] = &probes.lanes[..] else {
        panic!("two lanes: {probes:?}");
    };
    assert_eq!(none.retained.value, Some(1.0), "it has the whole history");
    assert_eq!(recorded.lane, RECORDED);
    assert_eq!(recorded.retained.clusters, COMPACTIONS);
    let interval = recorded.retained.interval.expect("enough compactions");
    assert!(interval.contains(0.5), "{:?}", recorded.retained);
    assert_eq!(replayed(&job, &path), text(&evaluation));

    // Other tiers ask about policies only.
    assert_eq!(job_of(Tier::Judge, case, &["none"], 1).lanes.len(), 1);
}
