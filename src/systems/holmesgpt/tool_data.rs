//! What a tool returned: how it went, data, pictures.

use crate::chat::{Block, BlockBody, Image, Layout, python_dumps};
use serde_json::{Value, json};
use std::sync::Arc;

/// How a call went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// `success`.
    Success,
    /// `error`.
    Error,
    /// `no_data`.
    NoData,
    /// Any other.
    Other(Arc<str>),
}

impl Status {
    /// By its name.
    pub fn named(name: &str) -> Self {
        match name {
            "success" => Self::Success,
            "error" => Self::Error,
            "no_data" => Self::NoData,
            other => Self::Other(other.into()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::NoData => "no_data",
            Self::Other(name) => name,
        }
    }
}

/// What a tool returned.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolData {
    /// Nothing.
    None,
    /// A text.
    Text(Arc<str>),
    /// Anything else.
    Json(Value),
}

impl ToolData {
    /// By the value it is stored as.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::String(text) => Self::Text(text.as_str().into()),
            other => Self::Json(other.clone()),
        }
    }

    /// The value it is stored as.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Text(text) => json!(&**text),
            Self::Json(value) => value.clone(),
        }
    }

    /// Its text, and whether that is JSON; pretty for people, compact for models.
    pub(super) fn text(&self, is_pretty: bool) -> (String, bool) {
        match self {
            Self::None => (String::new(), false),
            Self::Text(text) => (text.to_string(), false),
            Self::Json(value) => {
                let layout = if is_pretty {
                    Layout {
                        indent: Some(2),
                        ..Layout::UNICODE
                    }
                } else {
                    Layout::COMPACT
                };
                (python_dumps(value, layout), true)
            }
        }
    }
}

/// A picture that a tool returned.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolImage {
    /// Its kind, such as `image/png`.
    pub mime: Arc<str>,
    /// Base64; empty where a session does not hold the payload.
    pub payload: Arc<str>,
    /// As it stands in the message.
    pub block: Block,
}

impl ToolImage {
    /// A picture by its payload.
    pub fn new(mime: &str, payload: &str) -> Self {
        let url = format!("data:{mime};base64,{payload}");
        let json = json!({"type": "image_url", "image_url": {"url": url}});
        Self {
            mime: mime.into(),
            payload: payload.into(),
            block: Block {
                part: None,
                body: BlockBody::Image(Image {
                    json: Arc::new(json),
                    pixels: None,
                }),
            },
        }
    }

    /// The picture of a message's block.
    pub(super) fn of_block(block: &Block) -> Option<Self> {
        let BlockBody::Image(image) = &block.body else {
            return None;
        };
        let url = image.json["image_url"]["url"].as_str().unwrap_or_default();
        let (mime, payload) = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"))
            .unwrap_or(("image/png", ""));
        Some(Self {
            mime: mime.into(),
            payload: payload.into(),
            block: block.clone(),
        })
    }
}
