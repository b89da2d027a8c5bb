//! A piece of a message.

/// A piece of a message, with its place in the message's records.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub body: Body,
    /// Which of the message's records it stands in ([`super::Message::raw`]).
    pub record: u32,
    /// Which content block of that record it is, or which call among its `tool_calls`; 0 where the content is one text.
    pub block: u32,
}

/// What a part holds. Texts are decoded (no JSON escapes).
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Plain text.
    Text(Box<str>),
    /// The model's reasoning. `text` may be empty where the file keeps only a signature or an encrypted form.
    Thinking {
        /// What can be read of it.
        text: Box<str>,
        /// Bytes of the signature or encrypted content, which also goes back to the model.
        sealed_bytes: u32,
        /// Reasoning tokens that the provider reported for it, where it did.
        reported: Option<u32>,
    },
    /// A definition of a tool, as JSON.
    ToolDefinition {
        /// Name of the tool.
        tool: Box<str>,
        /// The definition's JSON.
        json: Box<str>,
    },
    /// The model asks for a tool.
    ToolCall {
        /// Joins it to its result.
        call: Box<str>,
        /// Name of the tool.
        tool: Box<str>,
        /// The arguments as JSON (or as the model wrote them).
        arguments: Box<str>,
    },
    /// What the tool answered. Images inside it are [`Body::Media`] parts that follow and name the call.
    ToolResult {
        /// Joins it to its call.
        call: Box<str>,
        /// Name of the tool, if known.
        tool: Box<str>,
        /// The tool failed.
        is_error: bool,
        /// Its text.
        text: Box<str>,
    },
    /// An image, a sound or a document.
    Media {
        /// What kind.
        media: MediaKind,
        /// MIME type, or empty.
        mime: Box<str>,
        /// Bytes of the payload once decoded; 0 where the file only refers to it.
        bytes: u64,
        /// Width and height in pixels, where they could be read.
        pixels: Option<(u32, u32)>,
        /// The call whose result it stands in.
        within: Option<Box<str>>,
    },
    /// Something unknown to us that goes to the model, kept verbatim; its text is weighed.
    Opaque {
        /// Its type, as the file calls it.
        name: Box<str>,
        /// Its JSON.
        json: Box<str>,
    },
}

/// Kinds of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// A document (PDF and the like).
    Document,
}

/// What a part counts as: the kinds of the timeline, the tables and `tokens.by_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Instructions, and what was fitted for those that the file does not hold.
    System,
    /// Definitions of tools.
    Tools,
    /// What people (or the harness in their place) said.
    User,
    /// What the model said.
    Assistant,
    /// What the model thought.
    Thinking,
    /// What the model asked of tools.
    ToolCall,
    /// What tools answered.
    ToolResult,
    /// Images, sound, documents.
    Media,
    /// Summaries written by a compaction.
    Summary,
    /// Notices and markers that a policy left in the place of what it removed.
    Notice,
}

impl Kind {
    /// All kinds, in the order they are stacked and listed.
    pub const ALL: [Self; 10] = [
        Self::System,
        Self::Tools,
        Self::User,
        Self::Assistant,
        Self::Thinking,
        Self::ToolCall,
        Self::ToolResult,
        Self::Media,
        Self::Summary,
        Self::Notice,
    ];

    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Media => "media",
            Self::Summary => "summary",
            Self::Notice => "notice",
        }
    }

    /// Position in [`Kind::ALL`], for arrays by kind.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Body {
    /// The tool a part belongs to, if any.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::ToolCall { tool, .. }
            | Self::ToolResult { tool, .. }
            | Self::ToolDefinition { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// The text that can be read and searched.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Thinking { text, .. } | Self::ToolResult { text, .. } => text,
            Self::ToolCall { arguments, .. } => arguments,
            Self::ToolDefinition { json, .. } | Self::Opaque { json, .. } => json,
            Self::Media { .. } => "",
        }
    }
}
