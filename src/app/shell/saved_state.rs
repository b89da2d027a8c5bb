//! State saved between runs; none with `--no-state`.

use crate::app::shell::fit::{MAX_SCALE, MIN_SCALE};
use crate::app::state::model::billing::OwnPrice;
use crate::app::state::sessions::usage::view::UsageView;
use crate::app::state::shell_command::ThemeChoice;
use crate::exec;
use crate::exec::State;
use std::path::{Path, PathBuf};

/// The saved state, and the paths given on the command line.
#[derive(Debug)]
pub(crate) struct SavedState {
    state: State,
    /// Paths from the command line that are not opened at the start. Listed, but not saved.
    given: Vec<PathBuf>,
    /// The listed paths: those from the command line, then the saved ones.
    listed: Vec<PathBuf>,
    /// State is neither read nor written (`--no-state`).
    is_off: bool,
}

impl SavedState {
    /// Reads the state unless `is_off`.
    pub(crate) fn new(is_off: bool, given: &[PathBuf]) -> Self {
        let state = if is_off { State::default() } else { State::load() };
        let mut saved = Self {
            state,
            given: given
                .iter()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
                .collect(),
            listed: Vec::new(),
            is_off,
        };
        saved.update_listed();
        saved
    }

    /// Returns files and folders to open next: those from the command line, then recent ones, newest first.
    pub(crate) fn recent(&self) -> &[PathBuf] {
        &self.listed
    }

    /// Returns whether the program may save its own files.
    pub(crate) fn keeps_state(&self) -> bool {
        !self.is_off
    }

    fn update_listed(&mut self) {
        let others = self.state.recent.iter();
        let others = others.filter(|path| !self.given.contains(path));
        self.listed = self.given.iter().chain(others).cloned().collect();
    }

    /// Returns the last theme.
    pub(crate) fn theme(&self) -> ThemeChoice {
        match self.state.theme.as_str() {
            "dark" => ThemeChoice::Dark,
            "light" => ThemeChoice::Light,
            _ => ThemeChoice::System,
        }
    }

    /// Adds a folder or database to the recent list. The path of a folder gets a separator at its end. Returns an error if
    /// the list cannot be saved, as all methods that save.
    pub(crate) fn add_recent_list(&mut self, path: &Path) -> Option<String> {
        if exec::is_folder(path) { self.add_recent(&path.join("")) } else { self.add_recent(path) }
    }

    /// Adds a file to the recent list.
    pub(crate) fn add_recent(&mut self, path: &Path) -> Option<String> {
        let error = self.update(|state| state.remember(path));
        self.update_listed();
        error
    }

    /// Saves the theme.
    pub(crate) fn set_theme(&mut self, theme: ThemeChoice) -> Option<String> {
        let name = match theme {
            ThemeChoice::Dark => "dark",
            ThemeChoice::Light => "light",
            ThemeChoice::System => "system",
        };
        self.update(|state| name.clone_into(&mut state.theme))
    }

    /// Returns the zoom factor that was chosen last.
    pub(crate) fn zoom(&self) -> f32 {
        let zoom = self.state.zoom.filter(|zoom| zoom.is_finite());
        zoom.map_or(1.0, |zoom| zoom.clamp(MIN_SCALE, MAX_SCALE))
    }

    /// Saves the zoom factor, if it changed.
    pub(crate) fn set_zoom(&mut self, zoom: f32) -> Option<String> {
        if zoom == self.zoom() {
            return None;
        }
        self.update(|state| state.zoom = Some(zoom))
    }

    /// Returns the last typed prices. They are not applied until you select them, since the models of another session
    /// may cost something else.
    pub(crate) fn price(&self) -> Option<OwnPrice> {
        self.state.price.as_ref().and_then(OwnPrice::from_kept)
    }

    /// Saves typed prices; `None` keeps the earlier ones.
    pub(crate) fn set_price(&mut self, own: Option<&OwnPrice>) -> Option<String> {
        let now = own?.to_kept();
        if self.state.price.as_ref() == Some(&now) {
            return None;
        }
        self.update(|state| state.price = Some(now.clone()))
    }

    /// Returns the last choices of the page *Usage*.
    pub(crate) fn usage_view(&self) -> UsageView {
        UsageView::from_kept(&self.state.usage_view)
    }

    /// Saves the choices of the page *Usage*, if they changed.
    pub(crate) fn set_usage_view(&mut self, view: &UsageView) -> Option<String> {
        let now = view.to_kept();
        if self.usage_view().to_kept() == now {
            return None;
        }
        self.update(|state| state.usage_view = now.clone())
    }

    /// Changes the state in memory and in the file that all windows share.
    fn update(&mut self, change: impl Fn(&mut State)) -> Option<String> {
        change(&mut self.state);
        if self.is_off {
            return None;
        }
        let error = match State::update(change) {
            Ok(state) => {
                self.state = state;
                return None;
            }
            Err(error) => error,
        };
        let place = State::path().map_or_else(String::new, |p| format!(" in {}", p.display()));
        Some(format!("Cannot save state{place}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn typed_prices_are_kept_when_others_are_chosen() {
        let mut saved = SavedState::new(true, &[]);
        assert_eq!(saved.price(), None);
        assert_eq!(saved.set_price(None), None);
        let own = OwnPrice { input: Rate(0.2), ..OwnPrice::starting_at(None) };
        assert_eq!(saved.set_price(Some(&own)), None);
        assert_eq!(saved.price(), Some(own.clone()));
        assert_eq!(saved.set_price(None), None);
        assert_eq!(saved.price(), Some(own));
    }

    #[test]
    fn the_zoom_factor_is_kept_within_its_range() {
        let mut saved = SavedState::new(true, &[]);
        assert_eq!(saved.zoom(), 1.0);
        assert_eq!(saved.set_zoom(1.2), None);
        assert_eq!(saved.zoom(), 1.2);
        for (kept, zoom) in [(f32::NAN, 1.0), (90.0, 3.0), (0.0, 0.5)] {
            saved.state.zoom = Some(kept);
            assert_eq!(saved.zoom(), zoom);
        }
    }

    #[test]
    fn listed_folders_are_remembered_and_distinguished_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        let mut saved = SavedState::new(true, &[]);
        assert_eq!(saved.add_recent(&file), None);
        assert_eq!(saved.add_recent_list(folder.path()), None);
        let recent = saved.recent();
        assert_eq!(recent, [folder.path().to_owned(), file]);
        assert!(recent[0].to_string_lossy().ends_with(std::path::is_separator));
    }
}
