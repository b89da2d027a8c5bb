//! Estimates the requests that an export would send to a model and their price, before anything is sent.

use super::job::ExportJob;
use crate::analysis::cost::{Quote, Server, quote};
use crate::engine::{
    Answer, Case, Estimator, KnobValues, Policy, Reply, Request, RequestSize, Schedule, drive,
};
use crate::exec::summary::{Model, Summarizer, planned_calls};
use crate::presets::prices::Prices;
use crate::providers::Endpoint;
use crate::units::Tokens;

/// Estimated requests of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestCost {
    /// Number of requests if every summary has the largest allowed size.
    pub requests: usize,
    /// Actual tokens of all requests, including prompts.
    pub tokens: Tokens,
    /// Maximum number of actual tokens of all answers.
    pub answers: Tokens,
    /// Price.
    pub quote: Quote,
}

/// Runs the policy with predicted summaries. The actual requests depend on the answers. Returns `None` without a model.
pub fn request_cost(job: &ExportJob) -> Option<RequestCost> {
    let Summarizer::Model(model) = &job.summarizer else {
        return None;
    };
    let calls =
        planned_requests(&job.case, &job.policy, &job.knobs, job.schedule, job.until, model);
    let endpoint = &model.client.endpoint;
    Some(RequestCost {
        requests: calls.len(),
        tokens: calls.iter().map(|call| call.sent).sum(),
        answers: calls.iter().map(|call| call.answer).sum(),
        quote: quote_at(Prices::in_use(), endpoint, &calls),
    })
}

/// Estimates the price of requests to an endpoint without a cache.
pub(crate) fn quote_at(prices: &Prices, endpoint: &Endpoint, requests: &[RequestSize]) -> Quote {
    if endpoint.is_local() {
        return Quote::Local;
    }
    let server = Server { host: endpoint.host(), is_own: endpoint.is_providers_own() };
    quote(prices, &endpoint.model, server, requests)
}

/// Runs the policy with predicted summaries and returns the calls of the model that the summaries would take.
pub(crate) fn planned_requests(
    case: &Case,
    policy: &Policy,
    knobs: &KnobValues,
    schedule: Schedule,
    until: Option<usize>,
    model: &Model,
) -> Vec<RequestSize> {
    let calls = Vec::new();
    let mut planner = Planner { model, calls };
    drive(case, policy, knobs, schedule, until, &mut planner);
    planner.calls
}

/// Predicts every summary and records the calls of the model that it would take.
struct Planner<'a> {
    model: &'a Model,
    calls: Vec<RequestSize>,
}

impl Answer for Planner<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        self.calls.extend(planned_calls(case, request, self.model));
        Estimator.answer(case, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Schedule;
    use crate::exec::model::ModelClient;
    use crate::exec::{LoadOptions, load_bytes};
    use crate::progress::Progress;
    use crate::providers::{APIS, Endpoint};
    use crate::tokens;
    use crate::{formats, presets};
    use std::path::PathBuf;
    use std::sync::Arc;

    const SESSION: &[u8] = include_bytes!("../../../sample_sessions/slow-growth.jsonl");

    fn cost(base_url: &str, name: &str, window: Option<u64>) -> Option<RequestCost> {
        let options =
            LoadOptions { counter: tokens::default_counter(), window: None, conversation: 0 };
        let loaded = load_bytes("s.jsonl", SESSION.to_vec(), &options, &Progress::default());
        let policy = presets::by_name("summarize")?;
        let endpoint = Endpoint::new(APIS[0], base_url, name).ok()?;
        request_cost(&ExportJob {
            case: loaded.ok()?.case,
            knobs: policy.defaults(),
            policy,
            schedule: Schedule::Now { force: true },
            until: None,
            summarizer: Summarizer::Model(Arc::new(Model {
                client: ModelClient::new(endpoint, None),
                window,
                prompt: None,
                temperature: None,
                log: None,
                stop: Arc::default(),
                on_event: None,
            })),
            format: formats::by_name("openai_chat")?,
            output: PathBuf::from("out.json"),
            files: None,
            given: Vec::new(),
        })
    }

    #[test]
    fn the_price_of_a_listed_model_includes_the_answer() {
        let cost = cost("", "gpt-4o", Some(1_000_000)).unwrap();
        assert_eq!(cost.requests, 1);
        let Quote::Listed(listed) = cost.quote else {
            panic!("{:?}", cost.quote);
        };
        // 2.5 and 10 dollars for a million.
        let sent = cost.tokens.as_f64() * 2.5e-6;
        assert!((listed.price.sent.0 - sent).abs() < 1e-9, "{listed:?}");
        let answers = cost.answers.as_f64() * 10e-6;
        assert!((listed.price.most.0 - listed.price.sent.0 - answers).abs() < 1e-9, "{listed:?}");
        assert_eq!(listed.reseller, None);
    }

    #[test]
    fn text_beyond_the_models_window_takes_more_requests() {
        let whole = cost("", "gpt-4o", Some(1_000_000)).unwrap();
        let parts = cost("", "gpt-4o", Some(whole.tokens.0 / 3)).unwrap();
        assert!((4..=9).contains(&parts.requests), "{parts:?}");
        assert!(parts.tokens > whole.tokens, "each part repeats the prompt");
        let most = |cost: &RequestCost| match &cost.quote {
            Quote::Listed(listed) => listed.price.most.0,
            other => panic!("{other:?}"),
        };
        assert!(most(&parts) > most(&whole));
    }

    #[test]
    fn local_servers_and_unknown_models_have_no_price() {
        let local = cost("http://localhost:11434", "gpt-4o", None).unwrap();
        assert_eq!(local.quote, Quote::Local);
        let unknown = cost("https://models.example.com", "own-1", None).unwrap();
        let model = "own-1".to_owned();
        assert_eq!(unknown.quote, Quote::Unknown { model });
    }
}
