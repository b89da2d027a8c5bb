//! State saved between runs; none with `--no-state`.

use crate::app::cost::billing::OwnPrice;
use crate::exec::{self, State};
use egui::{Rangef, ThemePreference};
use std::path::{Path, PathBuf};

/// Range of the zoom factor that is restored.
const ZOOM: Rangef = Rangef { min: 0.5, max: 3.0 };

/// The saved state.
#[derive(Debug)]
pub(in crate::app) struct Memory {
    state: State,
    /// Named on the command line and not opened yet. Listed, but not saved.
    offered: Vec<PathBuf>,
    /// The listed paths: those from the command line, then the saved ones.
    shown: Vec<PathBuf>,
    is_off: bool,
}

impl Memory {
    /// Reads the state unless `is_off`. `offered` are the named files that are not opened yet.
    pub(in crate::app) fn new(is_off: bool, offered: &[PathBuf]) -> Self {
        let state = if is_off {
            State::default()
        } else {
            State::load()
        };
        let mut memory = Self {
            state,
            offered: offered
                .iter()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
                .collect(),
            shown: Vec::new(),
            is_off,
        };
        memory.update_shown();
        memory
    }

    /// Returns whether state is saved.
    pub(in crate::app) fn is_kept(&self) -> bool {
        !self.is_off
    }

    /// Returns files and folders to open next: those from the command line, then recent ones, newest first.
    pub(in crate::app) fn recent(&self) -> &[PathBuf] {
        &self.shown
    }

    /// Returns whether the program may save its own files.
    pub(in crate::app) fn keeps_state(&self) -> bool {
        !self.is_off
    }

    fn update_shown(&mut self) {
        let others = self.state.recent.iter();
        let others = others.filter(|path| !self.offered.contains(path));
        self.shown = self.offered.iter().chain(others).cloned().collect();
    }

    /// Returns the last theme.
    pub(in crate::app) fn theme(&self) -> ThemePreference {
        match self.state.theme.as_str() {
            "dark" => ThemePreference::Dark,
            "light" => ThemePreference::Light,
            _ => ThemePreference::System,
        }
    }

    /// Saves a folder or database whose sessions were listed, like [`Self::opened`]. The path of a folder ends in a
    /// separator.
    pub(in crate::app) fn listed(&mut self, path: &Path) -> Option<String> {
        if exec::is_folder(path) {
            self.opened(&path.join(""))
        } else {
            self.opened(path)
        }
    }

    /// Saves a file in the recent list. Returns an error if it cannot be saved, as does [`Self::set_theme`].
    pub(in crate::app) fn opened(&mut self, path: &Path) -> Option<String> {
        let error = self.update(|state| state.remember(path));
        self.update_shown();
        error
    }

    /// Saves the theme.
    pub(in crate::app) fn set_theme(&mut self, theme: ThemePreference) -> Option<String> {
        let name = match theme {
            ThemePreference::Dark => "dark",
            ThemePreference::Light => "light",
            ThemePreference::System => "system",
        };
        self.update(|state| name.clone_into(&mut state.theme))
    }

    /// Returns the zoom factor that was chosen last.
    pub(in crate::app) fn zoom(&self) -> f32 {
        let zoom = self.state.zoom.filter(|zoom| zoom.is_finite());
        zoom.map_or(1.0, |zoom| zoom.clamp(ZOOM.min, ZOOM.max))
    }

    /// Saves the zoom factor, if it changed.
    pub(in crate::app) fn set_zoom(&mut self, zoom: f32) -> Option<String> {
        if zoom == self.zoom() {
            return None;
        }
        self.update(|state| state.zoom = Some(zoom))
    }

    /// Returns the last typed prices. They are not applied until you select them, since the models of another session
    /// may cost something else.
    pub(in crate::app) fn price(&self) -> Option<OwnPrice> {
        self.state.price.as_ref().and_then(OwnPrice::remembered)
    }

    /// Saves the current prices if they were typed; otherwise the earlier ones are kept.
    pub(in crate::app) fn set_price(&mut self, own: Option<&OwnPrice>) -> Option<String> {
        let now = own?.kept();
        if self.state.price.as_ref() == Some(&now) {
            return None;
        }
        self.update(|state| state.price = Some(now.clone()))
    }

    /// Changes the saved state in memory and on disk, where all windows share it.
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
        let mut memory = Memory::new(true, &[]);
        assert_eq!(memory.price(), None);
        assert_eq!(memory.set_price(None), None);
        let own = OwnPrice {
            input: Rate(0.2),
            ..OwnPrice::like(None)
        };
        assert_eq!(memory.set_price(Some(&own)), None);
        assert_eq!(memory.price(), Some(own.clone()));
        assert_eq!(memory.set_price(None), None);
        assert_eq!(memory.price(), Some(own));
    }

    #[test]
    fn the_zoom_factor_is_kept_within_its_range() {
        let mut memory = Memory::new(true, &[]);
        assert_eq!(memory.zoom(), 1.0);
        assert_eq!(memory.set_zoom(1.2), None);
        assert_eq!(memory.zoom(), 1.2);
        for (kept, zoom) in [(f32::NAN, 1.0), (90.0, 3.0), (0.0, 0.5)] {
            memory.state.zoom = Some(kept);
            assert_eq!(memory.zoom(), zoom);
        }
    }

    #[test]
    fn listed_folders_are_remembered_and_distinguished_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        let mut memory = Memory::new(true, &[]);
        assert_eq!(memory.opened(&file), None);
        assert_eq!(memory.listed(folder.path()), None);
        let recent = memory.recent();
        assert_eq!(recent, [folder.path().to_owned(), file]);
        assert!(
            recent[0]
                .to_string_lossy()
                .ends_with(std::path::is_separator)
        );
    }
}
