//! Hours of the week at which a price applies, and the calendar that they need.

use crate::units::Millis;
use serde::{Deserialize, Deserializer};

const DAY: i64 = 86_400_000;
const MINUTES_PER_DAY: u32 = 24 * 60;

/// Hours of some days of the week, in UTC.
#[derive(Clone, Debug, Deserialize)]
pub struct Hours {
    /// Spans such as `04:00-06:00`. An end of `00:00` is the end of the day.
    #[serde(deserialize_with = "one_or_many")]
    hours_utc: Vec<HoursSpan>,
    /// Days of the week from 1 (Monday) to 7 (Sunday); every day if absent.
    #[serde(default)]
    weekdays: Vec<u32>,
}

/// Minutes of a day: the first, and the one after the last.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct HoursSpan(u32, u32);

impl TryFrom<String> for HoursSpan {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let minutes = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let (hour, minute) = (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?);
            let minutes = hour.checked_mul(60)?.checked_add(minute)?;
            (minute < 60 && minutes <= MINUTES_PER_DAY).then_some(minutes)
        };
        let ends = text.split_once('-').and_then(|(from, to)| minutes(from).zip(minutes(to)));
        let (from, to) =
            ends.ok_or_else(|| format!("{text:?} is not a span such as 04:00-06:00"))?;
        Ok(Self(from, if to == 0 { MINUTES_PER_DAY } else { to }))
    }
}

/// Reads one value or a list of values.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany<T> {
        One(T),
        Many(Vec<T>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(value) => vec![value],
        OneOrMany::Many(values) => values,
    })
}

impl Hours {
    /// Returns true if a time is within these hours. A span past midnight belongs to the day on which it begins.
    pub(super) fn contain(&self, time: Millis) -> bool {
        let days = time.0.div_euclid(DAY);
        let minute = u32::try_from(time.0.rem_euclid(DAY) / 60_000).unwrap_or_default();
        // 1970-01-01 was a Thursday, the fourth day of the week.
        let weekday = |days: i64| u32::try_from((days + 3).rem_euclid(7) + 1).unwrap_or_default();
        let is_on = |day| self.weekdays.is_empty() || self.weekdays.contains(&day);
        self.hours_utc.iter().any(|&HoursSpan(from, to)| {
            if from < to {
                is_on(weekday(days)) && (from..to).contains(&minute)
            } else {
                is_on(weekday(days)) && minute >= from || is_on(weekday(days - 1)) && minute < to
            }
        })
    }
}

/// Returns the beginning of a day in milliseconds since 1970 (the proleptic Gregorian calendar, by eras of 400 years).
pub(super) fn midnight(year: u16, month: u8, day: u8) -> Millis {
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    // Years begin in March, so that the leap day is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    Millis((era * 146_097 + day_of_era - 719_468) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_depend_on_the_day_of_the_week() {
        let hours: Hours = toml::from_str(
            "hours_utc = [\"00:00-01:00\", \"10:00-00:00\", \"23:30-00:15\"]\nweekdays = [1, 2, 3, 4, 5]",
        )
        .expect("valid hours");
        let at = |day: u8, hour: i64, minute: i64| {
            let time = midnight(2026, 9, day).0 + (hour * 60 + minute) * 60_000;
            hours.contain(Millis(time))
        };
        // 2026-09-15 is a Tuesday, 2026-09-19 a Saturday.
        assert_eq!(
            [at(15, 0, 59), at(15, 1, 0), at(15, 9, 59), at(15, 10, 0), at(15, 23, 59)],
            [true, false, false, true, true]
        );
        assert!(!at(19, 12, 0) && at(19, 0, 10) && !at(19, 0, 15));
        for wrong in ["hours_utc = \"9-17\"", "hours_utc = \"10:00-25:00\""] {
            assert!(toml::from_str::<Hours>(wrong).is_err(), "{wrong}");
        }
    }
}
