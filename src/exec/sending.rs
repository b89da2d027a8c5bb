//! What an export would send to a model, and what that costs, told before anything is sent.

use super::export::ExportJob;
use super::summary::{Model, Summarizer, questions};
use crate::analysis::cost::{Quote, Server, quote};
use crate::engine::{Answer, Case, Estimator, Reply, Request, drive};
use crate::presets::prices::Prices;
use crate::units::Tokens;

/// What would be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    /// Requests, where each is answered by a summary of the largest size allowed.
    pub requests: usize,
    /// True tokens of all requests together, prompts included.
    pub tokens: Tokens,
    /// Most true tokens of the answers together.
    pub answers: Tokens,
    /// What the server charges for it.
    pub quote: Quote,
}

/// Plays the run with predicted summaries. What really is sent depends on the answers. None where no model is asked.
pub fn sending(job: &ExportJob) -> Option<Sending> {
    let Summarizer::Model(model) = &job.summarizer else {
        return None;
    };
    let mut asked = Asked {
        model,
        questions: Vec::new(),
    };
    let (until, schedule) = (job.until, job.schedule);
    drive(
        &job.case,
        &job.policy,
        &job.knobs,
        schedule,
        until,
        &mut asked,
    );
    let endpoint = &model.client.endpoint;
    Some(Sending {
        requests: asked.questions.len(),
        tokens: asked.questions.iter().map(|(sent, _)| *sent).sum(),
        answers: asked.questions.iter().map(|(_, most)| *most).sum(),
        quote: if endpoint.is_local() {
            Quote::Local
        } else {
            let server = Server {
                host: endpoint.host(),
                is_own: endpoint.is_providers_own(),
            };
            let prices = Prices::bundled();
            quote(prices, &endpoint.model, server, &asked.questions)
        },
    })
}

/// Predicts every summary and remembers what would have been asked.
struct Asked<'a> {
    model: &'a Model,
    /// What each question sends, and the most that it gets back.
    questions: Vec<(Tokens, Tokens)>,
}

impl Answer for Asked<'_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        self.questions.extend(questions(case, request, self.model));
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

    const SESSION: &[u8] = include_bytes!("../../sample_sessions/slow-growth.jsonl");

    fn told(base_url: &str, name: &str, window: Option<u64>) -> Option<Sending> {
        let options = LoadOptions {
            counter: tokens::default_counter(),
            window: None,
            conversation: 0,
        };
        let loaded = load_bytes("s.jsonl", SESSION.to_vec(), &options, &Progress::default());
        let policy = presets::by_name("summarize")?;
        let endpoint = Endpoint::new(APIS[0], base_url, name).ok()?;
        sending(&ExportJob {
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
                tell: None,
            })),
            format: formats::by_name("openai_chat")?,
            output: PathBuf::from("out.json"),
            files: None,
            given: Vec::new(),
        })
    }

    #[test]
    fn a_listed_model_has_a_price_that_holds_the_answer_too() {
        let told = told("", "gpt-4o", Some(1_000_000)).unwrap();
        assert_eq!(told.requests, 1);
        let Quote::Listed(listed) = told.quote else {
            panic!("{:?}", told.quote);
        };
        // 2.5 and 10 dollars for a million.
        let sent = told.tokens.as_f64() * 2.5e-6;
        assert!((listed.sent.0 - sent).abs() < 1e-9, "{listed:?}");
        let answers = told.answers.as_f64() * 10e-6;
        assert!(
            (listed.most.0 - listed.sent.0 - answers).abs() < 1e-9,
            "{listed:?}"
        );
        assert_eq!(listed.reseller, None);
    }

    #[test]
    fn what_does_not_fit_the_model_comes_to_more_requests() {
        let whole = told("", "gpt-4o", Some(1_000_000)).unwrap();
        let parts = told("", "gpt-4o", Some(whole.tokens.0 / 3)).unwrap();
        assert!((4..=9).contains(&parts.requests), "{parts:?}");
        assert!(parts.tokens > whole.tokens, "each part repeats the prompt");
        let most = |sending: &Sending| match &sending.quote {
            Quote::Listed(listed) => listed.most.0,
            other => panic!("{other:?}"),
        };
        assert!(most(&parts) > most(&whole));
    }

    #[test]
    fn a_server_of_ones_own_and_an_unknown_model_have_none() {
        let local = told("http://localhost:11434", "gpt-4o", None).unwrap();
        assert_eq!(local.quote, Quote::Local);
        let unknown = told("https://models.example.com", "own-1", None).unwrap();
        let model = "own-1".to_owned();
        assert_eq!(unknown.quote, Quote::Unknown { model });
    }
}
