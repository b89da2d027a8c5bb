//! A part of a message.

/// A part of a message, with its position in the message's records.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Content.
    pub body: Body,
    /// Index of its record in [`super::Message::raw`].
    pub record: u32,
    /// Index of its content block in that record, or of its call in `tool_calls`. 0 if the content is a single text.
    pub block: u32,
}

/// Content of a part. Texts are decoded (no JSON escapes).
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Plain text.
    Text(Box<str>),
    /// The model's reasoning. `text` may be empty if the file has only a signature or an encrypted form.
    Thinking {
        /// Readable text.
        text: Box<str>,
        /// Bytes of the signature or encrypted content, which is also sent to the model.
        sealed_bytes: u32,
        /// Reasoning tokens that the provider reported for it.
        reported: Option<u32>,
    },
    /// A tool definition.
    ToolDefinition {
        /// Name of the tool.
        tool: Box<str>,
        /// The definition as JSON.
        json: Box<str>,
    },
    /// A tool call of the model.
    ToolCall {
        /// Id that joins the call to its result.
        call: Box<str>,
        /// Name of the tool.
        tool: Box<str>,
        /// The arguments as JSON, or as the model wrote them.
        arguments: Box<str>,
    },
    /// The result of a tool call. Images in it are [`Body::Media`] parts that follow and name the call.
    ToolResult {
        /// Id that joins the result to its call.
        call: Box<str>,
        /// Name of the tool, if known.
        tool: Box<str>,
        /// Whether the tool failed.
        is_error: bool,
        /// Text of the result.
        text: Box<str>,
    },
    /// An image, audio or document.
    Media {
        /// Kind of media.
        media: MediaKind,
        /// MIME type, or empty.
        mime: Box<str>,
        /// Bytes of the decoded payload; 0 if the file only refers to it.
        bytes: u64,
        /// Width and height in pixels, if known.
        pixels: Option<(u32, u32)>,
        /// Requested detail of an image.
        detail: ImageDetail,
        /// Id of the call whose result contains it.
        within: Option<Box<str>>,
    },
    /// A block of an unknown type that is sent to the model, kept verbatim. Its text is counted.
    Opaque {
        /// Type in the file.
        name: Box<str>,
        /// The block as JSON.
        json: Box<str>,
    },
}

/// Kinds of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// An image.
    Image,
    /// Audio.
    Audio,
    /// A document (PDF and similar).
    Document,
}

/// The detail at which a provider is asked to look at an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageDetail {
    /// Not requested, or left to the provider.
    #[default]
    Auto,
    /// A small copy of the image.
    Low,
    /// As much as the model usually sees.
    High,
    /// The image at its own size.
    Original,
}

impl ImageDetail {
    /// Returns the detail of this name, as in `OpenAI`'s `detail`.
    pub fn of_name(name: &str) -> Self {
        match name {
            "low" => Self::Low,
            "high" => Self::High,
            "original" => Self::Original,
            _ => Self::Auto,
        }
    }
}

impl MediaKind {
    /// Returns the name, for text about media that is not shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Document => "document",
        }
    }
}

/// Kind of a part in the timeline, the tables and `tokens.by_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Instructions, including the calibrated overhead of those that are not recorded.
    System,
    /// Tool definitions.
    Tools,
    /// Text of the user, or of the harness on the user's behalf.
    User,
    /// Text of the model.
    Assistant,
    /// Thoughts of the model.
    Thinking,
    /// Tool calls.
    ToolCall,
    /// Tool results.
    ToolResult,
    /// Images, audio, documents.
    Media,
    /// Summaries written by a compaction.
    Summary,
    /// Notices and markers that replace removed content.
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

    /// Returns the name used in JSON and on the command line.
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

    /// Returns the position in [`Kind::ALL`], for arrays by kind.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Body {
    /// Returns the tool that a part belongs to, if any.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::ToolCall { tool, .. }
            | Self::ToolResult { tool, .. }
            | Self::ToolDefinition { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// Returns the text that can be read and searched.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Thinking { text, .. } | Self::ToolResult { text, .. } => text,
            Self::ToolCall { arguments, .. } => arguments,
            Self::ToolDefinition { json, .. } | Self::Opaque { json, .. } => json,
            Self::Media { .. } => "",
        }
    }
}
