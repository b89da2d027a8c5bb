//! Choices of the page *Usage*: the key of the rows, the days, the bars and the order.

use crate::analysis::usage::UsageKey;
use crate::exec::KeptUsageView;
use jiff::ToSpan as _;
use jiff::civil::Date;

/// Choices of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageView {
    /// Key of the rows.
    pub by: UsageKey,
    /// Days whose calls count.
    pub days: DayRange,
    /// First day of [`DayRange::Chosen`] as typed; empty for the first call.
    pub since: String,
    /// Last day of [`DayRange::Chosen`] as typed; empty for the last call.
    pub until: String,
    /// Figure that the bars show.
    pub bars: BarFigure,
    /// Column that sorts the table, and whether it is descending; `None` for the usual order of the key.
    pub sort: Option<(UsageColumn, bool)>,
}

/// Days whose calls count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DayRange {
    /// All days.
    #[default]
    All,
    /// This day.
    Today,
    /// This day and the six before.
    Week,
    /// This day and the 29 before.
    Days30,
    /// This calendar month.
    Month,
    /// Typed days.
    Chosen,
}

/// Figure that the bars show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarFigure {
    /// Cost.
    #[default]
    Cost,
    /// Prompts in tokens.
    Input,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageColumn {
    /// Value of the key.
    Key,
    /// Number of sessions.
    Sessions,
    /// Number of calls.
    Calls,
    /// Prompts in tokens.
    Input,
    /// Share of the prompts read from the cache.
    Cached,
    /// Answers in tokens.
    Output,
    /// Cost.
    Cost,
    /// Large cache misses.
    Misses,
    /// Recorded compactions.
    Compactions,
    /// Largest context.
    Peak,
    /// Calls above the window.
    Overflows,
}

/// The first and the last day; `None` for no limit.
pub type Days = (Option<Date>, Option<Date>);

impl UsageView {
    /// Returns the days whose calls count.
    ///
    /// # Errors
    /// Returns an error if a typed text is no day, or if the days are in the wrong order.
    pub fn limits(&self, today: Date) -> Result<Days, String> {
        let before = |days: i32| today.checked_sub(days.days()).ok();
        Ok(match self.days {
            DayRange::All => (None, None),
            DayRange::Today => (Some(today), Some(today)),
            DayRange::Week => (before(6), Some(today)),
            DayRange::Days30 => (before(29), Some(today)),
            DayRange::Month => (Some(today.first_of_month()), Some(today)),
            DayRange::Chosen => {
                let (since, until) = (day(&self.since, today)?, day(&self.until, today)?);
                if since.zip(until).is_some_and(|(since, until)| since > until) {
                    return Err("The first day is after the last.".to_owned());
                }
                (since, until)
            }
        })
    }

    /// Returns the order of the table: a column, and whether it is descending. `None` for the order of the result.
    pub fn order(&self) -> Option<(UsageColumn, bool)> {
        self.sort.or(self.by.is_time().then_some((UsageColumn::Key, true)))
    }

    /// Returns the choices after a click on the head of a column.
    #[must_use]
    pub fn sorted_by(&self, column: UsageColumn) -> Self {
        let is_descending = match self.order() {
            Some((current, is_descending)) if current == column => !is_descending,
            _ => column != UsageColumn::Key || self.by.is_time(),
        };
        Self { sort: Some((column, is_descending)), ..self.clone() }
    }

    /// Returns the choices that are saved. The order of the table is not.
    pub fn to_kept(&self) -> KeptUsageView {
        KeptUsageView {
            by: self.by.name().to_owned(),
            days: self.days.id().to_owned(),
            since: self.since.clone(),
            until: self.until.clone(),
            bars: self.bars.name().to_owned(),
        }
    }

    /// Returns saved choices. Unknown ones are the defaults.
    pub fn from_kept(kept: &KeptUsageView) -> Self {
        let days = DayRange::ALL.into_iter().find(|days| days.id() == kept.days);
        let bars = BarFigure::ALL.into_iter().find(|bars| bars.name() == kept.bars);
        Self {
            by: UsageKey::named(&kept.by).unwrap_or_default(),
            days: days.unwrap_or_default(),
            since: kept.since.clone(),
            until: kept.until.clone(),
            bars: bars.unwrap_or_default(),
            sort: None,
        }
    }
}

/// Parses a typed day; `None` if the text is empty.
fn day(text: &str, today: Date) -> Result<Option<Date>, String> {
    match text.trim() {
        "" => Ok(None),
        "today" => Ok(Some(today)),
        "yesterday" => Ok(today.yesterday().ok()),
        date => date.parse().ok().map(Some).ok_or_else(|| {
            format!("{date} is no day; type one such as 2026-11-01, today or yesterday.")
        }),
    }
}

impl DayRange {
    /// All ranges, in order.
    pub const ALL: [Self; 6] =
        [Self::All, Self::Today, Self::Week, Self::Days30, Self::Month, Self::Chosen];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all days",
            Self::Today => "today",
            Self::Week => "last 7 days",
            Self::Days30 => "last 30 days",
            Self::Month => "this month",
            Self::Chosen => "from … to …",
        }
    }

    /// Returns the name in the saved state.
    fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Today => "today",
            Self::Week => "7 days",
            Self::Days30 => "30 days",
            Self::Month => "month",
            Self::Chosen => "chosen",
        }
    }
}

impl BarFigure {
    /// All figures, in order.
    pub const ALL: [Self; 2] = [Self::Cost, Self::Input];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Input => "input",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn ranges_end_today_and_typed_days_are_checked() {
        let today = date(2026, 3, 5);
        let limits = |days| UsageView { days, ..UsageView::default() }.limits(today);
        assert_eq!(limits(DayRange::Week), Ok((Some(date(2026, 2, 27)), Some(today))));
        assert_eq!(limits(DayRange::Month), Ok((Some(date(2026, 3, 1)), Some(today))));
        let typed = |since: &str, until: &str| {
            let (since, until) = (since.to_owned(), until.to_owned());
            UsageView { days: DayRange::Chosen, since, until, ..UsageView::default() }.limits(today)
        };
        assert_eq!(typed("", " yesterday "), Ok((None, Some(date(2026, 3, 4)))));
        assert_eq!(typed("2026-01-31", ""), Ok((Some(date(2026, 1, 31)), None)));
        assert!(typed("2026-02-30", "").unwrap_err().starts_with("2026-02-30 is no day"));
        assert!(typed("today", "yesterday").is_err());
    }

    #[test]
    fn saved_choices_are_restored_and_unknown_ones_are_the_defaults() {
        for by in UsageKey::ALL {
            for days in DayRange::ALL {
                let since = "2026-01-01".to_owned();
                let view =
                    UsageView { by, days, since, bars: BarFigure::Input, ..UsageView::default() };
                assert_eq!(UsageView::from_kept(&view.to_kept()), view);
            }
        }
        let unknown = KeptUsageView { by: "hour".to_owned(), ..KeptUsageView::default() };
        assert_eq!(UsageView::from_kept(&unknown), UsageView::default());
    }

    #[test]
    fn a_click_sorts_by_the_largest_first_and_the_next_one_reverses() {
        let view = UsageView::default();
        assert_eq!(view.order(), Some((UsageColumn::Key, true)), "the newest day is first");
        let by_cost = view.sorted_by(UsageColumn::Cost);
        assert_eq!(by_cost.order(), Some((UsageColumn::Cost, true)));
        assert_eq!(by_cost.sorted_by(UsageColumn::Cost).order(), Some((UsageColumn::Cost, false)));
        let models = UsageView { by: UsageKey::Model, ..UsageView::default() };
        assert_eq!(models.order(), None, "the order of the result");
        assert_eq!(models.sorted_by(UsageColumn::Key).order(), Some((UsageColumn::Key, false)));
    }
}
