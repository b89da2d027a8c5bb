//! Managed Codex rollouts: the original lines, followed by a compaction with the managed context.

use plimsoll::formats::{self, Input, NewSession};
use plimsoll::json::{Value, json};
use plimsoll::session::{
    Body, Managed, ManagedEntry, ManagedPart, Role, Session, Usage, WrittenKind,
};
use plimsoll::units::{Millis, Tokens};

const OWN: &str = "019d7e48-0000-7000-8000-000000000000";
const PARENT: &str = "019d7d08-0000-7000-8000-000000000000";

/// Builds a rollout with one line per second.
#[derive(Clone, Default)]
struct Rollout {
    lines: Vec<String>,
    is_numbered: bool,
}

impl Rollout {
    /// Creates a rollout with a head and the initial context of Codex.
    fn new() -> Self {
        let mut rollout = Self::default();
        rollout.add("session_meta", &head(OWN));
        rollout.set_up();
        rollout
    }

    /// Creates a rollout with numbered lines and a `world_state`.
    fn numbered() -> Self {
        let mut rollout = Self { is_numbered: true, ..Self::default() };
        rollout.add("session_meta", &head(OWN));
        rollout.set_up();
        rollout.add("world_state", &json!({"full": true, "state": {"cwd": "/repo"}}));
        rollout.add("world_state", &json!({"full": false, "state": {"date": "today"}}));
        rollout
    }

    fn set_up(&mut self) {
        self.item(&words("developer", "<permissions instructions>"));
        self.item(&words("user", "<environment_context> /repo"));
        self.add("turn_context", &json!({"model": "gpt-5.5", "cwd": "/repo"}));
    }

    fn add(&mut self, kind: &str, payload: &Value) {
        let n = self.lines.len();
        let mut line = json!({"timestamp": format!("2026-04-11T20:00:{n:02}.000Z")});
        if self.is_numbered {
            line["ordinal"] = n.into();
        }
        line["type"] = kind.into();
        line["payload"] = payload.clone();
        self.lines.push(line.to_string());
    }

    fn item(&mut self, item: &Value) {
        self.add("response_item", item);
    }

    fn event(&mut self, event: &Value) {
        self.add("event_msg", event);
    }

    /// Adds a turn: a request, a call with its result, and an answer.
    fn turn(&mut self, n: u64) {
        self.item(&words("user", &format!("Request {n}")));
        self.event(&json!({"type": "user_message", "message": format!("Request {n}")}));
        self.item(&json!({"type": "reasoning", "id": format!("rs_{n}"), "summary": [], "encrypted_content": format!("c2VhbGVk{n}")}));
        self.item(&json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": format!("c{n}")}));
        self.tokens(100 * n);
        self.item(&json!({"type": "function_call_output", "call_id": format!("c{n}"), "output": format!("a long listing {n}")}));
        self.item(&words("assistant", &format!("Answer {n}")));
        self.tokens(100 * n + 50);
    }

    fn tokens(&mut self, input: u64) {
        self.event(&json!({"type": "token_count", "info": {
            "total_token_usage": {"total_tokens": input * 10},
            "last_token_usage": {"input_tokens": input, "output_tokens": 9, "reasoning_output_tokens": 7, "total_tokens": input + 9},
            "model_context_window": 258_400,
        }}));
    }

    fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    fn session(&self) -> Session {
        parse(self.text().as_bytes())
    }
}

fn head(id: &str) -> Value {
    json!({"id": id, "timestamp": "2026-04-11T20:00:00.000Z", "cwd": "/repo", "cli_version": "0.125.0",
        "base_instructions": {"text": "You are Codex."}, "dynamic_tools": [{"name": "mail", "inputSchema": {}}]})
}

fn words(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn parse(bytes: &[u8]) -> Session {
    let input = Input { name: "rollout".to_owned(), bytes: bytes.to_vec().into() };
    let mut parsed = formats::parse(&input).expect("a rollout");
    parsed.sessions.remove(0)
}

fn kept(messages: impl IntoIterator<Item = usize>) -> Vec<ManagedEntry> {
    let kept = |message| ManagedEntry::Kept { message };
    messages.into_iter().map(kept).collect()
}

fn written(text: &str, kind: WrittenKind, before_message: usize) -> ManagedEntry {
    ManagedEntry::Written {
        role: Role::User,
        text: text.to_owned(),
        kind,
        joins_next: false,
        answers: None,
        before_message,
    }
}

/// Returns an entry with another text in its first part.
fn edited(session: &Session, message: usize, text: &str) -> ManagedEntry {
    let mut parts = session.messages[message].parts.clone();
    let first = parts.next().expect("a part");
    let replaced = ManagedPart::Replaced { part: first, text: text.to_owned() };
    let rest = parts.map(|part| ManagedPart::Kept { part });
    ManagedEntry::Edited { message, parts: std::iter::once(replaced).chain(rest).collect() }
}

fn try_export(session: &Session, entries: Vec<ManagedEntry>) -> Result<Vec<u8>, String> {
    let codex = formats::by_name("codex_rollout").expect("bundled");
    let managed = Managed { entries, tokens: Some(Tokens(4321)), ..Managed::default() };
    codex.write(session, &managed).map_err(|error| error.to_string())
}

fn export(session: &Session, entries: Vec<ManagedEntry>) -> String {
    let bytes = try_export(session, entries).expect("it can be written");
    String::from_utf8(bytes).expect("text")
}

/// Returns the lines after those of the source.
fn added_lines<'a>(rollout: &Rollout, copy: &'a str) -> Vec<&'a str> {
    let rest = copy.strip_prefix(&rollout.text()).expect("the source's own bytes come first");
    rest.lines().collect()
}

fn payload(line: &str) -> Value {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    line["payload"].take()
}

fn texts(session: &Session, messages: &[usize]) -> Vec<String> {
    let text = |idx: &usize| {
        let parts = session.parts_of(&session.messages[*idx]).iter();
        parts.map(|part| part.body.text()).collect::<Vec<_>>().join("|")
    };
    messages.iter().map(text).collect()
}

fn context(session: &Session) -> Vec<usize> {
    session.real_context(session.messages.len())
}

/// Returns the index of the message with this text.
fn said(session: &Session, text: &str) -> usize {
    let all: Vec<usize> = (0..session.messages.len()).collect();
    texts(session, &all).iter().position(|t| t == text).expect("somebody said it")
}

#[test]
fn a_compaction_with_the_managed_context_follows_the_original_lines() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    rollout.turn(2);
    let source = rollout.session();
    let tail = said(&source, "Request 2")..source.messages.len();
    let summary = "They asked for \"one\".\nIt was done.";
    let mut entries = kept([0]);
    entries.push(written(summary, WrittenKind::Summary, tail.start));
    entries.extend(kept(tail.clone()));
    let copy = export(&source, entries);
    let lines = added_lines(&rollout, &copy);

    let kinds: Vec<_> = lines.iter().map(|line| payload(line)["type"].clone()).collect();
    assert_eq!(kinds, [Value::Null, "token_count".into(), "context_compacted".into()]);
    let items: Vec<&str> = rollout.lines[12..]
        .iter()
        .filter_map(|l| l.split_once("\"response_item\",\"payload\":"))
        .map(|(_, item)| &item[..item.len() - 1])
        .collect();
    let ours = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]});
    let expected = format!(
        r#"{{"timestamp":"2026-04-11T20:00:19.000Z","type":"compacted","payload":{{"message":{},"replacement_history":[{ours},{}]}}}}"#,
        Value::from(summary),
        items.join(",")
    );
    assert_eq!(lines[0], expected);

    let read = parse(copy.as_bytes());
    let now = context(&read);
    assert_eq!(
        texts(&read, &now),
        [
            "You are Codex.|{\"name\":\"mail\",\"inputSchema\":{}}",
            summary,
            "Request 2",
            "",
            "{\"cmd\":\"ls\"}",
            "a long listing 2",
            "Answer 2"
        ]
    );
    let is_summary: Vec<_> = now.iter().map(|idx| read.messages[*idx].is_summary).collect();
    assert_eq!(is_summary, [false, true, false, false, false, false, false]);
    let kept: Vec<usize> = tail.collect();
    assert_eq!(now[2..], kept, "what was kept is not the same messages");
    assert_eq!(read.calls, source.calls, "calls that were made are no longer told");
}

#[test]
fn the_size_of_the_new_context_is_written_so_that_codex_does_not_compact_again() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let source = rollout.session();
    let copy = export(&source, kept([0, said(&source, "Answer 1")]));
    let counts = added_lines(&rollout, &copy)[1];
    assert_eq!(
        payload(counts),
        json!({"type": "token_count", "info": {
            "total_token_usage": {"total_tokens": 1500},
            "last_token_usage": {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 4321},
            "model_context_window": 258_400,
        }, "rate_limits": null})
    );
    let usages = |session: &Session| {
        session.calls.iter().map(|call| call.usage).collect::<Vec<Option<Usage>>>()
    };
    assert_eq!(usages(&parse(copy.as_bytes())), usages(&source), "a size was taken for a call");
}

#[test]
fn settings_follow_only_if_their_whole_context_is_kept() {
    for mut rollout in [Rollout::new(), Rollout::numbered()] {
        rollout.turn(1);
        let source = rollout.session();
        let all = context(&source);
        let is_numbered = rollout.is_numbered;
        let kinds = |entries| {
            let copy = export(&source, entries);
            let lines: Vec<Value> = added_lines(&rollout, &copy)
                .into_iter()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect();
            for (idx, line) in lines.iter().enumerate() {
                let number = is_numbered.then(|| Value::from(rollout.lines.len() + idx));
                assert_eq!(line.get("ordinal"), number.as_ref(), "{line}");
            }
            lines
                .iter()
                .map(|line| line["type"].as_str().expect("a type").to_owned())
                .collect::<Vec<_>>()
        };
        let mut cleared = kept(all.clone());
        let result = said(&source, "a long listing 1");
        cleared[result] = edited(&source, result, "[cleared]");
        let states: &[&str] = if is_numbered { &["world_state", "world_state"] } else { &[] };
        let expected =
            [&["compacted"], states, &["turn_context", "event_msg", "event_msg"]].concat();
        assert_eq!(kinds(cleared), expected);
        let without_setup = kept(all.into_iter().filter(|idx| *idx != 2));
        assert_eq!(kinds(without_setup), ["compacted", "event_msg", "event_msg"]);
    }
}

#[test]
fn an_untouched_context_is_the_original_rollout() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let source = rollout.session();
    assert_eq!(export(&source, kept(context(&source))), rollout.text());
}

#[test]
fn lines_after_the_context_are_not_copied() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let first = rollout.clone();
    rollout.event(&json!({"type": "task_started", "turn_id": "t2"}));
    rollout.turn(2);
    let source = rollout.session();
    let until = said(&source, "Answer 1");
    assert_eq!(
        export(&source, kept(0..=until)),
        first.text(),
        "it ends before the turn that it does not know"
    );
    let copy = export(&source, kept([0, until]));
    assert_eq!(added_lines(&first, &copy).len(), 3);
}

#[test]
fn a_copy_can_be_managed_again_and_keeps_what_the_copy_kept() {
    let mut rollout = Rollout::new();
    for n in 1..=3 {
        rollout.turn(n);
    }
    let source = rollout.session();
    let result = said(&source, "a long listing 2");
    let mut entries = kept(context(&source));
    entries[result] = edited(&source, result, "[cleared]");
    entries.splice(1..result, [written("Left out.", WrittenKind::Notice, result)]);
    let copy = export(&source, entries);
    let read = parse(copy.as_bytes());
    let once = context(&read);
    assert_eq!(texts(&read, &once)[1..4], ["Left out.", "[cleared]", "Answer 2"]);

    assert_eq!(export(&read, kept(once.clone())), copy);
    let last = *once.last().expect("an answer");
    let again = export(&read, kept([0, once[1], once[2], last]));
    let twice = parse(again.as_bytes());
    assert_eq!(texts(&twice, &context(&twice))[1..], ["Left out.", "[cleared]", "Answer 3"]);
    let message = &read.messages[once[2]];
    assert_eq!(
        *read.raw(&message.raw[0]),
        *br#"{"type":"function_call_output","call_id":"c2","output":"[cleared]"}"#
    );
    assert!(again.starts_with(&copy));
}

/// Exports an item with another text in its first part.
fn edit(item: &Value, text: &str) -> Value {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    rollout.item(item);
    rollout.item(&words("assistant", "Done"));
    let source = rollout.session();
    let mut entries = kept(context(&source));
    let idx = said(&source, "Done") - 1;
    entries[idx] = edited(&source, idx, text);
    let copy = export(&source, entries);
    let read = parse(copy.as_bytes());
    let now = context(&read);
    assert_eq!(texts(&read, &now)[idx].split('|').next(), Some(text), "{item}");
    payload(added_lines(&rollout, &copy)[0])["replacement_history"][idx - 1].take()
}

#[test]
fn an_edited_item_has_another_text_and_is_otherwise_unchanged() {
    let with = |item: &Value, key: &str, value: Value| {
        let mut item = item.clone();
        item[key] = value;
        item
    };
    let call = json!({"type": "function_call", "id": "fc", "name": "x", "arguments": "{\"long\":1}", "call_id": "q"});
    assert_eq!(edit(&call, "{}"), with(&call, "arguments", "{}".into()));
    let patch = json!({"type": "custom_tool_call", "status": "completed", "call_id": "q", "name": "apply_patch", "input": "*** Begin"});
    assert_eq!(edit(&patch, "cut"), with(&patch, "input", "cut".into()));
    let search =
        json!({"type": "tool_search_call", "call_id": "q", "arguments": {"query": "mail"}});
    assert_eq!(edit(&search, "{\"q\":1}"), with(&search, "arguments", json!({"q": 1})));
    let result = json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "much"});
    assert_eq!(edit(&result, "less"), with(&result, "output", "less".into()));
    let nested = json!({"type": "function_call_output", "call_id": "c1", "output": {"content": "much", "success": true}});
    assert_eq!(
        edit(&nested, "less"),
        with(&nested, "output", json!({"content": "less", "success": true}))
    );
    let found = json!({"type": "tool_search_output", "call_id": "c1", "status": "completed", "tools": [{"name": "mail", "n": 1.50}]});
    let emptied = edit(&found, "[cleared]");
    assert_eq!((&emptied["tools"], &emptied["status"]), (&json!([]), &json!("completed")));
    let text = json!({"type": "message", "role": "user", "id": "m", "content": [
        {"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "https://x/y.png"}]});
    assert_eq!(
        edit(&text, "look")["content"],
        json!([{"type": "input_text", "text": "look"}, text["content"][1]])
    );
    let plain = json!({"type": "message", "role": "user", "content": "see"});
    assert_eq!(edit(&plain, "look"), with(&plain, "content", "look".into()));
}

#[test]
fn a_cleared_result_keeps_its_kept_images_and_loses_its_other_texts() {
    let output = json!([{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "https://x/y.png"}, {"type": "input_text", "text": "two"}]);
    let result = json!({"type": "function_call_output", "call_id": "c1", "output": output});
    let marker = json!({"type": "input_text", "text": "[cleared]"});
    assert_eq!(edit(&result, "[cleared]")["output"], json!([marker, output[1]]));
}

#[test]
fn replaced_provider_items_become_texts() {
    let reasoning = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "long thoughts"}], "encrypted_content": "c2VhbA=="});
    assert_eq!(edit(&reasoning, "short"), words("assistant", "short"));
}

#[test]
fn messages_and_results_without_parts_are_removed() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let source = rollout.session();
    let gone =
        ManagedEntry::Edited { message: said(&source, "a long listing 1"), parts: Vec::new() };
    let mut entries = kept([0]);
    entries.push(gone);
    entries.extend(kept([said(&source, "Answer 1")]));
    let copy = export(&source, entries);
    assert_eq!(
        payload(added_lines(&rollout, &copy)[0])["replacement_history"],
        json!([words("assistant", "Answer 1")])
    );
}

#[test]
fn the_system_prompt_and_single_tools_are_replaced_or_left_out_in_the_head() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    rollout.add("session_meta", &head(OWN));
    let source = rollout.session();
    let system = |entries: Vec<ManagedEntry>| {
        let copy = export(&source, entries);
        let read = parse(copy.as_bytes());
        (payload(copy.lines().next().expect("a head")), texts(&read, &context(&read)))
    };
    let answer = said(&source, "Answer 1");
    let mut entries = vec![edited(&source, 0, "Be brief.")];
    entries.extend(kept([answer]));
    let (new, said) = system(entries);
    let mut expected = head(OWN);
    expected["base_instructions"]["text"] = "Be brief.".into();
    assert_eq!(new, expected);
    assert_eq!(said, ["Be brief.|{\"name\":\"mail\",\"inputSchema\":{}}", "Answer 1"]);

    let prompt = ManagedPart::Kept { part: source.messages[0].parts.start };
    let without_tools = ManagedEntry::Edited { message: 0, parts: vec![prompt] };
    let mut entries = vec![without_tools];
    entries.extend(kept([answer]));
    let (new, said) = system(entries);
    assert_eq!((new.get("dynamic_tools"), &said[0][..]), (None, "You are Codex."));
    assert_eq!(system(kept([answer])).1, ["Answer 1"]);
}

#[test]
fn equal_items_are_distinguished_by_position() {
    let mut rollout = Rollout::new();
    for n in 1..=3 {
        rollout.item(&words("user", "continue"));
        rollout.event(&json!({"type": "user_message", "message": "continue"}));
        rollout.item(&json!({"type": "reasoning", "summary": []}));
        rollout.item(&words("assistant", &format!("Step {n}")));
        rollout.tokens(100 * n);
    }
    let source = rollout.session();
    let tail = said(&source, "Step 2") + 1..source.messages.len();
    let mut entries = kept([0, 1, 2, 3]);
    entries.push(written("Left out.", WrittenKind::Notice, tail.start));
    entries.extend(kept(tail.clone()));
    let read = parse(export(&source, entries).as_bytes());
    let now = context(&read);
    assert_eq!(now[..4], [0, 1, 2, 3]);
    assert_eq!(now[5..], tail.collect::<Vec<_>>());
}

#[test]
fn a_context_that_codex_could_not_load_is_not_written() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let changed = |rollout: &Rollout| {
        let source = rollout.session();
        try_export(&source, kept([source.messages.len() - 1])).unwrap_err()
    };
    let mut fork = rollout.clone();
    fork.lines[0] =
        fork.lines[0].replace("\"cwd\"", "\"history_base\":{\"thread_id\":\"x\"},\"cwd\"");
    assert!(changed(&fork).contains("parent's file"), "{}", changed(&fork));
    let mut old = rollout.clone();
    for line in &mut old.lines {
        *line = payload(line).to_string();
    }
    old.lines.retain(|line| {
        !line.contains("\"info\"")
            && !line.contains("user_message")
            && !line.contains("cli_version")
            && !line.contains("model")
    });
    old.lines.insert(
        0,
        json!({"id": OWN, "timestamp": "2025-05-07T17:24:21.000Z", "instructions": "Be brief."})
            .to_string(),
    );
    assert!(changed(&old).contains("oldest"), "{}", changed(&old));
}

#[test]
fn a_summary_is_kept_as_the_message_that_codex_makes_of_it() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    rollout.add("compacted", &json!({"message": "A \"summary\"."}));
    rollout.turn(2);
    let source = rollout.session();
    let summary = said(&source, "A \"summary\".");
    let copy = export(&source, kept([0, summary, source.messages.len() - 1]));
    let read = parse(copy.as_bytes());
    assert_eq!(context(&read), [0, summary, source.messages.len() - 1]);
    assert!(read.messages[summary].is_summary);
}

fn to_new_session(bytes: &[u8]) -> formats::Resumable {
    let format = formats::by_name("codex_rollout").and_then(|f| f.resume.as_ref());
    let new_session = NewSession {
        now: Millis(1_795_323_000_123),
        random: [0xab; 16],
        folder: "/here".to_owned(),
        replaces_recorded: false,
        project_folder: None,
    };
    (format.expect("Codex resumes").to_new_session)(bytes, &new_session).expect("a session")
}

#[test]
fn a_new_session_has_its_own_id_in_all_lines_and_names_its_origin() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    rollout.event(&json!({"type": "thread_name_updated", "thread_id": OWN, "thread_name": OWN}));
    rollout.item(&words("user", OWN));
    rollout.add("session_meta", &head(OWN));
    let new = to_new_session(rollout.text().as_bytes());
    let id = "01a20196-f53b-7bab-abab-abababababab";
    assert_eq!(new.id, id);
    assert_eq!(
        new.relative_path.join("/"),
        format!("sessions/2026/11/22/rollout-2026-11-22T04-50-00-{id}.jsonl")
    );
    assert_eq!(
        (new.project.as_deref(), &new.command),
        (Some("/repo"), &format!("codex resume {id}"))
    );

    let text = String::from_utf8(new.bytes).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let expected = rollout.lines[0]
        .replace(
            &format!("\"id\":\"{OWN}\""),
            &format!("\"id\":\"{id}\",\"forked_from_id\":\"{OWN}\""),
        )
        .replacen("2026-04-11T20:00:00.000Z\",\"cwd\"", "2026-11-22T04:50:00.123Z\",\"cwd\"", 1);
    assert_eq!(lines[0], expected);
    let n = rollout.lines.len();
    let renamed = rollout.lines[n - 3]
        .replace(&format!("\"thread_id\":\"{OWN}\""), &format!("\"thread_id\":\"{id}\""));
    assert_eq!(
        lines[n - 3],
        renamed,
        "a name that looks like the id was changed, or the id was not"
    );
    assert_eq!(lines[1..n - 3], rollout.lines[1..n - 3]);
    assert_eq!(lines[n - 2], rollout.lines[n - 2], "what was said was changed");
    assert_eq!(lines[n - 1], rollout.lines[n - 1].replace(OWN, id));
}

/// Returns a fork, which starts with the lines of its parent.
fn fork() -> Rollout {
    let mut rollout = Rollout::default();
    let mut own = head(OWN);
    own["forked_from_id"] = PARENT.into();
    rollout.add("session_meta", &own);
    rollout.add("session_meta", &head(PARENT));
    rollout.set_up();
    rollout.turn(1);
    for line in &mut rollout.lines {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        value["timestamp"] = "2026-04-11T20:00:00.100Z".into();
        *line = value.to_string();
    }
    rollout
        .event(&json!({"type": "task_started", "turn_id": "019d7e49-0000-7000-8000-000000000002"}));
    rollout.turn(2);
    rollout
}

#[test]
fn a_new_session_equals_its_origin_including_forks() {
    let mut plain = Rollout::new();
    plain.turn(1);
    for rollout in [plain, fork()] {
        let source = rollout.session();
        let again = parse(&to_new_session(rollout.text().as_bytes()).bytes);
        assert_eq!(again.parts, source.parts);
        assert_eq!(again.calls, source.calls);
        let once_more =
            parse(&to_new_session(&to_new_session(rollout.text().as_bytes()).bytes).bytes);
        assert_eq!(once_more.messages.len(), source.messages.len());
    }
}

#[test]
fn a_copy_in_another_format_has_what_a_compaction_kept() {
    let mut rollout = Rollout::new();
    rollout.turn(1);
    let picture = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]});
    rollout.add("compacted", &json!({"message": "", "replacement_history": [picture]}));
    let source = rollout.session();
    let openai = formats::by_name("openai_chat").expect("bundled");
    let managed = Managed { entries: kept(context(&source)), ..Managed::default() };
    let there = parse(&openai.write(&source, &managed).expect("it can be written"));
    let is_picture = |body: &Body| matches!(body, Body::Media { bytes: 8, .. });
    assert!(there.parts.iter().any(|part| is_picture(&part.body)), "{:?}", there.parts);
}
