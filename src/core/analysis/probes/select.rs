//! Writes the probes of a call and selects some of them.

use super::known_facts::KnownFacts;
use super::probe::Probe;
use super::templates::TEMPLATES;
use crate::analysis::statistics::Generator;

/// The probes of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedProbes {
    /// The selected probes.
    pub probes: Vec<Probe>,
    /// Number of further probes above the maximum.
    pub above_maximum: usize,
    /// Number of facts without a false option.
    pub without_distractor: usize,
}

/// Writes the probes of a call whose source message is wanted, and selects at most `most` of them evenly by template.
/// The selection is the same in every run.
pub fn write(
    known: &KnownFacts<'_>,
    most: usize,
    is_wanted: impl Fn(&Probe) -> bool,
) -> SelectedProbes {
    let mut written = SelectedProbes::default();
    let mut generator = Generator::new(known.call as u64);
    let mut queues = Vec::new();
    for template in &TEMPLATES {
        let from_template = template.probes(known);
        written.without_distractor += from_template.without_distractor;
        let mut probes = from_template.probes;
        probes.retain(&is_wanted);
        generator.shuffle(&mut probes);
        queues.push(probes);
    }
    let all: usize = queues.iter().map(Vec::len).sum();
    while written.probes.len() < most.min(all) {
        for queue in &mut queues {
            if written.probes.len() < most {
                written.probes.extend(queue.pop());
            }
        }
    }
    written.above_maximum = all - written.probes.len();
    written
}
