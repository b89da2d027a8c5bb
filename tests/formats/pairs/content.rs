//! The content of a request, in a form that is the same for all APIs.

use serde_json::{Map, Value};

/// A piece of a request, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Text of the user or the assistant. Neighbors of one role are one piece, since APIs join them in different places.
    Text { role: &'static str, text: String },
    /// A tool call.
    Call { id: String, tool: String, arguments: Value },
    /// The result of a call.
    Result { id: String, text: String },
}

/// Content of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Content {
    /// Text of the instructions.
    pub system: String,
    /// The conversation.
    pub pieces: Vec<Piece>,
    /// Names of the tools, in order.
    pub tools: Vec<String>,
}

impl Content {
    /// Replaces each text that contains `word` by `word` alone.
    pub(super) fn shorten_to(&mut self, word: &str) {
        for piece in &mut self.pieces {
            if let Piece::Text { text, .. } = piece
                && text.contains(word)
            {
                word.clone_into(text);
            }
        }
    }

    /// Removes what stands between tags of this name from results and the texts of the user.
    pub(super) fn remove_tagged(&mut self, tag: &str) {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        for piece in &mut self.pieces {
            let (Piece::Text { role: "user", text } | Piece::Result { text, .. }) = piece else {
                continue;
            };
            while let Some(start) = text.find(&open) {
                let Some(length) = text[start..].find(&close) else { break };
                text.replace_range(start..start + length + close.len(), "");
            }
        }
        self.pieces = joined(std::mem::take(&mut self.pieces));
    }
}

/// Reads the body of a request to this API.
pub(super) fn of_request(api: &str, body: &Map<String, Value>) -> Content {
    let mut pieces = Vec::new();
    let system = match api {
        "chat" => chat(body, &mut pieces),
        "anthropic" => anthropic(body, &mut pieces),
        "responses" => responses(body, &mut pieces),
        "gemini" => gemini(body, &mut pieces),
        other => panic!("{other} is not an API of the pairs"),
    };
    let tools = list(body.get("tools")).flat_map(tool_names).collect();
    Content { system: spaced(&system.join(" ")), pieces: joined(pieces), tools }
}

fn chat(body: &Map<String, Value>, pieces: &mut Vec<Piece>) -> Vec<String> {
    let mut system = Vec::new();
    for message in list(body.get("messages")) {
        match text_at(message, "role") {
            "system" | "developer" => system.extend(texts(&message["content"])),
            "tool" => pieces.push(Piece::Result {
                id: text_at(message, "tool_call_id").to_owned(),
                text: texts(&message["content"]).join(" "),
            }),
            role => {
                let role = if role == "assistant" { "assistant" } else { "user" };
                for text in texts(&message["content"]) {
                    pieces.push(Piece::Text { role, text });
                }
                for call in list(message.get("tool_calls")) {
                    let arguments = text_at(&call["function"], "arguments");
                    pieces.push(Piece::Call {
                        id: text_at(call, "id").to_owned(),
                        tool: text_at(&call["function"], "name").to_owned(),
                        arguments: parsed(arguments),
                    });
                }
            }
        }
    }
    system
}

fn anthropic(body: &Map<String, Value>, pieces: &mut Vec<Piece>) -> Vec<String> {
    // The first block names the version of the program and is part of no conversation.
    let is_billing = |text: &String| text.starts_with("x-anthropic-billing-header");
    let mut system = texts(body.get("system").unwrap_or(&Value::Null));
    system.retain(|text| !is_billing(text));
    for message in list(body.get("messages")) {
        let role = if text_at(message, "role") == "assistant" { "assistant" } else { "user" };
        let whole = [serde_json::json!({"type": "text", "text": message["content"]})];
        let blocks = message["content"].as_array().map_or(&whole[..], Vec::as_slice);
        for block in blocks {
            match text_at(block, "type") {
                "text" => {
                    pieces.push(Piece::Text { role, text: text_at(block, "text").to_owned() });
                }
                "tool_use" => pieces.push(Piece::Call {
                    id: text_at(block, "id").to_owned(),
                    tool: text_at(block, "name").to_owned(),
                    arguments: block["input"].clone(),
                }),
                "tool_result" => pieces.push(Piece::Result {
                    id: text_at(block, "tool_use_id").to_owned(),
                    text: texts(&block["content"]).join(" "),
                }),
                _ => {}
            }
        }
    }
    system
}

fn responses(body: &Map<String, Value>, pieces: &mut Vec<Piece>) -> Vec<String> {
    let mut system = texts(body.get("instructions").unwrap_or(&Value::Null));
    for item in list(body.get("input")) {
        match (text_at(item, "type"), text_at(item, "role")) {
            ("message", "system" | "developer") => system.extend(texts(&item["content"])),
            ("message", role) => {
                let role = if role == "assistant" { "assistant" } else { "user" };
                let texts = texts(&item["content"]).into_iter();
                pieces.extend(texts.map(|text| Piece::Text { role, text }));
            }
            ("function_call", _) => pieces.push(Piece::Call {
                id: text_at(item, "call_id").to_owned(),
                tool: text_at(item, "name").to_owned(),
                arguments: parsed(text_at(item, "arguments")),
            }),
            ("function_call_output", _) => pieces.push(Piece::Result {
                id: text_at(item, "call_id").to_owned(),
                text: texts(&item["output"]).join(" "),
            }),
            _ => {}
        }
    }
    system
}

fn gemini(body: &Map<String, Value>, pieces: &mut Vec<Piece>) -> Vec<String> {
    let instructions = body.get("systemInstruction").unwrap_or(&Value::Null);
    for content in list(body.get("contents")) {
        let role = if text_at(content, "role") == "user" { "user" } else { "assistant" };
        for part in list(content.get("parts")) {
            if let Some(call) = part.get("functionCall") {
                pieces.push(Piece::Call {
                    id: text_at(call, "id").to_owned(),
                    tool: text_at(call, "name").to_owned(),
                    arguments: call["args"].clone(),
                });
            } else if let Some(result) = part.get("functionResponse") {
                let response = &result["response"];
                let output = response.get("output").cloned();
                let output = output.unwrap_or_else(|| Value::String(response.to_string()));
                pieces.push(Piece::Result {
                    id: text_at(result, "id").to_owned(),
                    text: texts(&output).join(" "),
                });
            } else {
                pieces.push(Piece::Text { role, text: text_at(part, "text").to_owned() });
            }
        }
    }
    list(instructions.get("parts")).map(|part| text_at(part, "text").to_owned()).collect()
}

/// Returns the names of a tool definition, or of the several that Gemini puts into one.
fn tool_names(tool: &Value) -> Vec<String> {
    if let Some(declared) = tool.get("functionDeclarations") {
        return list(Some(declared)).map(|tool| text_at(tool, "name").to_owned()).collect();
    }
    let tool = tool.get("function").unwrap_or(tool);
    vec![text_at(tool, "name").to_owned()]
}

/// Joins neighboring texts of a role, and leaves out how blanks are written and texts without any other character.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (piece, found.last_mut()) {
            (Piece::Text { text, .. }, _) if text.trim().is_empty() => {}
            (Piece::Text { role, text }, Some(Piece::Text { role: before, text: whole }))
                if role == *before =>
            {
                *whole = spaced(&format!("{whole} {text}"));
            }
            (Piece::Text { role, text }, _) => {
                found.push(Piece::Text { role, text: spaced(&text) });
            }
            (Piece::Result { id, text }, _) => {
                found.push(Piece::Result { id: bare(&id), text: spaced(&text) });
            }
            (Piece::Call { id, tool, arguments }, _) => {
                found.push(Piece::Call { id: bare(&id), tool, arguments });
            }
        }
    }
    found
}

/// Returns an id without the name of the tool, which Gemini CLI puts before it in the file only.
fn bare(id: &str) -> String {
    id.find("__call_").map_or(id, |at| &id[at + 2..]).to_owned()
}

pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the texts of a content: one text, or a list of texts and blocks.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        _ => list(Some(content))
            .map(|block| block.as_str().unwrap_or_else(|| text_at(block, "text")).to_owned())
            .collect(),
    }
}

fn parsed(arguments: &str) -> Value {
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
