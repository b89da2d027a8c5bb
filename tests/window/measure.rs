//! *Measure with a model…*: consent before anything is sent, and the same result as the library.

use crate::reader::{metrics_session, read, reply};
use crate::screen::{
    COMPACTED, Window, click, large, open, options, runs, sample, says, tab, texts_with, type_into,
    wait, with_lanes,
};
use crate::server::{Received, Server, answer};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::Options;
use plimsoll::app::state::model::background::latest_result::WorkMode;
use plimsoll::exec::Model;
use plimsoll::exec::evaluate::{
    EvaluatedLane, EvaluatedSession, Evaluation, EvaluationJob, EvaluationLog, EvaluationPlan,
    RunOptions, Tier, run,
};
use plimsoll::exec::model::ModelClient;
use plimsoll::providers::{Endpoint, api_by_name};
use plimsoll::units::Tokens;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const KEY: &str = "sk-never-written-0123456789";

/// Opens the metrics session with these presets as lanes, and the form of a measurement with one probe per compaction and one
/// summary.
fn form(folder: &Path, policies: &[&str], server: &Server, work: WorkMode) -> Window {
    let path = folder.join("talk.json");
    fs::write(&path, metrics_session(80)).expect("it is written");
    let options = Options { work, window: Some(Tokens(4_000)), ..options(path) };
    let options = with_lanes(options, policies, &[("output_reserve", 0.0)]);
    form_of(open(options), server)
}

/// Opens the form of a measurement with one probe per compaction and one summary.
fn form_of(mut window: Window, server: &Server) -> Window {
    wait_for(&mut window, "Evaluate");
    tab(&mut window, "Evaluate");
    click(&mut window, "Show facts");
    wait_for(&mut window, "Measure with a model…");
    click(&mut window, "Measure with a model…");
    type_into(&mut window, (Role::TextInput, "address"), &server.url());
    type_into(&mut window, (Role::TextInput, "model"), "reader");
    type_into(&mut window, (Role::PasswordInput, "key"), KEY);
    for number in ["probes", "summaries"] {
        window.get_by_role_and_label(Role::SpinButton, number).set_value_accesskit(1.0);
        window.run_steps(2);
    }
    window
}

/// Runs frames until a text is shown, and until its layout is settled.
#[track_caller]
fn wait_for(window: &mut Window, text: &str) {
    wait(window, |window| window.query_all_by_label_contains(text).next().is_some());
    window.run_ok();
}

/// Enters a log file.
fn log_into(window: &mut Window, folder: &Path) -> PathBuf {
    let log = folder.join("log.jsonl");
    click(window, "Keep requests and answers");
    let path = log.display().to_string();
    type_into(window, (Role::TextInput, "log file"), &path);
    log
}

/// Returns the result of the same evaluation from the log, without a model.
fn from_log(window: &Window, log: &Path) -> Evaluation {
    evaluate(window, &mut EvaluationLog::open(log).expect("a log"), None)
}

fn model(server: &Server) -> Model {
    let api = api_by_name("openai").expect("an API");
    let endpoint = Endpoint::new(api, &server.url(), "reader").expect("an address");
    Model {
        client: ModelClient::new(endpoint, None),
        window: None,
        prompt: None,
        temperature: None,
        log: None,
        stop: Arc::default(),
        on_event: None,
    }
}

/// Runs the evaluation of the window's lanes with a log, and with a model for answers that are not in it.
fn evaluate(window: &Window, log: &mut EvaluationLog, server: Option<&Server>) -> Evaluation {
    let runs = runs(window);
    let lanes = runs.lanes.iter().enumerate();
    let lanes = lanes.map(|(idx, lane)| {
        let name = runs.label(Some(idx));
        EvaluatedLane::new(name, (*lane.policy).clone(), lane.knobs.clone())
    });
    let sessions = vec![EvaluatedSession::new(runs.case.clone())];
    let mut job = EvaluationJob::new(Tier::Probes, sessions, lanes.collect(), 1);
    job.max_probes = 1;
    let model = server.map(model);
    let options = RunOptions {
        model: model.as_ref(),
        budget: None,
        concurrency: 1,
        on_progress: None,
        on_probes: None,
    };
    run(&job, &EvaluationPlan::new(&job), log, options).expect("answers")
}

#[test]
fn a_model_measures_what_each_lane_retained_after_consent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|request, client| {
        if request.line.starts_with("GET") {
            return client.send(&answer("404 Not Found", "", ""));
        }
        client.send(&reply(&read(&request.json(), "A")));
    });
    let policies = ["summarize", "truncate"];
    let mut window = form(folder.path(), &policies, &server, WorkMode::InFrame);
    let log = log_into(&mut window, folder.path());
    click(&mut window, "Continue…");
    window.get_by_label_contains("a difference of ");
    window.get_by_label_contains("summary requests, about ");
    assert!(server.received().is_empty(), "nothing is sent before consent");
    click(&mut window, &format!("Send to {}", server.address));
    let expected = from_log(&window, &log);
    assert_eq!(expected.report.requests.not_sent, 0);
    let probes = expected.report.probes.as_ref().expect("tier 1");
    for lane in &probes.lanes {
        window.get_by_label_contains(&lane.retained.to_string());
    }
    let [no_context, full_context] = [&probes.no_context, &probes.full_context];
    assert!(full_context.right > no_context.right);
    window.get_by_label(&format!("{0} of {0} right", full_context.right));
    let logged = fs::read_to_string(&log).expect("the log");
    assert!(!logged.contains(KEY));
    click(&mut window, "Close");
    click(&mut window, "Measure with a model…");
    window.get_by_label_contains(&probes.lanes[0].retained.to_string());
}

#[test]
fn no_question_is_sent_without_lost_facts_or_with_an_invalid_budget() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|_, client| client.send(&reply("A")));
    let mut window = form(folder.path(), &["truncate"], &server, WorkMode::InFrame);
    type_into(&mut window, (Role::TextInput, "budget"), "two");
    click(&mut window, "Continue…");
    window.get_by_label_contains("The budget is a number of dollars");
    assert_eq!(window.query_all_by_label("Nothing was measured").count(), 0);
    type_into(&mut window, (Role::TextInput, "budget"), "2");
    assert!(!says(&window, "The budget is a number"));
    let toggle = window.query_all_by_label("Truncate").last();
    toggle.expect("the lane in the dialog").click();
    window.run_ok();
    click(&mut window, "Continue…");
    window.get_by_label_contains("choose at least one lane");
    let toggle = window.query_all_by_label("Truncate").last();
    toggle.expect("the lane in the dialog").click();
    window.run_ok();
    assert!(!says(&window, "choose at least one lane"));
    assert!(server.received().is_empty());
}

#[test]
fn the_consent_warns_of_an_inconclusive_result_and_of_a_budget_that_is_not_applied() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|_, client| client.send(&reply("A")));
    let mut window = form(folder.path(), &["truncate"], &server, WorkMode::InFrame);
    type_into(&mut window, (Role::TextInput, "budget"), "2");
    click(&mut window, "Continue…");
    window.get_by_label_contains("$2.00 is not applied: ");
    window.get_by_label_contains("The result will be inconclusive: ");
    assert!(server.received().is_empty());
}

/// A server that answers this many questions and then keeps the connections open, until it is released.
fn blocking_after(questions: usize) -> (Server, Arc<AtomicBool>) {
    let released = Arc::new(AtomicBool::new(false));
    let (is_released, n_questions) = (Arc::clone(&released), AtomicUsize::new(0));
    let server = Server::new(move |request, client| {
        if request.line.starts_with("GET") {
            return client.send(&answer("404 Not Found", "", ""));
        }
        let is_blocked = is_question(request)
            && n_questions.fetch_add(1, Ordering::SeqCst) >= questions
            && !is_released.load(Ordering::SeqCst);
        if is_blocked {
            return client.stall();
        }
        client.send(&reply(&read(&request.json(), "A")));
    });
    (server, released)
}

fn is_question(request: &Received) -> bool {
    String::from_utf8_lossy(&request.body).contains("Answer one question")
}

fn questions(server: &Server) -> usize {
    server.received().iter().filter(|r| is_question(r)).count()
}

#[test]
fn stop_ends_outstanding_requests_scores_the_answers_and_the_log_continues_to_the_same_result() {
    const ANSWERED: usize = 30;
    const OUTSTANDING: usize = 4;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (server, released) = blocking_after(ANSWERED);
    let policies = ["summarize", "truncate"];
    let mut window = form(folder.path(), &policies, &server, WorkMode::AsNeeded);
    let log = log_into(&mut window, folder.path());
    click(&mut window, "Continue…");
    let send = format!("Send to {}", server.address);
    wait_for(&mut window, &send);
    click(&mut window, &send);
    wait(&mut window, |_| questions(&server) == ANSWERED + OUTSTANDING);
    click(&mut window, "Stop");
    wait_for(&mut window, "Measure again");
    for _ in 0..OUTSTANDING {
        server.wait_for_end().expect("the connections are closed");
    }
    let n_requests = server.received().len();
    thread::sleep(Duration::from_millis(300));
    window.run_ok();
    assert_eq!(server.received().len(), n_requests, "no request follows");

    let stopped = from_log(&window, &log);
    let counts = stopped.report.requests.questions;
    assert_eq!(counts.answered, ANSWERED);
    let planned = counts.planned();
    assert!(planned > ANSWERED + OUTSTANDING, "{counts:?}");
    window.get_by_label(&format!("Stopped: {ANSWERED} of {planned} questions answered."));
    let probes = stopped.report.probes.as_ref().expect("tier 1");
    window.get_by_label(&format!(
        "{} of {} right",
        probes.full_context.right,
        probes.full_context.answered()
    ));
    let logged = fs::read(&log).expect("the log is kept");

    // The log of the stopped run continues in a window and elsewhere.
    let copy = folder.path().join("copy.jsonl");
    fs::write(&copy, &logged).expect("it is written");
    released.store(true, Ordering::SeqCst);
    click(&mut window, "Continue");
    wait(&mut window, |window| {
        let has = |label| window.query_by_label(label).is_some();
        has("Measure again") && !has("Continue")
    });
    let continued = from_log(&window, &log);
    let counts = continued.report.requests.questions;
    assert_eq!((counts.answered, counts.planned()), (planned, planned));
    assert!(fs::read(&log).expect("the log").starts_with(&logged));
    let all = questions(&server);
    assert_eq!(all, planned + OUTSTANDING, "answered questions are not sent again");
    let resumed = evaluate(&window, &mut EvaluationLog::open(&copy).expect("a log"), Some(&server));
    assert_eq!((&resumed.report, resumed.stopped), (&continued.report, None));
    let whole = evaluate(&window, &mut EvaluationLog::new(&model(&server), None), Some(&server));
    assert_eq!(whole.report, continued.report, "as without a stop");
}

#[test]
fn questions_about_the_recorded_compactions_can_be_left_out() {
    let server = Server::new(|_, client| client.send(&answer("404 Not Found", "", "")));
    let mut window = form_of(large(sample(COMPACTED)), &server);
    click(&mut window, "Continue…");
    assert!(says(&window, "Prune, Summarize, recorded"));
    click(&mut window, "Back");
    // The timeline has a choice of the same name.
    let choices = window.get_all_by_role_and_label(Role::Button, "recorded");
    choices.last().expect("the choice of the dialog").click();
    window.run_ok();
    click(&mut window, "Continue…");
    assert!(!says(&window, "Summarize, recorded"));
    // Tokens of a price are rounded.
    let sends = texts_with(&window, "with this conversation");
    assert!(
        sends.iter().all(|text| text.contains("k tokens") || text.contains("M tokens")),
        "{sends:?}"
    );
}
