//! Evaluations with a model on loopback: a reader that answers from its prompt alone.

use crate::fault_answers::stream;
use crate::reader::{metrics_session, read, reply};
use crate::server::{STREAM_HEAD, Server, answer};
use plimsoll::engine::Case;
use plimsoll::exec::evaluate::{
    Budget, EvaluatedLane, EvaluatedSession, Evaluation, EvaluationJob, EvaluationLog,
    EvaluationPlan, PlanCost, Planting, RunOptions, Stopped, Tier, run,
};
use plimsoll::exec::model::ModelClient;
use plimsoll::exec::{LoadOptions, Model, load_bytes};
use plimsoll::json::json;
use plimsoll::presets::{self, prices::Prices};
use plimsoll::progress::Progress;
use plimsoll::providers::{Endpoint, api_by_name};
use plimsoll::tokens::default_counter;
use plimsoll::units::{Tokens, Usd};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn case(calls: usize) -> Case {
    case_of(true, calls)
}

fn case_of(has_definitions: bool, calls: usize) -> Case {
    let mut session: plimsoll::json::Value =
        serde_json::from_slice(&metrics_session(calls)).expect("JSON");
    if !has_definitions {
        session["tools"] = json!([]);
    }
    let options =
        LoadOptions { counter: default_counter(), window: Some(Tokens(4_000)), conversation: 0 };
    let loaded =
        load_bytes("talk.json", session.to_string().into_bytes(), &options, &Progress::default());
    loaded.expect("it is a session").case
}

/// A job with its questions.
pub(crate) struct PlannedJob {
    pub(crate) job: EvaluationJob,
    pub(crate) plan: EvaluationPlan,
}

impl PlannedJob {
    pub(crate) fn new(job: EvaluationJob) -> Self {
        let plan = EvaluationPlan::new(&job);
        Self { job, plan }
    }

    fn cost(&self, model: &Model) -> PlanCost {
        self.plan.cost(&self.job, model, Prices::bundled())
    }
}

fn planned(calls: usize, policies: &[&str], samples: usize) -> PlannedJob {
    PlannedJob::new(job_of(Tier::Probes, case(calls), policies, samples))
}

pub(crate) fn job_of(tier: Tier, case: Case, policies: &[&str], samples: usize) -> EvaluationJob {
    let lanes = policies.iter().map(|name| {
        let policy = presets::by_name(name).expect("a preset");
        let mut knobs = policy.defaults();
        if policy.knob("output_reserve").is_some() {
            policy.set(&mut knobs, "output_reserve", 0.0).expect("in range");
        }
        EvaluatedLane::new(*name, policy, knobs)
    });
    let mut job =
        EvaluationJob::new(tier, vec![EvaluatedSession::new(case)], lanes.collect(), samples);
    job.max_probes = 4;
    job
}

fn reader(guess: &'static str) -> Server {
    Server::new(move |request, client| client.send(&reply(&read(&request.json(), guess))))
}

fn model(server: &Server) -> Model {
    let api = api_by_name("openai").expect("an API");
    let endpoint = Endpoint::new(api, &server.url(), "reader").expect("an address");
    let mut client = ModelClient::new(endpoint, None);
    client.retries.max_retries = 0;
    model_of(client)
}

pub(crate) fn model_of(client: ModelClient) -> Model {
    Model {
        client,
        window: None,
        prompt: None,
        temperature: None,
        log: None,
        stop: Arc::new(Progress::default()),
        on_event: None,
    }
}

pub(crate) fn evaluate(
    planned: &PlannedJob,
    model: Option<&Model>,
    log: &mut EvaluationLog,
    budget: Option<&Budget>,
) -> Result<Evaluation, String> {
    let options = RunOptions { model, budget, concurrency: 3, on_progress: None, on_probes: None };
    run(&planned.job, &planned.plan, log, options)
}

/// Returns the report of a replay of a log without a model.
pub(crate) fn replayed(job: &PlannedJob, path: &Path) -> String {
    let mut log = EvaluationLog::open(path).expect("a log");
    let evaluation = evaluate(job, None, &mut log, None).expect("answers");
    text(&evaluation)
}

pub(crate) fn text(evaluation: &Evaluation) -> String {
    serde_json::to_string(&evaluation.report).expect("JSON")
}

#[test]
fn a_summary_with_half_of_the_facts_retains_half_and_its_log_gives_the_same_report() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let (job, server) = (planned(80, &["summarize"], 2), reader("A"));
    let model = model(&server);
    let cost = job.cost(&model);
    assert!(cost.clusters >= 8 && cost.pairs == job.plan.n_probes(), "{cost:?}");
    assert_eq!(cost.questions, cost.pairs * 2 * (2 + 2 + 2));
    assert!(cost.detectable.is_some_and(|d| d > 0.1 && d < 0.6), "{cost:?}");
    let mut log = EvaluationLog::new(&model, Some(path.clone()));
    let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    assert_eq!((log.error(), &evaluation.stopped), (None, &None));
    let report = &evaluation.report;
    let probes = report.probes.as_ref().expect("tier 1");
    let lane = &probes.lanes[0];
    let retained = lane.retained;
    let interval = retained.interval.expect("there are enough compactions");
    assert!(interval.contains(0.5) && interval.high - interval.low < 0.6, "{retained:?}");
    assert_eq!(probes.full_context.right, probes.no_context.right * 2);
    assert_eq!(probes.selection.selected, job.plan.n_probes());
    let summaries = report.lanes[0].summary_requests;
    assert!(summaries >= 16, "{report:?}");
    assert_eq!(report.lanes[0].summaries_rejected, 0);
    // Every request is sent once.
    assert_eq!(report.requests.answered, cost.questions + summaries);
    assert_eq!(server.received().len(), report.requests.answered);
    assert_eq!((report.requests.not_sent, report.requests.failed), (0, 0));
    let n = report.requests.answered as u64;
    assert_eq!(report.requests.tokens_from_cache, Some(900 * n));
    assert_eq!(replayed(&job, &path), text(&evaluation));

    // A run that was killed while it wrote a line.
    let whole = std::fs::read_to_string(&path).expect("the log");
    let (part, broken) = (here.path().join("part.jsonl"), whole.len() / 2);
    std::fs::write(&part, &whole.as_bytes()[..broken]).expect("a file");
    let mut log = EvaluationLog::open(&part).expect("a log");
    let known = log.n_answers();
    assert!(known > 10 && known < report.requests.answered);
    let resumed = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    assert_eq!(text(&resumed), text(&evaluation));
    assert_eq!(server.received().len(), 2 * report.requests.answered - known);
    // Another process plans the same job again.
    let again = planned(80, &["summarize"], 2);
    assert_eq!(replayed(&again, &part), text(&evaluation));
}

#[test]
fn the_budget_stops_between_requests_and_what_there_is_is_reported() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let (job, server) = (planned(60, &["summarize"], 1), reader("neither"));
    let model = model(&server);
    let price = Prices::bundled().lookup("gpt-4o", None).expect("a price");
    let budget = |limit| Budget { limit: Usd(limit), price: price.clone() };
    let mut log = EvaluationLog::new(&model, Some(path.clone()));
    let stopped = evaluate(&job, Some(&model), &mut log, Some(&budget(0.2))).expect("answers");
    assert_eq!(stopped.stopped, Some(Stopped::Budget));
    let report = &stopped.report;
    assert!(report.requests.not_sent > 0 && report.requests.answered > 0, "{report:?}");
    let probes = report.probes.as_ref().expect("tier 1");
    assert!(probes.selection.unanswered > 0);
    let selected = probes.selection.selected;
    assert!(probes.lanes[0].retained.n <= selected);
    assert_eq!(replayed(&job, &path), text(&stopped));
    // A larger budget continues.
    let mut log = EvaluationLog::open(&path).expect("a log");
    let whole = evaluate(&job, Some(&model), &mut log, Some(&budget(9.0))).expect("answers");
    assert_eq!((whole.stopped, whole.report.requests.not_sent), (None, 0));
    let probes = whole.report.probes.expect("tier 1");
    assert!(probes.selection.selected > selected);
    let mut log = EvaluationLog::new(&model, None);
    let nothing = evaluate(&job, Some(&model), &mut log, Some(&budget(0.0)));
    assert_eq!(nothing.unwrap_err(), "the budget is too small for one request");
}

#[test]
fn a_stopped_run_that_continues_with_its_log_keeps_to_its_budget() {
    let (job, server) = (planned(60, &["summarize"], 1), reader("neither"));
    let model = model(&server);
    let price = Prices::bundled().lookup("gpt-4o", None).expect("a price");
    let budget = Budget { limit: Usd(0.2), price: price.clone() };
    let mut log = EvaluationLog::new(&model, None);
    let stopped = evaluate(&job, Some(&model), &mut log, Some(&budget)).expect("answers");
    assert_eq!(stopped.stopped, Some(Stopped::Budget));
    let (n_answers, n_sent) = (log.n_answers(), server.received().len());
    let continued = evaluate(&job, Some(&model), &mut log, Some(&budget)).expect("answers");
    assert_eq!(continued.stopped, Some(Stopped::Budget));
    let n_more = server.received().len() - n_sent;
    assert!(n_more * 2 < n_sent, "{n_more} after {n_sent}");
    assert_eq!(log.n_answers(), n_answers + n_more);
}

#[test]
fn answers_that_choose_nothing_and_failed_requests_are_counted() {
    let job = planned(30, &["summarize"], 1);
    let odd = Server::new(|request, client| {
        let body = request.json();
        if body["messages"].to_string().contains("Answer one question") {
            let too_long = "{\"error\":{\"message\":\"maximum context length exceeded\",\"code\":\"context_length_exceeded\"}}";
            let refusal = format!(
                "{STREAM_HEAD}data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]})
            );
            client.send(&match request.n % 5 {
                0 => reply("Both A and B"),
                1 => reply("I do not know."),
                2 => reply(""),
                3 => refusal.into_bytes(),
                _ => answer("400 Bad Request", "", too_long),
            });
        } else {
            client.send(&reply("Nothing."));
        }
    });
    let model = model(&odd);
    let mut log = EvaluationLog::new(&model, None);
    let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    let probes = evaluation.report.probes.as_ref().expect("tier 1");
    let counts = [probes.no_context, probes.full_context, probes.lanes[0].answers];
    let sum = |of: fn(&plimsoll::analysis::probes::AnswerCounts) -> usize| {
        counts.iter().map(of).sum::<usize>()
    };
    assert!(sum(|c| c.both) > 0 && sum(|c| c.neither) > 0 && sum(|c| c.empty) > 0);
    assert!(sum(|c| c.refused) > 0 && sum(|c| c.unanswered) > 0);
    assert_eq!(sum(|c| c.right + c.wrong), 0);
    assert_eq!(evaluation.report.requests.failed, sum(|c| c.refused + c.unanswered));
    assert_eq!(probes.lanes[0].retained.value, None, "nothing can be judged");
}

#[test]
fn a_lane_that_removes_nothing_has_no_questions_and_a_failure_ends_the_run() {
    let server = reader("A");
    let model = model(&server);
    let idle = planned(10, &["none"], 3);
    assert_eq!((idle.plan.n_probes(), idle.cost(&model).questions), (0, 0));
    let mut log = EvaluationLog::new(&model, None);
    let evaluation = evaluate(&idle, Some(&model), &mut log, None).expect("a report");
    assert_eq!(evaluation.report.sessions[0].compacted_calls, 0);
    let probes = evaluation.report.probes.expect("tier 1");
    assert_eq!(probes.lanes[0].retained.value, None);
    assert_eq!(server.received().len(), 0);

    let job = planned(30, &["summarize"], 1);
    let closed = Server::with_answer(answer(
        "401 Unauthorized",
        "",
        "{\"error\":{\"message\":\"wrong key\"}}",
    ));
    let refused = self::model(&closed);
    let mut log = EvaluationLog::new(&refused, None);
    let failed = evaluate(&job, Some(&refused), &mut log, None).unwrap_err();
    assert!(failed.contains("key"), "{failed}");
    assert!(closed.received().len() <= 3, "at most one request a thread");
    model.stop.cancel();
    let mut log = EvaluationLog::new(&model, None);
    let cancelled = evaluate(&job, Some(&model), &mut log, None).unwrap_err();
    assert_eq!(cancelled, "cancelled before the first answer");
    assert_eq!(server.received().len(), 0);
}

#[test]
fn the_judges_quotes_are_checked_and_false_ones_count_as_missing() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    let job = PlannedJob::new(job_of(Tier::Judge, case(40), &["summarize"], 2));
    let server = Server::new(|request, client| {
        let body = request.json();
        let messages = body["messages"].to_string();
        if !messages.contains("Stop the work and judge it") {
            return client.send(&reply("Nothing is known."));
        }
        // The first metric is only in contexts that were not compacted.
        let quoted = json!([
            {"action": 1, "status": "supported", "quote": "metric_0 = 1000"},
            {"action": 2, "status": "supported", "quote": "an invented quote"},
            {"action": 3, "status": "missing", "quote": ""},
        ]);
        client.send(&reply(&format!("```json\n{quoted}\n```")));
    });
    let model = model(&server);
    let mut log = EvaluationLog::new(&model, Some(path.clone()));
    let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    let judge = evaluation.report.judge.as_ref().expect("tier 2");
    assert!(judge.points > 3 && judge.left_out_after_recorded_compaction == 0);
    let (full, lane) = (judge.full_context, &judge.lanes[0]);
    assert_eq!((full.supported, full.false_quotes), (judge.points, judge.points));
    assert_eq!(lane.counts.supported, 0, "{lane:?}");
    assert_eq!(lane.counts.false_quotes, 2 * 2 * judge.points);
    assert!(lane.counts.not_judged > 0);
    // 1 of 3 actions is supported with the full context.
    let difference = lane.difference_to_full.value.expect("pairs");
    assert!((difference + 1.0 / 3.0).abs() < 0.05, "{lane:?}");
    assert_eq!(replayed(&job, &path), text(&evaluation));
    let summaries = evaluation.report.lanes[0].summary_requests;
    assert_eq!(job.cost(&model).questions + summaries, server.received().len());
}

#[test]
fn next_actions_are_compared_with_the_disagreement_of_the_full_context() {
    // With definitions, the model calls a tool in two pieces; without, it names one.
    for has_definitions in [true, false] {
        let here = tempfile::tempdir().expect("a temporary folder");
        let path = here.path().join("log.jsonl");
        let server = Server::new(move |request, client| {
            let body = request.json();
            let messages = body["messages"].to_string();
            let is_question = if has_definitions {
                body["tools"][0]["function"]["name"] == "bash"
            } else {
                messages.contains("you would make next")
            };
            let command = match (is_question, messages.contains("Nothing is known.")) {
                (false, _) => return client.send(&reply("Nothing is known.")),
                (true, false) => "make test",
                (true, true) => "make clean",
            };
            if !has_definitions {
                let action = json!({"tool": "bash", "target": command});
                return client.send(&reply(&action.to_string()));
            }
            let arguments = json!({"command": command}).to_string();
            let (first, second) = arguments.split_at(7);
            let call = |call: plimsoll::json::Value| {
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string()
            };
            let first =
                json!({"index": 0, "id": "c", "function": {"name": "bash", "arguments": first}});
            let second = json!({"index": 0, "function": {"arguments": second}});
            let end =
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
            client.send(&stream(&[&call(first), &call(second), &end.to_string()]));
        });
        let model = model(&server);
        let case = case_of(has_definitions, 30);
        let job = job_of(Tier::NextAction, case, &["summarize", "none"], 1);
        let job = PlannedJob::new(job);
        let mut log = EvaluationLog::new(&model, Some(path.clone()));
        let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
        let actions = evaluation.report.next_action.as_ref().expect("tier 3");
        assert!(actions.points > 2 && actions.unusable_answers == 0, "{actions:?}");
        let sessions = (actions.sessions_with_definitions, actions.sessions_asked_in_text);
        assert_eq!(sessions.0 + sessions.1, 1);
        assert_eq!(sessions.0 == 1, has_definitions);
        assert_eq!(actions.full_agreement.value, Some(1.0));
        let excess: Vec<_> = actions.lanes.iter().map(|lane| lane.excess.value).collect();
        assert_eq!(excess, [Some(-1.0), Some(0.0)]);
        assert_eq!(replayed(&job, &path), text(&evaluation));
    }
}

#[test]
fn planted_facts_are_followed_through_successive_compactions() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let path = here.path().join("log.jsonl");
    // Keeps instructions and values, and shortens paths, until the second summary.
    let server = Server::new(|request, client| {
        let text = request.json()["messages"].to_string();
        let is_second = text.contains("Kept:");
        let mut summary = String::from("Kept:\n");
        for note in text.split("Note: ").skip(1).filter(|_| !is_second) {
            let note = &note[..note.find("\\n").unwrap_or(note.len())];
            match note.split_once("config/templates/") {
                Some((_, path)) => summary += &path[..8],
                None if note.starts_with("ConnectionError") => {}
                None => summary += note,
            }
            summary += "\n";
        }
        client.send(&reply(&summary));
    });
    let model = model(&server);
    let planting = Planting { canaries: 8, rounds: 2 };
    let job = job_of(Tier::Planted(planting), case(60), &["summarize", "none"], 2);
    let job = PlannedJob::new(job);
    let cost = job.cost(&model);
    assert!(cost.questions == 0 && cost.summaries >= 4, "{cost:?}");
    let mut log = EvaluationLog::new(&model, Some(path.clone()));
    let evaluation = evaluate(&job, Some(&model), &mut log, None).expect("answers");
    let planted = evaluation.report.planted.as_ref().expect("planted");
    let [first, second] = &planted.lanes[0].rounds[..] else {
        panic!("two rounds: {planted:?}");
    };
    assert!((12..=16).contains(&first.survival.n), "{first:?}");
    // Messages that were not summarized have their facts still.
    let [constraint, value, path_kind, error] = first.kinds[..] else {
        panic!("four types");
    };
    assert_eq!((constraint.partial, constraint.gone), (0, 0), "{first:?}");
    assert_eq!((value.partial, value.gone), (0, 0), "{first:?}");
    assert!(path_kind.partial > 0 && path_kind.gone == 0, "{first:?}");
    assert!(error.gone > 0 && error.partial == 0, "{first:?}");
    assert!(second.survival.value < first.survival.value, "{second:?}");
    assert_eq!(planted.lanes[1].rounds, [], "a lane without compactions");
    assert_eq!(replayed(&job, &path), text(&evaluation));
}
