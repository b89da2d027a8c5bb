//! `--pin`, `--clear` and `--drop`: messages that a person marks by hand.

use super::args::Words;
use crate::engine::ByHand;
use anyhow::bail;
use std::ops::RangeInclusive;

/// What was marked, as numbers of messages from 1. They are stretches until it is known how many messages there are.
#[derive(Clone, Debug, Default)]
pub struct ByHandArgs {
    pinned: Vec<RangeInclusive<usize>>,
    cleared: Vec<RangeInclusive<usize>>,
    dropped: Vec<RangeInclusive<usize>>,
}

impl ByHandArgs {
    /// Takes an option if it is one of these.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        let marks = match option {
            "--pin" => &mut self.pinned,
            "--clear" => &mut self.cleared,
            "--drop" => &mut self.dropped,
            _ => return Ok(false),
        };
        let text = words.value(option)?;
        for stretch in text.split(',') {
            let Some(stretch) = stretch_of(stretch.trim()) else {
                bail!("{option} {text}: give numbers of messages from 1 such as 3,8-12");
            };
            marks.push(stretch);
        }
        Ok(true)
    }

    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty() && self.cleared.is_empty() && self.dropped.is_empty()
    }

    /// Whether anything is to be cleared or dropped.
    pub(super) fn has_edits(&self) -> bool {
        !(self.cleared.is_empty() && self.dropped.is_empty())
    }

    /// The marks in a session of so many messages.
    ///
    /// # Errors
    /// A number beyond the last message, or a message that is to be pinned and cleared or dropped.
    pub fn within(&self, n_messages: usize) -> anyhow::Result<ByHand> {
        let by_hand = ByHand {
            pinned: indices("--pin", &self.pinned, n_messages)?,
            cleared: indices("--clear", &self.cleared, n_messages)?,
            dropped: indices("--drop", &self.dropped, n_messages)?,
        };
        let others = [("--clear", &by_hand.cleared), ("--drop", &by_hand.dropped)];
        for (option, marks) in others {
            if let Some(both) = by_hand
                .pinned
                .iter()
                .find(|m| marks.binary_search(m).is_ok())
            {
                let number = both + 1;
                bail!("message {number} is in --pin and in {option}; leave it out of one of them");
            }
        }
        Ok(by_hand)
    }
}

/// `12` or `8-12`.
fn stretch_of(text: &str) -> Option<RangeInclusive<usize>> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let stretch = number(first)?..=number(last)?;
    (!stretch.is_empty()).then_some(stretch)
}

/// Indices of the messages in these stretches, ascending.
fn indices(
    option: &str,
    stretches: &[RangeInclusive<usize>],
    n_messages: usize,
) -> anyhow::Result<Vec<usize>> {
    let mut marked = vec![false; n_messages];
    for stretch in stretches {
        let last = *stretch.end();
        if last > n_messages {
            bail!("{option} {last}: the last message is {n_messages}");
        }
        marked[stretch.start() - 1..last].fill(true);
    }
    let messages = (0..n_messages).filter(|message| marked[*message]);
    Ok(messages.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> anyhow::Result<ByHandArgs> {
        let mut args = ByHandArgs::default();
        let mut words = Words::new(words.iter().map(Into::into));
        while let Some(word) = words.next()? {
            let super::super::args::Word::Option(option) = word else {
                bail!("no option");
            };
            assert!(args.take(&option, &mut words)?);
        }
        Ok(args)
    }

    #[test]
    fn numbers_and_stretches_are_read_in_any_order_and_counted_from_one() {
        let args = parsed(&["--drop", "9, 2-4,3", "--drop", "1", "--pin", "7-7"]).unwrap();
        let by_hand = args.within(9).unwrap();
        assert_eq!(by_hand.dropped, [0, 1, 2, 3, 8]);
        assert_eq!((by_hand.pinned, by_hand.cleared), (vec![6], vec![]));
    }

    #[test]
    fn what_is_no_message_is_refused_and_nothing_huge_is_made_of_it() {
        for wrong in [
            "",
            "0",
            "4-2",
            "-3",
            "3-",
            "1,,2",
            "x",
            "99999999999999999999999",
        ] {
            assert!(parsed(&["--clear", wrong]).is_err(), "{wrong}");
        }
        let args = parsed(&["--clear", "3-18446744073709551615"]).unwrap();
        let error = args.within(12).unwrap_err().to_string();
        assert_eq!(
            error,
            "--clear 18446744073709551615: the last message is 12"
        );
    }

    #[test]
    fn a_message_cannot_be_pinned_and_dropped() {
        let args = parsed(&["--pin", "2-5", "--drop", "5,6"]).unwrap();
        let error = args.within(12).unwrap_err().to_string();
        assert!(
            error.starts_with("message 5 is in --pin and in --drop"),
            "{error}"
        );
    }
}
