//! `plimsoll convert`: every loss is reported, whatever the formats. Losses are found by reading the written file.

use crate::program::plimsoll;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll::exec::{Aspect, Converted, LoadOptions, Loaded, convert, load, load_bytes};
use plimsoll::formats::{self, Format, accepting_any_source};
use plimsoll::json::Value;
use plimsoll::progress::Progress;
use plimsoll::session::{Body, Session};
use plimsoll::tokens::default_counter;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn root(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

fn fixtures() -> Vec<PathBuf> {
    let folders = fs::read_dir(root("tests/fixtures")).into_iter().flatten().flatten();
    let files = folders
        .filter_map(|folder| fs::read_dir(folder.path()).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|end| end != "expected"));
    let samples = fs::read_dir(root("sample_sessions")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.chain(samples.map(|entry| entry.path())).collect();
    files.sort();
    files
}

fn options(conversation: usize) -> LoadOptions {
    LoadOptions { counter: default_counter(), window: None, conversation }
}

fn opened(path: &Path, conversation: usize) -> Option<Loaded> {
    load(path, &options(conversation), &Progress::default()).ok()
}

fn format(name: &str) -> Option<&'static Format> {
    formats::by_name(name)
}

/// Returns a text as a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns the texts, calls, results and images of the history that a file does not contain.
fn not_in(session: &Session, written: &str) -> [Vec<String>; 4] {
    let mut missing: [Vec<String>; 4] = Default::default();
    let holds = |text: &str| text.trim().is_empty() || written.contains(&escaped(text));
    for message in session.messages.iter().filter(|m| m.in_history) {
        for part in message.parts.clone() {
            match &session.parts[part].body {
                Body::Text(text) if !holds(text) => missing[0].push(text.to_string()),
                Body::ToolCall { tool, arguments, .. } => {
                    let value = plimsoll::json::from_str(arguments).unwrap_or_default();
                    let is_there = holds(arguments) || written.contains(&value.to_string());
                    if !is_there || !written.contains(&escaped(tool)) {
                        missing[1].push(arguments.to_string());
                    }
                }
                Body::ToolResult { text, .. } if !holds(text) => missing[2].push(text.to_string()),
                Body::Media { .. } => {
                    let bytes = formats::media_bytes(session, part);
                    if bytes.is_some_and(|bytes| !written.contains(&STANDARD.encode(bytes))) {
                        missing[3].push(format!("{:?}", session.parts[part].body));
                    }
                }
                _ => {}
            }
        }
    }
    missing
}

fn aspect<'a>(converted: &'a Converted, what: &str) -> Option<&'a Aspect> {
    converted.aspects.iter().find(|aspect| aspect.plural == what)
}

#[test]
fn every_loss_of_a_conversion_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (mut n, mut n_said, mut partly) = (0, 0, Vec::new());
    for path in fixtures() {
        let shown = path.display();
        let conversations = opened(&path, 0).map_or(0, |loaded| loaded.conversations.len());
        for conversation in 0..conversations.min(3) {
            let loaded = opened(&path, conversation).unwrap();
            let session = &loaded.case.session;
            for target in
                accepting_any_source().filter(|target| target.name != session.source.format)
            {
                n += 1;
                let out = folder.path().join(format!("{n}.json"));
                let converted = match convert(&loaded, target, &out) {
                    Ok(converted) => converted,
                    Err(why) => panic!("{shown} as {}: {why}", target.name),
                };
                let written = fs::read_to_string(&out).unwrap();
                let missing = not_in(session, &written);
                let kinds = ["texts", "calls", "results", "images and files"];
                for (kind, missing) in kinds.into_iter().zip(&missing) {
                    let result = aspect(&converted, kind);
                    let is_told = result.is_some_and(|aspect| !aspect.is_whole());
                    assert!(
                        missing.is_empty() || is_told,
                        "{shown} as {}: {kind}: {missing:?}",
                        target.name
                    );
                }
                for aspect in &converted.aspects {
                    assert!(aspect.held > 0 && aspect.kept <= aspect.held, "{aspect:?}");
                    n_said += usize::from(aspect.is_content) * aspect.held;
                    // A file that only refers to an image has no data that could be kept.
                    let refers = aspect.plural == "images and files"
                        && (0..session.parts.len()).any(|part| {
                            matches!(session.parts[part].body, Body::Media { .. })
                                && formats::media_bytes(session, part).is_none()
                        });
                    if aspect.is_content && !aspect.is_whole() && !refers {
                        partly.push(format!("{shown} as {}: {aspect:?}", target.name));
                    }
                }
            }
        }
    }
    assert!(n > 60 && n_said > 1_000, "{n} conversions of {n_said} things");
    // No fixture holds what these formats have no place for.
    assert!(partly.is_empty(), "{}", partly.join("\n"));
}

#[test]
fn a_conversion_to_the_same_format_is_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    for (n, path) in fixtures().into_iter().enumerate() {
        let loaded = opened(&path, 0).unwrap();
        let own = format(loaded.case.session.source.format).unwrap();
        let out = folder.path().join(n.to_string());
        let converted = convert(&loaded, own, &out).unwrap();
        assert!(converted.is_copy && converted.aspects.is_empty());
        // Sessions of a capture refer to a document without headers, which contain keys.
        let expected = match own.name {
            "request_capture" => loaded.case.session.source.bytes.whole().to_vec(),
            _ => fs::read(&path).unwrap(),
        };
        assert_eq!(fs::read(&out).unwrap(), expected, "{}", path.display());
    }
}

#[test]
fn content_that_a_format_cannot_hold_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let chat = r#"{"model":"m","messages":[
        {"role":"system","content":"Be brief."},
        {"role":"user","content":[{"type":"text","text":"Listen"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]},
        {"role":"assistant","content":"   ","reasoning_content":"Hm.","tool_calls":[{"id":"1","type":"function","function":{"name":"play","arguments":"not json"}}]},
        {"role":"tool","tool_call_id":"1","content":"done"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"2","type":"function","function":{"name":"stop","arguments":"{}"}}]}]}"#;
    let loaded = load_bytes("c.json", chat.into(), &options(0), &Progress::default()).unwrap();
    let out = folder.path().join("a.json");
    let converted = convert(&loaded, format("anthropic_messages").unwrap(), &out).unwrap();
    let result = |what| aspect(&converted, what).map(|a| (a.kept, a.held, a.messages.clone()));
    assert_eq!(result("texts"), Some((2, 2, vec![])));
    assert_eq!(result("calls"), Some((2, 2, vec![])));
    assert_eq!(result("results"), Some((1, 1, vec![])));
    assert_eq!(result("images and files"), Some((0, 1, vec![1])));
    assert_eq!(result("reasoning blocks"), Some((0, 1, vec![2])));
    assert_eq!(result("blank texts"), Some((0, 1, vec![])));
    assert_eq!(result("calls without a recorded result"), Some((0, 1, vec![])));
    assert_eq!(result("texts in the original order"), Some((2, 2, vec![])));

    let claude = root("sample_sessions/compacted.jsonl");
    let loaded = opened(&claude, 0).unwrap();
    let out = folder.path().join("b.json");
    let converted = convert(&loaded, format("openai_chat").unwrap(), &out).unwrap();
    let session = &loaded.case.session;
    let result = |what| aspect(&converted, what).map(|a| (a.kept, a.held));
    assert_eq!(result("compactions"), Some((0, session.compactions.len())));
    let usages = session.calls.iter().filter(|s| s.usage.is_some()).count();
    assert!(usages > 0);
    assert_eq!(result("reported tokens of calls"), Some((0, usages)));
    assert!(result("times of messages").is_some_and(|(kept, held)| kept == 0 && held > 0));
    assert!(result("messages that compactions wrote").is_some_and(|(kept, _)| kept == 0));
    assert!(result("folder of the project").is_some());
}

fn printed(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn convert_writes_to_the_sources_folder_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("talk.jsonl");
    fs::copy(root("sample_sessions/compacted.jsonl"), &source).unwrap();
    let before = fs::read(&source).unwrap();
    let run = |args: &[&str]| printed(&plimsoll(folder.path(), args));

    let (code, text) = run(&["convert", "talk.jsonl", "--to", "anthropic_messages"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(folder.path().join("talk-anthropic_messages.json").exists());
    assert!(
        text.contains("not in the new file:\n")
            && text.contains("compaction")
            && text.contains("recorded lane of the new file differ"),
        "{text}"
    );

    let (code, text) = run(&["convert", "talk.jsonl", "--to", "openai_chat", "-o", "talk.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("never overwritten"), "{text}");
    let (code, text) = run(&["convert", "talk.jsonl", "--to", "pi"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("choose anthropic_messages or openai_chat"), "{text}");
    let (code, text) = run(&["convert", "talk.jsonl"]);
    assert_eq!((code, text.lines().count()), (Some(2), 1), "{text}");

    let (code, text) = run(&["convert", "talk.jsonl", "--to", "claude_code", "--json"]);
    assert_eq!(code, Some(0), "{text}");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["copied"], true);
    assert_eq!(fs::read(folder.path().join("talk-claude_code.jsonl")).unwrap(), before);
    assert_eq!(fs::read(&source).unwrap(), before);
}

#[test]
fn a_conversion_that_loses_content_of_messages_fails() {
    let folder = tempfile::tempdir().unwrap();
    let audio = r#"[{"role":"user","content":[{"type":"text","text":"Listen"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]},{"role":"assistant","content":"Yes."}]"#;
    fs::write(folder.path().join("a.json"), audio).unwrap();
    let output = plimsoll(
        folder.path(),
        &["convert", "a.json", "--to", "anthropic_messages", "-o", "b.json"],
    );
    let (code, text) = printed(&output);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("FAILED") && text.contains("0 of 1  image or file (message 1)"),
        "{text}"
    );
    let result = plimsoll(
        folder.path(),
        &["convert", "a.json", "--to", "anthropic_messages", "-o", "c.json", "--json"],
    );
    let result: Value = serde_json::from_slice(&result.stdout).unwrap();
    assert_eq!(result["complete"], false);
    assert_eq!(result["content"][0]["kind"], "texts");
}
