//! The line in place of an old result. Its lengths are those of hermes-agent 0.19.0, `agent/context_compressor.py`.

use crate::json::{Map, Value};
use crate::languages::python::python_str;
use crate::languages::python::{first_chars, is_true, strip, with_commas};

/// Arguments of a call.
struct Arguments(Map<String, Value>);

impl Arguments {
    /// Returns an argument as text; the default if it is missing.
    fn get(&self, name: &str, default: &str) -> String {
        self.0.get(name).map_or_else(|| default.to_owned(), python_str)
    }

    /// Returns an argument as text; empty if it is missing or `None`.
    fn text(&self, name: &str) -> String {
        let value = self.0.get(name).filter(|value| !value.is_null());
        value.map(python_str).unwrap_or_default()
    }

    /// Returns a text of at most `n` characters.
    fn short(&self, name: &str, n: usize) -> String {
        let text = self.text(name);
        if text.chars().count() > n {
            return format!("{}...", first_chars(&text, n - 3));
        }
        text
    }
}

/// `_summarize_tool_result`.
pub(super) fn line(tool: &str, arguments: Value, content: &str) -> String {
    let args = match arguments {
        Value::Object(fields) => Arguments(fields),
        _ => Arguments(Map::new()),
    };
    let get = |name: &str| args.get(name, "?");
    let chars = with_commas(content.chars().count());
    let n_lines = match strip(content) {
        "" => 0,
        _ => content.matches('\n').count() + 1,
    };
    match tool {
        "terminal" => {
            let (command, code) = (args.short("command", 80), number(content, "exit_code"));
            format!("[terminal] ran `{command}` -> exit {code}, {n_lines} lines output")
        }
        "read_file" => {
            let (path, offset) = (get("path"), args.get("offset", "1"));
            format!("[read_file] read {path} from line {offset} ({chars} chars)")
        }
        "write_file" => {
            let written = args.0.get("content").filter(|text| is_true(text));
            let lines = written.map(|_| args.text("content").matches('\n').count() + 1);
            let lines = lines.map_or("?".to_owned(), |n| n.to_string());
            format!("[write_file] wrote to {} ({lines} lines)", get("path"))
        }
        "search_files" => {
            let (target, path) = (args.get("target", "content"), args.get("path", "."));
            let (pattern, count) = (get("pattern"), number(content, "total_count"));
            format!("[search_files] {target} search for '{pattern}' in {path} -> {count} matches")
        }
        "patch" => {
            let (mode, path) = (args.get("mode", "replace"), get("path"));
            format!("[patch] {mode} in {path} ({chars} chars result)")
        }
        "browser_navigate" | "browser_click" | "browser_snapshot" | "browser_type"
        | "browser_scroll" | "browser_vision" => {
            let given = |name| args.0.get(name).filter(|value| is_true(value)).map(python_str);
            let detail = match (given("url"), given("ref")) {
                (Some(url), _) => format!(" {url}"),
                (None, Some(element)) => format!(" ref={element}"),
                (None, None) => String::new(),
            };
            format!("[{tool}]{detail} ({chars} chars)")
        }
        "web_search" => format!("[web_search] query='{}' ({chars} chars result)", get("query")),
        "web_extract" => format!("[web_extract] {} ({chars} chars)", addresses(&args)),
        "delegate_task" => {
            let goal = args.short("goal", 60);
            format!("[delegate_task] '{goal}' ({chars} chars result)")
        }
        "execute_code" => {
            let code = args.text("code");
            let more = if code.chars().count() > 60 { "..." } else { "" };
            let preview = first_chars(&code, 60).replace('\n', " ");
            format!("[execute_code] `{preview}{more}` ({n_lines} lines output)")
        }
        "skill_view" | "skills_list" | "skill_manage" => {
            format!("[{tool}] name={} ({chars} chars)", get("name"))
        }
        "vision_analyze" => {
            let question = args.text("question");
            format!("[vision_analyze] '{}' ({chars} chars)", first_chars(&question, 50))
        }
        "memory" => format!("[memory] {} on {}", get("action"), get("target")),
        "todo" => "[todo] updated task list".to_owned(),
        "clarify" => "[clarify] asked user a question".to_owned(),
        "text_to_speech" => format!("[text_to_speech] generated audio ({chars} chars)"),
        "cronjob" => format!("[cronjob] {}", get("action")),
        "process" => format!("[process] {} session={}", get("action"), get("session_id")),
        _ => {
            let first =
                args.0.iter().take(2).map(|(name, value)| {
                    format!(" {name}={}", first_chars(&python_str(value), 40))
                });
            let first: String = first.collect();
            format!("[{tool}]{first} ({chars} chars result)")
        }
    }
}

/// Returns the first address of a list, and the number of others.
fn addresses(args: &Arguments) -> String {
    let urls = args.0.get("urls").and_then(Value::as_array);
    let urls = urls.map_or(&[][..], Vec::as_slice);
    let first = match urls.first() {
        Some(Value::String(url)) => url.clone(),
        Some(Value::Object(found)) => {
            let mut known = ["url", "href"].iter().filter_map(|key| found.get(*key));
            let known = known.find(|value| is_true(value));
            known.map_or("?".to_owned(), python_str)
        }
        _ => "?".to_owned(),
    };
    match urls.len() {
        0 | 1 => first,
        n => format!("{first} (+{} more)", n - 1),
    }
}

/// Returns the first whole number behind a key of JSON in a text; `?` without one.
fn number(text: &str, key: &str) -> String {
    let key = format!("\"{key}\"");
    let found = text.match_indices(&key).find_map(|(at, _)| {
        let rest = text[at + key.len()..].trim_start().strip_prefix(':')?.trim_start();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let n = digits.find(|c: char| !c.is_numeric()).unwrap_or(digits.len());
        (n > 0).then(|| rest[..rest.len() - digits.len() + n].to_owned())
    });
    found.unwrap_or_else(|| "?".to_owned())
}
