//! The preset to compare if no compared policy keeps the session within its context window.

use super::{Clause, Link};
use crate::analysis::loss::{Names, blind_edits};
use crate::analysis::rereads::{FileReads, RereadMeasure, RereadModel, RereadPrices};
use crate::analysis::tune::FirstReaders;
use crate::engine::{Case, KnobValues, Outcome, Policy, simulate};
use crate::figure::whole_percent;
use crate::presets::{PRESETS, Preset};
use crate::units::{Share, Tokens};
use rayon::prelude::*;

/// A preset that keeps a session within its context window.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkingPreset {
    /// Name of the preset.
    pub name: &'static str,
    /// Its display name.
    pub label: String,
    /// Its largest context as a share of the context window.
    pub peak: Share,
}

/// Maximum size of a file for which all presets are replayed. Each replay copies the texts that it changes, and one
/// runs on each core: a text of 50 MB took 853 MB.
const MAX_BYTES: usize = 16 << 20;

/// Losses and peak of a preset, smaller is better: results that no call read whole, blind edits, files whose content is
/// removed, tokens.
type Rank = (usize, usize, usize, Tokens);

impl WorkingPreset {
    /// Returns the preset to compare with policies that were played with these outcomes. Returns `None` if one of them
    /// works, if no preset does, or if the file is too large to try all. `values` returns the settings of a policy.
    ///
    /// Of several presets, the one that removes or cuts the fewest results before their first read is returned, then
    /// the one with the fewest blind edits, with the fewest removals of a file's content, and with the smallest
    /// context.
    pub fn find<'a>(
        case: &Case,
        compared: impl IntoIterator<Item = &'a Outcome>,
        values: impl Fn(&Policy) -> KnobValues + Sync,
    ) -> Option<Self> {
        let mut compared = compared.into_iter().peekable();
        let is_large = case.session.source.bytes.len() > MAX_BYTES;
        if compared.peek().is_none()
            || compared.any(works)
            || case.session.calls.is_empty()
            || is_large
        {
            return None;
        }
        let names = Names::new(&case.session);
        let files = FileReads::new(case);
        let prices = RereadPrices::unknown(case.session.calls.len());
        let measure =
            RereadMeasure { model: RereadModel::bundled(), files: &files, prices: &prices };
        let readers = FirstReaders::new(case);
        let presets = PRESETS.par_iter().filter(|preset| !is_variant(preset));
        let ranked = presets.filter_map(|preset| {
            let policy = preset.policy().ok()?;
            let outcome = simulate(case, &policy, &values(&policy), None);
            let ranked = rank(&names, &readers, measure, case, &outcome)?;
            let peak = outcome.peak()?;
            let window = case.windows.at(peak.call.unwrap_or(case.session.calls.len() - 1));
            let found =
                Self { name: preset.name, label: policy.label, peak: peak.tokens.share_of(window) };
            Some((ranked, found))
        });
        let mut ranked: Vec<_> = ranked.collect();
        // Stable: of equal presets, the one that is offered first.
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().next().map(|(_, found)| found)
    }

    /// Returns the sentence about the preset, which follows a verdict. `none` names the compared policies, and `action`
    /// is a link that compares the preset.
    pub fn clauses(&self, none: &str, action: &str) -> [Clause; 3] {
        let (label, share) = (&self.label, whole_percent(self.peak));
        let text = |text: String| Clause { text, link: None };
        [
            text(format!(
                " {none} keeps the context within the window; {label} keeps it at {share}: "
            )),
            Clause { text: action.to_owned(), link: Some(Link::Compare(self.name)) },
            text(".".to_owned()),
        ]
    }
}

/// Returns whether no call of a run overflows and the system never stops.
fn works(outcome: &Outcome) -> bool {
    outcome.overflows == 0 && outcome.halts.is_empty()
}

/// Ranks a run that works and stays within the usable window; `None` for others.
fn rank(
    names: &Names,
    readers: &FirstReaders,
    measure: RereadMeasure<'_>,
    case: &Case,
    outcome: &Outcome,
) -> Option<Rank> {
    let fits = |pressure: Share| pressure.0 <= 1.0;
    let all_fit = outcome.samples.iter().all(|sample| fits(sample.pressure));
    if !works(outcome) || !all_fit || !fits(outcome.end_pressure) {
        return None;
    }
    let blind = blind_edits(names, case, outcome).len();
    let removed = measure.total(case, outcome).removals;
    let peak = outcome.peak()?.tokens;
    let unread = readers.check(case, outcome).cut;
    Some((unread, blind, removed, peak))
}

/// Returns whether a preset is a variant of another one, such as an older version of its system.
fn is_variant(preset: &Preset) -> bool {
    let is_of = |other: &Preset| {
        let rest = preset.name.strip_prefix(other.name);
        rest.is_some_and(|rest| rest.starts_with('-'))
    };
    PRESETS.iter().any(is_of)
}
