//! What the program remembers between runs, or nothing at all with `--no-state`.

use crate::app::billing::OwnPrice;
use crate::exec::{self, State};
use egui::ThemePreference;
use std::path::{Path, PathBuf};

/// What the program remembers.
#[derive(Debug)]
pub(super) struct Memory {
    state: State,
    /// Named on the command line but not opened yet: at hand, but nothing to remember.
    offered: Vec<PathBuf>,
    /// What is at hand: those offered, then those remembered.
    shown: Vec<PathBuf>,
    is_off: bool,
}

impl Memory {
    /// Reads the state, unless `is_off`; `offered` are files that were named but are not opened yet.
    pub(super) fn new(is_off: bool, offered: &[PathBuf]) -> Self {
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

    /// Whether anything is remembered at all.
    pub(super) fn is_kept(&self) -> bool {
        !self.is_off
    }

    /// Files and folders to open next: those named on the command line, then those opened lately, newest first.
    pub(super) fn recent(&self) -> &[PathBuf] {
        &self.shown
    }

    /// The program may keep something of its own.
    pub(super) fn keeps_state(&self) -> bool {
        !self.is_off
    }

    fn update_shown(&mut self) {
        let others = self.state.recent.iter();
        let others = others.filter(|path| !self.offered.contains(path));
        self.shown = self.offered.iter().chain(others).cloned().collect();
    }

    /// The theme used last.
    pub(super) fn theme(&self) -> ThemePreference {
        match self.state.theme.as_str() {
            "dark" => ThemePreference::Dark,
            "light" => ThemePreference::Light,
            _ => ThemePreference::System,
        }
    }

    /// Remembers a folder or a database whose sessions were listed, as [`Self::opened`] a file. A folder's path ends in
    /// a separator, which tells it from a file.
    pub(super) fn listed(&mut self, path: &Path) -> Option<String> {
        if exec::is_folder(path) {
            self.opened(&path.join(""))
        } else {
            self.opened(path)
        }
    }

    /// Remembers a file. Gives back why it could not be written down, as does [`Self::set_theme`].
    pub(super) fn opened(&mut self, path: &Path) -> Option<String> {
        let error = self.update(|state| state.remember(path));
        self.update_shown();
        error
    }

    /// Remembers the theme.
    pub(super) fn set_theme(&mut self, theme: ThemePreference) -> Option<String> {
        let name = match theme {
            ThemePreference::Dark => "dark",
            ThemePreference::Light => "light",
            ThemePreference::System => "system",
        };
        self.update(|state| name.clone_into(&mut state.theme))
    }

    /// The prices typed last. They are at hand, but no figures go by them until somebody says so: another session's models
    /// may cost something else.
    pub(super) fn price(&self) -> Option<OwnPrice> {
        self.state.price.as_ref().and_then(OwnPrice::remembered)
    }

    /// Remembers the prices that figures go by now, if they were typed; those typed before stay at hand.
    pub(super) fn set_price(&mut self, own: Option<&OwnPrice>) -> Option<String> {
        let now = own?.kept();
        if self.state.price.as_ref() == Some(&now) {
            return None;
        }
        self.update(|state| state.price = Some(now.clone()))
    }

    /// Changes what is remembered, here and in what all windows keep.
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
        Some(format!("Nothing could be remembered{place}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn prices_that_were_typed_stay_at_hand_when_others_are_chosen() {
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
    fn a_folder_that_was_listed_stays_at_hand_and_is_told_from_a_file() {
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
