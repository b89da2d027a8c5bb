//! The table of actions for the command palette, the help sheet and keys.

use crate::app::shell::action::{
    Action, When, always, digits, elsewhere, in_session, key, more_keys, named, row,
};
use crate::app::shell::drawer_tabs;
use crate::app::shell::key_context::KeyContext;
use crate::app::state::command::Command;
use crate::app::state::command_palette::state::PaletteCommand;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::convert::conversion::ConvertCommand;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::marks::Mark;
use crate::app::state::model::selection::{Direction, Landmark, SelectCommand};
use crate::app::state::open::command::OpenCommand;
use crate::app::state::report_export::{ReportCommand, ReportFormat};
use crate::app::state::restore::restoring::RestoreCommand;
use crate::app::state::run_logs::list::RunLogsCommand;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::{ShellCommand, ThemeChoice};
use crate::app::state::tune::command::TuneCommand;
use egui::{Key, Modifiers};

const NONE: Modifiers = Modifiers::NONE;
const COMMAND: Modifiers = Modifiers::COMMAND;
const SHIFT: Modifiers = Modifiers::SHIFT;

/// All actions. An earlier row takes a key that several rows match: a key without Shift or Alt also matches with it.
pub(crate) static ACTIONS: &[Action] = &[
    row(
        "Ctrl+O",
        "Open a session",
        When::Always,
        &[key(COMMAND, Key::O, |_| send(OpenCommand::ShowDialog))],
    ),
    row(
        "Ctrl+T   Ctrl+W",
        "New, close a session tab (Ctrl+Shift+T: reopen)",
        When::Always,
        &[
            named("Reopen the session tab closed last", COMMAND.plus(SHIFT), Key::T, |_| {
                send(TabsCommand::Reopen)
            }),
            named("New session tab", COMMAND, Key::T, |_| send(TabsCommand::New)),
            named("Close the session tab", COMMAND, Key::W, |_| send(TabsCommand::Close(None))),
        ],
    ),
    row(
        "Ctrl+Tab",
        "Next session tab (Shift: previous)",
        When::Always,
        &[
            named("Previous session tab", COMMAND.plus(SHIFT), Key::Tab, |_| {
                step(Direction::Previous)
            }),
            named("Next session tab", COMMAND, Key::Tab, |_| step(Direction::Next)),
            key(COMMAND, Key::PageUp, |_| step(Direction::Previous)),
            key(COMMAND, Key::PageDown, |_| step(Direction::Next)),
        ],
    ),
    elsewhere("Ctrl+V", "Open the conversation in the clipboard"),
    row(
        "Ctrl+E",
        "Export the focused lane",
        When::InDocument,
        &[key(COMMAND, Key::E, |_| send(ExportCommand::Start(None)))],
    ),
    row(
        "Ctrl+R",
        "Try settings of all lanes",
        When::InDocument,
        &[key(COMMAND, Key::R, |_| send(TuneCommand::Start))],
    ),
    row(
        "Ctrl+Shift+Z   Ctrl+Y",
        "Redo",
        When::NotTyping,
        &[
            key(COMMAND.plus(SHIFT), Key::Z, |_| send(ShellCommand::Redo)),
            key(COMMAND, Key::Y, |_| send(ShellCommand::Redo)),
        ],
    ),
    row("Ctrl+Z", "Undo", When::NotTyping, &[key(COMMAND, Key::Z, |_| send(ShellCommand::Undo))]),
    elsewhere("←   →", "Previous, next call (Ctrl: ten)"),
    elsewhere("Shift+←   Shift+→", "Select a range of calls (or drag over the timeline)"),
    elsewhere("Z", "Zoom the timeline to the selected calls"),
    elsewhere("Ctrl+click", "In the timeline: compare a call with the selected one"),
    elsewhere("Home   End", "First, last call"),
    elsewhere("W   S", "Zoom the timeline in, out (or turn the wheel)"),
    elsewhere("A   D", "Move the timeline left, right"),
    elsewhere("Space+drag", "Move the timeline (or drag with the middle button)"),
    elsewhere("Right drag", "Zoom into a part of the timeline"),
    elsewhere("F", "Show the whole timeline (or double-click it)"),
    row(
        "Shift+K   Shift+J",
        "Select more messages (or Shift+↑, Shift+↓)",
        When::InDocument,
        &[
            key(SHIFT, Key::K, |context| context.extend(-1)),
            key(SHIFT, Key::J, |context| context.extend(1)),
        ],
    ),
    more_keys(
        When::Free,
        &[
            key(SHIFT, Key::ArrowUp, |context| context.extend(-1)),
            key(SHIFT, Key::ArrowDown, |context| context.extend(1)),
        ],
    ),
    row(
        "K   J",
        "Previous, next message (or ↑, ↓)",
        When::InDocument,
        &[
            key(NONE, Key::K, |context| context.neighbor(-1)),
            key(NONE, Key::J, |context| context.neighbor(1)),
        ],
    ),
    more_keys(
        When::Free,
        &[
            key(NONE, Key::ArrowUp, |context| context.neighbor(-1)),
            key(NONE, Key::ArrowDown, |context| context.neighbor(1)),
        ],
    ),
    elsewhere("↑   ↓   Enter", "In the list of sessions: move the highlight, open the session"),
    digits("Alt+1 … 9", "Open a tab of the drawer", Modifiers::ALT, |_, nth| {
        send(ShellCommand::ShowTab(drawer_tabs::tabs().nth(nth)?))
    }),
    digits("1 … 6", "Focus a lane", NONE, focus_lane),
    row(
        "R",
        "Add or remove a restart mark at this call",
        When::InDocument,
        &[key(NONE, Key::R, |context| {
            send(SettingsCommand::ToggleRestart(context.selection.call))
        })],
    ),
    row(
        "P   C   X",
        "Pin, clear or drop messages, or undo that",
        When::InDocument,
        &[
            key(NONE, Key::P, |context| context.mark(Mark::Pinned)),
            key(NONE, Key::C, |context| context.mark(Mark::Cleared)),
            key(NONE, Key::X, |context| context.mark(Mark::Dropped)),
        ],
    ),
    row(
        "0",
        "Focus the recorded lane",
        When::InDocument,
        &[key(NONE, Key::Num0, |_| send(SelectCommand::Lane(None)))],
    ),
    row(
        "Ctrl+F   /",
        "Find in the messages",
        When::InDocumentOrTyping,
        &[key(COMMAND, Key::F, |_| send(MessagesCommand::FocusFilter))],
    ),
    more_keys(When::InDocument, &[key(NONE, Key::Slash, |_| send(MessagesCommand::FocusFilter))]),
    row(
        "Ctrl+K",
        "Find a command, preset, setting, call or message",
        When::Always,
        &[key(COMMAND, Key::K, |_| send(PaletteCommand::Show))],
    ),
    row(
        "N   O   M",
        "Next compaction, overflow, cache miss (Shift: previous)",
        When::InDocument,
        &[
            named("Previous compaction", SHIFT, Key::N, |_| {
                jump(Landmark::Compaction, Direction::Previous)
            }),
            named("Next compaction", NONE, Key::N, |_| jump(Landmark::Compaction, Direction::Next)),
            named("Previous overflow", SHIFT, Key::O, |_| {
                jump(Landmark::Overflow, Direction::Previous)
            }),
            named("Next overflow", NONE, Key::O, |_| jump(Landmark::Overflow, Direction::Next)),
            named("Previous cache miss", SHIFT, Key::M, |_| {
                jump(Landmark::CacheMiss, Direction::Previous)
            }),
            named("Next cache miss", NONE, Key::M, |_| jump(Landmark::CacheMiss, Direction::Next)),
        ],
    ),
    row(
        "F3   Shift+F3",
        "Next, previous match (in the field also Enter, Shift+Enter)",
        When::InDocumentOrTyping,
        &[
            key(SHIFT, Key::F3, |_| find(Direction::Previous)),
            key(NONE, Key::F3, |_| find(Direction::Next)),
        ],
    ),
    elsewhere(
        "Esc",
        "Cancel a drag; close what is open, clear the filter, stop loading: one at a time",
    ),
    row(
        "?",
        "This sheet",
        When::NoDialog,
        &[named("Keyboard shortcuts", NONE, Key::Questionmark, |_| {
            send(ShellCommand::ShowShortcuts)
        })],
    ),
    in_session("Add a lane", |_| send(LanesCommand::Add)),
    in_session("Reset all settings", |_| send(SettingsCommand::Reset)),
    in_session("Open as comparison", |_| send(CompareCommand::ShowDialog)),
    in_session("Swap the compared sessions", |_| send(CompareCommand::Swap)),
    in_session("Close the comparison", |_| send(CompareCommand::Close)),
    in_session("Export the context at this call", |_| send(ExportCommand::StartContext)),
    in_session("Convert to another format", |_| send(ConvertCommand::Start)),
    in_session("Export a report", |_| send(ReportCommand::Start(ReportFormat::Page))),
    in_session("Export the curve", |_| send(ReportCommand::Start(ReportFormat::Png))),
    in_session("Copy the command line", |_| send(ShellCommand::CopyCommandLine)),
    always("Restore a managed conversation", |_| send(RestoreCommand::Start)),
    always("Sessions on this machine", |_| send(SessionsCommand::Show(None))),
    always("Usage of the listed sessions", |_| send(SessionsCommand::Usage(UsageCommand::Show))),
    always("Run logs", |_| send(RunLogsCommand::Show)),
    always("Dark theme", |_| theme(ThemeChoice::Dark)),
    always("Light theme", |_| theme(ThemeChoice::Light)),
    always("System theme", |_| theme(ThemeChoice::System)),
];

/// Returns a command of any feature.
#[expect(clippy::unnecessary_wraps, reason = "every binding returns an option")]
fn send(command: impl Into<Command>) -> Option<Command> {
    Some(command.into())
}

fn focus_lane(context: &KeyContext<'_>, nth: usize) -> Option<Command> {
    context.focus(nth)
}

fn theme(theme: ThemeChoice) -> Option<Command> {
    send(ShellCommand::SetTheme(theme))
}

fn step(direction: Direction) -> Option<Command> {
    send(TabsCommand::Step(direction))
}

fn jump(landmark: Landmark, direction: Direction) -> Option<Command> {
    send(SelectCommand::Jump(landmark, direction))
}

fn find(direction: Direction) -> Option<Command> {
    send(MessagesCommand::Find(direction))
}
