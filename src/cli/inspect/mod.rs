//! `plimsoll inspect`: the content of a session file, its tokens and warnings.

mod attribution;
mod json_output;
mod text;

use super::args::{FileArg, GlobalOptions};
use super::lanes::{self, Lane, LaneArgs};
use super::output::{counted, json, print_wrapped};
use super::session_files::tree_usage;
use super::status::Status;
use crate::analysis::attribution::{Attribution, ContextItem};
use crate::analysis::cost::{Billing, Bills, price_recorded};
use crate::analysis::usage::TreeUsage;
use crate::analysis::{Clause, Trigger, verdict};
use crate::engine::{Case, Peak, recorded, simulate};
use crate::exec::Loaded;
use crate::exec::stores::repeated_calls;
use crate::formats::{Availability, RecordedData, availability};
use crate::presets::prices::Prices;
use crate::session::{Kind, Message, Role, Session, issues};
use crate::units::{Share, Tokens};
pub(super) use json_output::Inspection;
use rayon::prelude::*;
use std::path::Path;

/// Show the content of a session file, its tokens and warnings
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  plimsoll inspect sample_sessions/compacted.jsonl\n  plimsoll inspect sample_sessions/compacted.jsonl --json"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
}

/// Maximum number of parts in the list of the largest.
const MAX_LARGEST: usize = 10;

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let none = lanes::none(shared)?;
        let loaded = shared.load(&self.file.file)?;
        let mut found = findings(&self.file.file, &loaded, &none, shared)?;
        found.tree = tree_usage(&loaded, found.reserve, shared);
        if shared.json {
            json(&found.json_output())?;
        } else {
            print_wrapped(&found.text())?;
        }
        // The program ends here. Freeing a large session would only take time.
        std::mem::forget(loaded);
        Ok(Status::Done)
    }
}

/// Returns the findings about a loaded file. `none` is the lane without any compaction.
pub(super) fn findings<'a>(
    file: &Path,
    loaded: &'a Loaded,
    none: &Lane,
    shared: &GlobalOptions,
) -> anyhow::Result<InspectFindings<'a>> {
    let reserve = none.checked_reserve(&loaded.case, shared)?;
    let mut found = InspectFindings::new(loaded, reserve, shared.conversation.unwrap_or(0));
    let preset = working_preset(&loaded.case, none, shared)?;
    found.verdict.extend(preset.iter().map(|clause| clause.text.as_str()));
    found.warnings.extend(repeats(file, &loaded.case.session));
    Ok(found)
}

/// Returns the sentence about a preset that works if the generic presets do not.
fn working_preset(case: &Case, none: &Lane, shared: &GlobalOptions) -> anyhow::Result<Vec<Clause>> {
    // A session that fits without any compaction needs no policy.
    let unmanaged = simulate(case, &none.policy, &none.knobs, None);
    if unmanaged.overflows == 0 {
        return Ok(Vec::new());
    }
    let lanes = LaneArgs::default().lanes(shared)?;
    let run = |lane: &Lane| simulate(case, &lane.policy, &lane.knobs, None);
    let compared: Vec<_> = lanes.par_iter().map(run).collect();
    let names: Vec<_> = lanes.iter().map(|lane| &*lane.name).collect();
    let none = format!("None of {}", names.join(", "));
    Ok(lanes::working_preset(case, &none, &compared, shared))
}

/// Returns a warning if another file of the folder has calls of the session too.
fn repeats(file: &Path, session: &Session) -> Option<String> {
    let repeated = repeated_calls(file, session)?;
    Some(format!(
        "{} of {} are also in {}: the program wrote them again when it resumed that session; do not count them twice",
        repeated.calls,
        counted(session.calls.len(), "call"),
        repeated.file
    ))
}

/// The result of the command, for text and JSON.
pub(super) struct InspectFindings<'a> {
    loaded: &'a Loaded,
    case: &'a Case,
    conversation: usize,
    reserve: Tokens,
    verdict: String,
    trigger: Trigger,
    peak: Option<Peak>,
    peak_share: Share,
    end: Tokens,
    attribution: Attribution,
    /// Pieces of the largest recorded context, in order.
    largest_context: Vec<ContextItem>,
    warnings: Vec<String>,
    issues: Vec<String>,
    /// Usage by conversation, if there are sub-agents or branches.
    tree: Option<TreeUsage>,
}

impl<'a> InspectFindings<'a> {
    fn new(loaded: &'a Loaded, reserve: Tokens, conversation: usize) -> Self {
        let case = &loaded.case;
        let recorded = recorded(case, reserve, None);
        let trigger = Trigger::of_lanes(case, reserve, None);
        let bills = Bills::new(case, Billing::at(Prices::in_use()));
        let cost = price_recorded(&bills, &recorded);
        let attribution = Attribution::new(case, &recorded, &bills, &cost);
        let warnings = loaded
            .warnings
            .iter()
            .map(ToString::to_string)
            .chain(case.windows.warnings.iter().cloned());
        let issues = issues(&case.session).into_iter();
        Self {
            loaded,
            case,
            conversation,
            reserve,
            verdict: verdict(case, &recorded, reserve, &trigger).text(),
            trigger,
            peak: recorded.peak(),
            peak_share: recorded.peak_share(),
            end: recorded.end,
            largest_context: attribution::largest_context(
                case,
                &attribution,
                reserve,
                recorded.peak(),
            ),
            attribution,
            warnings: warnings.collect(),
            issues: issues
                .map(|i| format!("message {}: {} ({})", i.message + 1, i.kind.sentence(), i.call))
                .collect(),
            tree: None,
        }
    }

    fn session(&self) -> &Session {
        &self.case.session
    }

    /// Returns the messages of the history.
    fn history(&self) -> impl Iterator<Item = &Message> + Clone {
        self.session().messages.iter().filter(|m| m.in_history)
    }

    /// Returns the number of messages of each role that occurs, in a fixed order.
    fn roles(&self) -> Vec<(&'static str, usize)> {
        let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
        let count = |role: Role| self.history().filter(|m| m.role == role).count();
        let counts = roles.map(|role| (role.name(), count(role)));
        counts.into_iter().filter(|(_, n)| *n > 0).collect()
    }

    /// Returns the number of messages that only the recorded compaction wrote. They are numbered, but not part of the
    /// history.
    fn n_compaction_messages(&self) -> usize {
        self.session().messages.len() - self.history().count()
    }

    /// Returns the number of code points in all text of the history.
    fn characters(&self) -> usize {
        let parts = self.history().flat_map(|m| self.session().parts_of(m));
        parts.map(|part| part.body.text().chars().count()).sum()
    }

    fn calls_with_usage(&self) -> usize {
        self.session().calls.iter().filter(|s| s.usage.is_some()).count()
    }

    /// Returns the recorded tokens of each kind. The ledger counts tokens that are not recorded as system.
    fn by_kind(&self) -> impl Iterator<Item = (&'static str, Tokens)> {
        let mut sums = self.case.ledger.by_kind(self.session());
        let system = &mut sums[Kind::System.index()];
        *system = *system - self.case.ledger.overhead;
        Kind::ALL.iter().map(move |kind| (kind.name(), sums[kind.index()]))
    }

    /// Returns the availability of each kind of data that a session may record.
    fn availability(&self) -> Vec<(RecordedData, Availability)> {
        let loaded = self.loaded;
        availability(self.session(), &loaded.conversations, &loaded.report)
    }
}
