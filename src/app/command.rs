//! All UI commands. Panels read state and send commands; `app::carry` executes them after the frame.

use crate::app::convert::conversion::ConversionWish;
use crate::app::cost::billing::BillingChoice;
use crate::app::cost::state::CostView;
use crate::app::events::list::EventFilter;
use crate::app::export::draft::Draft;
use crate::app::export::requests::Private;
use crate::app::insights::list::{InsightFilter, InsightKey};
use crate::app::lanes;
use crate::app::loss::state::LossView;
use crate::app::manual_edits::marks::Mark;
use crate::app::messages::order::{Filter, Sort};
use crate::app::policy_panel::knobs::KnobKey;
use crate::app::policy_panel::preset_saving::PresetWish;
use crate::app::report_export::job::{Form, HandoutDraft};
use crate::app::run_logs::list::LogsWish;
use crate::app::runs::replays::EventId;
use crate::app::sessions::list::SessionsWish;
use crate::app::state::{Area, Detail, Tab};
use crate::app::timeline::plot::Axis;
use crate::app::tune::state::TuneView;
use crate::units::Tokens;
use std::path::PathBuf;
use std::sync::Arc;

/// A spot in all panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Index of a lane.
    pub lane: Option<usize>,
    /// Index of a step.
    pub step: Option<usize>,
    /// Index of a message.
    pub message: Option<usize>,
}

/// A UI command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Show the system's dialog for opening a file.
    OpenDialog,
    /// A command of the session list.
    Sessions(SessionsWish),
    /// Load this file, or list the sessions of a folder.
    OpenPath(PathBuf),
    /// Open the conversation with this index (from 0) of a file.
    OpenOneOf(PathBuf, usize),
    /// Load a bundled example, by its file name.
    OpenExample(&'static str),
    /// Open the contents of the clipboard.
    Paste,
    /// Load another conversation of the open file.
    OpenConversation(usize),
    /// Stop loading.
    CancelLoad,
    /// Close the session and show the empty window.
    CloseDocument,
    /// Dismiss the error message.
    DismissProblem,
    /// Show or close the path dialog.
    AskPath(bool),
    /// Change the text of the path field.
    EditPath(String),

    /// Select this call in all panels.
    SelectStep(usize),
    /// Select this message in all panels.
    SelectMessage(usize),
    /// Select the message that this lane wrote at this place.
    SelectWritten(usize, lanes::rows::Place),
    /// Clear the message selection and close the detail.
    Deselect,
    /// Select the table rows from the selected message to this one.
    ExtendSelection(usize),
    /// Select the lane, call and message that are given, without changing tabs.
    LookAt(Spot),
    /// Select an event of a lane's policy or of the recorded program.
    SelectEvent(EventId),
    /// Select the message with this number (from 1), or the nearest one.
    GoToMessage(usize),
    /// Show the settings of this lane; `None` for the recorded lane.
    FocusLane(Option<usize>),

    /// Set a knob in the settings of the focused lane: in every lane that shares them, or in that lane only.
    SetKnob(KnobKey, f64),
    /// Set a knob in the settings of this lane; `None` resets it to the preset's default.
    SetLaneKnob(usize, KnobKey, Option<f64>),
    /// Give a lane its own settings, or share the common ones again.
    SetOwnKnobs(usize, bool),
    /// Reset every knob.
    ResetKnobs,
    /// Set the policy of a lane by name (the setting `strategy`).
    SetStrategy(usize, String),
    /// Add a lane with the first policy that no lane has.
    AddLane,
    /// Compare with this policy: in a new lane if there is room, else in the focused lane.
    CompareWith(String),
    /// Remove a lane.
    RemoveLane(usize),
    /// Set the context window; `None` for the detected one.
    SetWindow(Option<Tokens>),
    /// Count with this tokenizer.
    SetCounter(&'static str),
    /// Add or remove a restart mark before this call.
    ToggleRestart(usize),
    /// Set a provider error that precedes this call; `None` removes it.
    SetError(usize, Option<Arc<str>>),
    /// Set the mark of these messages; `None` removes their marks.
    SetMark(Vec<usize>, Option<Mark>),
    /// Mark these messages; removes the mark if all of them have it.
    ToggleMark(Vec<usize>, Mark),
    /// Remove all marks.
    ResetMarks,
    /// Undo the last change.
    Undo,
    /// Redo the last undone change.
    Redo,

    /// Show a tab of the drawer.
    ShowTab(Tab),
    /// Count turns or calls on the timeline.
    SetAxis(Axis),
    /// Choose the area series of the timeline.
    SetArea(Area),
    /// Sort the message table.
    SetSort(Sort),
    /// Filter the message table.
    SetFilter(Filter),
    /// Choose which events are listed.
    SetEventFilter(EventFilter),
    /// Choose which insights are listed.
    SetInsightFilter(InsightFilter),
    /// Open an insight and select the spot it refers to.
    OpenInsight(InsightKey),
    /// Set the view of the tab Cost.
    SetCostView(CostView),
    /// Set the view of the tab Loss.
    SetLossView(LossView),
    /// Set the view of the tab Tune.
    SetTuneView(Box<TuneView>),
    /// Start a sweep with the settings of the tab Tune.
    StartSweep,
    /// Stop the sweep.
    CancelSweep,
    /// Apply the settings of a sweep point, by index, to its lane.
    AdoptPoint(usize),
    /// Set the billing settings.
    SetBilling(BillingChoice),
    /// Focus the filter field.
    FocusFilter,
    /// Change the text of the field that jumps to a message.
    EditJump(String),
    /// Open or close the fold from the first message to the last one, inclusive.
    Unfold(u32, u32),
    /// Set how the selected message is shown.
    SetDetail(Detail),
    /// Show or hide the list of shortcuts.
    ShowKeys(bool),
    /// Use this theme.
    SetTheme(egui::ThemePreference),

    /// Prepare an export of this lane; `None` for the focused one.
    StartExport(Option<usize>),
    /// Compact the last context even if the trigger is not met. Prepares the export, or runs a prepared one.
    CompactAnyway,
    /// Prepare a file with the context of the selected call.
    StartSaw,
    /// Change the export form.
    EditExport(Box<Draft>),
    /// Show the system's dialog for a path of the export form.
    BrowseExport(Place),
    /// Run the export. Asks for consent before data is sent to a model.
    RunExport,
    /// Generate the summaries for review.
    LookAtSummaries,
    /// Consent to send the data to be summarized to the model.
    SendExport,
    /// Return to the form and stop the work in progress.
    CancelExport,
    /// Edit a summary, by the number of its request.
    EditSummary(usize, String),
    /// Write the export with the reviewed summaries.
    WriteReviewed,
    /// Consent to add the export to the store of the program that recorded the session.
    PutIntoStore,
    /// Change the API key.
    TypeKey(Private),
    /// Close the export dialog.
    CloseExport,

    /// Prepare a file of the report or the chart, initially in this form.
    StartHandout(Form),
    /// Change the form of the report or chart.
    EditHandout(HandoutDraft),
    /// Show the system's dialog for its output path.
    BrowseHandout,
    /// Write the report or chart.
    WriteHandout,
    /// Close its dialog.
    CloseHandout,
    /// A command of the conversion dialog.
    Convert(ConversionWish),
    /// A command of the list of run logs.
    Logs(LogsWish),

    /// Copy a text to the clipboard and show its description.
    CopyText(&'static str, String),
    /// Copy the command line that reproduces the numbers.
    CopyAsCommand,
    /// Copy a lane's settings in the configuration format of its system.
    CopyConfig(usize),
    /// A command that saves a lane's policy as a preset.
    Preset(PresetWish),
}

/// A path in the export form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Output path of the export.
    Output,
    /// Folder for files that the policy writes.
    Files,
    /// Log of requests and answers.
    Log,
    /// Log to replay instead of calling a model.
    Replay,
    /// Certificates to trust.
    CaFile,
}
