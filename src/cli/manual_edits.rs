//! `--pin`, `--clear` and `--drop`: manual edits.

use crate::engine::ManualEdits;
use anyhow::bail;
use std::ops::RangeInclusive;

/// Messages that the user pinned, cleared or dropped, as ranges of numbers from 1. Checked once the session is loaded.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ManualEditArgs {
    /// Messages that policies keep, such as 3,8-12 (repeatable); system presets reproduced in code ignore them
    #[arg(long = "pin", global = true, hide = true, value_name = "N,N-M", value_parser = ranges)]
    pinned: Vec<Ranges>,
    /// Messages whose content is removed after the last call (repeatable)
    #[arg(long = "clear", global = true, hide = true, value_name = "N,N-M", value_parser = ranges)]
    cleared: Vec<Ranges>,
    /// Messages that are removed after the last call, with their calls and results (repeatable)
    #[arg(long = "drop", global = true, hide = true, value_name = "N,N-M", value_parser = ranges)]
    dropped: Vec<Ranges>,
}

/// The ranges of one option.
#[derive(Clone, Debug)]
struct Ranges {
    text: String,
    all: Vec<RangeInclusive<usize>>,
}

/// Parses `3,8-12`.
fn ranges(text: &str) -> anyhow::Result<Ranges> {
    let ranges = text.split(',').map(|range| range_of(range.trim()));
    match ranges.collect() {
        Some(all) => Ok(Ranges { text: text.to_owned(), all }),
        None => bail!("give numbers of messages from 1 such as 3,8-12"),
    }
}

impl ManualEditArgs {
    /// Returns true if no message is edited.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty() && self.cleared.is_empty() && self.dropped.is_empty()
    }

    /// Returns the given options with their values.
    pub(super) fn options(&self) -> impl Iterator<Item = (&'static str, String)> {
        let all = [("--pin", &self.pinned), ("--clear", &self.cleared), ("--drop", &self.dropped)];
        let one = |(option, given): (&'static str, &Vec<Ranges>)| {
            let values: Vec<_> = given.iter().map(|ranges| ranges.text.clone()).collect();
            values.into_iter().map(move |value| (option, value))
        };
        all.into_iter().flat_map(one)
    }

    /// Returns true if a message is cleared or dropped.
    pub(super) fn has_edits(&self) -> bool {
        !(self.cleared.is_empty() && self.dropped.is_empty())
    }

    /// Returns the edits of a session with `n_messages` messages.
    ///
    /// # Errors
    /// Fails if a number is beyond the last message, or if a message is both pinned and cleared or dropped.
    pub fn within(&self, n_messages: usize) -> anyhow::Result<ManualEdits> {
        let edits = ManualEdits {
            pinned: indices("--pin", &self.pinned, n_messages)?,
            cleared: indices("--clear", &self.cleared, n_messages)?,
            dropped: indices("--drop", &self.dropped, n_messages)?,
        };
        let others = [("--clear", &edits.cleared), ("--drop", &edits.dropped)];
        for (option, marks) in others {
            if let Some(both) = edits.pinned.iter().find(|m| marks.binary_search(m).is_ok()) {
                let number = both + 1;
                bail!("message {number} is in --pin and in {option}; leave it out of one of them");
            }
        }
        Ok(edits)
    }
}

/// Parses `12` or `8-12`.
fn range_of(text: &str) -> Option<RangeInclusive<usize>> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first)?..=number(last)?;
    (!range.is_empty()).then_some(range)
}

/// Returns the indices of the messages in `ranges`, ascending.
fn indices(option: &str, ranges: &[Ranges], n_messages: usize) -> anyhow::Result<Vec<usize>> {
    let mut marked = vec![false; n_messages];
    for range in ranges.iter().flat_map(|ranges| &ranges.all) {
        let last = *range.end();
        if last > n_messages {
            bail!("{option} {last}: the last message is {n_messages}");
        }
        marked[range.start() - 1..last].fill(true);
    }
    let messages = (0..n_messages).filter(|message| marked[*message]);
    Ok(messages.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    #[command(no_binary_name = true)]
    struct ManualEditLine {
        #[command(flatten)]
        edits: ManualEditArgs,
    }

    fn parsed(words: &[&str]) -> Result<ManualEditArgs, clap::Error> {
        ManualEditLine::try_parse_from(words).map(|line| line.edits)
    }

    #[test]
    fn ranges_are_parsed_in_any_order_from_one() {
        let args = parsed(&["--drop", "9, 2-4,3", "--drop", "1", "--pin", "7-7"]).unwrap();
        let edits = args.within(9).unwrap();
        assert_eq!(edits.dropped, [0, 1, 2, 3, 8]);
        assert_eq!((edits.pinned, edits.cleared), (vec![6], vec![]));
    }

    #[test]
    fn rejects_invalid_ranges_without_large_allocations() {
        for wrong in ["", "0", "4-2", "-3", "3-", "1,,2", "x", "99999999999999999999999"] {
            assert!(parsed(&["--clear", wrong]).is_err(), "{wrong}");
        }
        let args = parsed(&["--clear", "3-18446744073709551615"]).unwrap();
        let error = args.within(12).unwrap_err().to_string();
        assert_eq!(error, "--clear 18446744073709551615: the last message is 12");
    }

    #[test]
    fn rejects_a_message_that_is_pinned_and_dropped() {
        let args = parsed(&["--pin", "2-5", "--drop", "5,6"]).unwrap();
        let error = args.within(12).unwrap_err().to_string();
        assert!(error.starts_with("message 5 is in --pin and in --drop"), "{error}");
    }
}
