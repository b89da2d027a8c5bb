//! The contents of a workspace, and their conversion from and to the state of the window.

use crate::app::state::model::config::{Config, LaneConfig, MAX_LANES};
use crate::app::state::model::marks::one_mark_each;
use crate::app::state::model::selection::{CallRange, Selection};
use crate::app::state::model::tab::Tab;
use crate::app::state::timeline::state::Axis;
use crate::app::state::workspace::billing::KeptBilling;
use crate::app::state::workspace::kept_comparison::KeptComparison;
use crate::app::state::workspace::settings::{Setting, knobs, settings};
use crate::engine::{ManualEdits, ProviderError};
use crate::exec::SessionKey;
use crate::tokens;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Version of the format.
const VERSION: u32 = 1;
/// Maximum context window, in tokens.
const MAX_WINDOW: u64 = 1_000_000_000;

/// A workspace, as kept with a session and as a portable file. It contains no text of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Workspace {
    /// Version of the format; the first key of every workspace.
    #[serde(rename = "plimsoll_workspace")]
    version: u32,
    /// The session; unknown until the workspace is saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionKey>,
    /// TOML of policies that are not bundled, by name.
    #[serde(default)]
    pub(crate) policies: BTreeMap<String, String>,
    lanes: Vec<Lane>,
    settings: Vec<Setting>,
    window: Option<u64>,
    tokenizer: String,
    #[serde(default)]
    billing: KeptBilling,
    restarts: Vec<usize>,
    errors: Vec<(usize, String)>,
    /// Sources without which everything is computed.
    #[serde(default)]
    without: Vec<String>,
    pinned: Vec<usize>,
    cleared: Vec<usize>,
    dropped: Vec<usize>,
    notes: BTreeMap<usize, String>,
    selection: Selected,
    pub(crate) view: KeptView,
}

/// A lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Lane {
    policy: String,
    /// Settings of this lane only; null if it uses the shared ones.
    settings: Option<Vec<Setting>>,
}

/// The selected items, as indices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Selected {
    call: usize,
    calls: Option<(usize, usize)>,
    compared: Option<usize>,
    message: Option<usize>,
    anchor: Option<usize>,
    lane: Option<usize>,
}

/// The number of calls and messages of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionSize {
    pub(crate) calls: usize,
    pub(crate) messages: usize,
}

/// The view of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptView {
    /// Key of the open tab.
    pub(crate) tab: String,
    /// Unit of the timeline's axis.
    pub(crate) axis: Axis,
    /// Visible range of the timeline; null for all.
    pub(crate) zoom: Option<[f64; 2]>,
    /// Sizes of resized panels, in points.
    pub(crate) panels: BTreeMap<String, f32>,
    /// The second session of a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<KeptComparison>,
    /// View settings of drawer tabs, by the key of the tab, each as its tab writes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tabs: BTreeMap<String, String>,
}

impl KeptView {
    /// Returns the open tab, if this version has it.
    pub(crate) fn tab(&self, mut tabs: impl Iterator<Item = Tab>) -> Option<Tab> {
        // Older files have the label.
        tabs.find(|tab| tab.key.eq_ignore_ascii_case(&self.tab))
    }
}

impl Workspace {
    /// Collects the contents; policies and session are added when it is saved.
    pub(crate) fn new(config: &Config, selection: &Selection, view: KeptView) -> Self {
        let lanes = config.lanes.iter().map(|lane| Lane {
            policy: lane.policy.clone(),
            settings: lane.own.as_ref().map(settings),
        });
        let errors = config.errors.iter();
        let edits = &config.manual_edits;
        Self {
            version: VERSION,
            session: None,
            policies: BTreeMap::new(),
            lanes: lanes.collect(),
            settings: settings(&config.knobs),
            window: config.window.map(|window| window.0),
            tokenizer: config.counter.to_owned(),
            billing: KeptBilling::new(&config.billing),
            restarts: config.restarts.clone(),
            errors: errors.map(|e| (e.call, e.text.to_string())).collect(),
            without: config.without.iter().map(ToString::to_string).collect(),
            pinned: edits.pinned.clone(),
            cleared: edits.cleared.clone(),
            dropped: edits.dropped.clone(),
            notes: (*config.notes).clone(),
            selection: Selected {
                call: selection.call,
                calls: selection.calls.map(|calls| (calls.first, calls.last)),
                compared: selection.compared,
                message: selection.message,
                anchor: selection.anchor,
                lane: selection.lane,
            },
            view,
        }
    }

    /// Parses a workspace.
    ///
    /// # Errors
    /// Returns one line if it is damaged or of another version.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            plimsoll_workspace: u32,
        }
        let version = serde_json::from_str(text).map(|v: Version| v.plimsoll_workspace);
        if version.is_ok_and(|version| version > VERSION) {
            let text = "The workspace is of a newer version of Plimsoll; it is ignored.";
            return Err(text.to_owned());
        }
        let damaged = |_| "The workspace is damaged; it is ignored.".to_owned();
        serde_json::from_str(text).map_err(damaged)
    }

    /// Returns the JSON with this session.
    pub(crate) fn text(mut self, session: SessionKey) -> Result<String, String> {
        self.session = Some(session);
        serde_json::to_string(&self).map_err(|error| error.to_string())
    }

    /// Returns the names of the lanes' policies.
    pub(crate) fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.lanes.iter().map(|lane| lane.policy.as_str())
    }

    /// Replaces lanes, settings and marks of a session of this size. Lanes with an unknown policy are left out.
    pub(crate) fn apply(
        self,
        config: &mut Config,
        size: SessionSize,
        is_policy: impl Fn(&str) -> bool,
    ) {
        let (n_calls, n_messages) = (size.calls, size.messages);
        let lanes = self.lanes.into_iter();
        let lanes = lanes.filter(|lane| is_policy(&lane.policy));
        let lanes = lanes
            .take(MAX_LANES)
            .map(|lane| LaneConfig { policy: lane.policy, own: lane.settings.map(knobs) });
        let lanes: Vec<_> = lanes.collect();
        if !lanes.is_empty() {
            config.lanes = lanes;
        }
        config.knobs = knobs(self.settings);
        let is_possible = |window: &u64| (1..=MAX_WINDOW).contains(window);
        config.window = self.window.filter(is_possible).map(Tokens);
        if let Some(counter) = tokens::by_name(&self.tokenizer) {
            config.counter = counter.name;
        }
        config.billing = self.billing.choice();
        config.restarts = ascending(self.restarts, n_calls);
        let errors = self.errors.into_iter();
        let errors = errors.filter(|(call, _)| *call < n_calls);
        config.errors =
            errors.map(|(call, text)| ProviderError { call, text: text.into() }).collect();
        config.errors.sort_by_key(|error| error.call);
        let without = self.without.iter().filter_map(|selector| selector.parse().ok());
        config.without = without.collect();
        let edits = ManualEdits {
            pinned: ascending(self.pinned, n_messages),
            cleared: ascending(self.cleared, n_messages),
            dropped: ascending(self.dropped, n_messages),
        };
        config.manual_edits = Arc::new(one_mark_each(edits, n_messages));
        let mut notes = self.notes;
        notes.retain(|message, _| *message < n_messages);
        config.notes = Arc::new(notes);
    }

    /// Returns the selection, limited to a session of this size.
    pub(crate) fn selection(&self, size: SessionSize) -> Selection {
        let last = size.calls.saturating_sub(1);
        let chosen = &self.selection;
        let is_call = |call: &usize| *call < size.calls;
        let is_message = |message: &usize| *message < size.messages;
        let calls = chosen.calls.filter(|(a, b)| is_call(a) && is_call(b));
        Selection {
            call: chosen.call.min(last),
            calls: calls.map(|(a, b)| CallRange::between(a, b)),
            compared: chosen.compared.filter(is_call),
            message: chosen.message.filter(is_message),
            anchor: chosen.anchor.filter(is_message),
            lane: chosen.lane,
            ..Selection::default()
        }
    }
}

/// Returns the indices below a limit, ascending and unique.
fn ascending(mut indices: Vec<usize>, n: usize) -> Vec<usize> {
    indices.retain(|index| *index < n);
    indices.sort_unstable();
    indices.dedup();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cost::Lifetime;
    use crate::app::state::model::billing::{OwnPrice, PriceChoice};
    use crate::app::state::model::knobs::{KnobKey, KnobSettings, output_reserve};

    fn size(calls: usize, messages: usize) -> SessionSize {
        SessionSize { calls, messages }
    }

    fn key() -> SessionKey {
        SessionKey {
            name: "a.jsonl".to_owned(),
            format: "claude_code".to_owned(),
            conversation: 0,
            bytes: 3,
            sha256: "0".repeat(64),
        }
    }

    fn changed() -> (Config, Selection) {
        let mut config = Config::new(&["prune".to_owned(), "none".to_owned()]);
        config.knobs.insert(output_reserve(), 0.1 + 0.2);
        let own = KnobKey::Own { policy: "prune".to_owned(), knob: "a".to_owned() };
        config.lanes[1].own = Some(KnobSettings::from([(own, 1e300)]));
        config.window = Some(Tokens(12_345));
        config.billing.price = PriceChoice::Own(OwnPrice::starting_at(None));
        config.billing.lifetime = Some(Lifetime::Long);
        config.restarts = vec![1, 3];
        config.set_error(2, Some("too long".into()));
        config.without = vec!["mcp:github".parse().unwrap()];
        config.manual_edits =
            Arc::new(ManualEdits { pinned: vec![0, 4], cleared: vec![2], dropped: vec![3] });
        config.notes = Arc::new(BTreeMap::from([(4, "a note".to_owned())]));
        let selection = Selection {
            call: 3,
            calls: Some(CallRange::between(1, 2)),
            message: Some(4),
            lane: Some(1),
            ..Selection::default()
        };
        (config, selection)
    }

    #[test]
    fn a_workspace_restores_lanes_settings_marks_and_selection() {
        let (config, selection) = changed();
        let view = KeptView {
            tab: "Cost".to_owned(),
            axis: Axis::Turns,
            zoom: Some([0.5, 2.0]),
            panels: BTreeMap::from([("drawer".to_owned(), 300.0)]),
            comparison: None,
            tabs: BTreeMap::from([("tools".to_owned(), "result_tokens".to_owned())]),
        };
        let text = Workspace::new(&config, &selection, view.clone()).text(key());
        let read = Workspace::parse(&text.unwrap()).unwrap();
        assert_eq!(
            (&read.view, read.view.tab([Tab::MESSAGES, Tab::COST].into_iter())),
            (&view, Some(Tab::COST))
        );
        assert_eq!(read.selection(size(5, 6)), selection);
        let mut restored = Config::new(&[]);
        read.apply(&mut restored, size(5, 6), |_| true);
        assert_eq!(restored, config);
    }

    #[test]
    fn indices_beyond_the_session_and_unknown_policies_are_left_out() {
        let (config, selection) = changed();
        let text = Workspace::new(&config, &selection, KeptView::default()).text(key());
        let text = text.unwrap();
        let hostile = text
            .replace("\"pinned\":[0,4]", "\"pinned\":[18446744073709551615,1,0,1]")
            .replace("\"call\":3", "\"call\":99999999")
            .replace("\"window\":12345", "\"window\":18446744073709551615")
            .replace("\"tab\":\"\"", &format!("\"tab\":\"{}\"", "x".repeat(10_000_000)));
        assert!(hostile.len() > text.len() + 10_000_000);
        let read = Workspace::parse(&hostile).unwrap();
        assert_eq!(read.view.tab([Tab::COST].into_iter()), None);
        let at = read.selection(size(2, 2));
        assert_eq!((at.call, at.calls, at.message), (1, None, None));
        assert_eq!(read.selection(size(0, 0)).call, 0);
        let mut restored = Config::new(&[]);
        read.apply(&mut restored, size(2, 2), |name| name == "none");
        assert_eq!(restored.lanes.len(), 1);
        assert_eq!(restored.manual_edits.pinned, [0, 1]);
        assert_eq!((restored.window, &*restored.restarts), (None, &[1][..]));
        assert!(restored.errors.is_empty() && restored.notes.is_empty());
    }

    #[test]
    fn damaged_and_newer_workspaces_are_rejected() {
        let (config, selection) = changed();
        let text = Workspace::new(&config, &selection, KeptView::default()).text(key());
        let text = text.unwrap();
        let newer = text.replace("\"plimsoll_workspace\":1", "\"plimsoll_workspace\":2");
        assert!(Workspace::parse(&newer).unwrap_err().contains("newer version"));
        let number = serde_json::to_string(&1e300).unwrap();
        let not_a_number = text.replace(&number, "NaN");
        let too_large = text.replace(&number, "1e999");
        assert!(text != not_a_number && text != too_large);
        for damaged in ["", "null", "[1]", &text[..text.len() / 2], &not_a_number, &too_large] {
            let error = Workspace::parse(damaged).unwrap_err();
            assert!(error.contains("damaged"), "{error}");
        }
    }
}
