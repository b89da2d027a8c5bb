//! The second session and its comparison with the open one, computed on a background thread.

use crate::analysis::comparison::{ComparedSession, Comparison};
use crate::app::state::changes::diff::Diff;
use crate::app::state::compare::state::{CompareView, ShownMessage, Side};
use crate::app::state::messages::text::MessageText;
use crate::app::state::model::background::latest_result::{LatestResult, WorkMode};
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::config::Config;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::knobs::KnobSettings;
use crate::app::state::model::runs::replays::{Runs, shared_reserve};
use crate::app::state::open::loading::{KeptStates, Loading};
use crate::engine::Case;
use crate::exec::LoadOptions;
use crate::formats::records_compactions;
use crate::presets::models;
use crate::tokens::{Progress, TokenLedger};
use crate::units::Tokens;
use crate::{safe_text, tokens};
use std::sync::Arc;
use std::time::Duration;

/// Expected duration of work that does not fit in a frame.
const SLOW: Duration = Duration::from_millis(50);
/// Maximum number of messages that are compared within a frame the first time.
const FEW: usize = 500;
/// Maximum characters of the name in the legend.
const NAME: usize = 24;

/// Why a list of sessions cannot be compared.
pub(crate) const IS_LIST: &str =
    "A folder or database cannot be compared: choose one of its sessions.";

/// The second session and the results of the comparison.
#[derive(Debug)]
pub(crate) struct OpenComparison {
    origin: Origin,
    conversation: usize,
    second: Second,
    found: LatestResult<Key, ComparedCases>,
    text: LatestResult<([u64; 2], ShownMessage), ShownText>,
}

/// The second session.
#[derive(Debug)]
enum Second {
    Loading(Box<Loading>),
    /// The reason.
    Failed(String),
    /// The session, and its name in the legend.
    Open(Arc<Document>, String),
}

/// Inputs of the token counts of the second session.
#[derive(Clone, Debug, PartialEq)]
struct CountKey {
    document: u64,
    counter: &'static str,
    window: Option<Tokens>,
}

/// Inputs of the comparison.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    first: u64,
    second: CountKey,
    settings: KnobSettings,
    billing: BillingChoice,
}

/// The second session as the open one is counted, and the comparison of both.
#[derive(Debug)]
struct ComparedCases {
    counted_for: CountKey,
    second: Arc<Case>,
    comparison: Comparison,
}

/// The text of a message.
#[derive(Debug)]
pub(crate) enum ShownText {
    /// Of one session.
    Whole(MessageText),
    /// The difference of both sessions.
    Difference(Diff),
}

impl OpenComparison {
    /// Starts to load the second session.
    pub(crate) fn start(
        repaint: &Repaint,
        mode: WorkMode,
        origin: Origin,
        options: LoadOptions,
    ) -> Self {
        let again = origin.clone();
        let loading = Loading::start(repaint, mode, again, options, KeptStates::default());
        let second = Second::Loading(Box::new(loading));
        Self::new(origin, options.conversation, second)
    }

    /// Compares with a loaded session.
    pub(crate) fn with(document: Arc<Document>) -> Self {
        let name = &document.session().source.name;
        let name = format!("B: {}", safe_text::one_line(name, NAME));
        let (origin, conversation) = (document.origin.clone(), document.conversation);
        Self::new(origin, conversation, Second::Open(document, name))
    }

    fn new(origin: Origin, conversation: usize, second: Second) -> Self {
        Self {
            origin,
            conversation,
            second,
            found: LatestResult::new("compare"),
            text: LatestResult::new("compared text"),
        }
    }

    /// Receives the second session once it is loaded. Returns whether it could not be opened.
    pub(crate) fn receive(&mut self, repaint: &Repaint) -> bool {
        if !matches!(self.second, Second::Loading(_)) {
            return false;
        }
        let failed = Second::Failed(String::new());
        let Second::Loading(loading) = std::mem::replace(&mut self.second, failed) else {
            return false;
        };
        match loading.take() {
            Ok(Ok((document, _))) => *self = Self::with(Arc::new(document)),
            Ok(Err(problem)) => {
                self.second = Second::Failed(problem);
                return true;
            }
            Err(loading) => {
                repaint.after(Duration::from_millis(50));
                self.second = Second::Loading(loading);
            }
        }
        false
    }

    /// Updates the comparison or starts the work for it.
    pub(crate) fn update(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        (document, runs): (&Arc<Document>, &Arc<Runs>),
        view: CompareView,
    ) {
        let Second::Open(other, _) = &self.second else {
            return;
        };
        let config = &runs.config;
        let key = Key {
            first: document.id,
            second: CountKey { document: other.id, counter: config.counter, window: config.window },
            settings: config.knobs.clone(),
            billing: config.billing.clone(),
        };
        let is_large = document.n_messages().max(other.n_messages()) > FEW;
        if is_large && self.found.get().is_none() {
            self.found.expect(SLOW);
        }
        let (runs, second, counted_for) = (Arc::clone(runs), Arc::clone(other), key.second.clone());
        self.found.request(repaint, mode, &key, move |before| {
            ComparedCases::new(&runs, &second, counted_for, before.as_deref())
        });
        if let Some(shown) = view.shown {
            let (first, second) = (Arc::clone(document), Arc::clone(other));
            let documents = [first.id, second.id];
            self.text.request(repaint, mode, &(documents, shown), move |_| {
                ShownText::new(&first, &second, shown)
            });
        }
    }

    /// Returns the source of the second session, and the index of its conversation.
    pub(crate) fn source(&self) -> (&Origin, usize) {
        (&self.origin, self.conversation)
    }

    /// Returns the second session, once it is loaded.
    pub(crate) fn document(&self) -> Option<&Arc<Document>> {
        match &self.second {
            Second::Open(document, _) => Some(document),
            Second::Loading(_) | Second::Failed(_) => None,
        }
    }

    /// Returns the name of the second session in the legend; empty until it is loaded.
    pub(crate) fn name(&self) -> &str {
        match &self.second {
            Second::Open(_, name) => name,
            Second::Loading(_) | Second::Failed(_) => "",
        }
    }

    /// Returns the second session while it is loading.
    pub(crate) fn loading(&self) -> Option<&Loading> {
        match &self.second {
            Second::Loading(loading) => Some(loading),
            Second::Failed(_) | Second::Open(..) => None,
        }
    }

    /// Returns why the second session cannot be opened.
    pub(crate) fn problem(&self) -> Option<&str> {
        match &self.second {
            Second::Failed(problem) => Some(problem),
            Second::Loading(_) | Second::Open(..) => None,
        }
    }

    /// Returns the comparison, possibly of earlier settings.
    pub(crate) fn found(&self) -> Option<&Comparison> {
        Some(&self.found.get()?.comparison)
    }

    /// Returns the token counts of the second session that belong to [`Self::found`].
    pub(crate) fn ledger(&self) -> Option<&TokenLedger> {
        Some(&self.found.get()?.second.ledger)
    }

    /// Returns the text of a message, once it is ready.
    pub(crate) fn text(&self, first: &Document, shown: ShownMessage) -> Option<&ShownText> {
        let documents = [first.id, self.document()?.id];
        self.text.of(&(documents, shown)).map(Arc::as_ref)
    }
}

impl Drop for OpenComparison {
    fn drop(&mut self) {
        let failed = Second::Failed(String::new());
        match std::mem::replace(&mut self.second, failed) {
            Second::Loading(loading) => loading.cancel(),
            Second::Open(document, _) => task::drop_in_background(document),
            Second::Failed(_) => {}
        }
        self.found.clear();
    }
}

impl ShownText {
    fn new(first: &Document, second: &Document, shown: ShownMessage) -> Self {
        let documents = [first, second];
        let parts = |side: Side, message: usize| {
            let document = documents[side.index()];
            MessageText::parts(document, &document.loaded.case.ledger, message)
        };
        match shown {
            ShownMessage::Of(side, message) => Self::Whole(parts(side, message)),
            ShownMessage::Changed([a, b]) => {
                Self::Difference(Diff::new(&parts(Side::A, a).whole(), &parts(Side::B, b).whole()))
            }
        }
    }
}

impl ComparedCases {
    /// Compares the replayed session with the second one, with the same tokenizer, window, output reserve and prices. The
    /// second session is counted again only if `before` has other counts.
    fn new(runs: &Runs, second: &Document, counted_for: CountKey, before: Option<&Self>) -> Self {
        let config = &runs.config;
        let kept = before.filter(|before| before.counted_for == counted_for);
        let second = kept.map_or_else(
            || Arc::new(counted(&second.loaded.case, config)),
            |kept| Arc::clone(&kept.second),
        );
        let prices = config.billing.prices();
        let session = |case| ComparedSession {
            case,
            output_reserve: shared_reserve(config, case),
            billing: config.billing.at(&prices),
            records_compactions: records_compactions(&case.session),
        };
        let comparison = Comparison::new([session(&runs.case), session(&second)]);
        Self { counted_for, second, comparison }
    }
}

/// Returns a session as the configuration counts it.
fn counted(case: &Case, config: &Config) -> Case {
    let counter = tokens::by_name(config.counter).filter(|c| c.name != case.ledger.counter.name);
    let case = match counter {
        // Cannot be canceled: no one else holds its progress.
        Some(counter) => TokenLedger::count(&case.session, counter, &Progress::default())
            .map_or_else(|_cancelled| case.clone(), |ledger| case.with_ledger(ledger)),
        None => case.clone(),
    };
    match config.window {
        Some(_) => case.with_windows(models::window_plan(&case.session, config.window)),
        None => case,
    }
}
