//! `plimsoll evaluate --tier 1` and above: measures with a model what compactions lost.

use super::{Page, TextAndPage, model_page, model_text, output};
use crate::analysis::statistics::MIN_CLUSTERS;
use crate::cli::args::{GlobalOptions, first_given, number};
use crate::cli::lanes::Lane;
use crate::cli::model::{ApiArgs, api, api_names};
use crate::cli::output::{clean, counted, note, progress, tokens};
use crate::cli::status::Status;
use crate::cli::targets::Targets;
use crate::exec::Model;
use crate::exec::evaluate::{
    Budget, CONCURRENCY, EvaluatedLane, EvaluatedSession, EvaluationJob, EvaluationLog,
    EvaluationPlan, PlanCost, Planting, RunOptions, SAMPLES, Stopped, Tier, run,
};
use crate::figure::usd;
use crate::presets::prices::Prices;
use crate::providers::Api;
use crate::units::Usd;
use anyhow::{anyhow, bail};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Options of the tiers that ask a model.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelTierArgs {
    /// Measure: 0 facts, 1 questions, 2 judge, 3 next action
    #[arg(long, value_name = "TIER", value_parser = tier, default_value = "0")]
    tier: u8,
    /// API that writes summaries and answers; see `plimsoll help models`
    #[arg(long, value_name = "NAME", value_parser = api)]
    summarizer: Option<&'static Api>,
    #[command(flatten)]
    api: ApiArgs,
    /// Plays of each policy, with new summaries [default: 5]
    #[arg(long, value_name = "N", value_parser = up_to::<100>)]
    samples: Option<u16>,
    /// Stop before the requests of this run cost more [default: no limit]
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Requests at a time [default: 4]
    #[arg(long, hide = true, value_name = "N", value_parser = up_to::<64>)]
    concurrency: Option<u16>,
    /// Continue a logged run, or repeat it without a model
    #[arg(long, value_name = "LOG")]
    resume: Option<PathBuf>,
    /// Plant facts and follow them through compactions
    #[arg(long, value_name = "N", value_parser = up_to::<1000>, conflicts_with = "tier")]
    plant: Option<u16>,
    /// Compactions to follow planted facts through [default: 5]
    #[arg(long, value_name = "R", value_parser = up_to::<100>)]
    rounds: Option<u16>,
}

/// Default number of compactions to follow planted facts through. Chosen: a single one does not show whether losses add
/// up, and each further one costs a summary of every policy and sample.
const ROUNDS: u16 = 5;

/// Parses a tier.
fn tier(text: &str) -> anyhow::Result<u8> {
    match text.parse() {
        Ok(tier @ 0..=3) => Ok(tier),
        _ => bail!("give 0, 1, 2 or 3"),
    }
}

/// Parses a whole number from 1 to `MOST`.
fn up_to<const MOST: u16>(text: &str) -> anyhow::Result<u16> {
    match text.parse() {
        Ok(n) if (1..=MOST).contains(&n) => Ok(n),
        _ => bail!("give a whole number from 1 to {MOST}"),
    }
}

/// Parses a sum of money.
fn dollars(text: &str) -> anyhow::Result<f64> {
    match number(text) {
        Some(n) if n >= 0.0 => Ok(n),
        _ => bail!("give a number of dollars, 0 or more"),
    }
}

impl ModelTierArgs {
    /// Returns what a model is asked; `None` for tier 0.
    ///
    /// # Errors
    /// Fails if an option is given that the tier does not use.
    pub(super) fn tier(&self) -> anyhow::Result<Option<Tier>> {
        if self.rounds.is_some() && self.plant.is_none() {
            bail!("--rounds requires --plant N");
        }
        let tier = match (self.plant, self.tier) {
            (Some(canaries), _) => Some(Tier::Planted(Planting {
                canaries: canaries.into(),
                rounds: self.rounds.unwrap_or(ROUNDS).into(),
            })),
            (None, 0) => None,
            (None, 1) => Some(Tier::Probes),
            (None, 2) => Some(Tier::Judge),
            (None, _) => Some(Tier::NextAction),
        };
        let given = first_given([
            ("--summarizer", self.summarizer.is_some()),
            ("--budget", self.budget.is_some()),
            ("--resume", self.resume.is_some()),
            ("--samples", self.samples.is_some()),
            ("--concurrency", self.concurrency.is_some()),
        ]);
        match given.or_else(|| self.api.first()) {
            Some(option) if tier.is_none() => {
                bail!("{option} requires --tier 1, 2 or 3, or --plant N")
            }
            _ => Ok(tier),
        }
    }

    /// Runs the evaluation and prints its result.
    pub(super) fn run(
        &self,
        tier: Tier,
        targets: &Targets,
        lanes: &[Lane],
        prices: &Prices,
        page: Option<Page<'_>>,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Status> {
        let mut sessions = Vec::new();
        targets.each(shared, |_, case| {
            sessions.push(EvaluatedSession::new(case.clone()));
            Ok(())
        })?;
        let name = sessions.first().map_or("evaluation", |s| &*s.case.session.source.name);
        let (model, mut log) = self.model(name, shared)?;
        let job = EvaluationJob::new(
            tier,
            sessions,
            evaluated(lanes),
            self.samples.map_or(SAMPLES, usize::from),
        );
        let plan = EvaluationPlan::new(&job);
        if plan.n_questions(&job) == 0 && !matches!(tier, Tier::Planted(_)) {
            bail!(
                "there is nothing to ask: no policy removes a message with a fact that a question can be written about"
            );
        }
        if let Some(model) = &model {
            note(&announcement(model, &plan.cost(&job, model, prices)));
        }
        let budget = self.budget(model.as_ref(), prices)?;
        let on_progress = |n: usize| progress(&format!("{} answered", counted(n, "request")));
        let options = RunOptions {
            model: model.as_ref(),
            budget: budget.as_ref(),
            concurrency: self.concurrency.map_or(CONCURRENCY, usize::from),
            on_progress: Some(&on_progress),
            on_probes: None,
        };
        let result = run(&job, &plan, &mut log, options);
        progress("");
        if let Some(error) = log.error() {
            note(error);
        }
        if let (Some(path), Some(_)) = (log.path(), &model) {
            note(&format!("logged in {}", path.display()));
        }
        let evaluation = result.map_err(|error| anyhow!(error))?;
        if let Some(stopped) = &evaluation.stopped {
            note(&stop_text(stopped, log.path().is_some()));
        }
        let shown = TextAndPage {
            text: &|| model_text::evaluation_text(&evaluation.report),
            blocks: &|| model_page::blocks(&evaluation.report),
        };
        output(page, &shown, &evaluation.report, shared)?;
        let has_failed = matches!(evaluation.stopped, Some(Stopped::Failed(_)));
        Ok(if has_failed { Status::CheckFailed } else { Status::Done })
    }

    /// Returns the model, if one is asked, and the log.
    fn model(
        &self,
        session: &str,
        shared: &GlobalOptions,
    ) -> anyhow::Result<(Option<Model>, EvaluationLog)> {
        let log = self.resume.as_deref().map(EvaluationLog::open).transpose();
        let log = log.map_err(|error| anyhow!(error))?;
        let Some(api) = self.summarizer else {
            return match (log, self.api.first()) {
                (_, Some(option)) => bail!("{option} requires --summarizer"),
                (Some(log), None) => Ok((None, log)),
                (None, None) => bail!(
                    "this tier asks a model: add --summarizer {} and --model NAME",
                    api_names("|")
                ),
            };
        };
        let mut model = self.api.model(api, session, shared)?;
        let path = model.log.take();
        let Some(log) = log else {
            let log = EvaluationLog::new(&model, path);
            return Ok((Some(model), log));
        };
        if log.settings.model != model.name() {
            bail!("the log has answers of {}, not of {}", clean(&log.settings.model), model.name());
        }
        // Requests must be the same as those in the log.
        model.window = log.settings.window;
        model.prompt.clone_from(&log.settings.prompt);
        model.temperature = log.settings.temperature;
        Ok((Some(model), log))
    }

    fn budget(&self, model: Option<&Model>, prices: &Prices) -> anyhow::Result<Option<Budget>> {
        let (Some(limit), Some(model)) = (self.budget, model) else {
            return Ok(None);
        };
        Budget::new(Usd(limit), &model.client.endpoint, prices)
            .map_err(|why| anyhow!("--budget: {why}; give one with --prices FILE"))
    }
}

/// Returns the lanes as they are evaluated.
pub(crate) fn evaluated(lanes: &[Lane]) -> Vec<EvaluatedLane> {
    let lanes = lanes.iter();
    lanes
        .map(|lane| EvaluatedLane::new(&*lane.name, lane.policy.clone(), lane.knobs.clone()))
        .collect()
}

/// Returns what is sent to which server, its price, and what the run can detect.
fn announcement(model: &Model, cost: &PlanCost) -> String {
    let endpoint = &model.client.endpoint;
    let encryption = if endpoint.is_encrypted() { "" } else { ", unencrypted" };
    let mut text = format!(
        "sends about {} tokens in {} and {} to {} ({}{encryption}) and gets back at most {}; price without a cache: {}",
        tokens(cost.tokens),
        counted(cost.questions, "question"),
        counted(cost.summaries, "summary request"),
        endpoint.host(),
        endpoint.model,
        tokens(cost.answers),
        cost.quote,
    );
    if let Some(cached) = cost.cached {
        let _ = write!(
            text,
            "; with the provider's cache: ≈ {}, at most {}",
            usd(cached.sent),
            usd(cached.most)
        );
    }
    if cost.pairs > 0 {
        let pairs = counted(cost.pairs, "pair");
        let points = counted(cost.clusters, "point");
        let _ = match cost.detectable {
            Some(d) => {
                write!(text, "; {pairs} at {points} detect a difference of {:.0} points", d * 100.0)
            }
            None => write!(
                text,
                "; {pairs} at {points} are too few to detect any difference (at least {MIN_CLUSTERS} points are needed)"
            ),
        };
    }
    text
}

/// Returns the reason why the run ended early, and whether it can be continued.
fn stop_text(stopped: &Stopped, is_logged: bool) -> String {
    let reason = match stopped {
        Stopped::Budget => "stopped at the budget".to_owned(),
        Stopped::Cancelled => "cancelled".to_owned(),
        Stopped::Failed(reason) => format!("stopped: {reason}"),
    };
    let rest =
        if is_logged { "--resume continues" } else { "it cannot be continued without a log" };
    format!("{reason}; {rest}")
}
