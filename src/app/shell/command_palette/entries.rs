//! The entries of the palette.

use crate::app::shell::drawer_tabs::DRAWER_TABS;
use crate::app::shell::{App, drawer_tabs, keys};
use crate::app::state::command::Command;
use crate::app::state::command_palette::rank::ranked;
use crate::app::state::command_palette::state::PaletteCommand;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::knobs::{KnobKey, snapped};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::examples::EXAMPLES;
use crate::app::state::open::recent::recent_name;
use crate::app::state::open_session::FrameRequests;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::engine::{Knob, Policy};
use crate::safe_text;

/// Hint of an entry that sets a setting to a value.
const SETTING: &str = "setting";
/// Maximum number of listed entries.
const MAX: usize = 60;

/// An entry of the palette.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The text that is listed and searched.
    pub(crate) name: String,
    /// Keys or kind of the entry.
    pub(crate) hint: String,
    /// The commands that the entry sends.
    pub(crate) commands: Vec<Command>,
    /// The palette stays open, for more text.
    pub(crate) keeps_open: bool,
}

impl Entry {
    fn new(
        name: impl Into<String>,
        hint: impl Into<String>,
        commands: impl IntoIterator<Item = Command>,
    ) -> Self {
        Self {
            name: name.into(),
            hint: hint.into(),
            commands: commands.into_iter().collect(),
            keeps_open: false,
        }
    }
}

impl Entry {
    /// Returns the commands of the entry, which also close the palette unless it stays open.
    pub(crate) fn run(&self) -> Vec<Command> {
        let close = (!self.keeps_open).then_some(PaletteCommand::Close.into());
        close.into_iter().chain(self.commands.iter().cloned()).collect()
    }
}

/// Returns the keys that open a tab of the drawer by its number from 1, or its kind if it has no keys.
fn tab_keys(nth: usize) -> String {
    if nth <= keys::DIGITS.len() { format!("Alt+{nth}") } else { "tab".to_owned() }
}

impl App {
    /// Returns the entries that match a text, best first.
    pub(crate) fn palette_entries(&self, text: &str) -> Vec<Entry> {
        let last_word = text.split_whitespace().next_back().unwrap_or_default();
        let number = last_word.parse::<f64>().ok();
        let mut all = self.actions();
        if self.session.document.is_some() {
            all.extend(self.positions(number));
            all.extend(self.lanes_and_tabs());
            all.extend(self.settings(number));
        }
        all.extend(self.files());
        // A typed value matches also if the setting rounds it.
        let names = all.iter().map(|entry| match entry.hint.as_str() {
            SETTING => format!("{} {last_word}", entry.name),
            _ => entry.name.clone(),
        });
        let names: Vec<String> = names.collect();
        let order = ranked(text, names.iter().map(String::as_str));
        let mut listed: Vec<Entry> =
            order.into_iter().take(MAX).map(|idx| all[idx].clone()).collect();
        listed.extend(self.search(text));
        listed
    }

    fn actions(&self) -> Vec<Entry> {
        let context = self.key_context();
        let mut actions = keys::offered_actions(context.as_ref());
        let palette = Command::from(PaletteCommand::Show);
        actions.retain(|action| action.command != palette);
        let entries = actions.into_iter();
        entries.map(|action| Entry::new(action.name, action.keys, [action.command])).collect()
    }

    /// Returns the call and the message with a typed number, if there are any.
    fn positions(&self, number: Option<f64>) -> Vec<Entry> {
        let Some(document) = &self.session.document else {
            return Vec::new();
        };
        let index = |count: usize| {
            let number = number.filter(|n| n.fract() == 0.0 && *n >= 1.0)?;
            Some(number as usize - 1).filter(|index| *index < count)
        };
        let session = document.session();
        let call = index(session.calls.len()).map(|call| {
            let name = format!("Go to call {}", call + 1);
            Entry::new(name, "call", [SelectCommand::Call(call).into()])
        });
        let message = index(session.messages.len()).map(|message| {
            let name = format!("Go to message {}", message + 1);
            Entry::new(name, "message", [SelectCommand::Message(message).into()])
        });
        call.into_iter().chain(message).collect()
    }

    fn lanes_and_tabs(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = (1..)
            .zip(drawer_tabs::tabs())
            .map(|(nth, tab)| {
                let name = format!("Show the tab {}", tab.label);
                let command = ShellCommand::ShowTab(tab).into();
                Entry::new(name, tab_keys(nth), [command])
            })
            .collect();
        if let Some(session) = self.open_session(FrameRequests::default()) {
            entries.extend(DRAWER_TABS.iter().flat_map(|tab| {
                let entry = |(name, command)| Entry::new(name, tab.tab().label, [command]);
                tab.commands(&session).into_iter().map(entry)
            }));
        }
        let labels = self.runs().map_or(&[][..], |runs| &runs.labels);
        entries.extend((1..).zip(labels).map(|(nth, label)| {
            let command = SelectCommand::Lane(Some(nth - 1)).into();
            Entry::new(format!("Focus lane {nth}: {label}"), nth.to_string(), [command])
        }));
        entries.extend(self.policies.iter().map(|policy| {
            let command = LanesCommand::Compare(policy.name.clone()).into();
            let name = format!("Compare with {}", policy.label);
            Entry::new(name, "preset", [command])
        }));
        entries
    }

    /// Returns an entry for each setting of the focused lane: it sets the typed number, or asks for one.
    fn settings(&self, number: Option<f64>) -> Vec<Entry> {
        let lane = self.session.selection.lane;
        let Some(lane) = lane.and_then(|lane| self.runs()?.lanes.get(lane)) else {
            return Vec::new();
        };
        let current = |knob: &Knob| lane.knobs.get(&knob.name).unwrap_or(knob.value);
        let entries = lane.policy.knobs.iter().flat_map(|knob| {
            if knob.choices.is_empty() {
                vec![setting(&lane.policy, knob, current(knob), number)]
            } else {
                let choices = (0_u32..).zip(&knob.choices);
                let choice = |(value, choice): (u32, &String)| {
                    let shown = format!("Set {} to {choice}", knob.name);
                    set(&lane.policy, knob, f64::from(value), shown)
                };
                choices.map(choice).collect()
            }
        });
        entries.collect()
    }

    /// Returns the folder of the open file, the recent files and folders, and the examples.
    fn files(&self) -> Vec<Entry> {
        let open = self.session.document.as_ref();
        let folder = open.and_then(|open| open.origin.folder()).map(|folder| {
            let command = SessionsCommand::Show(Some(folder.to_owned()));
            Entry::new("Sessions in this file's folder", "", [command.into()])
        });
        let recent = self.saved.recent().iter().map(|path| {
            let name = format!("Open {}", recent_name(path));
            Entry::new(name, "recent", [OpenCommand::Path(path.clone()).into()])
        });
        let examples = EXAMPLES.iter().map(|example| {
            let command = OpenCommand::Example(example.name).into();
            Entry::new(format!("Open the example: {}", example.story), "example", [command])
        });
        folder.into_iter().chain(recent).chain(examples).collect()
    }

    /// Returns the entry that finds the typed text in the messages.
    fn search(&self, text: &str) -> Option<Entry> {
        let text = text.trim();
        if text.is_empty() || self.session.document.is_none() {
            return None;
        }
        let mut filter = self.session.view.messages().filter.clone();
        filter.set_text(text.to_owned());
        let name = format!("Find in the messages: {}", safe_text::one_line(text, 60));
        let commands =
            [MessagesCommand::Filter(filter).into(), MessagesCommand::FocusFilter.into()];
        Some(Entry::new(name, "Ctrl+F", commands))
    }
}

/// Returns the entry of a setting that is a number.
fn setting(policy: &Policy, knob: &Knob, current: f64, number: Option<f64>) -> Entry {
    if let Some(value) = number {
        let value = snapped(knob, value);
        let shown = wording::knob_value(knob, value);
        return set(policy, knob, value, format!("Set {} to {shown}", knob.name));
    }
    let now = wording::knob_value(knob, current);
    let name = format!("Set {} (now {now})", knob.name);
    let typed = PaletteCommand::Type(format!("set {} ", knob.name));
    Entry { keeps_open: true, ..Entry::new(name, "type a number", [typed.into()]) }
}

fn set(policy: &Policy, knob: &Knob, value: f64, name: String) -> Entry {
    let command = SettingsCommand::Set(KnobKey::of(policy, knob), value).into();
    Entry::new(name, SETTING, [command])
}
