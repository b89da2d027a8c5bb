//! Commands of the palette that have no shortcut of their own.

use crate::app::command::Command;
use crate::app::compare::command::CompareCommand;
use crate::app::convert::conversion::ConvertCommand;
use crate::app::export::command::ExportCommand;
use crate::app::lanes::command::LanesCommand;
use crate::app::open::command::OpenCommand;
use crate::app::report_export::job::{ReportCommand, ReportFormat};
use crate::app::restore::restoring::RestoreCommand;
use crate::app::run_logs::list::RunLogsCommand;
use crate::app::selection::{Landmark, SelectCommand};
use crate::app::sessions::list::SessionsCommand;
use crate::app::settings_panel::command::SettingsCommand;
use crate::app::shell::command::ShellCommand;
use egui::ThemePreference;

/// A command of the palette.
pub(super) struct Action {
    /// Its name in the list.
    pub(super) name: &'static str,
    /// Its keys, if a shortcut for several commands includes it.
    pub(super) keys: &'static str,
    /// Whether it needs an open session.
    pub(super) needs_session: bool,
    /// Creates the command.
    pub(super) command: fn() -> Command,
}

const fn with_session(name: &'static str, keys: &'static str, command: fn() -> Command) -> Action {
    Action {
        name,
        keys,
        needs_session: true,
        command,
    }
}

const fn always(name: &'static str, command: fn() -> Command) -> Action {
    Action {
        name,
        keys: "",
        needs_session: false,
        command,
    }
}

fn jump(landmark: Landmark, is_back: bool) -> Command {
    SelectCommand::Jump(landmark, is_back).into()
}

fn theme(theme: ThemePreference) -> Command {
    ShellCommand::SetTheme(theme).into()
}

/// Commands beside those of [`crate::app::shell::keys::actions`].
pub(super) static ACTIONS: &[Action] = &[
    with_session("Next compaction", "N", || jump(Landmark::Compaction, false)),
    with_session("Previous compaction", "Shift+N", || {
        jump(Landmark::Compaction, true)
    }),
    with_session("Next overflow", "O", || jump(Landmark::Overflow, false)),
    with_session("Previous overflow", "Shift+O", || {
        jump(Landmark::Overflow, true)
    }),
    with_session("Next cache miss", "M", || jump(Landmark::CacheMiss, false)),
    with_session("Previous cache miss", "Shift+M", || {
        jump(Landmark::CacheMiss, true)
    }),
    with_session("Add a lane", "", || LanesCommand::Add.into()),
    with_session("Reset all settings", "", || SettingsCommand::Reset.into()),
    with_session("Open as comparison", "", || {
        CompareCommand::ShowDialog.into()
    }),
    with_session("Swap the compared sessions", "", || {
        CompareCommand::Swap.into()
    }),
    with_session("Close the comparison", "", || CompareCommand::Close.into()),
    with_session("Export the context at this call", "", || {
        ExportCommand::StartContext.into()
    }),
    with_session("Convert to another format", "", || {
        ConvertCommand::Start.into()
    }),
    with_session("Export a report", "", || {
        ReportCommand::Start(ReportFormat::Page).into()
    }),
    with_session("Export the curve", "", || {
        ReportCommand::Start(ReportFormat::Png).into()
    }),
    with_session("Copy the command line", "", || {
        ShellCommand::CopyCommandLine.into()
    }),
    with_session("Close this session", "", || OpenCommand::Close.into()),
    always("Restore a managed conversation", || {
        RestoreCommand::Start.into()
    }),
    always("Sessions on this machine", || {
        SessionsCommand::Show(None).into()
    }),
    always("Run logs", || RunLogsCommand::Show.into()),
    always("Dark theme", || theme(ThemePreference::Dark)),
    always("Light theme", || theme(ThemePreference::Light)),
    always("Theme of the system", || theme(ThemePreference::System)),
];
