//! State of the page *Usage*. The sessions are read in the background, and so are the sums of other choices if they are slow.

use crate::analysis::usage::{UsageKey, UsageQuery, UsageRow, UsageTable};
use crate::app::state::model::background::latest_result::{LatestResult, WorkMode};
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::app::state::sessions::search::files;
use crate::app::state::sessions::usage::bars::{Bar, bars};
use crate::app::state::sessions::usage::row_sessions::RowSessions;
use crate::app::state::sessions::usage::text;
use crate::app::state::sessions::usage::view::{BarFigure, Days, UsageColumn, UsageView};
use crate::exec::stores::{self, Cache, ListCaches, ListUsage, Listing, UsageCache};
use crate::presets::default_output_reserve;
use crate::progress::Progress;
use crate::units::Share;
use jiff::Zoned;
use jiff::tz::TimeZone;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Expected duration of the first sums, which therefore never delay a frame.
const FIRST: Duration = Duration::from_millis(100);

/// The page.
#[derive(Debug)]
pub struct UsagePage {
    /// Its choices.
    pub view: UsageView,
    /// Error in the typed days.
    pub error: Option<String>,
    /// Error of the last reading, or a warning that the search stopped at its limit.
    pub problem: Option<String>,
    /// The last reading was stopped.
    pub is_stopped: bool,
    /// Indices of the rows of the table, in the order shown.
    pub order: Vec<usize>,
    /// Index of the highlighted row.
    pub highlighted: Option<usize>,
    /// The sessions that were read last.
    listing: Option<Arc<Listing>>,
    reading: Option<Reading>,
    /// Number of readings so far.
    n_readings: usize,
    sums: LatestResult<SumsKey, UsageSums>,
    /// The result and the order that `order` belongs to.
    ordered: Option<(u64, Option<(UsageColumn, bool)>)>,
}

/// Sessions that are read in the background.
#[derive(Debug)]
struct Reading {
    progress: Arc<Progress>,
    work: Background<Result<ReadSessions, String>>,
}

/// Sessions that were read.
#[derive(Debug)]
struct ReadSessions {
    listing: Listing,
    /// Warning that the search stopped at its limit.
    warning: Option<String>,
}

/// Choices that the sums depend on, and the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SumsKey {
    reading: usize,
    by: UsageKey,
    days: Days,
}

/// Sums of the calls.
#[derive(Debug)]
pub struct UsageSums {
    /// Key of the rows.
    pub by: UsageKey,
    /// The sums.
    pub table: UsageTable,
    /// Bars of the chart.
    pub bars: Vec<Bar>,
    /// Number of files that cannot be opened.
    pub unread: usize,
}

impl UsagePage {
    /// Creates a page that has read nothing.
    pub(crate) fn new(view: UsageView) -> Self {
        let mut sums = LatestResult::new("usage sums");
        sums.expect(FIRST);
        Self {
            view,
            error: None,
            problem: None,
            is_stopped: false,
            order: Vec::new(),
            highlighted: None,
            listing: None,
            reading: None,
            n_readings: 0,
            sums,
            ordered: None,
        }
    }

    /// Reads the sessions of a folder, or of all agents, unless they are being read. Files that have not changed come from
    /// the caches with `keeps_state`.
    pub(crate) fn read(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        folder: Option<PathBuf>,
        keeps_state: bool,
    ) {
        if self.reading.is_some() {
            return;
        }
        (self.problem, self.is_stopped) = (None, false);
        let progress = Arc::new(Progress::default());
        let shared = Arc::clone(&progress);
        let read = move || read(folder.as_deref(), keeps_state, &shared);
        self.reading = Some(Reading { progress, work: mode.start(repaint, "usage", read) });
    }

    /// Stops reading. What was read stays in the caches.
    pub(crate) fn stop(&mut self) {
        if let Some(reading) = self.reading.take() {
            reading.progress.cancel();
            self.is_stopped = true;
        }
    }

    /// Receives the sessions that were read, and updates the sums.
    pub(crate) fn poll(&mut self, repaint: &Repaint, mode: WorkMode) {
        self.receive();
        let Some(listing) = &self.listing else {
            return;
        };
        match self.view.limits(Zoned::now().date()) {
            Err(error) => self.error = Some(error),
            Ok(days) => {
                self.error = None;
                let by = self.view.by;
                let key = SumsKey { reading: self.n_readings, by, days };
                let listing = Arc::clone(listing);
                self.sums.request(repaint, mode, &key, move |_| UsageSums::new(&listing, by, days));
            }
        }
        let ordered = Some((self.sums.generation(), self.view.order()));
        if let Some(sums) = self.sums.get().filter(|_| self.ordered != ordered) {
            if self.ordered.is_none_or(|(generation, _)| generation != self.sums.generation()) {
                self.highlighted = None;
            }
            self.order = order(&sums.table.rows, self.view.order());
            self.ordered = ordered;
        }
    }

    fn receive(&mut self) {
        let Some(Reading { progress, work }) = self.reading.take() else {
            return;
        };
        match work.take() {
            Err(work) => self.reading = Some(Reading { progress, work }),
            Ok(Some(Ok(ReadSessions { listing, warning }))) => {
                self.listing = Some(Arc::new(listing));
                self.problem = warning;
                self.n_readings += 1;
            }
            Ok(Some(Err(problem))) => self.problem = Some(problem),
            Ok(None) => self.problem = Some("the reader stopped unexpectedly".to_owned()),
        }
    }

    /// Returns the share of sessions read; `None` when done.
    pub fn progress(&self) -> Option<Share> {
        self.reading.as_ref().map(|reading| reading.progress.share().unwrap_or_default())
    }

    /// Returns the sums; those of the previous choices until the new ones are ready.
    pub fn sums(&self) -> Option<&UsageSums> {
        self.sums.get().map(|sums| &**sums)
    }

    /// Returns the figure that the bars show: the input if no price is known.
    pub fn bar_figure(&self) -> BarFigure {
        let has_cost = self.sums().is_none_or(|sums| sums.table.total.cost().is_some());
        if has_cost { self.view.bars } else { BarFigure::Input }
    }

    /// Finds the sessions of a row.
    pub(crate) fn sessions_of(&self, row: usize) -> Option<RowSessions> {
        let (listing, sums) = (self.listing.as_ref()?, self.sums.get()?);
        let (key, row) = (self.sums.key()?, sums.table.rows.get(row)?);
        let name = text::key_text(&row.key);
        Some(RowSessions::new(listing, &query(key.by, key.days), &row.key, name))
    }
}

impl Drop for UsagePage {
    fn drop(&mut self) {
        self.stop();
    }
}

impl UsageSums {
    fn new(listing: &Listing, by: UsageKey, days: Days) -> Self {
        let query = query(by, days);
        let used = ListUsage::new(listing);
        let table = UsageTable::new(&used.sessions(listing), &query);
        Self { by, bars: bars(&table.rows, query.key), table, unread: listing.unread.len() }
    }
}

/// Returns the query of `plimsoll usage` for these choices.
fn query(by: UsageKey, (since, until): Days) -> UsageQuery {
    UsageQuery {
        key: by,
        zone: TimeZone::system(),
        since,
        until,
        output_reserve: default_output_reserve(),
    }
}

fn read(
    folder: Option<&Path>,
    keeps_state: bool,
    progress: &Progress,
) -> Result<ReadSessions, String> {
    let mut found = files(folder, progress)?;
    // Every conversation of a file counts, whether the file or its folder was opened.
    found.files.iter_mut().for_each(|file| file.is_named = false);
    let (mut summaries, mut usage) = if keeps_state {
        (Cache::load(), UsageCache::load())
    } else {
        (Cache::default(), UsageCache::default())
    };
    let caches = ListCaches { summaries: &mut summaries, usage: Some(&mut usage) };
    let listing = stores::list(&found.files, usize::MAX, caches, progress, |_| {});
    // What was read is cached even after an error; a failure to save it is ignored.
    let _ = summaries.save();
    let _ = usage.save();
    let listing = listing.map_err(|cancelled| cancelled.to_string())?;
    Ok(ReadSessions { listing, warning: found.warning })
}

/// Returns the indices of rows in an order. Equal rows stay in the order of the table, and unknown figures are last.
fn order(rows: &[UsageRow], order: Option<(UsageColumn, bool)>) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..rows.len()).collect();
    let Some((column, is_descending)) = order else {
        return indices;
    };
    indices.sort_by(|a, b| {
        let by = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) if is_descending => b.total_cmp(&a),
            (Some(a), Some(b)) => a.total_cmp(&b),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (None, None) => Ordering::Equal,
        };
        let (one, other) = (&rows[*a], &rows[*b]);
        if column == UsageColumn::Key {
            let keys = one.key.to_lowercase().cmp(&other.key.to_lowercase());
            return if is_descending { keys.reverse() } else { keys };
        }
        by(figure(one, column), figure(other, column))
    });
    indices
}

/// Returns the figure by which a column sorts; `None` if it is unknown.
fn figure(row: &UsageRow, column: UsageColumn) -> Option<f64> {
    let number = |n: usize| Some(n as f64);
    match column {
        UsageColumn::Key => None,
        UsageColumn::Sessions => number(row.sessions),
        UsageColumn::Calls => number(row.calls),
        UsageColumn::Input => Some(row.input.as_f64()),
        UsageColumn::Cached => row.cached_share().map(|share| share.0),
        UsageColumn::Output => Some(row.output.as_f64()),
        UsageColumn::Cost => row.cost().map(|cost| cost.0),
        UsageColumn::Misses => number(row.misses),
        UsageColumn::Compactions => number(row.compactions),
        UsageColumn::Peak => Some(row.peak.0),
        UsageColumn::Overflows => number(row.overflows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Usd;

    #[test]
    fn unknown_costs_are_last_in_both_orders() {
        let row = |key: &str, usd: Option<f64>| UsageRow {
            key: key.to_owned(),
            calls: 1,
            unpriced: usize::from(usd.is_none()),
            usd: Usd(usd.unwrap_or_default()),
            ..UsageRow::default()
        };
        let rows = [row("a", None), row("b", Some(1.0)), row("c", Some(2.0))];
        assert_eq!(order(&rows, Some((UsageColumn::Cost, true))), [2, 1, 0]);
        assert_eq!(order(&rows, Some((UsageColumn::Cost, false))), [1, 2, 0]);
        assert_eq!(order(&rows, Some((UsageColumn::Key, true))), [2, 1, 0]);
        assert_eq!(order(&rows, None), [0, 1, 2]);
    }
}
