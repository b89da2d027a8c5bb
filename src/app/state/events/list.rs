//! The list of events of all lanes. Independent of the UI.

use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::selection::{CallRange, EventId};
use crate::app::state::model::view::View;
use crate::engine::{Effect, Event};

/// Filter of the event list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Events to list.
    pub group: EventGroup,
    /// List only events of the focused lane, or of the recorded one.
    pub is_one_lane: bool,
}

/// A group of events, by their effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventGroup {
    /// Every event.
    #[default]
    All,
    /// Events that changed the context.
    Changes,
    /// Events that changed nothing.
    NoOps,
    /// Log and screen output of the system.
    Log,
}

impl EventGroup {
    /// All groups, in display order.
    pub const ALL: [Self; 4] = [Self::All, Self::Changes, Self::NoOps, Self::Log];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Changes => "changes",
            Self::NoOps => "no-ops",
            Self::Log => "log",
        }
    }

    /// Returns the hover text.
    pub fn help(self) -> &'static str {
        match self {
            Self::All => "All events of the policies and the recorded program",
            Self::Changes => "Events that changed the context",
            Self::NoOps => "Events that changed nothing but may affect later ones",
            Self::Log => "Log and screen output of the systems, verbatim",
        }
    }

    /// Returns whether an event belongs to the group.
    pub fn has(self, event: &Event) -> bool {
        match self {
            Self::All => true,
            Self::Changes => matches!(event.effect, Effect::Removed | Effect::Changed),
            Self::NoOps => event.effect == Effect::Nothing,
            Self::Log => event.effect == Effect::Logged || !event.log.is_empty(),
        }
    }
}

/// The listed events, in call order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventList {
    /// The events.
    pub rows: Vec<EventId>,
    /// The call of each event.
    calls: Vec<usize>,
    /// The number of events in each of [`EventGroup::ALL`], also in groups that are not listed.
    pub counts: [usize; EventGroup::ALL.len()],
}

impl EventList {
    /// Lists the events of all lanes and the recorded one, or only of the focused lane (`None` for the recorded one), at
    /// these calls or at all. Events after the last call count as events of that call.
    pub fn new(
        runs: &Runs,
        filter: EventFilter,
        focused: Option<usize>,
        calls: Option<CallRange>,
    ) -> Self {
        let end = runs.case.session.calls.len().saturating_sub(1);
        let mut list = Self::default();
        for id in &runs.events {
            if filter.is_one_lane && id.lane != focused {
                continue;
            }
            let Some((_, event)) = runs.event(*id) else {
                continue;
            };
            if calls.is_some_and(|calls| !calls.contains(event.call.min(end))) {
                continue;
            }
            for (group, count) in EventGroup::ALL.iter().zip(&mut list.counts) {
                *count += usize::from(group.has(event));
            }
            if filter.group.has(event) {
                list.rows.push(*id);
                list.calls.push(event.call);
            }
        }
        list
    }

    /// Returns the number of events of all groups.
    pub fn total(&self) -> usize {
        let counts = EventGroup::ALL.iter().zip(self.counts);
        counts.filter(|(group, _)| **group == EventGroup::All).map(|(_, n)| n).sum()
    }

    /// Returns the row for a call: its first event, else the next one.
    pub fn row_at(&self, call: usize) -> usize {
        self.calls.partition_point(|of| *of < call)
    }
}

impl View {
    /// Returns the view settings of the tab Events.
    pub fn events(&self) -> EventFilter {
        *self.get()
    }

    /// Returns the view settings of the tab Events, to change them.
    pub fn events_mut(&mut self) -> &mut EventFilter {
        self.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ActionKind, Cause, OwnMeasure};
    use crate::units::Tokens;

    fn event(effect: Effect, log: &[&str]) -> Event {
        Event {
            call: 0,
            is_after_request: false,
            stage: String::new(),
            action: ActionKind::Drop,
            cause: Cause::default(),
            before: Tokens::ZERO,
            after: Tokens::ZERO,
            messages: Vec::new(),
            request: None,
            effect,
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
    fn no_ops_are_not_changes_and_log_output_is_listed_for_every_action() {
        let listed = |event: &Event| EventGroup::ALL.map(|group| group.has(event));
        assert_eq!(listed(&event(Effect::Removed, &[])), [true, true, false, false]);
        assert_eq!(listed(&event(Effect::Changed, &["x"])), [true, true, false, true]);
        assert_eq!(listed(&event(Effect::Nothing, &[])), [true, false, true, false]);
        assert_eq!(listed(&event(Effect::Logged, &["x"])), [true, false, false, true]);
    }
}
