//! Adds the hooks to an agent's settings, and removes them.
//!
//! Only own entries are added and removed: those whose command is `plimsoll hook AGENT`. Files are replaced atomically.

mod difference;
mod json_text;
mod record;
mod settings;

use super::agents::{Declares, HookedAgent};
use crate::exec::files::{
    create_private_folder, must_exist, parent_folder, read_text, replace_keeping_permissions,
    write_error,
};
use crate::exec::shell::quoted;
use difference::difference;
use record::Record;
pub(super) use record::path as records_path;
use settings::{HookEntry, NO_SETTINGS, add, commands, is_blank, object_of, remove, without};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of a settings file, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// Seconds after which an agent ends a hook. Plimsoll gives up earlier.
const TIMEOUT: u64 = 2;
/// The first line of a plugin.
const PLUGIN_START: &str = "// Plugin of Plimsoll.";

/// A change of an agent's settings.
#[derive(Debug)]
pub struct HookChange {
    /// The file.
    pub path: PathBuf,
    /// Its text before; `None` if it did not exist.
    pub before: Option<String>,
    /// Its text after; `None` if it is removed.
    pub after: Option<String>,
    /// Next step for the user.
    pub next_step: Option<&'static str>,
    /// Whether the text after is the one before the installation.
    is_restored: bool,
    record: Option<Record>,
}

/// Effect of a change on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Nothing.
    Unchanged,
    /// The file did not exist.
    Created,
    /// Hooks are added or removed.
    Changed,
    /// The file becomes what it was before the installation.
    Restored,
    /// The installation created the file.
    Removed,
}

impl HookChange {
    /// Returns what the change does to the file.
    pub fn action(&self) -> FileAction {
        match (&self.before, &self.after) {
            (before, after) if before == after => FileAction::Unchanged,
            (None, _) => FileAction::Created,
            (_, None) => FileAction::Removed,
            _ if self.is_restored => FileAction::Restored,
            _ => FileAction::Changed,
        }
    }

    /// Returns whether anything changes.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Returns the changed lines, marked with `-` and `+`.
    pub fn difference(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        difference(&text(&self.before), &text(&self.after))
    }

    /// Writes the change. `is_kept`: also writes what `uninstall` needs to restore the file byte for byte.
    ///
    /// # Errors
    /// Returns one line if the file was changed meanwhile or cannot be written.
    pub fn apply(&self, is_kept: bool) -> Result<(), String> {
        if self.is_change() {
            if read(&self.path)? != self.before {
                return Err(format!(
                    "{} was changed at the same time; run the command again",
                    self.path.display()
                ));
            }
            let written = match &self.after {
                Some(text) => create_private_folder(parent_folder(&self.path))
                    .and_then(|()| replace_keeping_permissions(&self.path, text.as_bytes())),
                None => fs::remove_file(&self.path),
            };
            written.map_err(|error| write_error(&self.path, &error))?;
        }
        if is_kept {
            let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
            // Without the record, `uninstall` finds the entries by their command.
            let _ = record::set(&path, self.record.clone());
        }
        Ok(())
    }
}

/// Returns the change that adds the hooks of an agent.
///
/// # Errors
/// Returns one line if the settings cannot be read or have another form.
pub fn install(agent: &HookedAgent) -> Result<HookChange, String> {
    let path = path_of(agent)?;
    let before = read(&path)?;
    let (after, record) = match &agent.declares {
        Declares::Settings { events, .. } => {
            let entries = entries(agent, events);
            installed(agent, &path, before.as_deref(), &entries).map_err(|error| {
                let entries = object_of(&entries).unwrap_or_default();
                cannot_change(&path, &error, &format!("add these hooks yourself: {entries}"))
            })?
        }
        Declares::Plugin { text, .. } => {
            if before.as_ref().is_some_and(|before| !before.starts_with(PLUGIN_START)) {
                return Err(format!("{} is another plugin; rename it first", path.display()));
            }
            // A JSON string is also one of JavaScript.
            let program = crate::json::json!(program(false)).to_string();
            (text.replace("\"PLIMSOLL\"", &program), None)
        }
    };
    let (after, next_step) = (Some(after), agent.next_step);
    Ok(HookChange { path, before, after, next_step, is_restored: false, record })
}

/// Returns the text of a settings file with the hooks, and the record.
fn installed(
    agent: &HookedAgent,
    path: &Path,
    before: Option<&str>,
    entries: &[HookEntry],
) -> Result<(String, Option<Record>), String> {
    let text = before.unwrap_or_default();
    let own: Vec<_> = commands(text)?.into_iter().filter(|(_, c)| is_own(c, agent)).collect();
    let wanted: Vec<_> =
        entries.iter().map(|entry| (entry.event.to_owned(), entry.command.clone())).collect();
    let has_all = wanted.iter().all(|wanted| own.contains(wanted));
    if has_all && own.len() == wanted.len() {
        return Ok((text.to_owned(), record::of(path)));
    }
    let cleared = remove(text, &|command| is_own(command, agent))?;
    let added = add(&cleared, entries)?;
    let is_new = before.is_none() || record::of(path).is_some_and(|record| record.is_new);
    let record = Record::new(&added.text, added.inserted, is_new);
    Ok((added.text, Some(record)))
}

/// Returns the change that removes the hooks of an agent.
///
/// # Errors
/// Returns one line if the settings cannot be read or are not JSON.
pub fn uninstall(agent: &HookedAgent) -> Result<HookChange, String> {
    let path = path_of(agent)?;
    let before = read(&path)?;
    let (after, is_restored) = match (&before, &agent.declares) {
        (None, _) => (None, false),
        (Some(text), Declares::Plugin { .. }) => {
            ((!text.starts_with(PLUGIN_START)).then(|| text.clone()), false)
        }
        (Some(text), Declares::Settings { .. }) => {
            uninstalled(agent, &path, text).map_err(|error| {
                let advice = format!(
                    "remove the hooks with the command `plimsoll hook {}` yourself",
                    agent.name
                );
                cannot_change(&path, &error, &advice)
            })?
        }
    };
    Ok(HookChange { path, before, after, next_step: None, is_restored, record: None })
}

/// Returns the text of a settings file without the hooks (`None` if the installation created the file), and whether it is
/// the text before the installation.
fn uninstalled(
    agent: &HookedAgent,
    path: &Path,
    text: &str,
) -> Result<(Option<String>, bool), String> {
    let record = record::of(path);
    let exact = record.as_ref().filter(|record| record.is_of(text));
    let exact = exact.and_then(|record| without(text, &record.inserted));
    let is_restored = exact.is_some();
    let cleared = match exact {
        Some(before) => before,
        None => remove(text, &|command| is_own(command, agent))?,
    };
    let is_created = match record {
        Some(record) => record.is_new && (is_blank(&cleared) || is_empty_object(&cleared)),
        // Installed with `--no-state`: the text of a created file remains.
        None => cleared == NO_SETTINGS && text != cleared,
    };
    Ok(((!is_created).then_some(cleared), is_restored))
}

fn is_empty_object(text: &str) -> bool {
    text.split_whitespace().collect::<String>() == "{}"
}

fn cannot_change(path: &Path, error: &str, advice: &str) -> String {
    format!(
        "cannot change the hooks in {} ({error}), which must be JSON without comments; {advice}",
        path.display()
    )
}

/// Returns the file with the hooks of an agent. Through a link, the linked file.
fn path_of(agent: &HookedAgent) -> Result<PathBuf, String> {
    let (Declares::Settings { file, folder, .. } | Declares::Plugin { file, folder, .. }) =
        &agent.declares;
    let folder = folder.path();
    let folder = folder
        .ok_or_else(|| format!("there is no home folder with the settings of {}", agent.program))?;
    let path = folder.join(file);
    Ok(path.canonicalize().unwrap_or(path))
}

fn read(path: &Path) -> Result<Option<String>, String> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    must_exist(path).map_err(|error| error.to_string())?;
    read_text(path, MAX_BYTES).map(Some).map_err(|error| error.to_string())
}

fn entries(agent: &HookedAgent, events: &[(&'static str, Option<&'static str>)]) -> Vec<HookEntry> {
    let command = format!("{} hook {}", program(true), agent.name);
    let entries = events.iter().map(|&(event, matcher)| HookEntry {
        event,
        matcher,
        command: command.clone(),
        timeout: TIMEOUT,
    });
    entries.collect()
}

/// Returns whether a command is `plimsoll hook AGENT`, wherever the program is.
fn is_own(command: &str, agent: &HookedAgent) -> bool {
    let program = command.trim().strip_suffix(agent.name).map(str::trim_end);
    let program = program.and_then(|program| program.strip_suffix(" hook"));
    let Some(program) = program else {
        return false;
    };
    let unescaped = program.trim().replace(r"'\''", "");
    let is_quote = |c: char| matches!(c, '\'' | '"');
    // A path with a space is quoted. Other commands with a space contain more than the program.
    let inner = unescaped.strip_prefix(is_quote).and_then(|rest| rest.strip_suffix(is_quote));
    let path = match inner {
        Some(inner) => inner.to_owned(),
        None if unescaped.contains(char::is_whitespace) => return false,
        None => unescaped,
    };
    let name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
    !path.contains(is_quote) && matches!(name, "plimsoll" | "plimsoll.exe")
}

/// Returns the program for a command: its name if the shell finds this program by it, else its path.
fn program(is_quoted: bool) -> String {
    const NAME: &str = if cfg!(windows) { "plimsoll.exe" } else { "plimsoll" };
    let own = env::current_exe().unwrap_or_else(|_| PathBuf::from(NAME));
    let real = |path: &Path| path.canonicalize().ok();
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&folders).map(|folder| folder.join(NAME));
    let found = found.find(|path| path.is_file());
    if found.is_some_and(|found| real(&found).is_some() && real(&found) == real(&own)) {
        return "plimsoll".to_owned();
    }
    let own = own.to_string_lossy();
    if is_quoted { quoted(&own) } else { own.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_commands_are_recognized_wherever_the_program_is() {
        let agent = HookedAgent::by_name("codex").unwrap();
        for own in [
            "plimsoll hook codex",
            "/opt/bin/plimsoll hook codex",
            "'/my programs/plimsoll' hook codex ",
            r"C:\bin\plimsoll.exe hook codex",
        ] {
            assert!(is_own(own, agent), "{own}");
        }
        for other in [
            "plimsoll hook claude-code",
            "myplimsoll hook codex",
            "plimsoll hook codex; rm x",
            "echo plimsoll hook codex",
            "cd /tmp && /opt/plimsoll hook codex",
            "'/opt/x' '/opt/plimsoll' hook codex",
            "' hook codex",
            "codex",
        ] {
            assert!(!is_own(other, agent), "{other}");
        }
    }
}
