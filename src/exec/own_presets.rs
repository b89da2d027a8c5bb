//! Presets of a person's own: one TOML file each, in the program's data folder.

use super::load::LoadError;
use super::own_file::{read_own, write_own};
use super::place::reason;
use super::policy_file::load_policy;
use super::state::State;
use crate::engine::Policy;
use crate::presets;
use crate::presets::own::Own;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// More files than anybody keeps: a folder with more is looked at so far.
const MOST: usize = 1_000;

/// Where they are kept.
#[derive(Clone, Debug, Default)]
pub struct OwnPresets {
    /// None where nothing of the program's own is kept.
    folder: Option<PathBuf>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct OwnPreset {
    /// Its file.
    pub path: PathBuf,
    /// What it says, or why it says nothing.
    pub policy: Result<Policy, String>,
}

impl OwnPreset {
    /// Its name; none where that is not text.
    pub fn name(&self) -> Option<&str> {
        self.path.file_stem()?.to_str()
    }
}

impl OwnPresets {
    /// Those of the person who runs the program.
    pub fn here() -> Self {
        let folder = State::path().map(|state| state.with_file_name("presets"));
        Self { folder }
    }

    /// Those in this folder, which need not be there yet.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
        }
    }

    /// Where they are kept; none where nothing of the program's own is kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Removes every one that can be read and returns how many were removed. Other files stay.
    ///
    /// # Errors
    /// One line: a preset cannot be removed.
    pub fn clear(&self) -> Result<usize, LoadError> {
        let presets = self.all().into_iter().filter(|own| own.policy.is_ok());
        let names = presets.filter_map(|own| Some(own.name()?.to_owned()));
        names
            .map(|name| self.remove(&name))
            .try_fold(0, |n, removed| removed.map(|_| n + 1))
    }

    /// Whether any can be kept.
    pub fn is_kept(&self) -> bool {
        self.folder.is_some()
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<OwnPreset> {
        let Some(files) = self.folder.as_ref().and_then(|f| fs::read_dir(f).ok()) else {
            return Vec::new();
        };
        let files = files.take(MOST).filter_map(|file| Some(file.ok()?.path()));
        let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
        let mut paths: Vec<PathBuf> = files.filter(is_toml).collect();
        paths.sort_unstable();
        let read = |path: PathBuf| OwnPreset {
            policy: load_named(&path).map_err(|error| error.to_string()),
            path,
        };
        paths.into_iter().map(read).collect()
    }

    /// The file of the one of this name, if it is there.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let path = self.place(name)?;
        path.is_file().then_some(path)
    }

    /// Keeps one, in the place of the one of that name if there is one.
    ///
    /// # Errors
    /// One line that says what to do; then nothing was written.
    pub fn save(&self, own: &Own) -> Result<PathBuf, LoadError> {
        let refused = |why: String| LoadError(format!("the preset cannot be saved: {why}"));
        let Some(path) = self.place(&own.name) else {
            return Err(refused("there is no folder for it".to_owned()));
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| refused(format!("{} ({})", folder.display(), reason(&error))))?;
        }
        let is_policy = |text: &str| presets::parse(text).is_ok();
        write_own(&path, &own.toml, ("preset", is_policy))?;
        Ok(path)
    }

    /// Removes the one of this name. Gives back the file that is gone.
    ///
    /// # Errors
    /// One line: there is none, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<PathBuf, LoadError> {
        let none = || LoadError(format!("no preset of your own is named {name:?}"));
        let path = self.place(name).ok_or_else(none)?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none()),
            Err(error) => Err(LoadError(format!(
                "{} cannot be removed ({})",
                path.display(),
                reason(&error)
            ))),
        }
    }

    /// The TOML of the one of this name.
    ///
    /// # Errors
    /// One line that says why it cannot be read.
    pub fn text(&self, name: &str) -> Option<Result<String, LoadError>> {
        self.file(name).map(|path| read_own(&path))
    }

    /// Where one of this name is kept. A name is no path.
    fn place(&self, name: &str) -> Option<PathBuf> {
        let is_name = presets::own::own_name(name).is_ok_and(|made| made == name);
        let folder = self.folder.as_ref().filter(|_| is_name)?;
        Some(folder.join(format!("{name}.toml")))
    }
}

/// Reads one. A file goes by its own name, as it is asked for, whatever stands in it.
fn load_named(path: &Path) -> Result<Policy, LoadError> {
    let policy = load_policy(path)?;
    match path.file_stem().and_then(OsStr::to_str) {
        Some(name) if name == policy.name => Ok(policy),
        _ => Err(LoadError(format!(
            "{}: it says that its name is {}; name the file so",
            path.display(),
            policy.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::own::own;

    fn mine(label: &str) -> Result<Own, String> {
        let preset = presets::PRESETS[0].toml;
        let policy = presets::parse(preset).map_err(|e| e.to_string())?;
        own(preset, &policy.defaults(), label)
    }

    #[test]
    fn what_is_kept_is_listed_found_by_its_name_replaced_and_removed() {
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
        assert!(
            kept.remove("mine")
                .unwrap_err()
                .to_string()
                .contains("no preset of your own")
        );
    }

    #[test]
    fn a_name_is_no_path_and_what_is_no_preset_is_left_alone() {
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
    }
}
