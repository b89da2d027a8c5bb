//! The list of sessions on this machine. Rows arrive as files are read, newest first.

use crate::analysis::query::Hit;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::app::state::session_tabs::target_tab::TargetTab;
use crate::app::state::sessions::search::{FoundRow, SessionSearch, files};
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::sessions::usage::page::UsagePage;
use crate::app::state::sessions::usage::row_sessions::RowSessions;
use crate::app::state::sessions::usage::view::UsageView;
use crate::exec::stores::{Cache, ListCaches, ListedSession, Listing};
use crate::exec::{IndexFolder, stores};
use crate::presets::default_output_reserve;
use crate::progress::Progress;
use crate::units::Share;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A command of the session list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionsCommand {
    /// Show the sessions of all agents, or of a folder.
    Show(Option<PathBuf>),
    /// Choose a folder to list.
    Choose,
    /// Close the list; it remains available while a session is open.
    Close,
    /// Return to the list.
    Back,
    /// Stop reading.
    Stop,
    /// Show rows that contain this text.
    Filter(String),
    /// Sort by this column, or reverse the order.
    Sort(Column),
    /// Highlight this row, by its index in [`Sessions::rows`].
    Highlight(u32),
    /// Change the query of the search in all sessions.
    SearchText(String),
    /// Search in all sessions.
    StartSearch,
    /// Stop the search.
    StopSearch,
    /// Highlight this row of the results.
    HighlightFound(usize),
    /// Open the session of this row of the results, at its message.
    OpenFound(FoundRow, TargetTab),
    /// Switch the index on.
    SwitchIndexOn,
    /// Remove the index and switch it off.
    RemoveIndex,
    /// A command of the page *Usage*.
    Usage(UsageCommand),
    /// List all sessions again instead of those of a row of the page *Usage*.
    ShowAll,
}

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Time of the last call.
    LastCall,
    /// The agent, else the format.
    Agent,
    /// The agent's working folder.
    Project,
    /// Title or first prompt.
    Title,
    /// Number of messages.
    Messages,
    /// The largest prompt as a share of the window.
    Peak,
    /// Number of recorded compactions.
    Compactions,
    /// Bytes of the file.
    Size,
}

/// A page of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListPage {
    /// The sessions.
    #[default]
    Sessions,
    /// Usage of their calls.
    Usage,
}

/// A file that is not a session.
#[derive(Clone, Debug)]
pub struct UnreadFile {
    /// Path.
    pub path: PathBuf,
    /// Error of opening the file.
    pub why: String,
}

/// A message that was found, to be shown once its session is open.
#[derive(Clone, Debug)]
pub(crate) struct OpenedMessage {
    /// File of the session.
    pub(crate) path: PathBuf,
    /// Index of the conversation.
    pub(crate) conversation: usize,
    /// The match.
    pub(crate) hit: Hit,
    /// The query.
    pub(crate) query: String,
}

/// The list.
#[derive(Debug)]
pub struct Sessions {
    /// The listed folder; `None` for the agents' own folders.
    pub folder: Option<PathBuf>,
    /// The rows read so far, in reading order.
    pub rows: Vec<ListedSession>,
    /// Indices of the rows to show, in order.
    pub order: Vec<u32>,
    /// Files that cannot be opened as a session.
    pub unread: Vec<UnreadFile>,
    /// Filter text.
    pub filter: String,
    /// Sort key.
    pub column: Column,
    /// Largest first.
    pub is_descending: bool,
    /// Index of the row highlighted by keyboard.
    pub highlighted: Option<u32>,
    /// Error of the listing, or a warning that it is incomplete.
    pub problem: Option<String>,
    /// The search in all sessions.
    pub search: SessionSearch,
    /// The shown page.
    pub page: ListPage,
    /// Usage of the sessions' calls.
    pub usage: UsagePage,
    /// The sessions of a row of the page *Usage*, if only they are listed.
    pub only: Option<RowSessions>,
    /// The list is in front, else behind a session that was opened from it.
    pub is_shown: bool,
    /// Rows are cached between runs of the program.
    keeps_state: bool,
    /// Number of sub-agents by the session that started them, once all are read.
    sub_agents: HashMap<SessionKey, usize>,
    progress: Arc<Progress>,
    news: Receiver<ListedSession>,
    /// Number of files that Plimsoll wrote, which are not listed.
    pub n_own_outputs: usize,
    /// Reads the rows.
    work: Option<Background<Result<ReadList, String>>>,
}

impl Sessions {
    /// Starts reading. With `keeps_state`, rows are cached between runs of the program.
    pub(crate) fn start(
        repaint: &Repaint,
        mode: WorkMode,
        folder: Option<PathBuf>,
        keeps_state: bool,
        index: IndexFolder,
        usage: UsageView,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        let (sender, news) = channel();
        let (shared, listed, redrawn) = (Arc::clone(&progress), folder.clone(), repaint.clone());
        let read = move || read(listed.as_deref(), keeps_state, &shared, &sender, &redrawn);
        let work = mode.start(repaint, "sessions", read);
        let mut search = SessionSearch::new(index);
        search.update_index(repaint, mode, folder.clone());
        Self {
            folder,
            search,
            rows: Vec::new(),
            order: Vec::new(),
            unread: Vec::new(),
            filter: String::new(),
            page: ListPage::Sessions,
            usage: UsagePage::new(usage),
            only: None,
            keeps_state,
            sub_agents: HashMap::new(),
            column: Column::LastCall,
            is_descending: true,
            highlighted: None,
            problem: None,
            n_own_outputs: 0,
            is_shown: true,
            progress,
            news,
            work: Some(work),
        }
    }

    /// Receives the rows read since the last frame.
    pub(crate) fn poll(&mut self, repaint: &Repaint, mode: WorkMode) {
        self.search.poll(repaint, mode, self.folder.as_deref());
        self.usage.poll(repaint, mode);
        if let Some(files) = self.search.files.take() {
            self.remove_deleted(&files);
        }
        let n_before = self.rows.len();
        for listed in self.news.try_iter() {
            match listed.summary {
                // Repeated calls are known once all files were read.
                Ok(_) if listed.repeats.is_some() => {
                    let is_it = |row: &&mut ListedSession| {
                        row.found.path == listed.found.path
                            && row.conversation == listed.conversation
                    };
                    if let Some(row) = self.rows.iter_mut().find(is_it) {
                        *row = listed;
                    }
                }
                Ok(_) => self.rows.push(listed),
                Err(why) => self.unread.push(UnreadFile { path: listed.found.path, why }),
            }
        }
        if self.rows.len() != n_before {
            self.sort();
        }
        match self.work.take().map(Background::take) {
            Some(Ok(Some(Ok(list)))) => {
                self.problem = list.warning;
                self.n_own_outputs = list.n_own_outputs;
                self.sub_agents = list.sub_agents;
            }
            None => {}
            Some(Ok(Some(Err(problem)))) => self.problem = Some(problem),
            Some(Ok(None)) => self.problem = Some("the reader stopped unexpectedly".to_owned()),
            Some(Err(work)) => self.work = Some(work),
        }
    }

    /// Executes a command that concerns the list alone.
    pub(crate) fn execute(&mut self, command: SessionsCommand) {
        match command {
            SessionsCommand::Stop => self.progress.cancel(),
            SessionsCommand::Filter(text) => self.filter = text,
            SessionsCommand::Sort(column) => {
                self.is_descending =
                    if self.column == column { !self.is_descending } else { column.is_number() };
                self.column = column;
            }
            SessionsCommand::Highlight(row) => self.highlighted = Some(row),
            SessionsCommand::Close => self.is_shown = false,
            SessionsCommand::Back => self.is_shown = true,
            SessionsCommand::ShowAll => self.only = None,
            SessionsCommand::SearchText(text) => self.search.set_text(text),
            SessionsCommand::StopSearch => self.search.cancel(),
            SessionsCommand::HighlightFound(row) => self.search.highlighted = Some(row),
            _ => {}
        }
        self.sort();
    }

    /// Executes a command of the page *Usage*.
    pub(crate) fn execute_usage(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        command: UsageCommand,
    ) {
        match command {
            UsageCommand::Show => {
                (self.page, self.is_shown) = (ListPage::Usage, true);
                self.usage.read(repaint, mode, self.folder.clone(), self.keeps_state);
            }
            UsageCommand::Hide => self.page = ListPage::Sessions,
            UsageCommand::View(view) => self.usage.view = view,
            UsageCommand::Stop => self.usage.stop(),
            UsageCommand::Highlight(row) => self.usage.highlighted = Some(row),
            UsageCommand::ShowSessions(row) => {
                self.only = self.usage.sessions_of(row);
                self.page = ListPage::Sessions;
                self.filter.clear();
                self.search.set_text(String::new());
                self.sort();
            }
        }
    }

    /// Returns the number of sub-agents that a session started and that are listed too.
    pub fn sub_agents(&self, listed: &ListedSession) -> usize {
        self.sub_agents.get(&session_key(listed)).copied().unwrap_or_default()
    }

    /// Returns the share of files read; `None` when done.
    pub fn progress(&self) -> Option<Share> {
        self.work.as_ref().map(|_| self.progress.share().unwrap_or_default())
    }

    /// Removes the rows of files that a later search did not find.
    fn remove_deleted(&mut self, files: &HashSet<PathBuf>) {
        let n_before = self.rows.len();
        self.rows.retain(|row| files.contains(&row.found.path));
        self.unread.retain(|file| files.contains(&file.path));
        if self.rows.len() != n_before {
            self.highlighted = None;
            self.sort();
        }
    }

    fn sort(&mut self) {
        let needle = self.filter.trim().to_lowercase();
        let is_shown = |idx: &u32| {
            let listed = &self.rows[*idx as usize];
            let only = self.only.as_ref();
            only.is_none_or(|only| only.contains(listed)) && matches(listed, &needle)
        };
        let mut order: Vec<u32> = (0..self.rows.len() as u32).filter(is_shown).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&self.rows[*a as usize], &self.rows[*b as usize]);
            self.column.compare(a, b, self.is_descending)
        });
        self.order = order;
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

impl Column {
    fn is_number(self) -> bool {
        !matches!(self, Self::Agent | Self::Project | Self::Title)
    }

    fn compare(self, a: &ListedSession, b: &ListedSession, is_descending: bool) -> Ordering {
        let by = if is_descending { self.ascending(b, a) } else { self.ascending(a, b) };
        match self {
            // Sessions without a time are last in both orders.
            Self::LastCall => a.ended().is_none().cmp(&b.ended().is_none()).then(by),
            _ => by,
        }
    }

    fn ascending(self, a: &ListedSession, b: &ListedSession) -> Ordering {
        let (Ok(sa), Ok(sb)) = (&a.summary, &b.summary) else {
            return Ordering::Equal;
        };
        match self {
            Self::LastCall => a.ended().cmp(&b.ended()),
            Self::Agent => a.agent_name().cmp(b.agent_name()),
            Self::Project => sa.project.cmp(&sb.project),
            Self::Title => sa.title.to_lowercase().cmp(&sb.title.to_lowercase()),
            Self::Messages => sa.messages.cmp(&sb.messages),
            Self::Peak => {
                let reserve = default_output_reserve();
                let (a, b) = (sa.peak_share(reserve), sb.peak_share(reserve));
                a.0.total_cmp(&b.0)
            }
            Self::Compactions => sa.compactions.cmp(&sb.compactions),
            Self::Size => a.found.size.cmp(&b.found.size),
        }
    }
}

fn matches(listed: &ListedSession, needle: &str) -> bool {
    let Ok(summary) = &listed.summary else {
        return false;
    };
    let path = listed.found.path.to_string_lossy();
    let texts = [
        listed.agent_name(),
        &summary.title,
        summary.project.as_deref().unwrap_or_default(),
        &path,
    ];
    needle.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(needle))
}

/// Facts about the whole list, known once all files are read.
struct ReadList {
    /// Warning that the search stopped at its limit.
    warning: Option<String>,
    n_own_outputs: usize,
    /// Number of sub-agents by the session that started them.
    sub_agents: HashMap<SessionKey, usize>,
}

/// File of a session, with the conversation in a file with several.
type SessionKey = (PathBuf, Option<usize>);

fn session_key(listed: &ListedSession) -> SessionKey {
    (listed.found.path.clone(), listed.conversation)
}

/// Counts the sub-agents of each session.
fn sub_agents(listing: &Listing) -> HashMap<SessionKey, usize> {
    let mut counts = HashMap::new();
    let starters = listing.starters().into_iter().enumerate();
    for (_, starter) in starters.filter(|(idx, starter)| idx != starter) {
        *counts.entry(session_key(&listing.sessions[starter])).or_default() += 1;
    }
    counts
}

fn read(
    folder: Option<&Path>,
    keeps_state: bool,
    progress: &Progress,
    news: &Sender<ListedSession>,
    repaint: &Repaint,
) -> Result<ReadList, String> {
    let found = files(folder, progress)?;
    let mut cache = if keeps_state { Cache::load() } else { Cache::default() };
    let caches = ListCaches { summaries: &mut cache, usage: None };
    let listing = stores::list(&found.files, usize::MAX, caches, progress, |listed| {
        // The list may be closed already.
        let _ = news.send(listed.clone());
        repaint.after(Duration::from_millis(50));
    });
    // Rows are cached even after an error; a failure to save the cache is ignored.
    let _ = cache.save();
    match listing {
        Ok(listing) => Ok(ReadList {
            warning: found.warning,
            n_own_outputs: found.own_outputs.len(),
            sub_agents: sub_agents(&listing),
        }),
        Err(cancelled) => Err(cancelled.to_string()),
    }
}
