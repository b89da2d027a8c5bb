//! Images, audio and documents in the forms of all providers: the parts they become, and their payload for exporting to
//! another format (parts do not include payloads).

use super::payload;
use crate::json::Value;
use crate::session::{Body, ImageDetail, MediaKind, Session};

/// An image, audio or document in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Media {
    /// Kind of media.
    pub(crate) kind: MediaKind,
    /// Payload or reference in the file.
    pub(crate) source: MediaSource,
    /// Requested detail of an image.
    pub(crate) detail: ImageDetail,
}

/// Payload or reference of media.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MediaSource {
    /// The payload.
    Base64 {
        /// MIME type, or empty.
        mime: String,
        /// Data as in the file.
        data: String,
    },
    /// URL of the payload.
    Url(String),
    /// The provider's id of an uploaded file.
    File(String),
}

/// Reads the media of a content block in the form of any provider or program.
pub(crate) fn of_block(block: &Value) -> Option<Media> {
    of_provider(block).or_else(|| of_program(block)).or_else(|| of_framework(block))
}

/// Reads the media of agent frameworks and of Bedrock's Converse API, whose blocks have no `type`.
fn of_framework(block: &Value) -> Option<Media> {
    of_converse(block).or_else(|| of_pydantic(block)).or_else(|| of_haystack(block))
}

/// Reads an image or a file of Haystack, which a member may contain.
fn of_haystack(block: &Value) -> Option<Media> {
    let inner = ["image", "file"].iter().find_map(|key| block.get(key)).unwrap_or(block);
    let mime = |assumed: &str| string(inner, "mime_type").unwrap_or_else(|| assumed.to_owned());
    let detail = ImageDetail::of_name(&string(inner, "detail").unwrap_or_default());
    if let Some(data) = string(inner, "base64_image") {
        let source = MediaSource::Base64 { mime: mime("image/jpeg"), data };
        return Some(Media { kind: MediaKind::Image, source, detail });
    }
    let data = string(inner, "base64_data")?;
    let mime = mime("application/pdf");
    let kind = payload::kind_of(&mime);
    Some(Media { kind, source: MediaSource::Base64 { mime, data }, detail: ImageDetail::Auto })
}

/// Reads media of Pydantic AI, which a `kind` names.
fn of_pydantic(block: &Value) -> Option<Media> {
    let kind = block.get("kind")?.as_str()?;
    let mime = string(block, "media_type").or_else(|| string(block, "_media_type"));
    let of_mime = || payload::kind_of(mime.as_deref().unwrap_or_default());
    let (kind, source) = match kind {
        "image-url" => (MediaKind::Image, MediaSource::from_url(&string(block, "url")?)),
        "audio-url" => (MediaKind::Audio, MediaSource::from_url(&string(block, "url")?)),
        "document-url" | "video-url" => {
            (MediaKind::Document, MediaSource::from_url(&string(block, "url")?))
        }
        "binary" => {
            let mime = mime.clone().unwrap_or_default();
            (of_mime(), MediaSource::Base64 { mime, data: string(block, "data")? })
        }
        "uploaded-file" => (of_mime(), MediaSource::File(string(block, "file_id")?)),
        _ => return None,
    };
    Some(Media { kind, source, detail: ImageDetail::Auto })
}

/// Reads a block of Bedrock's Converse API, whose member names its kind. Strands Agents marks payloads that it encoded.
fn of_converse(block: &Value) -> Option<Media> {
    let kinds = [
        ("image", MediaKind::Image),
        ("audio", MediaKind::Audio),
        ("document", MediaKind::Document),
        ("video", MediaKind::Document),
    ];
    let (name, kind, inner) =
        kinds.into_iter().find_map(|(name, kind)| Some((name, kind, block.get(name)?)))?;
    let format = string(inner, "format")?;
    let source = inner.get("source")?;
    let mime = if name == "document" {
        document_type(&format).to_owned()
    } else {
        format!("{name}/{format}")
    };
    let data = source.get("bytes").and_then(|b| b.as_str().or_else(|| b.get("data")?.as_str()));
    let data = data.map(|data| MediaSource::Base64 { mime, data: data.to_owned() });
    let place = || source.get("s3Location")?.get("uri")?.as_str().map(MediaSource::from_url);
    Some(Media { kind, source: data.or_else(place)?, detail: ImageDetail::Auto })
}

/// Returns the MIME type of a format of documents in Bedrock's Converse API, or an empty one.
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html>
fn document_type(format: &str) -> &'static str {
    match format {
        "pdf" => "application/pdf",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "csv" => "text/csv",
        "html" => "text/html",
        "txt" => "text/plain",
        "md" => "text/markdown",
        _ => "",
    }
}

fn of_provider(block: &Value) -> Option<Media> {
    let (kind, source) = match block.get("type")?.as_str()? {
        "image" => (MediaKind::Image, of_source(block.get("source")?)),
        "document" => (MediaKind::Document, of_source(block.get("source")?)),
        "image_url" | "input_image" => (MediaKind::Image, of_image_url(block)),
        "input_audio" => (MediaKind::Audio, of_audio(block.get("input_audio")?)),
        "file" => (MediaKind::Document, of_file(block.get("file")?)),
        "input_file" => (MediaKind::Document, of_file(block)),
        _ => return None,
    };
    Some(Media { kind, source: source?, detail: detail_of(block) })
}

/// Returns all media inside a value, in order.
pub(crate) fn all_in(value: &Value) -> Vec<Media> {
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

/// Returns the media of a value that became `part`. `before` are the parts read from the same value before it. Some
/// values look like files but became no part (attached texts).
pub(crate) fn found<'a>(
    value: &Value,
    before: impl Iterator<Item = &'a Body>,
    part: &Body,
) -> Option<Media> {
    let before: Vec<&Body> = before.filter(|b| matches!(b, Body::Media { .. })).collect();
    let all = all_in(value);
    let alike: Vec<usize> =
        (0..all.len()).filter(|idx| are_alike(&all[*idx].body(None), part)).collect();
    let nth = before.iter().filter(|b| are_alike(b, part)).count();
    let idx = alike.get(nth).copied().unwrap_or(before.len());
    all.into_iter().nth(idx)
}

/// Returns the bytes of a media part from the session file, or `None` if the part only refers to them.
pub fn media_bytes(session: &Session, part: usize) -> Option<Vec<u8>> {
    let message = session.messages.iter().find(|m| m.parts.contains(&part))?;
    let record = session.parts[part].record;
    let is_media = |idx: &usize| {
        let of_record = session.parts[*idx].record == record;
        of_record && matches!(session.parts[*idx].body, Body::Media { .. })
    };
    let before = (message.parts.start..part).filter(is_media);
    let before = before.map(|idx| &session.parts[idx].body);
    let raw = session.raw(message.raw.get(record as usize)?);
    let value = crate::json::from_slice(&raw).ok()?;
    match found(&value, before, &session.parts[part].body)?.source {
        MediaSource::Base64 { data, .. } => payload::decode(&data, usize::MAX),
        MediaSource::Url(_) | MediaSource::File(_) => None,
    }
}

/// Returns whether two media parts are equal except for the result that contains them.
fn are_alike(a: &Body, b: &Body) -> bool {
    let key = |body: &Body| match body {
        Body::Media { media, mime, bytes, pixels, .. } => {
            Some((*media, mime.clone(), *bytes, *pixels))
        }
        _ => None,
    };
    key(a) == key(b)
}

/// Reads images listed as URLs only.
pub(crate) fn of_urls(urls: &[Value]) -> impl Iterator<Item = Media> {
    urls.iter().filter_map(Value::as_str).map(|url| Media {
        kind: MediaKind::Image,
        source: MediaSource::from_url(url),
        detail: ImageDetail::Auto,
    })
}

impl Media {
    /// Converts media to the body of a part.
    pub(crate) fn body(&self, within: Option<&str>) -> Body {
        let assumed = match self.kind {
            MediaKind::Image => "image/*",
            MediaKind::Audio => "audio/*",
            MediaKind::Document => "",
        };
        let mut body = match &self.source {
            MediaSource::Base64 { mime, data } => {
                let mime = if mime.is_empty() { assumed } else { mime };
                payload::from_base64(mime, data, within)
            }
            MediaSource::Url(url) => payload::from_url(assumed, url, within),
            MediaSource::File(_) => payload::reference(assumed, 0, within),
        };
        if let Body::Media { detail, .. } = &mut body {
            *detail = self.detail;
        }
        body
    }
}

impl MediaSource {
    /// Returns the URL, or the payload as a `data:` URL. Returns `None` for an uploaded file.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Base64 { mime, data } => Some(format!("data:{mime};base64,{data}")),
            Self::Url(url) => Some(url.clone()),
            Self::File(_) => None,
        }
    }

    fn from_url(url: &str) -> Self {
        let parsed = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        match parsed {
            Some((head, data)) if head.ends_with(";base64") => {
                let mime = head.split(';').next().unwrap_or_default();
                Self::Base64 { mime: mime.to_owned(), data: data.to_owned() }
            }
            _ => Self::Url(url.to_owned()),
        }
    }
}

/// Types of blocks with a payload or a URL.
const MEDIA_BLOCKS: [&str; 13] = [
    "image",
    "audio",
    "video",
    "file",
    "document",
    "media",
    "blob",
    "uri",
    "image-data",
    "image-url",
    "file-data",
    "file-url",
    "reasoning-file",
];

/// Reads payloads with a MIME type, as written by Gemini, MCP servers and programs.
fn of_program(block: &Value) -> Option<Media> {
    let inner = ["inlineData", "inline_data", "fileData", "file_data"]
        .iter()
        .find_map(|key| block.get(key).filter(|v| v.is_object()));
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    if inner.is_none() && !MEDIA_BLOCKS.contains(&kind) && !is_of_crush(block) {
        return None;
    }
    let block = inner.unwrap_or(block);
    // The AI SDK nests a payload or its URL in `data`.
    let nested = block.get("data").filter(|data| data.is_object());
    let first = |keys: &[&str]| {
        let of = |block| keys.iter().find_map(|key| string(block, key));
        nested.and_then(of).or_else(|| of(block))
    };
    let mime = first(&["mimeType", "mime_type", "mediaType", "media_type", "mime", "MIMEType"]);
    let url = || {
        first(&["url", "uri", "fileUri", "file_uri", "image"]).map(|u| MediaSource::from_url(&u))
    };
    let payload = if kind == "blob" { "content" } else { "data" };
    // An image of the AI SDK is a URL or a payload.
    let image = || string(block, "image").filter(|image| !image.contains(':'));
    let source = match first(&[payload, "base64", "Data"]).or_else(image) {
        Some(data) if !data.contains(':') => {
            MediaSource::Base64 { mime: mime.clone().unwrap_or_default(), data }
        }
        Some(url) => MediaSource::from_url(&url),
        None => url()?,
    };
    let own =
        if let MediaSource::Base64 { mime, .. } = &source { Some(mime.clone()) } else { None };
    let kind = match own.filter(|m| !m.is_empty()).or(mime) {
        Some(mime) => payload::kind_of(&mime),
        None if kind.starts_with("image") => MediaKind::Image,
        None if kind == "audio" => MediaKind::Audio,
        None => MediaKind::Document,
    };
    Some(Media { kind, source, detail: ImageDetail::Auto })
}

/// Returns whether this is an attachment or a result of Crush, which have no type.
fn is_of_crush(block: &Value) -> bool {
    let has = |key| block.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    has("Data") && has("MIMEType")
        || has("data") && has("mime_type") && block.get("tool_call_id").is_some()
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn of_source(source: &Value) -> Option<MediaSource> {
    match source.get("type")?.as_str()? {
        "base64" => {
            let mime = string(source, "media_type").unwrap_or_default();
            Some(MediaSource::Base64 { mime, data: string(source, "data")? })
        }
        "url" => Some(MediaSource::from_url(&string(source, "url")?)),
        "file" => Some(MediaSource::File(string(source, "file_id")?)),
        _ => None,
    }
}

fn of_image_url(block: &Value) -> Option<MediaSource> {
    let url = block.get("image_url").and_then(|i| i.as_str().or_else(|| i.get("url")?.as_str()));
    url.map(MediaSource::from_url).or_else(|| string(block, "file_id").map(MediaSource::File))
}

/// Returns the requested detail of an image, which the Chat and the Responses API of `OpenAI` name in different places.
fn detail_of(block: &Value) -> ImageDetail {
    let own = block.get("detail");
    let detail = own.or_else(|| block.get("image_url")?.get("detail"));
    ImageDetail::of_name(detail.and_then(Value::as_str).unwrap_or_default())
}

fn of_audio(audio: &Value) -> Option<MediaSource> {
    let mime = string(audio, "format").map(|f| format!("audio/{f}")).unwrap_or_default();
    Some(MediaSource::Base64 { mime, data: string(audio, "data")? })
}

fn of_file(file: &Value) -> Option<MediaSource> {
    if let Some(data) = string(file, "file_data") {
        return Some(match MediaSource::from_url(&data) {
            // Bare base64, as some servers require: only the file name indicates the type.
            MediaSource::Url(data) if !data.contains(':') => {
                let name = string(file, "filename").unwrap_or_default();
                let ending = name.rsplit('.').next().unwrap_or_default();
                let mime = if ending.eq_ignore_ascii_case("pdf") { "application/pdf" } else { "" };
                MediaSource::Base64 { mime: mime.to_owned(), data }
            }
            source => source,
        });
    }
    let url = string(file, "file_url").map(MediaSource::Url);
    url.or_else(|| string(file, "file_id").map(MediaSource::File))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    /// Header of a PNG of 640 × 480 pixels.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAC6s0uz";

    #[test]
    fn reads_the_same_image_from_the_forms_of_all_providers() {
        let url = format!("data:image/png;base64,{PNG}");
        let blocks = [
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
            json!({"type": "image_url", "image_url": {"url": url}}),
            json!({"type": "input_image", "image_url": url}),
        ];
        for block in blocks {
            let media = of_block(&block).unwrap();
            assert_eq!(media.source.url().as_ref(), Some(&url));
            let Body::Media { mime, pixels, bytes, .. } = media.body(None) else { unreachable!() };
            assert_eq!((&*mime, pixels, bytes), ("image/png", Some((640, 480)), 33));
        }
    }

    #[test]
    fn finds_nested_media_in_order() {
        let value = json!([{"type": "text", "text": "x"}, {"content": [
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "document", "source": {"type": "file", "file_id": "f1"}}]}]);
        let source: Vec<_> = all_in(&value).into_iter().map(|m| m.source).collect();
        assert_eq!(
            source,
            [
                MediaSource::Url("https://example.org/a.png".to_owned()),
                MediaSource::File("f1".to_owned())
            ]
        );
    }
}
