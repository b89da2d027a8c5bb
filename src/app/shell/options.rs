//! Startup options of the window.

use crate::analysis::attribution::Selector;
use crate::analysis::rereads::RereadModel;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::config::{Config, MAX_LANES};
use crate::app::state::model::knobs;
use crate::app::state::model::knobs::{KnobKey, KnobSettings};
use crate::app::state::model::lane_option::LaneOption;
use crate::app::state::model::marks::RequestedMarks;
use crate::engine::{KnobValues, ProviderError};
use crate::exec::{IndexFolder, OwnPresets, Workspaces};
use crate::units::Tokens;
use egui::{ThemePreference, Vec2, vec2};
use std::path::PathBuf;
use std::sync::Arc;

/// Startup options of the window.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files to open; the first one is shown, the others are listed under Recent.
    pub paths: Vec<PathBuf>,
    /// File of the session to compare with the first one.
    pub compared: Option<PathBuf>,
    /// Index of the conversation in the first file, from 0.
    pub conversation: usize,
    /// Size of the window or the picture, in points.
    pub size: Vec2,
    /// Pixels per point of a picture.
    pub pixels_per_point: f32,
    /// Dark, light or system theme; the last one if `None`.
    pub theme: Option<ThemePreference>,
    /// Neither read nor write saved state.
    pub no_state: bool,
    /// Context window.
    pub window: Option<Tokens>,
    /// Output reserve.
    pub output_reserve: Option<Tokens>,
    /// The lanes to compare; the generic presets if empty.
    pub lanes: Vec<LaneOption>,
    /// Settings that differ from their defaults (set by [`Self::compare`]).
    pub knobs: KnobSettings,
    /// Name of the tokenizer; the default if `None`.
    pub counter: Option<&'static str>,
    /// The coefficients of expected re-reads; the bundled ones if `None`.
    pub reread_model: Option<RereadModel>,
    /// Indices of calls with a restart of the program before them.
    pub restarts: Vec<usize>,
    /// Provider errors at calls.
    pub errors: Vec<ProviderError>,
    /// Sources without which everything is computed.
    pub without: Vec<Selector>,
    /// Marked messages of the first session.
    pub marks: Option<RequestedMarks>,
    /// Folder of saved presets.
    pub own_presets: OwnPresets,
    /// Folder of kept workspaces.
    pub workspaces: Workspaces,
    /// Folder of the search index.
    pub index: IndexFolder,
    /// The place to run loading and replay.
    pub work: WorkMode,
}

impl Options {
    /// Returns whether lanes, settings or marks are given, which replace those of workspaces.
    pub(crate) fn replaces_workspaces(&self) -> bool {
        let has_settings = !self.knobs.is_empty()
            || self.window.is_some()
            || self.output_reserve.is_some()
            || self.counter.is_some();
        let has_marks =
            !self.restarts.is_empty() || !self.errors.is_empty() || !self.without.is_empty();
        let has_marks = has_marks || self.marks.is_some();
        !self.lanes.is_empty() || has_settings || has_marks
    }

    /// Returns the configuration of the first session.
    pub(crate) fn config(&self) -> Config {
        let names: Vec<_> = self.lanes.iter().map(|lane| lane.policy.name.clone()).collect();
        let mut config = Config::new(&names);
        config.knobs.clone_from(&self.knobs);
        config.window = self.window.filter(|w| *w > Tokens::ZERO);
        if let Some(reserve) = self.output_reserve {
            config.knobs.insert(knobs::output_reserve(), reserve.as_f64());
        }
        config.counter = self.counter.unwrap_or(config.counter);
        if let Some(model) = &self.reread_model {
            config.reread_model = Arc::new(model.clone());
        }
        config.restarts.clone_from(&self.restarts);
        config.restarts.sort_unstable();
        config.restarts.dedup();
        config.without.clone_from(&self.without);
        for error in &self.errors {
            config.set_error(error.call, Some(Arc::clone(&error.text)));
        }
        config
    }

    /// Returns the folder of workspaces; none is kept if options replace them.
    pub(crate) fn kept_workspaces(&self) -> Workspaces {
        if self.replaces_workspaces() { Workspaces::default() } else { self.workspaces.clone() }
    }

    /// Compares these lanes with these settings.
    ///
    /// # Errors
    ///
    /// Returns a one-line message if the window cannot show them, since it has one slider for a setting that several
    /// policies share.
    pub fn compare(mut self, lanes: Vec<(LaneOption, KnobValues)>) -> Result<Self, String> {
        if lanes.len() > MAX_LANES {
            return Err(format!(
                "the window compares up to {MAX_LANES} lanes, not {}; `plimsoll replay` takes more",
                lanes.len()
            ));
        }
        for (idx, (lane, _)) in lanes.iter().enumerate() {
            let name = &lane.policy.name;
            if lanes[..idx].iter().any(|(l, _)| l.policy.name == *name && l.word != lane.word) {
                return Err(format!(
                    "two policies are named {name}; give one another name in its file"
                ));
            }
        }
        self.knobs = common_settings(&lanes)?;
        self.lanes = lanes.into_iter().map(|(lane, _)| lane).collect();
        Ok(self)
    }
}

/// Returns shared settings that give every lane its values.
fn common_settings(lanes: &[(LaneOption, KnobValues)]) -> Result<KnobSettings, String> {
    let mut settings = KnobSettings::new();
    for (lane, values) in lanes {
        let defaults = lane.policy.defaults();
        let changed = lane
            .policy
            .knobs
            .iter()
            .filter(|knob| values.get(&knob.name) != defaults.get(&knob.name));
        for knob in changed {
            let key = KnobKey::of(&lane.policy, knob);
            // Each policy clamps a shared value to its own range, so another lane's value may suit all.
            let suits = |value: f64| {
                let one = KnobSettings::from([(key.clone(), value)]);
                lanes.iter().all(|(other, wanted)| {
                    let got = knobs::values(&other.policy, &one);
                    let same = other.policy.knobs.iter();
                    same.filter(|k| KnobKey::of(&other.policy, k) == key)
                        .all(|k| got.get(&k.name) == wanted.get(&k.name))
                })
            };
            let candidates = lanes.iter().flat_map(|(other, wanted)| {
                let same = other.policy.knobs.iter();
                same.filter(|k| KnobKey::of(&other.policy, k) == key)
                    .filter_map(|k| wanted.get(&k.name))
            });
            let Some(value) = candidates.into_iter().find(|value| suits(*value)) else {
                return Err(format!(
                    "the window has one {} for all lanes; `plimsoll replay` takes one for each",
                    knob.name
                ));
            };
            settings.insert(key.clone(), value);
        }
    }
    Ok(settings)
}

impl Default for Options {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            compared: None,
            conversation: 0,
            size: vec2(1440.0, 900.0),
            pixels_per_point: 1.0,
            theme: None,
            no_state: false,
            window: None,
            output_reserve: None,
            lanes: Vec::new(),
            knobs: KnobSettings::new(),
            counter: None,
            reread_model: None,
            restarts: Vec::new(),
            without: Vec::new(),
            errors: Vec::new(),
            marks: None,
            own_presets: OwnPresets::default(),
            workspaces: Workspaces::default(),
            index: IndexFolder::default(),
            work: WorkMode::AsNeeded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn lane(name: &str, set: &[(&str, f64)]) -> (LaneOption, KnobValues) {
        let policy = presets::by_name(name).unwrap();
        let mut values = policy.defaults();
        for (knob, value) in set {
            policy.set(&mut values, knob, *value).unwrap();
        }
        let word = name.to_owned();
        (LaneOption { word, policy }, values)
    }

    #[test]
    fn lanes_get_typed_values_regardless_of_slider_steps() {
        let set = [("compression_trigger", 0.333), ("output_reserve", 8_192.0)];
        let lanes = vec![
            lane("truncate", &set),
            lane("prune", &[&set[..], &[("prune_protect", 12_345.0)]].concat()),
        ];
        let options = Options::default().compare(lanes.clone()).unwrap();
        for (lane, wanted) in &lanes {
            assert_eq!(knobs::values(&lane.policy, &options.knobs), *wanted);
        }
        assert_eq!(options.lanes.len(), 2);
    }

    #[test]
    fn a_shared_knob_with_two_values_is_rejected() {
        let two = |a, b| {
            let lanes = vec![
                lane("truncate", &[("compression_trigger", a)]),
                lane("prune", &[("compression_trigger", b)]),
            ];
            Options::default().compare(lanes).map(|options| options.knobs)
        };
        assert!(two(0.5, 0.6).unwrap_err().contains("compression_trigger"));
        // A default value in one lane is a difference, too.
        assert!(two(0.5, 0.75).is_err());
        assert!(two(0.5, 0.5).is_ok());
    }

    #[test]
    fn two_policies_with_one_name_are_rejected() {
        let (mut own, values) = lane("truncate", &[]);
        own.word = "own.toml".to_owned();
        let refused = Options::default().compare(vec![lane("truncate", &[]), (own, values)]);
        assert!(refused.unwrap_err().contains("two policies are named truncate"));
    }
}
