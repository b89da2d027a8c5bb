//! UI commands: one variant per feature. Panels send them, and the window executes them after the frame.

use crate::app::state::command_palette::state::PaletteCommand;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::convert::conversion::ConvertCommand;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::marks::MarkCommand;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::notes::note::NoteCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::report_export::ReportCommand;
use crate::app::state::restore::restoring::RestoreCommand;
use crate::app::state::run_logs::list::RunLogsCommand;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::settings_panel::preset_saving::PresetCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::tune::command::TuneCommand;

/// Defines [`Command`] and its conversions from the commands of each feature.
macro_rules! commands {
    ($($(#[$doc:meta])* $feature:ident($command:ty),)+) => {
        /// A UI command.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Command {
            $($(#[$doc])* $feature($command),)+
        }

        $(impl From<$command> for Command {
            fn from(command: $command) -> Self {
                Self::$feature(command)
            }
        })+
    };
}

commands! {
    /// Opens and closes sessions.
    Open(OpenCommand),
    /// Shows, opens and closes session tabs.
    Tabs(TabsCommand),
    /// Lists sessions.
    Sessions(SessionsCommand),
    /// Selects a call, message, lane or event.
    Select(SelectCommand),
    /// Changes the view settings of a panel.
    View(ViewCommand),
    /// Filters, sorts and shows messages.
    Messages(MessagesCommand),
    /// Marks messages.
    Mark(MarkCommand),
    /// Writes notes on messages.
    Note(NoteCommand),
    /// Adds, removes and changes lanes.
    Lanes(LanesCommand),
    /// Changes settings and assumptions.
    Settings(SettingsCommand),
    /// Saves a policy as a preset.
    Preset(PresetCommand),
    /// Compares with a second session.
    Compare(CompareCommand),
    /// Tries settings.
    Tune(TuneCommand),
    /// Exports a managed conversation.
    Export(ExportCommand),
    /// Measures with a model what compactions lost.
    Measure(MeasureCommand),
    /// Exports the report or the chart.
    Report(ReportCommand),
    /// Converts the session to another format.
    Convert(ConvertCommand),
    /// Restores the source of a managed conversation.
    Restore(RestoreCommand),
    /// Lists logs of live runs.
    RunLogs(RunLogsCommand),
    /// Shows and changes the command palette.
    Palette(PaletteCommand),
    /// Undo, tabs of the drawer, theme, shortcuts and the clipboard.
    Shell(ShellCommand),
}

impl Command {
    /// Returns whether the command opens a text field that takes the focus. Keys that follow it belong to the field.
    pub(crate) fn opens_field(&self) -> bool {
        match self {
            Self::Palette(command) => matches!(command, PaletteCommand::Show),
            Self::Messages(command) => matches!(command, MessagesCommand::FocusFilter),
            Self::Open(command) => matches!(command, OpenCommand::ShowDialog),
            Self::Compare(command) => matches!(command, CompareCommand::ShowDialog),
            Self::Tabs(command) => matches!(command, TabsCommand::New),
            Self::Note(command) => matches!(command, NoteCommand::Start(_)),
            Self::Preset(command) => matches!(command, PresetCommand::Start(_)),
            _ => false,
        }
    }
}

/// The commands that panels send in one frame, in order.
#[derive(Debug, Default)]
pub struct Commands(Vec<Command>);

impl Commands {
    /// Appends a command.
    pub fn push(&mut self, command: impl Into<Command>) {
        self.0.push(command.into());
    }

    /// Returns whether a command opens a text field.
    pub(crate) fn open_field(&self) -> bool {
        self.0.iter().any(Command::opens_field)
    }

    /// Returns the number of commands.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<C: Into<Command>> Extend<C> for Commands {
    fn extend<I: IntoIterator<Item = C>>(&mut self, commands: I) {
        self.0.extend(commands.into_iter().map(Into::into));
    }
}

impl IntoIterator for Commands {
    type Item = Command;
    type IntoIter = std::vec::IntoIter<Command>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
