//! Presets that the user saved: one TOML file each, in the program's data folder.

use super::policy_file::{load_policy, read_settings};
use crate::engine::Policy;
use crate::exec::files::{LoadError, OwnFileKind, read_own, short_reason, write_own};
use crate::exec::state::State;
use crate::presets;
use crate::presets::own::TunedPreset;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Maximum number of files of the folder that are read.
const MAX_FILES: usize = 1_000;

/// The folder of saved presets.
#[derive(Clone, Debug, Default)]
pub struct OwnPresets {
    /// `None` without a home folder.
    folder: Option<PathBuf>,
    is_read_only: bool,
}

/// A saved preset.
#[derive(Clone, Debug)]
pub struct OwnPreset {
    /// The file.
    pub path: PathBuf,
    /// The policy, or the reason why it cannot be read.
    pub policy: Result<Policy, String>,
}

impl OwnPreset {
    /// Returns the name, or `None` if it is not Unicode.
    pub fn name(&self) -> Option<&str> {
        self.path.file_stem()?.to_str()
    }
}

impl OwnPresets {
    /// Returns the presets in the data folder of the user.
    pub fn here() -> Self {
        let folder = State::path().map(|state| state.with_file_name("presets"));
        Self { folder, is_read_only: false }
    }

    /// Returns the presets in a folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), is_read_only: false }
    }

    /// Returns the same presets, of which none can be saved.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Returns the folder; `None` without a home folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Removes every readable preset and returns their number. Other files are kept.
    ///
    /// # Errors
    /// Returns one line if a preset cannot be removed.
    pub fn clear(&self) -> Result<usize, LoadError> {
        let presets = self.all().into_iter().filter(|own| own.policy.is_ok());
        let names = presets.filter_map(|own| Some(own.name()?.to_owned()));
        names.map(|name| self.remove(&name)).try_fold(0, |n, removed| removed.map(|_| n + 1))
    }

    /// Returns true if presets can be saved.
    pub fn can_save(&self) -> bool {
        self.folder.is_some() && !self.is_read_only
    }

    /// Reads all presets, sorted by name.
    pub fn all(&self) -> Vec<OwnPreset> {
        let Some(files) = self.folder.as_ref().and_then(|f| fs::read_dir(f).ok()) else {
            return Vec::new();
        };
        let files = files.take(MAX_FILES).filter_map(|file| Some(file.ok()?.path()));
        let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
        let mut paths: Vec<PathBuf> = files.filter(is_toml).collect();
        paths.sort_unstable();
        let read = |path: PathBuf| OwnPreset {
            policy: load_named(&path).map_err(|error| error.to_string()),
            path,
        };
        paths.into_iter().map(read).collect()
    }

    /// Returns the file of the preset with this name, if it exists.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let path = self.path_of(name)?;
        path.is_file().then_some(path)
    }

    /// Saves a preset and replaces an existing one with its name.
    ///
    /// # Errors
    /// Returns one line if it cannot be saved; then nothing was written.
    pub fn save(&self, own: &TunedPreset) -> Result<PathBuf, LoadError> {
        let failed = |why: String| LoadError(format!("cannot save the preset: {why}"));
        let path = self.path_of(&own.name).filter(|_| self.can_save());
        let Some(path) = path else {
            return Err(failed("there is no folder for presets".to_owned()));
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| {
                failed(format!("{} ({})", folder.display(), short_reason(&error)))
            })?;
        }
        let kind = OwnFileKind { name: "preset", is_own: |text| presets::parse(text).is_ok() };
        write_own(&path, &own.toml, kind)?;
        Ok(path)
    }

    /// Removes the preset with this name and returns its former path.
    ///
    /// # Errors
    /// Returns one line if the preset does not exist or cannot be removed.
    pub fn remove(&self, name: &str) -> Result<PathBuf, LoadError> {
        let none = || LoadError(format!("no preset of your own is named {name:?}"));
        let path = self.path_of(name).ok_or_else(none)?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none()),
            Err(error) => Err(LoadError(format!(
                "cannot remove {} ({})",
                path.display(),
                short_reason(&error)
            ))),
        }
    }

    /// Reads the TOML of the preset with this name, if it exists.
    ///
    /// # Errors
    /// Returns one line if it cannot be read.
    pub fn text(&self, name: &str) -> Option<Result<String, LoadError>> {
        self.file(name).map(|path| read_own(&path))
    }

    /// Returns the path for a name, unless it is invalid.
    fn path_of(&self, name: &str) -> Option<PathBuf> {
        let is_name = presets::own::own_name(name).is_ok_and(|made| made == name);
        let folder = self.folder.as_ref().filter(|_| is_name)?;
        Some(folder.join(format!("{name}.toml")))
    }
}

/// Returns the TOML of a policy: a bundled preset, a saved preset, or a file.
///
/// # Errors
/// Returns one line that names the file and the problem.
pub fn policy_text(name: &str, own: &OwnPresets) -> Result<String, LoadError> {
    match presets::PRESETS.iter().find(|preset| preset.name == name) {
        Some(preset) => Ok(preset.toml.to_owned()),
        None => own.text(name).unwrap_or_else(|| read_settings(Path::new(name), "policy")),
    }
}

/// Reads a preset whose name must equal the name of its file.
fn load_named(path: &Path) -> Result<Policy, LoadError> {
    let policy = load_policy(path)?;
    match path.file_stem().and_then(OsStr::to_str) {
        Some(name) if name == policy.name => Ok(policy),
        _ => Err(LoadError(format!(
            "{0}: the name of its policy is {1}; rename the file to {1}.toml",
            path.display(),
            policy.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::own::own;

    fn mine(label: &str) -> Result<TunedPreset, String> {
        let preset = presets::PRESETS[0].toml;
        let policy = presets::parse(preset).map_err(|e| e.to_string())?;
        own(preset, &policy.defaults(), label)
    }

    #[test]
    fn presets_are_listed_found_by_name_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = OwnPresets::in_folder(folder.path().join("deep").join("presets"));
        assert!(kept.all().is_empty() && kept.file("mine").is_none());
        kept.save(&mine("Mine").unwrap()).unwrap();
        kept.save(&mine("MINE").unwrap()).unwrap();
        let all = kept.all();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].policy.as_ref().unwrap().label, "MINE");
        assert!(kept.text("mine").unwrap().unwrap().contains("MINE"));
        kept.remove("mine").unwrap();
        assert!(kept.all().is_empty());
        assert!(kept.remove("mine").unwrap_err().to_string().contains("no preset of your own"));
    }

    #[test]
    fn a_name_is_not_a_path_and_other_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let kept = OwnPresets::in_folder(folder.path().to_owned());
        assert!(kept.remove("../state").is_err() && kept.file("a/b").is_none());
        let diary = folder.path().join("mine.toml");
        fs::write(&diary, "a diary").unwrap();
        assert!(kept.save(&mine("Mine").unwrap()).is_err());
        assert_eq!(fs::read_to_string(&diary).unwrap(), "a diary");
        assert!(kept.all()[0].policy.is_err());
        kept.save(&mine("Yours").unwrap()).unwrap();
        assert_eq!(kept.clear().unwrap(), 1);
        assert_eq!(fs::read_to_string(&diary).unwrap(), "a diary");
        assert!(OwnPresets::default().save(&mine("Mine").unwrap()).is_err());
        let read_only = kept.read_only();
        assert!(!read_only.can_save() && read_only.save(&mine("Ours").unwrap()).is_err());
    }
}
