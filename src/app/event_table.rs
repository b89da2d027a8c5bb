//! Which of all lanes' events are listed, without a window.

use crate::app::runs::{EventId, Runs};
use crate::engine::{Did, Event};

/// What the list of events leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Which kind of event is listed.
    pub shows: Shows,
    /// Only those of the lane that is looked at, or of what was recorded.
    pub is_one_lane: bool,
}

/// Kinds of events, as people look for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// Every event.
    #[default]
    All,
    /// What changed the context.
    Changes,
    /// What ran and changed nothing.
    NoOps,
    /// What the system itself logged or showed.
    Log,
}

impl Shows {
    /// All of them, in the order to offer them.
    pub const ALL: [Self; 4] = [Self::All, Self::Changes, Self::NoOps, Self::Log];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Changes => "changes",
            Self::NoOps => "no-ops",
            Self::Log => "log",
        }
    }

    /// What it lists, as a phrase.
    pub fn help(self) -> &'static str {
        match self {
            Self::All => "Everything that the policies and the recorded program did",
            Self::Changes => "What changed the context",
            Self::NoOps => {
                "What ran and changed nothing; what follows from having run follows all the same"
            }
            Self::Log => "What the systems themselves log or show, in their own words",
        }
    }

    /// Whether an event is listed.
    pub fn has(self, event: &Event) -> bool {
        match self {
            Self::All => true,
            Self::Changes => matches!(event.did, Did::Removed | Did::Changed),
            Self::NoOps => event.did == Did::Nothing,
            Self::Log => event.did == Did::Told || !event.log.is_empty(),
        }
    }
}

/// The events that are listed, in the order of their calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventList {
    /// The events.
    pub rows: Vec<EventId>,
    /// The step of each.
    steps: Vec<usize>,
    /// How many each of [`Shows::ALL`] would list.
    pub counts: [usize; Shows::ALL.len()],
}

impl EventList {
    /// Lists the events of all lanes and of what was recorded, or only of the focused one (none for what was recorded).
    pub fn new(runs: &Runs, filter: EventFilter, focused: Option<usize>) -> Self {
        let mut list = Self::default();
        for id in &runs.events {
            if filter.is_one_lane && id.0 != focused {
                continue;
            }
            let Some((_, event)) = runs.event(*id) else {
                continue;
            };
            for (shows, count) in Shows::ALL.iter().zip(&mut list.counts) {
                *count += usize::from(shows.has(event));
            }
            if filter.shows.has(event) {
                list.rows.push(*id);
                list.steps.push(event.step);
            }
        }
        list
    }

    /// The row to look at for a call: its first event, else the first after it.
    pub fn row_at(&self, step: usize) -> usize {
        self.steps.partition_point(|of| *of < step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Cause, OwnMeasure};
    use crate::units::Tokens;

    fn event(did: Did, log: &[&str]) -> Event {
        Event {
            step: 0,
            stage: String::new(),
            action: "drop",
            cause: Cause::default(),
            before: Tokens::ZERO,
            after: Tokens::ZERO,
            messages: Vec::new(),
            request: None,
            did,
            measured: OwnMeasure::default(),
            orphans: 0,
            forgotten: 0,
            left: 0,
            log: log.iter().map(|&line| line.to_owned()).collect(),
            files: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn a_no_op_is_no_change_and_what_was_logged_is_found_whatever_was_done() {
        let listed = |event: &Event| Shows::ALL.map(|shows| shows.has(event));
        assert_eq!(
            listed(&event(Did::Removed, &[])),
            [true, true, false, false]
        );
        assert_eq!(
            listed(&event(Did::Changed, &["x"])),
            [true, true, false, true]
        );
        assert_eq!(
            listed(&event(Did::Nothing, &[])),
            [true, false, true, false]
        );
        assert_eq!(
            listed(&event(Did::Told, &["x"])),
            [true, false, false, true]
        );
    }
}
