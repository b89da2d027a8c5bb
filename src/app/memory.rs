//! What the program remembers between runs, or nothing at all with `--no-state`.

use crate::exec::State;
use egui::ThemePreference;
use std::path::{Path, PathBuf};

/// Files remembered.
const MAX_RECENT: usize = 12;

/// What the program remembers.
#[derive(Debug)]
pub(super) struct Memory {
    state: State,
    is_off: bool,
}

impl Memory {
    /// Reads the state, unless `is_off`.
    pub(super) fn new(is_off: bool) -> Self {
        let state = if is_off {
            State::default()
        } else {
            State::load()
        };
        Self { state, is_off }
    }

    /// Files opened lately, newest first.
    pub(super) fn recent(&self) -> &[PathBuf] {
        &self.state.recent
    }

    /// The theme used last.
    pub(super) fn theme(&self) -> ThemePreference {
        match self.state.theme.as_str() {
            "dark" => ThemePreference::Dark,
            "light" => ThemePreference::Light,
            _ => ThemePreference::System,
        }
    }

    /// Remembers a file. Gives back why it could not be written down, as does [`Self::set_theme`].
    pub(super) fn opened(&mut self, path: &Path) -> Option<String> {
        // A relative path would mean another file in another folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.state.recent.retain(|p| *p != path);
        self.state.recent.insert(0, path);
        self.state.recent.truncate(MAX_RECENT);
        self.save()
    }

    /// Remembers the theme.
    pub(super) fn set_theme(&mut self, theme: ThemePreference) -> Option<String> {
        let name = match theme {
            ThemePreference::Dark => "dark",
            ThemePreference::Light => "light",
            ThemePreference::System => "system",
        };
        name.clone_into(&mut self.state.theme);
        self.save()
    }

    fn save(&self) -> Option<String> {
        if self.is_off {
            return None;
        }
        let error = self.state.save().err()?;
        let place = State::path().map_or_else(String::new, |p| format!(" in {}", p.display()));
        Some(format!(
            "Recent files could not be remembered{place}: {error}"
        ))
    }
}
