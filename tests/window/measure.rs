//! *Measure with a model…*: consent before anything is sent, and the same result as the library.

use crate::reader::{metrics_session, read, reply};
use crate::screen::{Window, click, open, options, tab, type_into, with_lanes};
use crate::server::{Server, answer};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::Options;
use plimsoll::exec::evaluate::{
    EvaluatedLane, EvaluatedSession, Evaluation, EvaluationJob, EvaluationLog, Plan, RunOptions,
    Tier, run,
};
use plimsoll::units::Tokens;
use std::fs;
use std::path::Path;

const KEY: &str = "sk-never-written-0123456789";

/// Opens the metrics session with these presets as lanes, and the form of a measurement with one probe per compaction and one
/// summary.
fn form(folder: &Path, policies: &[&str], server: &Server) -> Window {
    let path = folder.join("talk.json");
    fs::write(&path, metrics_session(80)).expect("it is written");
    let options = Options {
        window: Some(Tokens(4_000)),
        ..options(path)
    };
    let mut window = open(with_lanes(options, policies, &[("output_reserve", 0.0)]));
    tab(&mut window, "Evaluate");
    click(&mut window, "Measure with a model…");
    type_into(&mut window, (Role::TextInput, "address"), &server.url());
    type_into(&mut window, (Role::TextInput, "model"), "reader");
    type_into(&mut window, (Role::PasswordInput, "key"), KEY);
    for number in ["probes", "summaries"] {
        window
            .get_by_role_and_label(Role::SpinButton, number)
            .set_value_accesskit(1.0);
        window.run_steps(2);
    }
    window
}

/// Returns the result of the same evaluation from the log, without a model.
fn from_log(window: &Window, log: &Path) -> Evaluation {
    let runs = window.state().runs().expect("runs");
    let lanes = runs.lanes.iter().enumerate();
    let lanes = lanes.map(|(idx, lane)| EvaluatedLane {
        name: runs.label(Some(idx)).to_owned(),
        policy: (*lane.policy).clone(),
        knobs: lane.knobs.clone(),
        has_pins: false,
    });
    let sessions = vec![EvaluatedSession::new(runs.case.clone())];
    let mut job = EvaluationJob::new(Tier::Probes, sessions, lanes.collect(), 1);
    job.max_probes = 1;
    let mut log = EvaluationLog::open(log).expect("a log");
    let options = RunOptions {
        model: None,
        budget: None,
        concurrency: 1,
        on_progress: None,
    };
    run(&job, &Plan::new(&job), &mut log, options).expect("the log has the answers")
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
    let mut window = form(folder.path(), &["summarize", "truncate"], &server);
    let log = folder.path().join("log.jsonl");
    click(&mut window, "Keep requests and answers");
    let path = log.display().to_string();
    type_into(&mut window, (Role::TextInput, "log file"), &path);
    click(&mut window, "Continue…");
    window.get_by_label_contains("a difference of ");
    window.get_by_label_contains("summary requests, about ");
    assert!(
        server.received().is_empty(),
        "nothing is sent before consent"
    );
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
fn nothing_is_asked_without_lost_facts_or_with_an_invalid_budget() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|_, client| client.send(&reply("A")));
    let mut window = form(folder.path(), &["truncate"], &server);
    type_into(&mut window, (Role::TextInput, "budget"), "two");
    click(&mut window, "Continue…");
    window.get_by_label_contains("the budget is a number of dollars");
    type_into(&mut window, (Role::TextInput, "budget"), "2");
    let toggle = window.query_all_by_label("Truncate").last();
    toggle.expect("the lane in the dialog").click();
    window.run_steps(4);
    click(&mut window, "Continue…");
    window.get_by_label_contains("choose at least one lane");
    assert!(server.received().is_empty());
}
