//! The rates at which lost and held items were fetched again, over many sessions.

use super::observe::{Observation, Subject};
use crate::analysis::facts::FactKind;
use crate::analysis::statistics::{ClusteredValue, Estimate, difference_of_means, mean};

/// Observations of many sessions.
#[derive(Clone, Debug, Default)]
pub struct Validity {
    /// Number of sessions.
    pub sessions: usize,
    /// Number of sessions with a recorded compaction.
    pub compacted: usize,
    /// Number of recorded compactions.
    pub compactions: usize,
    /// By session.
    observations: Vec<(usize, Observation)>,
}

/// Items that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Names that the agent used after the compaction.
    References,
    /// All facts.
    Facts,
    /// Facts that the agent used after the compaction, without files and commands: to call a tool with one of those is both
    /// a use and a fetch.
    UsedFacts,
    /// Facts of a kind.
    Kind(FactKind),
}

impl Group {
    fn has(self, seen: Observation) -> bool {
        match (self, seen.subject) {
            (Self::References, Subject::Reference) | (Self::Facts, Subject::Fact(_)) => true,
            (Self::UsedFacts, Subject::Fact(kind)) => {
                seen.is_used && !matches!(kind, FactKind::File | FactKind::Command)
            }
            (Self::Kind(kind), Subject::Fact(of)) => kind == of,
            _ => false,
        }
    }
}

/// The rates of one group. Intervals: bootstrap of whole sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidityRow {
    /// The items.
    pub group: Group,
    /// Share of the items that were lost.
    pub lost: Estimate,
    /// Share of the lost items that were fetched again (precision).
    pub fetched_if_lost: Estimate,
    /// Share of the held items that were fetched again.
    pub fetched_if_held: Estimate,
    /// Share of all items that were fetched again (base rate).
    pub fetched: Estimate,
    /// Share of the fetched items that were lost (recall).
    pub lost_if_fetched: Estimate,
    /// Lost minus held.
    pub difference: Estimate,
}

impl Validity {
    /// Adds a session.
    pub fn add(&mut self, compactions: usize, observations: Vec<Observation>) {
        let session = self.sessions;
        self.sessions += 1;
        self.compacted += usize::from(compactions > 0);
        self.compactions += compactions;
        self.observations
            .extend(observations.into_iter().map(|seen| (session, seen)));
    }

    /// Returns the rows of the groups that occur.
    pub fn rows(&self) -> Vec<ValidityRow> {
        let kinds = FactKind::ALL.into_iter().map(Group::Kind);
        let groups = [Group::References, Group::UsedFacts, Group::Facts]
            .into_iter()
            .chain(kinds);
        let rows = groups.map(|group| self.row(group));
        rows.filter(|row| row.lost.n > 0).collect()
    }

    fn row(&self, group: Group) -> ValidityRow {
        let seen: Vec<_> = self
            .observations
            .iter()
            .filter(|(_, o)| group.has(*o))
            .collect();
        let share = |among: &dyn Fn(&Observation) -> bool, of: &dyn Fn(&Observation) -> bool| {
            let among = seen.iter().filter(|(_, o)| among(o));
            among
                .map(|(session, o)| ClusteredValue {
                    cluster: *session,
                    value: f64::from(of(o)),
                })
                .collect::<Vec<_>>()
        };
        let (is_lost, is_held) = (|o: &Observation| o.is_lost, |o: &Observation| !o.is_lost);
        let is_fetched = |o: &Observation| o.is_fetched;
        let (lost, held) = (share(&is_lost, &is_fetched), share(&is_held, &is_fetched));
        ValidityRow {
            group,
            lost: mean(&share(&|_| true, &is_lost)),
            fetched: mean(&share(&|_| true, &is_fetched)),
            lost_if_fetched: mean(&share(&is_fetched, &is_lost)),
            difference: difference_of_means(&lost, &held),
            fetched_if_lost: mean(&lost),
            fetched_if_held: mean(&held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::statistics::Conclusion;

    #[test]
    fn rates_are_those_of_the_construction() {
        let mut validity = Validity::default();
        for session in 0..20 {
            // Of the lost files 3 of 4 come back, of the held ones 1 of 4.
            let seen = (0..8).map(|n| Observation {
                subject: Subject::Fact(FactKind::File),
                is_lost: n < 4,
                is_used: false,
                is_fetched: if n < 4 {
                    n != session % 4
                } else {
                    n - 4 == session % 4
                },
            });
            validity.add(1, seen.collect());
        }
        validity.add(0, Vec::new());
        assert_eq!((validity.sessions, validity.compacted), (21, 20));
        let rows = validity.rows();
        let groups: Vec<_> = rows.iter().map(|row| row.group).collect();
        assert_eq!(groups, [Group::Facts, Group::Kind(FactKind::File)]);
        let row = &rows[1];
        assert_eq!(row.fetched_if_lost.value, Some(0.75));
        assert_eq!(row.fetched_if_held.value, Some(0.25));
        assert_eq!(
            (row.fetched.value, row.lost_if_fetched.value),
            (Some(0.5), Some(0.75))
        );
        assert_eq!(row.difference.conclusion, Conclusion::Above);
    }
}
