//! Everything that can be asked of the window. Panels read and ask; `app::carry` does it, after the frame.

use crate::app::billing::BillingChoice;
use crate::app::by_hand::Mark;
use crate::app::conversion::ConversionWish;
use crate::app::cost_view::CostView;
use crate::app::event_table::EventFilter;
use crate::app::handout::{Form, HandoutDraft};
use crate::app::insight_list::{InsightFilter, InsightKey};
use crate::app::knobs::KnobKey;
use crate::app::lane_rows;
use crate::app::loss_view::LossView;
use crate::app::managed_export::{Draft, Private};
use crate::app::message_table::{Filter, Sort};
use crate::app::plots::timeline::Axis;
use crate::app::preset_saving::PresetWish;
use crate::app::run_logs::LogsWish;
use crate::app::runs::EventId;
use crate::app::sessions::SessionsWish;
use crate::app::state::{Area, Detail, Tab};
use crate::app::tune_view::TuneView;
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

/// A wish.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Show the system's dialog for opening a file.
    OpenDialog,
    /// Something about the list of sessions.
    Sessions(SessionsWish),
    /// Load this file, or list what a folder holds.
    OpenPath(PathBuf),
    /// Opens one of the conversations of this file, from 0.
    OpenOneOf(PathBuf, usize),
    /// Load a bundled example, by its file name.
    OpenExample(&'static str),
    /// Open what the clipboard holds.
    Paste,
    /// Load another conversation of the open file.
    OpenConversation(usize),
    /// Stop loading.
    CancelLoad,
    /// Go back to the empty window.
    CloseDocument,
    /// Put away what went wrong.
    DismissProblem,
    /// Show or close the dialog for the path of a file.
    AskPath(bool),
    /// Change what stands in the field for a path.
    EditPath(String),

    /// Look at this step, everywhere.
    SelectStep(usize),
    /// Look at this message, everywhere.
    SelectMessage(usize),
    /// Look at what this lane wrote at this place.
    SelectWritten(usize, lane_rows::Place),
    /// Look at no message: the detail closes.
    Deselect,
    /// Select the messages of the table from the one that is selected to this one.
    ExtendSelection(usize),
    /// Look at a lane, a step and a message, as far as they are given, without changing tabs.
    LookAt(Spot),
    /// Look at what a lane's policy, or the recorded program, did.
    SelectEvent(EventId),
    /// Look at the message of this number (from 1), or the nearest there is.
    GoToMessage(usize),
    /// Show the knobs of this lane; none for what was recorded.
    FocusLane(Option<usize>),

    /// Set a knob where the lane that is looked at gets it from: in every lane that shares it, or in that lane only.
    SetKnob(KnobKey, f64),
    /// Set a knob where this lane gets it from; none puts it back to the preset's default.
    SetLaneKnob(usize, KnobKey, Option<f64>),
    /// Give a lane knobs of its own, or let it share the others' again.
    SetOwnKnobs(usize, bool),
    /// Put every knob back.
    ResetKnobs,
    /// Set what a lane plays: the setting `strategy`, by the name of a policy.
    SetStrategy(usize, String),
    /// Add a lane of the first policy that no lane has.
    AddLane,
    /// Compare with this policy: in a lane of its own where there is room for one, else in the focused lane.
    CompareWith(String),
    /// Take a lane away.
    RemoveLane(usize),
    /// Set the context window by hand; none for what is known of it.
    SetWindow(Option<Tokens>),
    /// Count with this counter.
    SetCounter(&'static str),
    /// Place a restart mark before this call, or take it away.
    ToggleRestart(usize),
    /// Have the provider answer this call with an error first; none takes that away.
    SetError(usize, Option<Arc<str>>),
    /// Mark these messages by hand; none takes their marks away.
    SetMark(Vec<usize>, Option<Mark>),
    /// Mark these messages by hand; where all of them have the mark, take it away.
    ToggleMark(Vec<usize>, Mark),
    /// Take every mark away that was made by hand.
    ResetMarks,
    /// Take back the last change.
    Undo,
    /// Do again what was taken back.
    Redo,

    /// Show a tab of the drawer.
    ShowTab(Tab),
    /// Count turns or calls on the timeline.
    SetAxis(Axis),
    /// Choose what the timeline's area shows.
    SetArea(Area),
    /// Order the message table.
    SetSort(Sort),
    /// Filter the message table.
    SetFilter(Filter),
    /// Choose which events are listed.
    SetEventFilter(EventFilter),
    /// Choose which insights are listed.
    SetInsightFilter(InsightFilter),
    /// Open an insight, and look at where it happened.
    OpenInsight(InsightKey),
    /// Choose what the tab Cost shows.
    SetCostView(CostView),
    /// Choose what the tab Loss shows.
    SetLossView(LossView),
    /// Choose what the tab Tune tries.
    SetTuneView(Box<TuneView>),
    /// Try settings, as the tab Tune says.
    StartSweep,
    /// Stop trying.
    CancelSweep,
    /// Give a lane the settings of a point of the sweep, by its index.
    AdoptPoint(usize),
    /// Set how calls are billed.
    SetBilling(BillingChoice),
    /// Put the cursor in the filter.
    FocusFilter,
    /// Change what stands in the field that jumps to a message.
    EditJump(String),
    /// Open or fold the rows of the lanes from this message to that one, both included.
    Unfold(u32, u32),
    /// Show the selected message in another way.
    SetDetail(Detail),
    /// Show or hide the sheet of shortcuts.
    ShowKeys(bool),
    /// Use this theme.
    SetTheme(egui::ThemePreference),

    /// Prepare an export of this lane; the focused one if none.
    StartExport(Option<usize>),
    /// Compact the last context whether the trigger is met or not: prepare it, or where it was prepared already do it.
    CompactAnyway,
    /// Prepare a file of what the model saw at the selected call.
    StartSaw,
    /// Change what is to be exported.
    EditExport(Box<Draft>),
    /// Show the system's dialog for a file or folder that the export's form names.
    BrowseExport(Place),
    /// Write it; with a model, ask first whether it may be asked.
    RunExport,
    /// Have its summaries written, to be looked at first.
    LookAtSummaries,
    /// Send what a model is to summarize: the person agrees.
    SendExport,
    /// Back to the form; what is under way ends.
    CancelExport,
    /// Write a summary over, by the number of its request.
    EditSummary(usize, String),
    /// Write what was looked at.
    WriteReviewed,
    /// Put the export into the store of the program that recorded the session: the person agrees.
    PutIntoStore,
    /// The model's key as it is typed.
    TypeKey(Private),
    /// Put the export dialog away.
    CloseExport,

    /// Prepare a report or the curve as a file, beginning with this form.
    StartHandout(Form),
    /// Change what is to be handed out.
    EditHandout(HandoutDraft),
    /// Show the system's dialog for its place.
    BrowseHandout,
    /// Write it.
    WriteHandout,
    /// Put its dialog away.
    CloseHandout,
    /// Something about writing the session in another format.
    Convert(ConversionWish),
    /// Something about the logs of live runs.
    Logs(LogsWish),

    /// Put a text on the clipboard and say what it is.
    CopyText(&'static str, String),
    /// Put the command line that gives the same numbers on the clipboard.
    CopyAsCommand,
    /// Put a lane's settings on the clipboard, in its system's own form.
    CopyConfig(usize),
    /// Something about a lane's policy as a preset of one's own.
    Preset(PresetWish),
}

/// A file or folder that the export's form names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where the export goes.
    Output,
    /// The folder for files that the policy writes.
    Files,
    /// Where requests and answers are logged.
    Log,
    /// The log that answers in a model's place.
    Replay,
    /// Certificates to trust.
    CaFile,
}
