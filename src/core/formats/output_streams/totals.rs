//! Totals that a program prints at the end of each run. They may be of the run or of the whole session so far.

use crate::session::{SessionBuilder, Usage};
use crate::units::Tokens;

/// The totals of a session, by model.
#[derive(Debug, Default)]
pub(super) struct RunTotals {
    /// Totals of the runs before those that `latest` includes.
    finished: Vec<(String, Usage)>,
    /// The latest totals.
    latest: Vec<(String, Usage)>,
}

impl RunTotals {
    /// Adds the totals of a run. They include the runs before if each of their counts is at least the one before plus
    /// what the run itself used (`own`, if recorded).
    pub(super) fn add(&mut self, totals: Vec<(String, Usage)>, own: Option<&Usage>) {
        let (before, now) = (sum(&self.latest), sum(&totals));
        let own = own.copied().unwrap_or_default();
        let is_more = |count: fn(&Usage) -> Tokens| count(&now) >= count(&before) + count(&own);
        let counts: [fn(&Usage) -> Tokens; 3] =
            [|u| u.input, |u| u.cache_read.unwrap_or_default(), |u| u.output.unwrap_or_default()];
        let before = std::mem::replace(&mut self.latest, totals);
        if !counts.into_iter().all(is_more) {
            self.finished.extend(before);
        }
    }

    /// Adds the totals of a run that do not include the runs before.
    pub(super) fn add_run(&mut self, totals: Vec<(String, Usage)>) {
        self.finished.extend(totals);
    }

    /// Adds the totals to a session.
    pub(super) fn finish(self, builder: &mut SessionBuilder) {
        for (model, usage) in self.finished.into_iter().chain(self.latest) {
            builder.total(&model, &usage);
        }
    }
}

fn sum(totals: &[(String, Usage)]) -> Usage {
    let mut sum = Usage::default();
    for (_, usage) in totals {
        sum.add(usage);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Input;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input: Tokens(input), output: Some(Tokens(output)), ..Usage::default() }
    }

    /// Returns the input of the session after these totals, each with the run's own usage.
    fn total(runs: &[(u64, Option<u64>)]) -> u64 {
        let mut totals = RunTotals::default();
        for (input, own) in runs {
            let own = own.map(|own| usage(own, 0));
            totals.add(vec![("m".to_owned(), usage(*input, 1))], own.as_ref());
        }
        let input = Input { name: "f".to_owned(), bytes: Vec::new().into() };
        let mut builder = SessionBuilder::new(input.source("x", None));
        totals.finish(&mut builder);
        builder.finish().totals[0].usage.input.0
    }

    #[test]
    fn totals_of_the_session_replace_each_other_and_those_of_runs_add_up() {
        assert_eq!(total(&[(100, None), (150, None)]), 150);
        assert_eq!(total(&[(100, None), (50, None), (70, None)]), 170);
        // The second run used more than the first.
        assert_eq!(total(&[(100, Some(90)), (250, Some(240))]), 350);
        assert_eq!(total(&[(100, Some(90)), (250, Some(140))]), 250);
    }
}
