//! Resuming a written session: the steps that the program needs to list it.

use super::CannotExport;
use super::json::rfc3339_of;
use crate::session::{Managed, Session, bare_model_name};
use crate::units::Millis;
use serde::Deserialize;
use std::sync::LazyLock;

/// A program that resumes sessions, and its session store.
#[derive(Debug)]
pub struct Resume {
    /// Display name of the program.
    pub program: &'static str,
    /// Names of the program on the command line, in addition to the name of the format.
    pub names: &'static [&'static str],
    /// Environment variable that names the program's folder; empty without one.
    pub variable: &'static str,
    /// The variable names a home folder that contains the program's folder.
    pub variable_names_home: bool,
    /// The folder within the user's home if the variable is not set.
    pub folder: &'static str,
    /// Folders of projects within the store, if the program chooses their names.
    pub projects: Option<ProjectFolders>,
    /// Command that adds a file to the program's store, if the store is no folder of files.
    pub import: Option<&'static str>,
    /// Returns whether the program leaves out a user message with this text when it resumes a session. The writer puts a text of
    /// its own before it.
    pub is_left_out: fn(&str) -> bool,
    /// Advice on resuming a session of another program.
    pub advice: Option<&'static str>,
    /// Writes a managed conversation of any other format as a file of the program, without instructions and tool
    /// definitions, which the program has itself.
    pub(super) write: fn(&Session, &Managed) -> Vec<u8>,
    /// Converts a session file to a new session of the program.
    pub to_new_session: NewSessionWriter,
}

/// Folders of projects in a store, which the program names when it first runs in a project.
#[derive(Debug)]
pub struct ProjectFolders {
    /// JSON file in the store whose `projects` map the paths of projects to names of folders.
    pub registry: &'static str,
    /// Folder in the store that contains the folders of projects.
    pub folder: &'static str,
    /// File in the folder of a project that holds the path of the project.
    pub marker: &'static str,
    /// Returns the hashes of projects that a session file of the program records.
    pub hashes: fn(&[u8]) -> Vec<String>,
    /// Returns the hash of a project's path.
    pub hash: fn(&str) -> String,
}

impl Resume {
    /// Returns the first name of the program on the command line.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or(self.program)
    }

    /// Defaults: a store of files without chosen folders. Every program sets the other properties.
    pub(super) const DEFAULT: Self = Self {
        program: "",
        names: &[],
        variable: "",
        variable_names_home: false,
        folder: "",
        projects: None,
        import: None,
        is_left_out: |_| false,
        advice: None,
        write: |_, _| Vec::new(),
        to_new_session: |_, _| Err(CannotExport { reason: "not supported".to_owned() }),
    };
}

/// Id in a written session file that [`Resume::to_new_session`] replaces by a new one.
pub(super) const NO_SESSION: &str = "00000000-0000-4000-8000-000000000000";

/// A row of `assets/model_providers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderRow {
    provider: String,
    models: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderTable {
    provider: Vec<ProviderRow>,
}

/// Returns the usual name of a model's provider, by the start of the model's name.
pub(super) fn provider_of(model: &str) -> &'static str {
    static TABLE: LazyLock<ProviderTable> = LazyLock::new(|| {
        let text = include_str!("../assets/model_providers.toml");
        toml::from_str(text).expect("the bundled table is read by a test")
    });
    let model = bare_model_name(model);
    let is_of = |row: &&ProviderRow| row.models.iter().any(|start| model.starts_with(&**start));
    TABLE.provider.iter().find(is_of).map_or("unknown", |row| &*row.provider)
}

/// Converts a session file to a new session of the program that keeps such files.
pub type NewSessionWriter = fn(&[u8], &NewSession) -> Result<Resumable, CannotExport>;

/// Values for a new session that a pure function cannot compute.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Current time.
    pub now: Millis,
    /// Sixteen random bytes.
    pub random: [u8; 16],
    /// Working folder, if the file records none.
    pub folder: String,
    /// The recorded folder is not on this machine, so that `folder` takes its place.
    pub replaces_recorded: bool,
    /// Name of that folder in the store, if the program chooses the names ([`Resume::projects`]).
    pub project_folder: Option<String>,
}

/// A session file with an id of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumable {
    /// The new session's id.
    pub id: String,
    /// Path of the file within the program's folder: folder names and the file name. Empty if the program imports the
    /// file.
    pub relative_path: Vec<String>,
    /// Working folder of the session.
    pub project: Option<String>,
    /// Shell command that resumes the session in that folder.
    pub command: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl NewSession {
    /// Returns the new session's working folder: the recorded one unless it is empty or not on this machine.
    pub(super) fn project(&self, recorded: Option<&str>) -> String {
        let is_used = |folder: &&str| !self.replaces_recorded && !folder.trim().is_empty();
        recorded.filter(is_used).unwrap_or(&self.folder).to_owned()
    }

    /// Returns a random UUID (version 4).
    pub(super) fn random_id(&self) -> String {
        uuid(self.random, 4)
    }

    /// Returns a UUID that begins with its time (version 7), so that ids sort by age.
    pub(super) fn timed_id(&self) -> String {
        let mut bytes = self.random;
        bytes[..6].copy_from_slice(&self.now.0.to_be_bytes()[2..]);
        uuid(bytes, 7)
    }

    /// Returns the current time in RFC 3339 format with milliseconds, in UTC.
    pub(super) fn time(&self) -> String {
        rfc3339_of(self.now)
    }
}

/// Sets a UUID's version and variant bits, see <https://www.rfc-editor.org/rfc/rfc9562#section-4>.
pub(super) fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_named_by_the_start_of_a_model() {
        let models = ["claude-x", "gpt-5", "o4-mini", "gemini-2", "other"];
        let expected = ["anthropic", "openai", "openai", "google", "unknown"];
        assert_eq!(models.map(provider_of), expected);
    }

    #[test]
    fn ids_have_their_version_and_timed_ids_sort_by_age() {
        let new_session = |now, byte| NewSession {
            now: Millis(now),
            random: [byte; 16],
            folder: String::new(),
            replaces_recorded: false,
            project_folder: None,
        };
        assert_eq!(new_session(0, 0xff).random_id(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(
            new_session(1_645_557_742_000, 0).timed_id(),
            "017f22e2-79b0-7000-8000-000000000000"
        );
        assert!(new_session(2, 0).timed_id() > new_session(1, 0xff).timed_id());
        assert_eq!(new_session(1_645_557_742_007, 0).time(), "2022-02-22T19:22:22.007Z");
    }
}
