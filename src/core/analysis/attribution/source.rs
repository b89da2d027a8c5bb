//! A source of content, and its name on the command line.

use crate::analysis::tools::server_of_tool;
use std::fmt;
use std::str::FromStr;

/// Kinds of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// All tools of an MCP server.
    Server,
    /// The definition of a tool.
    Tool,
    /// A section of the system prompt.
    Section,
    /// A memory file, such as `CLAUDE.md`, or rules of the user or the project.
    Memory,
    /// The list of skills or agents that the model may use.
    Skills,
    /// Output of a hook.
    Hook,
    /// A file that the user named with `@`.
    File,
    /// Facts about the machine and the project.
    Environment,
    /// A reminder of the program.
    Reminder,
    /// Content that every call sends and the file does not record.
    NotRecorded,
}

impl SourceKind {
    /// Kinds that can be named on the command line.
    const NAMED: [Self; 9] = [
        Self::Server,
        Self::Tool,
        Self::Section,
        Self::Memory,
        Self::Skills,
        Self::Hook,
        Self::File,
        Self::Environment,
        Self::Reminder,
    ];

    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "mcp",
            Self::Tool => "tool",
            Self::Section => "section",
            Self::Memory => "memory",
            Self::Skills => "skills",
            Self::Hook => "hook",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Reminder => "reminder",
            Self::NotRecorded => "not recorded",
        }
    }

    /// Returns the kind of this name that can be named on the command line.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|kind| kind.name() == name)
    }
}

/// A source of content. Displayed as on the command line: `mcp:github`, `memory:/home/me/CLAUDE.md`, `skills`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// Its kind.
    pub kind: SourceKind,
    /// Its name: of a tool, server or file, or the heading of a section. Empty if the kind has no names.
    pub name: String,
}

impl Source {
    /// Creates a source.
    pub fn new(kind: SourceKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    /// Returns the MCP server that a tool belongs to, if its name tells.
    pub fn server(&self) -> Option<&str> {
        match self.kind {
            SourceKind::Tool => server_of_tool(&self.name),
            _ => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => f.write_str(self.kind.name()),
            name => write!(f, "{}:{name}", self.kind.name()),
        }
    }
}

/// A source as the user names it: `mcp:github`, `tool:Bash`, `section:Tone`, `memory:CLAUDE.md`, or `skills` for all of a
/// kind. A file may be named by the end of its path, a section by the beginning of its heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    kind: SourceKind,
    name: String,
}

/// Minimum number of characters of the beginning of a heading.
// Chosen: shorter ones begin too many headings.
const MIN_BEGINNING: usize = 4;

impl Selector {
    /// Returns whether this source is selected.
    pub fn matches(&self, source: &Source) -> bool {
        let has_name = |name: &str| name.eq_ignore_ascii_case(&self.name);
        match self.kind {
            SourceKind::Server => match source.server() {
                Some(server) => self.name.is_empty() || has_name(server),
                None => false,
            },
            kind if kind != source.kind => false,
            _ if self.name.is_empty() || has_name(&source.name) => true,
            SourceKind::Memory | SourceKind::File => {
                let of_path = |separator: char| {
                    let start = source.name.len().checked_sub(self.name.len());
                    start.and_then(|start| source.name.get(..start)).is_some_and(|folder| {
                        folder.ends_with(separator) && source.name.ends_with(&self.name)
                    })
                };
                of_path('/') || of_path('\\')
            }
            SourceKind::Section => {
                let beginning = self.name.trim_end_matches('…').to_lowercase();
                beginning.chars().count() >= MIN_BEGINNING
                    && source.name.to_lowercase().starts_with(&beginning)
            }
            _ => false,
        }
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = text.split_once(':').unwrap_or((text, ""));
        let known = SourceKind::NAMED.map(SourceKind::name).join(", ");
        let kind = SourceKind::of_name(kind.trim()).ok_or_else(|| {
            format!("unknown kind `{kind}`; give KIND:NAME, or KIND for all, with one of {known}")
        })?;
        Ok(Self { kind, name: name.trim().to_owned() })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Source { kind: self.kind, name: self.name.clone() }.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, kind: SourceKind, name: &str) -> bool {
        selector.parse::<Selector>().unwrap().matches(&Source::new(kind, name))
    }

    #[test]
    fn a_selector_names_a_server_a_tool_or_the_end_of_a_path() {
        assert!(selects("mcp:github", SourceKind::Tool, "mcp__github__search"));
        assert!(!selects("mcp:github", SourceKind::Tool, "mcp__linear__search"));
        assert!(selects("tool:bash", SourceKind::Tool, "Bash"));
        assert!(selects("memory:CLAUDE.md", SourceKind::Memory, "/home/me/CLAUDE.md"));
        assert!(selects("memory:me/CLAUDE.md", SourceKind::Memory, "/home/me/CLAUDE.md"));
        assert!(!selects("memory:E.md", SourceKind::Memory, "/home/me/CLAUDE.md"));
        assert!(selects("section", SourceKind::Section, "Tone"));
        assert!(!selects("section", SourceKind::Memory, "Tone"));
        assert!(selects("section:how to wr", SourceKind::Section, "How to write"));
        assert!(!selects("section:how", SourceKind::Section, "How to write"));
        assert!("nothing:x".parse::<Selector>().unwrap_err().contains("one of mcp, tool"));
    }
}
