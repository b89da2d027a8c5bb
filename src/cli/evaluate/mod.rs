//! `plimsoll evaluate`: the facts of a session that each policy kept.

mod json_output;
mod model;
mod model_page;
mod model_text;
mod score;
mod text;
mod validity;

use super::args::{GlobalOptions, InputArgs};
use super::billing::BillingArgs;
use super::lanes::{self, LaneArgs};
use super::output::{clean, json, print, print_wrapped};
use super::played::{self, compactions, play};
use super::report::{ReportFormat, written};
use super::rereads::expected_rereads;
use super::status::Status;
use super::targets::{SessionId, Skipped, Targets};
use crate::analysis::cost::{Billing, Bills, price_lane, price_recorded};
use crate::analysis::facts::{Facts, LaneSurvival};
use crate::analysis::rereads::{ExpectedRereads, RereadModel};
use crate::engine::Case;
use crate::exec::write_file;
use crate::presets::prices::Prices;
use crate::report::{Block, Played, html_page, markdown_page};
use crate::session::Session;
use crate::units::{Tokens, Usd};
use anyhow::bail;
pub(super) use json_output::Evaluation;
pub(super) use model::evaluated;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Show which facts of a session each policy kept
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  plimsoll evaluate sample_sessions/compacted.jsonl --policy prune -o facts.html"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    /// List all lost or partly kept facts, not only each lane's first
    #[arg(long)]
    all: bool,
    /// Write the result as a page: .html or .md
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["validity", "fit", "items"])]
    output: Option<PathBuf>,
    /// Score a compacted conversation or text of any program
    #[arg(long, value_name = "COMPACTED")]
    score: Option<PathBuf>,
    /// Session that it was made from (required with --score)
    #[arg(long, value_name = "SESSION")]
    source: Option<PathBuf>,
    #[command(flatten)]
    validity: validity::ValidityArgs,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    billing: BillingArgs,
    #[command(flatten)]
    model: model::ModelTierArgs,
}

/// A session with what each lane kept.
pub(super) struct Evaluated {
    id: SessionId,
    title: String,
    messages: usize,
    calls: usize,
    facts: Facts,
    lanes: Vec<EvaluatedLane>,
    /// The only lane is a text that was given with `--score`.
    is_score: bool,
}

impl Evaluated {
    /// Keeps what the output needs: a folder of sessions may be larger than the memory.
    fn new(id: SessionId, session: &Session, facts: Facts, lanes: Vec<EvaluatedLane>) -> Self {
        Self {
            id,
            title: session.title.clone(),
            messages: session.messages.len(),
            calls: session.calls.len(),
            facts,
            lanes,
            is_score: false,
        }
    }
}

/// Facts that a lane kept.
struct EvaluatedLane {
    name: String,
    survival: LaneSurvival,
    /// None for a scored text.
    rereads: Option<ExpectedRereads>,
    /// None if the file does not record them.
    compactions: Option<usize>,
    /// Calls that overflow. Rejected attempts are part of the cost only with `--bill-rejected`. None for a scored text.
    overflows: Option<usize>,
    /// Calls that reach into the output reserve without an overflow. None for a scored text.
    into_reserve: Option<usize>,
    /// None if a price is unknown.
    cost: Option<Usd>,
}

/// The result of the command, for text and JSON.
struct Evaluations {
    sessions: Vec<Evaluated>,
    skipped: Skipped,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        // Options are checked before a large file is read.
        let tier = self.model.tier()?;
        self.refuse_unused(tier.is_some(), shared.json)?;
        let scored = self.scored()?;
        let page = self.output.as_deref().map(Page::new).transpose()?;
        if let Some((compacted, source)) = scored {
            let evaluations = score::score(compacted, source, shared)?;
            return self.output(page, &evaluations, shared);
        }
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        if self.validity.first().is_some() {
            return self.validity.run(&self.inputs, shared, shared.reread_model());
        }
        let targets = Targets::new("evaluate", &self.inputs, shared)?;
        let prices = Prices::in_use();
        if let Some(tier) = tier {
            return self.model.run(tier, &targets, &lanes, prices, page, shared);
        }
        let billing = self.billing.billing(prices)?;
        let mut sessions = Vec::new();
        let skipped = targets.each(shared, |id, case| {
            let played = play(case, none.clone(), lanes.clone());
            let model = shared.reread_model();
            sessions.push(evaluate(id, case, &played, (billing, model)));
            Ok(())
        })?;
        self.output(page, &Evaluations { sessions, skipped }, shared)
    }

    /// Prints facts that were kept, or writes them as a page.
    fn output(
        &self,
        page: Option<Page<'_>>,
        evaluations: &Evaluations,
        shared: &GlobalOptions,
    ) -> anyhow::Result<Status> {
        let shown = TextAndPage {
            text: &|| evaluations.text(self.all),
            blocks: &|| evaluations.blocks(self.all),
        };
        output(page, &shown, &evaluations.json_output(), shared)?;
        Ok(Status::Done)
    }

    /// Fails if an option is given that another one leaves without effect.
    fn refuse_unused(&self, has_model: bool, is_json: bool) -> anyhow::Result<()> {
        let is_score = self.score.is_some();
        let score = is_score.then_some("--score");
        let model = has_model.then_some("--tier, --plant and the model");
        let all = self.all.then_some("--all");
        let (lanes, billing) = (self.lanes.first(), self.billing.first());
        self.validity.check()?;
        if let Some(own) = self.validity.first() {
            if let Some(option) = score.or(model).or(all).or(lanes).or(billing) {
                bail!("{own} reads recorded compactions: leave out {option}");
            }
            if is_json {
                bail!("{own} writes a file: leave out --json");
            }
            return Ok(());
        }
        if let Some(option) = model.filter(|_| is_score) {
            bail!("--score finds facts by rules: leave out {option}");
        }
        if let Some(option) = lanes.or(billing).filter(|_| is_score) {
            bail!("--score compares one file with its source: leave out {option}");
        }
        if let Some(option) = all.or(self.billing.first()).filter(|_| has_model) {
            bail!("{option} requires --tier 0");
        }
        Ok(())
    }

    /// Returns the conversation or text to score and its source, if one is scored.
    fn scored(&self) -> anyhow::Result<Option<(&Path, &Path)>> {
        match (self.score.as_deref(), self.source.as_deref()) {
            (None, None) => Ok(None),
            (None, Some(_)) => bail!("--source requires --score COMPACTED"),
            (Some(compacted), Some(source)) if self.inputs.are_empty() => {
                Ok(Some((compacted, source)))
            }
            (Some(compacted), source) => {
                let source = source.or(self.inputs.files.first().map(PathBuf::as_path));
                let source = source.map_or("SESSION".into(), |source| source.to_string_lossy());
                bail!(
                    "--score compares one file with the session that it was made from: plimsoll evaluate --score {} --source {}",
                    clean(&compacted.to_string_lossy()),
                    clean(&source)
                )
            }
        }
    }
}

/// A new file with the result.
struct Page<'a> {
    output: &'a Path,
    format: ReportFormat,
}

impl<'a> Page<'a> {
    fn new(output: &'a Path) -> anyhow::Result<Self> {
        let format = ReportFormat::of_new(output)?;
        Ok(Self { output, format })
    }

    /// Writes the file and returns a sentence about it.
    fn write(&self, blocks: &[Block]) -> anyhow::Result<String> {
        const TITLE: &str = "What compactions lost";
        let page = match self.format {
            ReportFormat::Html => html_page(TITLE, blocks),
            ReportFormat::Markdown => markdown_page(TITLE, blocks),
        };
        write_file(self.output, page.as_bytes()).map_err(anyhow::Error::msg)?;
        Ok(written(self.output, &page))
    }
}

/// The result for a terminal and for a page.
struct TextAndPage<'a> {
    text: &'a dyn Fn() -> String,
    blocks: &'a dyn Fn() -> Vec<Block>,
}

/// Writes the page, if one is wanted, and prints the result as JSON or, without a page, as text.
fn output(
    page: Option<Page<'_>>,
    shown: &TextAndPage<'_>,
    value: &impl Serialize,
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    let blocks = shown.blocks;
    let written = page.map(|page| page.write(&blocks())).transpose()?;
    match written {
        _ if shared.json => json(value),
        Some(written) => print(&written),
        None => print_wrapped(&(shown.text)()),
    }
}

/// Returns which facts the recorded run kept.
pub(super) fn recorded(
    id: &SessionId,
    case: &Case,
    output_reserve: Tokens,
    shared: &GlobalOptions,
) -> Evaluated {
    let billing = Billing::at(Prices::in_use());
    let played = [played::recorded(case, output_reserve)];
    evaluate(id, case, &played, (billing, shared.reread_model()))
}

fn evaluate(
    id: &SessionId,
    case: &Case,
    played: &[Played],
    (billing, model): (Billing<'_>, &RereadModel),
) -> Evaluated {
    let facts = Facts::new(&case.session);
    let bills = Bills::new(case, billing);
    let expected = expected_rereads(case, billing, model, played);
    let lanes = played.par_iter().zip(expected).map(|(lane, expected)| {
        let cost = match lane.policy {
            Some(_) => price_lane(&bills, &lane.outcome),
            None => price_recorded(&bills, &lane.outcome),
        };
        EvaluatedLane {
            name: lane.lane.clone(),
            survival: LaneSurvival::new(&facts, case, &lane.outcome),
            rereads: Some(expected),
            compactions: compactions(case, lane),
            overflows: Some(lane.outcome.overflows),
            into_reserve: Some(lane.outcome.into_reserve()),
            cost: cost.total(),
        }
    });
    let lanes = lanes.collect();
    Evaluated::new(id.clone(), &case.session, facts, lanes)
}
