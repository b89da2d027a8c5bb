//! Periods of time in a time zone: days, weeks, months and blocks.

use crate::units::Millis;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// A length of time by which usage is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// A calendar day.
    Day,
    /// A week from Monday.
    Week,
    /// A calendar month.
    Month,
}

impl Period {
    /// Returns the first day of the period that contains a day; `None` before the calendar.
    pub(super) fn start(self, day: Date) -> Option<Date> {
        match self {
            Self::Day => Some(day),
            Self::Week => {
                let since = day.weekday().since(Weekday::Monday);
                day.checked_sub(i64::from(since).days()).ok()
            }
            Self::Month => Some(day.first_of_month()),
        }
    }
}

/// Converts times to days of a time zone. Remembers the last day: calls are in the order of time.
#[derive(Clone, Debug)]
pub(super) struct Days {
    zone: TimeZone,
    /// Day, and its first millisecond and the one after its last.
    last: Option<(Date, i64, i64)>,
}

impl Days {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, last: None }
    }

    /// Returns the day of a time; `None` if the time is outside of the calendar.
    pub(super) fn of(&mut self, time: Millis) -> Option<Date> {
        if let Some((day, start, end)) = self.last
            && (start..end).contains(&time.0)
        {
            return Some(day);
        }
        let moment = Timestamp::from_millisecond(time.0).ok()?;
        let day = moment.to_zoned(self.zone.clone()).date();
        let start_of = |day: Date| {
            let start = day.to_zoned(self.zone.clone()).ok()?;
            Some(start.timestamp().as_millisecond())
        };
        self.last = start_of(day).zip(start_of(day.tomorrow().ok()?)).map(|(a, b)| (day, a, b));
        Some(day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn weeks_begin_on_monday_and_months_on_their_first_day() {
        let sunday = date(2026, 3, 1);
        assert_eq!(Period::Day.start(sunday), Some(sunday));
        assert_eq!(Period::Week.start(sunday), Some(date(2026, 2, 23)));
        assert_eq!(Period::Month.start(sunday), Some(sunday));
        assert_eq!(Period::Week.start(Date::MIN), Some(Date::MIN), "a Monday");
    }

    #[test]
    fn a_day_is_that_of_the_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        let mut days = Days::new(zone);
        // 2026-01-02 at 04:59:59.999 and 05:00 UTC.
        assert_eq!(days.of(Millis(1_767_329_999_999)), Some(date(2026, 1, 1)));
        assert_eq!(days.of(Millis(1_767_330_000_000)), Some(date(2026, 1, 2)));
        assert_eq!(days.of(Millis(1_767_329_999_999)), Some(date(2026, 1, 1)));
        assert_eq!(days.of(Millis(i64::MAX)), None);
    }
}
