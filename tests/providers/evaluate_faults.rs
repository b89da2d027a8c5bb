//! Every fault of a server during an evaluation: a stated result, a log that continues, no hang.

use crate::evaluate::{PlannedJob, case, evaluate, job_of, model_of, replayed, text};
use crate::fault_answers::{
    BLANK, BROKEN_HEADS, BUSY, LONG_WAITS, ONLY_A_TOOL_CALL, OVERLOADED_EVENT, REDIRECTS, REFUSED,
    SPLIT_CHARACTER, endless_bodies, error_json, event, incomplete, large_heads, not_answers,
    rejected_keys, stalls, stream, too_long, whole_answer,
};
use crate::reader::{read, reply};
use crate::server::{Client, Received, STREAM_HEAD, Server, answer};
use crate::{ANTHROPIC, KEY, STREAMS, check_each, client, millis, tls};
use plimsoll::exec::Model;
use plimsoll::exec::evaluate::{
    Budget, Evaluation, EvaluationLog, Planting, QuestionCounts, Stopped, Tier,
};
use plimsoll::json::json;
use plimsoll::presets::prices::Prices;
use plimsoll::units::Usd;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum duration of a run, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A response to the nth attempt of a request.
type Serve = Box<dyn Fn(&mut Client, usize) + Send + Sync>;

/// A fault of a server.
struct Fault {
    name: String,
    api: &'static str,
    serve: Serve,
    /// The result of a question.
    result: QuestionCounts,
    /// Longest wait for a byte. Only faults that end by it make it short, because a busy machine delays every answer.
    limit: Duration,
}

const ANSWERED: QuestionCounts = QuestionCounts { answered: 1, ..NONE };
const FAILED: QuestionCounts = QuestionCounts { failed: 1, ..NONE };
const REFUSED_QUESTION: QuestionCounts = QuestionCounts { refused: 1, ..NONE };
const TOO_LONG: QuestionCounts = QuestionCounts { too_long: 1, ..NONE };
const UNREADABLE: QuestionCounts = QuestionCounts { unreadable: 1, ..NONE };
const NONE: QuestionCounts = QuestionCounts {
    answered: 0,
    refused: 0,
    too_long: 0,
    unreadable: 0,
    failed: 0,
    not_sent: 0,
    without_context: 0,
};

impl Fault {
    fn new(
        name: impl Into<String>,
        result: QuestionCounts,
        serve: impl Fn(&mut Client, usize) + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), api: "openai", serve: Box::new(serve), result, limit: PATIENCE }
    }

    /// Returns a fault that ends when a time limit of the client is over.
    fn timed_out(
        name: impl Into<String>,
        serve: impl Fn(&mut Client, usize) + Send + Sync + 'static,
    ) -> Self {
        Self { limit: millis(800), ..Self::new(name, FAILED, serve) }
    }

    fn of_bytes(name: impl Into<String>, result: QuestionCounts, bytes: Vec<u8>) -> Self {
        Self::new(name, result, move |client, _| client.send(&bytes))
    }

    fn through(self, api: &'static str) -> Self {
        Self { api, ..self }
    }
}

/// Faults that stop the server or the connection for a while.
fn of_the_moment() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (start, words) in stalls() {
        let name = format!("stalls after {start:?}: {words}");
        faults.push(Fault::timed_out(name, move |client, _| {
            client.send(start.as_bytes());
            client.stall();
        }));
    }
    for (status, _) in BUSY {
        faults.push(Fault::of_bytes(status, FAILED, answer(status, "", "")));
    }
    for wait in LONG_WAITS {
        let bytes = answer("429 Too Many Requests", wait, "");
        faults.push(Fault::of_bytes(wait, FAILED, bytes));
    }
    for head in BROKEN_HEADS {
        faults.push(Fault::of_bytes(
            format!("closes after {head:?}"),
            FAILED,
            head.as_bytes().to_vec(),
        ));
    }
    let slowly = |client: &mut Client, _| {
        client.send(STREAM_HEAD.as_bytes());
        for _ in 0..200 {
            client.send(b": still here\n\n");
            std::thread::sleep(millis(20));
        }
    };
    faults.push(Fault::timed_out("sends slowly forever", slowly));
    let informational = |client: &mut Client, _| {
        for _ in 0..200 {
            client.send(b"HTTP/1.1 100 Continue\r\n\r\n");
            std::thread::sleep(millis(20));
        }
    };
    faults.push(Fault::timed_out("informational responses", informational));
    faults.push(Fault::of_bytes(
        "a bad request",
        FAILED,
        answer("400 Bad Request", "", &error_json("temperature?")),
    ));
    faults
}

/// Faults that a retry passes, or that do not matter.
fn harmless() -> Vec<Fault> {
    let first = |name: &str, bytes: Vec<u8>| {
        Fault::new(name, ANSWERED, move |client, attempt| match attempt {
            0 => client.send(&bytes),
            _ => client.send(&reply("A")),
        })
    };
    let busy = answer("429 Too Many Requests", "retry-after: 0.1\r\n", &error_json("slow down"));
    let failed = answer("500 Internal Server Error", "", "oops");
    let html = whole_answer("A");
    let html = answer("200 OK", "content-type: text/html\r\n", &format!("data: {html}\n\n"));
    let [first_half, second_half] = SPLIT_CHARACTER;
    let split = stream(&[first_half, second_half, &whole_answer("A")]);
    let echoed = stream(&[&whole_answer(&format!("A {KEY}"))]);
    let degenerate = stream(&[&whole_answer(&"A is right. ".repeat(40))]);
    let cut_off =
        json!({"choices": [{"delta": {"content": "<think>A or"}, "finish_reason": "length"}]});
    let mut faults = vec![
        first("busy once", busy),
        first("fails once", failed),
        first("closes once", Vec::new()),
        Fault::of_bytes("wrong content type", ANSWERED, html),
        Fault::of_bytes("a split character", ANSWERED, split),
        Fault::of_bytes("echoes the key", ANSWERED, echoed),
        Fault::of_bytes("repeats itself", ANSWERED, degenerate),
        Fault::of_bytes("only a tool call", ANSWERED, stream(&[ONLY_A_TOOL_CALL])),
        Fault::of_bytes("thinks only", ANSWERED, stream(&[&cut_off.to_string()])),
    ];
    for blank in BLANK {
        let bytes = stream(&[&whole_answer(blank)]);
        faults.push(Fault::of_bytes(format!("{blank:?}"), ANSWERED, bytes));
    }
    faults
}

/// Faults of an answer.
fn of_the_answer() -> Vec<Fault> {
    let mut faults = Vec::new();
    for (api, events) in REFUSED {
        let name = format!("refuses through {api}: {events:?}");
        faults.push(Fault::of_bytes(name, REFUSED_QUESTION, stream(events)).through(api));
    }
    for bytes in too_long() {
        faults.push(Fault::of_bytes("too long", TOO_LONG, bytes));
    }
    let in_answer = error_json("maximum context length is 8");
    faults.push(Fault::of_bytes(
        "too long within an answer",
        TOO_LONG,
        answer("200 OK", "", &format!("data: {in_answer}\n\n")),
    ));
    for (bytes, words) in not_answers() {
        faults.push(Fault::of_bytes(words, UNREADABLE, bytes));
    }
    for (api, stream) in STREAMS {
        let half = stream.find("Grüße").expect("a text") + "Grüße, 世界 🦀\"}}]}\n\n".len();
        for bytes in incomplete(&stream.as_bytes()[..half]) {
            let name = format!("incomplete through {api}");
            faults.push(Fault::of_bytes(name, UNREADABLE, bytes).through(api));
        }
    }
    for status in REDIRECTS {
        let to = format!("location: http://127.0.0.1:9/?key={KEY}\r\n");
        faults.push(Fault::of_bytes(status, UNREADABLE, answer(status, &to, "")));
    }
    for head in large_heads() {
        faults.push(Fault::of_bytes("large head", UNREADABLE, head));
    }
    for body in endless_bodies() {
        faults.push(Fault::new("endless", UNREADABLE, move |client, _| {
            client.send(STREAM_HEAD.as_bytes());
            client.send_forever(&body);
        }));
    }
    let half = format!("{STREAM_HEAD}{}{OVERLOADED_EVENT}", &ANTHROPIC[..ANTHROPIC.len() / 2]);
    let half = half.into_bytes();
    faults.push(Fault::of_bytes("fails within an answer", UNREADABLE, half).through("anthropic"));
    faults
}

/// Returns a whole answer of an API.
fn reply_through(api: &str, text: &str) -> Vec<u8> {
    let text = json!(text);
    match api {
        "anthropic" => stream(&[
            &format!(
                r#"{{"type":"content_block_delta","delta":{{"type":"text_delta","text":{text}}}}}"#
            ),
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        "openai-responses" => stream(&[
            &format!(r#"{{"type":"response.output_text.delta","delta":{text}}}"#),
            r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":12,"output_tokens":5}}}"#,
        ]),
        _ => reply(text.as_str().expect("a text")),
    }
}

/// The requests that meet a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Faulty {
    Questions,
    Summaries,
}

impl Faulty {
    /// Selects every summary that follows another one, or about every third question, the same at every attempt. The first
    /// request of a run is never selected.
    fn selects(self, request: &Received) -> bool {
        let body = String::from_utf8_lossy(&request.body);
        let is_question = ["Answer one question", "Stop the work and judge it"]
            .iter()
            .any(|words| body.contains(words));
        if self == Self::Summaries {
            return !is_question && body.contains("Measured so far");
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        request.n > 0 && is_question && hasher.finish().is_multiple_of(3)
    }
}

/// A server with a fault, which can be healed.
struct FaultyServer {
    server: Server,
    is_healed: Arc<AtomicBool>,
    /// Number of attempts of each faulty request.
    attempts: Arc<Mutex<HashMap<Vec<u8>, usize>>>,
}

impl FaultyServer {
    fn new(api: &'static str, serve: Serve, faulty: Faulty) -> Self {
        let is_healed = Arc::new(AtomicBool::new(false));
        let attempts: Arc<Mutex<HashMap<Vec<u8>, usize>>> = Arc::default();
        let (healed, counts) = (Arc::clone(&is_healed), Arc::clone(&attempts));
        let server = Server::new(move |request, client| {
            if !healed.load(Ordering::SeqCst) && faulty.selects(request) {
                let attempt = {
                    let mut counts = counts.lock().expect("nobody panics with it");
                    let count = counts.entry(request.body.clone()).or_default();
                    *count += 1;
                    *count - 1
                };
                return serve(client, attempt);
            }
            client.send(&reply_through(api, &answer_to(request)));
        });
        Self { server, is_healed, attempts }
    }

    fn n_faulty(&self) -> usize {
        self.attempts.lock().expect("nobody panics with it").len()
    }
}

/// Answers a request of any tier.
fn answer_to(request: &Received) -> String {
    let body = String::from_utf8_lossy(&request.body);
    if body.contains("Stop the work and judge it") {
        let judgement = json!([{"action": 1, "status": "supported", "quote": "metric_0 = 1000"}]);
        return judgement.to_string();
    }
    read(&request.json(), "A")
}

/// Returns a model with a time limit.
fn model(api: &str, server: &Server, limit: Duration) -> Model {
    let mut client = client(api, &server.url());
    (client.limits.first_byte, client.limits.idle) = (limit, limit);
    client.limits.total = limit * 3 / 2;
    client.retries.max_retries = 1;
    client.retries.first_wait = millis(5);
    model_of(client)
}

fn job(tier: Tier) -> PlannedJob {
    job_of_calls(tier, 40, 1, 2)
}

fn job_of_calls(tier: Tier, calls: usize, samples: usize, max_probes: usize) -> PlannedJob {
    let mut job = job_of(tier, case(calls), &["summarize"], samples);
    job.max_probes = max_probes;
    PlannedJob::new(job)
}

/// Returns questions of which several meet a fault. Few, because each fault takes seven runs.
fn few_questions() -> PlannedJob {
    job_of_calls(Tier::Probes, 22, 1, 1)
}

/// Runs an evaluation with a log and checks that it ends in time and that the log has no key.
fn run_logged(
    job: &PlannedJob,
    model: &Model,
    path: &Path,
    budget: Option<&Budget>,
) -> Result<Evaluation, String> {
    let mut log = if path.exists() {
        EvaluationLog::open(path).expect("a log")
    } else {
        EvaluationLog::new(model, Some(path.to_owned()))
    };
    let begun = Instant::now();
    let result = evaluate(job, Some(model), &mut log, budget);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(log.error(), None);
    let logged = fs::read_to_string(path).unwrap_or_default();
    assert!(!logged.contains(KEY) && !format!("{result:?}").contains(KEY));
    result
}

fn times(n: usize, counts: QuestionCounts) -> QuestionCounts {
    QuestionCounts {
        answered: n * counts.answered,
        refused: n * counts.refused,
        too_long: n * counts.too_long,
        unreadable: n * counts.unreadable,
        failed: n * counts.failed,
        not_sent: 0,
        without_context: 0,
    }
}

/// Runs an evaluation whose questions meet a fault, repeats it from the log, and continues it with a healed server.
fn assert_survives(job: &PlannedJob, fault: Fault) {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let name = fault.name;
    let faulty = FaultyServer::new(fault.api, fault.serve, Faulty::Questions);
    let model = model(fault.api, &faulty.server, fault.limit);
    let evaluation = run_logged(job, &model, &path, None);
    let evaluation = evaluation.unwrap_or_else(|error| panic!("{name}: {error}"));
    let (counts, n) = (evaluation.report.requests.questions, faulty.n_faulty());
    assert!(n > 1, "{name}: {n} faulty requests");
    // Both sets of the baselines have the same request.
    let lost = counts.planned() - counts.answered;
    let has_lost = (n..=2 * n).contains(&lost) || (fault.result == ANSWERED && lost == 0);
    assert!(has_lost, "{name}: {lost} of {n}");
    let expected =
        QuestionCounts { answered: counts.planned() - lost, ..times(lost, fault.result) };
    assert_eq!((counts, &evaluation.stopped), (expected, &None), "{name}");
    assert_eq!(counts.planned(), evaluation.report.requests.planned_questions);
    assert_eq!(replayed(job, &path), text(&evaluation), "{name}");

    // Failures of the moment are requested again. Other results are known.
    faulty.is_healed.store(true, Ordering::SeqCst);
    let before = faulty.server.received().len();
    let continued = run_logged(job, &model, &path, None).expect("answers");
    let sent = faulty.server.received().len() - before;
    assert_eq!(sent, expected.failed, "{name}");
    let counts = continued.report.requests.questions;
    assert_eq!(counts.failed, 0, "{name}");
    assert_eq!(counts.answered, expected.answered + expected.failed, "{name}");
    assert_eq!(replayed(job, &path), text(&continued), "{name}");
    let again = run_logged(job, &model, &path, None).expect("answers");
    assert_eq!(text(&again), text(&continued), "{name}");
    assert_eq!(faulty.server.received().len(), before + sent, "{name}");
}

#[test]
fn failures_of_the_moment_are_counted_and_requested_again() {
    let job = few_questions();
    check_each(of_the_moment(), |fault| assert_survives(&job, fault));
}

#[test]
fn faults_that_pass_leave_no_trace() {
    let job = few_questions();
    check_each(harmless(), |fault| assert_survives(&job, fault));
}

#[test]
fn faulty_answers_are_counted_by_reason() {
    let job = few_questions();
    check_each(of_the_answer(), |fault| assert_survives(&job, fault));
}

#[test]
fn a_judge_survives_faults_as_well() {
    let faults = [of_the_moment(), harmless(), of_the_answer()];
    let some = faults.into_iter().flat_map(|all| all.into_iter().step_by(4));
    let job = job(Tier::Judge);
    check_each(some, |fault| assert_survives(&job, fault));
}

#[test]
fn faulty_summaries_end_a_sample_or_follow_the_policy_and_every_question_is_counted() {
    let planted = Tier::Planted(Planting { canaries: 4, rounds: 3 });
    let [planted, probes] = [planted, Tier::Probes].map(|tier| job_of_calls(tier, 26, 2, 1));
    let all = [of_the_moment(), of_the_answer()];
    check_each(all.into_iter().flatten().enumerate(), |(idx, fault)| {
        let job = if idx % 3 == 0 { &planted } else { &probes };
        assert_summary_fault_is_counted(job, fault);
    });
}

/// Runs an evaluation whose summaries meet a fault, repeats it from the log, and continues it with a healed server.
fn assert_summary_fault_is_counted(job: &PlannedJob, fault: Fault) {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let faulty = FaultyServer::new(fault.api, fault.serve, Faulty::Summaries);
    let model = model(fault.api, &faulty.server, fault.limit);
    let name = fault.name;
    let evaluation = run_logged(job, &model, &path, None);
    let evaluation = evaluation.unwrap_or_else(|error| panic!("{name}: {error}"));
    let report = &evaluation.report;
    let counts = report.requests.questions;
    assert_eq!(counts.planned(), report.requests.planned_questions, "{name}");
    assert_eq!(evaluation.stopped, None, "{name}");
    let lost = counts.planned() - counts.answered;
    assert_eq!(lost, counts.without_context, "{name}");
    let problems = report.sessions.iter().flat_map(|s| &s.problems).count();
    // A summary of a part of the messages may pass.
    assert!(faulty.n_faulty() > 0, "{name}");
    if job.job.tier == Tier::Probes && fault.result != TOO_LONG {
        let is_stated = report.lanes[0].summaries_rejected > 0 || problems > 0;
        assert!(is_stated, "{name}: {report:?}");
    }
    assert_eq!(replayed(job, &path), text(&evaluation), "{name}");
    faulty.is_healed.store(true, Ordering::SeqCst);
    let continued = run_logged(job, &model, &path, None).expect("answers");
    let counts = continued.report.requests.questions;
    assert_eq!(counts.answered, counts.planned(), "{name}");
}

#[test]
fn a_failure_of_all_requests_ends_the_run_with_its_reason_and_a_log_that_continues() {
    let job = job(Tier::Probes);
    check_each(rejected_keys(KEY), |rejected| {
        let here = tempfile::tempdir().expect("a temporary folder");
        let path = here.path().join("log.jsonl");
        let fault = Fault::of_bytes("rejected key", FAILED, rejected);
        let faulty = FaultyServer::new("openai", fault.serve, Faulty::Questions);
        let model = model("openai", &faulty.server, PATIENCE);
        let evaluation = run_logged(&job, &model, &path, None).expect("answers");
        let Some(Stopped::Failed(reason)) = &evaluation.stopped else {
            panic!("{:?}", evaluation.stopped);
        };
        assert!(reason.contains("does not accept the key"), "{reason}");
        let counts = evaluation.report.requests.questions;
        assert!(counts.not_sent > 0 && counts.failed == 0, "{counts:?}");
        assert_eq!(counts.planned(), evaluation.report.requests.planned_questions);
        assert_eq!(replayed(&job, &path), text(&evaluation));
        faulty.is_healed.store(true, Ordering::SeqCst);
        let continued = run_logged(&job, &model, &path, None).expect("answers");
        let counts = continued.report.requests.questions;
        assert_eq!((counts.answered, continued.stopped), (counts.planned(), None));
    });
}

#[test]
fn a_server_that_stops_answering_ends_the_run_after_some_failures() {
    let job = job(Tier::Probes);
    let down = [
        answer("503 Service Unavailable", "", ""),
        answer("200 OK", "", "<html><title>Sign in</title>"),
        Vec::new(),
    ];
    check_each(down, |bytes| {
        let here = tempfile::tempdir().expect("a temporary folder");
        let path = here.path().join("log.jsonl");
        let is_down = Arc::new(AtomicBool::new(true));
        let down = Arc::clone(&is_down);
        let server = Server::new(move |request, client| {
            let is_question = String::from_utf8_lossy(&request.body).contains("Answer one");
            if is_question && down.load(Ordering::SeqCst) {
                return client.send(&bytes);
            }
            client.send(&reply(&answer_to(request)));
        });
        let model = model("openai", &server, PATIENCE);
        let stopped = run_logged(&job, &model, &path, None).expect("summaries were written");
        assert!(matches!(stopped.stopped, Some(Stopped::Failed(_))));
        let counts = stopped.report.requests.questions;
        assert!(counts.not_sent > 20 && counts.answered == 0, "{counts:?}");
        assert_eq!(counts.planned(), stopped.report.requests.planned_questions);
        assert_eq!(replayed(&job, &path), text(&stopped));
        is_down.store(false, Ordering::SeqCst);
        let continued = run_logged(&job, &model, &path, None).expect("answers");
        let after = continued.report.requests.questions;
        assert_eq!(after.answered + after.unreadable, after.planned());
        assert_eq!(after.unreadable, counts.unreadable);
    });
}

#[test]
fn a_server_that_resets_connections_ends_the_run() {
    let job = job(Tier::Probes);
    for start in [String::new(), format!("{STREAM_HEAD}{}", event("half"))] {
        let resetting = model("openai", &Server::resetting(start), PATIENCE);
        let mut log = EvaluationLog::new(&resetting, None);
        let error = evaluate(&job, Some(&resetting), &mut log, None);
        let error = error.expect_err("there is no answer");
        assert!(error.contains("broke") || error.contains("interrupted"), "{error}");
    }
}

#[test]
fn encrypted_servers_and_proxies_are_used_as_for_a_summary() {
    let job = job(Tier::Probes);
    let port = tls::answering("self-signed-leaf", |request| reply(&answer_to(request)));
    let here = tempfile::tempdir().expect("a temporary folder");
    let mut model = model_of(client("openai", &format!("https://localhost:{port}")));
    let refused = run_logged(&job, &model, &here.path().join("no.jsonl"), None).unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
    assert!(!here.path().join("no.jsonl").exists());
    model.client.ca_file = Some(tls::file("self-signed-leaf.pem"));
    let trusted = run_logged(&job, &model, &here.path().join("log.jsonl"), None).expect("answers");
    let counts = trusted.report.requests.questions;
    assert_eq!(counts.answered, counts.planned());
}

#[test]
fn the_budget_holds_when_answers_are_lost() {
    let job = job(Tier::Probes);
    let price = Prices::bundled().lookup("gpt-4o", None).expect("a price");
    let limit = Usd(0.1);
    let budget = Budget { limit, price: price.clone() };
    let here = tempfile::tempdir().expect("a temporary folder");
    let sent = |name: &str, serve: Option<Serve>| {
        let serve = serve.unwrap_or_else(|| Box::new(|client, _| client.send(&reply("A"))));
        let faulty = FaultyServer::new("openai", serve, Faulty::Questions);
        let model = model("openai", &faulty.server, PATIENCE);
        let path = here.path().join(name);
        let evaluation = run_logged(&job, &model, &path, Some(&budget)).expect("answers");
        assert_eq!(evaluation.stopped, Some(Stopped::Budget), "{name}");
        faulty.server.received().len()
    };
    let healthy = sent("healthy", None);
    let body = endless_bodies()[0].clone();
    let endless = sent(
        "endless",
        Some(Box::new(move |client, _| {
            client.send(STREAM_HEAD.as_bytes());
            client.send_forever(&body);
        })),
    );
    assert!(endless <= healthy, "{endless} {healthy}");
}
