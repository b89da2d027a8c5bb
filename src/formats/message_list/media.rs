//! Images, sounds and documents as every provider writes them: what part they are, and their payload again when
//! a conversation is written in another format (parts do not keep payloads).

use crate::formats::payload;
use crate::session::{Body, MediaKind};
use serde_json::Value;

/// An image, a sound or a document in a file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) struct Media {
    /// What it is.
    pub(in crate::formats) kind: MediaKind,
    /// What the file holds of it.
    pub(in crate::formats) held: Held,
}

/// What a file holds of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) enum Held {
    /// The thing itself.
    Base64 {
        /// MIME type, or empty.
        mime: String,
        /// As it stands in the file.
        data: String,
    },
    /// Where to get it.
    Url(String),
    /// The provider's name for an uploaded file.
    File(String),
}

/// The image, sound or document that a content block is, in the words of any provider or program.
pub(in crate::formats) fn of_block(block: &Value) -> Option<Media> {
    of_provider(block).or_else(|| of_program(block))
}

fn of_provider(block: &Value) -> Option<Media> {
    let (kind, held) = match block.get("type")?.as_str()? {
        "image" => (MediaKind::Image, of_source(block.get("source")?)),
        "document" => (MediaKind::Document, of_source(block.get("source")?)),
        "image_url" | "input_image" => (MediaKind::Image, of_image_url(block)),
        "input_audio" => (MediaKind::Audio, of_audio(block.get("input_audio")?)),
        "file" => (MediaKind::Document, of_file(block.get("file")?)),
        "input_file" => (MediaKind::Document, of_file(block)),
        _ => return None,
    };
    Some(Media { kind, held: held? })
}

/// All of them inside a value, in order.
pub(in crate::formats) fn all_in(value: &Value) -> Vec<Media> {
    if let Some(found) = of_block(value) {
        return vec![found];
    }
    match value {
        Value::Array(items) => items.iter().flat_map(all_in).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| match value.as_array() {
                Some(urls) if key == "image_urls" => of_urls(urls).collect(),
                _ => all_in(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The one of all inside a value that became this part; `before` are the parts of the same value before it. What looks
/// like a file and became no part (a text that was attached) stands among them.
pub(in crate::formats) fn found<'a>(
    value: &Value,
    before: impl Iterator<Item = &'a Body>,
    part: &Body,
) -> Option<Media> {
    let before: Vec<&Body> = before.filter(|b| matches!(b, Body::Media { .. })).collect();
    let all = all_in(value);
    let alike: Vec<usize> = (0..all.len())
        .filter(|idx| are_alike(&all[*idx].body(None), part))
        .collect();
    let nth = before.iter().filter(|b| are_alike(b, part)).count();
    let idx = alike.get(nth).copied().unwrap_or(before.len());
    all.into_iter().nth(idx)
}

/// The same but for where they stand.
fn are_alike(a: &Body, b: &Body) -> bool {
    let told = |body: &Body| match body {
        Body::Media {
            media,
            mime,
            bytes,
            pixels,
            ..
        } => Some((*media, mime.clone(), *bytes, *pixels)),
        _ => None,
    };
    told(a) == told(b)
}

/// Images of which only the URLs are listed.
pub(in crate::formats) fn of_urls(urls: &[Value]) -> impl Iterator<Item = Media> {
    urls.iter().filter_map(Value::as_str).map(|url| Media {
        kind: MediaKind::Image,
        held: Held::from_url(url),
    })
}

impl Media {
    /// The part that this is.
    pub(in crate::formats) fn body(&self, within: Option<&str>) -> Body {
        let assumed = match self.kind {
            MediaKind::Image => "image/*",
            MediaKind::Audio => "audio/*",
            MediaKind::Document => "",
        };
        match &self.held {
            Held::Base64 { mime, data } => {
                let mime = if mime.is_empty() { assumed } else { mime };
                payload::from_base64(mime, data, within)
            }
            Held::Url(url) => payload::from_url(assumed, url, within),
            Held::File(_) => payload::reference(assumed, 0, within),
        }
    }
}

impl Held {
    /// A URL as given, or the payload as a `data:` URL; none for an uploaded file.
    pub(in crate::formats) fn url(&self) -> Option<String> {
        match self {
            Self::Base64 { mime, data } => Some(format!("data:{mime};base64,{data}")),
            Self::Url(url) => Some(url.clone()),
            Self::File(_) => None,
        }
    }

    fn from_url(url: &str) -> Self {
        let parsed = url
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(','));
        match parsed {
            Some((head, data)) if head.ends_with(";base64") => {
                let mime = head.split(';').next().unwrap_or_default();
                Self::Base64 {
                    mime: mime.to_owned(),
                    data: data.to_owned(),
                }
            }
            _ => Self::Url(url.to_owned()),
        }
    }
}

/// Payloads with their type beside them, as Gemini, tools' servers and programs keep them.
fn of_program(block: &Value) -> Option<Media> {
    let inner = ["inlineData", "inline_data", "fileData", "file_data"]
        .iter()
        .find_map(|key| block.get(key).filter(|v| v.is_object()));
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_media = [
        "image", "audio", "video", "file", "document", "media", "blob", "uri",
    ]
    .contains(&kind);
    if inner.is_none() && !is_media {
        return None;
    }
    let block = inner.unwrap_or(block);
    let first = |keys: &[&str]| keys.iter().find_map(|key| string(block, key));
    let mime = first(&["mimeType", "mime_type", "mediaType", "media_type", "mime"]);
    let url = || first(&["url", "uri", "fileUri", "file_uri", "image"]).map(|u| Held::from_url(&u));
    let payload = if kind == "blob" { "content" } else { "data" };
    let held = match first(&[payload, "base64"]) {
        Some(data) if !data.contains(':') => Held::Base64 {
            mime: mime.clone().unwrap_or_default(),
            data,
        },
        Some(url) => Held::from_url(&url),
        None => url()?,
    };
    let own = if let Held::Base64 { mime, .. } = &held {
        Some(mime.clone())
    } else {
        None
    };
    let kind = match own.filter(|m| !m.is_empty()).or(mime) {
        Some(mime) => payload::kind_of(&mime),
        None if kind == "image" => MediaKind::Image,
        None if kind == "audio" => MediaKind::Audio,
        None => MediaKind::Document,
    };
    Some(Media { kind, held })
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn of_source(source: &Value) -> Option<Held> {
    match source.get("type")?.as_str()? {
        "base64" => {
            let mime = string(source, "media_type").unwrap_or_default();
            Some(Held::Base64 {
                mime,
                data: string(source, "data")?,
            })
        }
        "url" => Some(Held::from_url(&string(source, "url")?)),
        "file" => Some(Held::File(string(source, "file_id")?)),
        _ => None,
    }
}

fn of_image_url(block: &Value) -> Option<Held> {
    let url = block
        .get("image_url")
        .and_then(|i| i.as_str().or_else(|| i.get("url")?.as_str()));
    url.map(Held::from_url)
        .or_else(|| string(block, "file_id").map(Held::File))
}

fn of_audio(audio: &Value) -> Option<Held> {
    let mime = string(audio, "format")
        .map(|f| format!("audio/{f}"))
        .unwrap_or_default();
    Some(Held::Base64 {
        mime,
        data: string(audio, "data")?,
    })
}

fn of_file(file: &Value) -> Option<Held> {
    if let Some(data) = string(file, "file_data") {
        return Some(match Held::from_url(&data) {
            // Bare base64, as some servers want it: the name is all that tells the type.
            Held::Url(data) if !data.contains(':') => {
                let name = string(file, "filename").unwrap_or_default();
                let ending = name.rsplit('.').next().unwrap_or_default();
                let mime = if ending.eq_ignore_ascii_case("pdf") {
                    "application/pdf"
                } else {
                    ""
                };
                Held::Base64 {
                    mime: mime.to_owned(),
                    data,
                }
            }
            held => held,
        });
    }
    let url = string(file, "file_url").map(Held::Url);
    url.or_else(|| string(file, "file_id").map(Held::File))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A PNG of 640 × 480 pixels, as far as its header.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAC6s0uz";

    #[test]
    fn the_shapes_of_all_providers_name_the_same_image() {
        let url = format!("data:image/png;base64,{PNG}");
        let blocks = [
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
            json!({"type": "image_url", "image_url": {"url": url}}),
            json!({"type": "input_image", "image_url": url}),
        ];
        for block in blocks {
            let media = of_block(&block).unwrap();
            assert_eq!(media.held.url().as_ref(), Some(&url));
            let Body::Media {
                mime,
                pixels,
                bytes,
                ..
            } = media.body(None)
            else {
                unreachable!()
            };
            assert_eq!((&*mime, pixels, bytes), ("image/png", Some((640, 480)), 33));
        }
    }

    #[test]
    fn media_are_found_in_order_wherever_they_stand() {
        let value = json!([{"type": "text", "text": "x"}, {"content": [
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "document", "source": {"type": "file", "file_id": "f1"}}]}]);
        let held: Vec<_> = all_in(&value).into_iter().map(|m| m.held).collect();
        assert_eq!(
            held,
            [
                Held::Url("https://example.org/a.png".to_owned()),
                Held::File("f1".to_owned())
            ]
        );
    }
}
