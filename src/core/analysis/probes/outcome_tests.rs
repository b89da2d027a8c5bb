//! Proof that the effect retained is measured: a simulated reader with a known memory.

use super::outcome::baselined;
use super::{AnsweredProbe, Choice, Order, Probe, ProbeAnswers, ProbeOutcome};
use crate::analysis::statistics::{Conclusion, Estimate, Generator, effect_retained};
use rayon::prelude::*;

/// A reader that answers from its context alone. If the context contains the truth, it is right. If not, it chooses A
/// with probability `bias`, and otherwise is right with probability `luck`.
struct Reader {
    generator: Generator,
    luck: f64,
    bias: f64,
}

impl Reader {
    fn answer(&mut self, knows: bool, order: Order) -> Choice {
        let (right, wrong) = match order {
            Order::TruthFirst => (Choice::A, Choice::B),
            Order::TruthSecond => (Choice::B, Choice::A),
        };
        match knows {
            true => right,
            false if self.generator.share() < self.bias => Choice::A,
            false if self.generator.share() < self.luck => right,
            false => wrong,
        }
    }

    fn pair(&mut self, knows: bool) -> [Option<Choice>; 2] {
        Order::BOTH.map(|order| Some(self.answer(knows, order)))
    }
}

const CLUSTERS: usize = 32;
const PROBES: usize = 8;
const SAMPLES: usize = 3;

fn probe(template: &'static str) -> Probe {
    Probe {
        template,
        question: String::new(),
        truth: "this".to_owned(),
        distractor: "that".to_owned(),
        message: 0,
        part: 0,
        span: 0..1,
        call: 0,
    }
}

/// Simulates the answers of a lane that keeps each fact with a probability that differs between compactions and is
/// `kept` on average.
fn answered(seed: u64, kept: f64, bias: f64) -> Vec<AnsweredProbe> {
    let generator = Generator::new(seed);
    let mut memory = Generator::new(!seed);
    let mut reader = Reader { generator, luck: 0.3, bias };
    let mut probes = Vec::new();
    for cluster in 0..CLUSTERS {
        // Compactions of one session resemble each other less than facts of one compaction.
        let share = kept + 0.5 * (memory.share() - 0.5);
        for _ in 0..PROBES {
            let keeps = memory.share() < share;
            let lane = (0..SAMPLES).map(|_| reader.pair(keeps)).collect();
            probes.push(AnsweredProbe {
                probe: probe("plan"),
                clusters: vec![cluster],
                answers: ProbeAnswers {
                    none: [reader.pair(false), reader.pair(false)],
                    full: [reader.pair(true), reader.pair(true)],
                    lanes: vec![lane],
                },
            });
        }
    }
    probes
}

/// Returns in how many of 200 runs the interval contains the known value, and the mean estimate.
fn coverage(kept: f64, bias: f64) -> (usize, f64) {
    let estimates: Vec<_> = (0..200_u64)
        .into_par_iter()
        .map(|seed| {
            let probes = answered(seed, kept, bias);
            let selected: Vec<_> =
                probes.iter().filter(|p| p.answers.left_out().is_none()).collect();
            effect_retained(&baselined(0, &selected, |probe| probe.answers.lane(0)))
        })
        .collect();
    let covers = |estimate: &&Estimate| {
        assert_eq!(estimate.clusters, CLUSTERS);
        estimate.interval.expect("there are many clusters").contains(kept)
    };
    let values = estimates.iter().filter_map(|estimate| estimate.value);
    (estimates.iter().filter(covers).count(), values.sum::<f64>() / 200.0)
}

#[test]
fn the_interval_covers_the_known_effect_and_a_preferred_letter_does_not_move_it() {
    for (kept, bias) in [(0.5, 0.0), (0.3, 0.6)] {
        let (covered, mean) = coverage(kept, bias);
        let share = format!("{covered} of 200 at {kept}, bias {bias}: {mean:.3}");
        assert!((180..=198).contains(&covered), "{share}");
        assert!((mean - kept).abs() < 0.02, "{share}");
    }
}

/// Returns the outcome of lanes that keep exactly these facts of each compaction.
fn constructed(keeps: &[fn(usize) -> bool]) -> ProbeOutcome {
    let mut reader = Reader { generator: Generator::new(7), luck: 0.0, bias: 0.5 };
    let mut probes = Vec::new();
    for cluster in 0..CLUSTERS {
        for nth in 0..PROBES {
            let template = if nth % 4 < 2 { "plan" } else { "value" };
            let lanes = keeps.iter().map(|keeps| vec![reader.pair(keeps(nth))]);
            let lanes = lanes.collect();
            probes.push(AnsweredProbe {
                probe: probe(template),
                clusters: vec![cluster; keeps.len()],
                answers: ProbeAnswers {
                    none: [reader.pair(false), reader.pair(false)],
                    full: [reader.pair(true), reader.pair(true)],
                    lanes,
                },
            });
        }
    }
    let names: Vec<_> = (0..keeps.len()).map(|n| format!("lane {n}")).collect();
    ProbeOutcome::new(&probes, &names)
}

#[test]
fn half_of_the_facts_of_a_type_retain_half_of_the_effect() {
    // Every second plan item, and all values.
    let outcome = constructed(&[|nth| nth % 4 != 0]);
    let [plan, value] = &outcome.lanes[0].templates[..] else {
        panic!("two templates: {outcome:?}");
    };
    assert_eq!((plan.template, value.template), ("plan", "value"));
    let interval = plan.retained.interval.expect("there are many clusters");
    assert!(interval.contains(0.5), "{plan:?}");
    assert!(interval.high - interval.low < 0.3, "{plan:?}");
    assert_eq!(value.retained.value, Some(1.0), "{value:?}");
}

#[test]
fn equal_lanes_are_inconclusive_and_different_ones_are_not() {
    let half: fn(usize) -> bool = |nth| nth % 2 == 0;
    let outcome = constructed(&[half, half, |_| true]);
    let found: Vec<_> = outcome
        .differences
        .iter()
        .map(|d| (&*d.first, &*d.second, d.difference.conclusion))
        .collect();
    assert_eq!(
        found,
        [
            ("lane 0", "lane 1", Conclusion::Inconclusive),
            ("lane 0", "lane 2", Conclusion::Below),
            ("lane 1", "lane 2", Conclusion::Below),
        ]
    );
}

#[test]
fn selecting_and_scoring_on_other_answers_does_not_count_lucky_guesses_as_memory() {
    // The lane keeps nothing and guesses as often right as without any context.
    let outcome = ProbeOutcome::new(&answered(3, 0.0, 0.0), &["lane".to_owned()]);
    let retained = outcome.lanes[0].retained;
    assert!(retained.interval.expect("an interval").low < 0.1, "{retained:?}");
    assert!(outcome.selection.answered_without_context > 0);
    let selection = outcome.selection;
    assert_eq!(
        selection.probes,
        selection.selected
            + selection.answered_without_context
            + selection.missed_with_full_context
            + selection.unanswered
    );
}

#[test]
fn answers_that_choose_nothing_are_counted_and_missing_ones_are_left_out() {
    let mut probes = Vec::new();
    for cluster in 0..10 {
        let right = [Some(Choice::A), Some(Choice::B)];
        let unsure = [Some(Choice::Neither), Some(Choice::Refused)];
        let lane = if cluster == 0 { [None; 2] } else { [Some(Choice::Both), Some(Choice::Empty)] };
        probes.push(AnsweredProbe {
            probe: probe("plan"),
            clusters: vec![cluster],
            answers: ProbeAnswers { none: [unsure; 2], full: [right; 2], lanes: vec![vec![lane]] },
        });
    }
    let outcome = ProbeOutcome::new(&probes, &["lane".to_owned()]);
    let lane = &outcome.lanes[0];
    assert_eq!((lane.answers.both, lane.answers.empty, lane.answers.unanswered), (9, 9, 2));
    assert_eq!((lane.retained.value, lane.retained.n), (Some(0.0), 9));
    assert_eq!((outcome.no_context.neither, outcome.no_context.refused), (20, 20));
    let nothing = ProbeOutcome::new(&[], &["lane".to_owned()]);
    assert_eq!(nothing.lanes[0].retained.value, None);
    assert_eq!(nothing.selection.probes, 0);
}
