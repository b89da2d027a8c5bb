//! A tool's output: status, data, images.

use crate::chat::{Block, BlockBody, Image};
use crate::json::{Value, json};
use crate::languages::python::{Layout, python_dumps};
use std::sync::Arc;

/// Status of a call.
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
    /// Returns the status of this name.
    pub fn named(name: &str) -> Self {
        match name {
            "success" => Self::Success,
            "error" => Self::Error,
            "no_data" => Self::NoData,
            other => Self::Other(other.into()),
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::NoData => "no_data",
            Self::Other(name) => name,
        }
    }
}

/// Data of a tool's output.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolData {
    /// No data.
    None,
    /// A text.
    Text(Arc<str>),
    /// Anything else.
    Json(Value),
}

impl ToolData {
    /// Parses the stored value.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::String(text) => Self::Text(text.as_str().into()),
            other => Self::Json(other.clone()),
        }
    }

    /// Returns the stored value.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Text(text) => json!(&**text),
            Self::Json(value) => value.clone(),
        }
    }

    /// Returns its text, and whether that is JSON; indented for users, compact for models.
    pub(super) fn text(&self, is_pretty: bool) -> (String, bool) {
        match self {
            Self::None => (String::new(), false),
            Self::Text(text) => (text.to_string(), false),
            Self::Json(value) => {
                let layout = if is_pretty {
                    Layout { indent: Some(2), ..Layout::UNICODE }
                } else {
                    Layout::COMPACT
                };
                (python_dumps(value, layout), true)
            }
        }
    }
}

/// An image in a tool's output.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolImage {
    /// Its type, such as `image/png`.
    pub mime: Arc<str>,
    /// Base64; empty if a session does not contain the payload.
    pub payload: Arc<str>,
    /// Its block in the message.
    pub block: Block,
}

impl ToolImage {
    /// Makes an image with a payload.
    pub fn new(mime: &str, payload: &str) -> Self {
        let url = format!("data:{mime};base64,{payload}");
        let json = json!({"type": "image_url", "image_url": {"url": url}});
        Self {
            mime: mime.into(),
            payload: payload.into(),
            block: Block {
                part: None,
                body: BlockBody::Image(Image { json: Arc::new(json), pixels: None }),
            },
        }
    }

    /// Returns the image of a message's block.
    pub(super) fn of_block(block: &Block) -> Option<Self> {
        let BlockBody::Image(image) = &block.body else {
            return None;
        };
        let url = image.json["image_url"]["url"].as_str().unwrap_or_default();
        let (mime, payload) = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"))
            .unwrap_or(("image/png", ""));
        Some(Self { mime: mime.into(), payload: payload.into(), block: block.clone() })
    }
}
