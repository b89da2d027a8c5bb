use super::*;
use crate::chat::{Replies, SummaryReply, message_from_json, message_to_json};
use crate::engine::{FileContent, Hook, Memory, RewriteInput, Storage};
use crate::json::{Value, json};
use crate::units::Millis;

fn input(
    messages: &[Value],
    numbers: &'static [(&'static str, f64)],
    memory: Memory,
) -> RewriteInput<'static> {
    RewriteInput {
        messages: messages.iter().map(message_from_json).collect::<Vec<_>>().into(),
        tools: &[],
        numbers,
        at: Hook::BeforeCall,
        call: 7,
        turn: 1,
        call_in_turn: 0,
        now: 61.0 * 60.0,
        since: None,
        model: "",
        window: 0,
        memory,
        error: "",
        storage: &Storage::AsSet,
    }
}

fn act(name: &str, input: RewriteInput<'_>, answers: &[SummaryReply]) -> Rewritten {
    let action = ACTIONS.iter().find(|action| action.name == name).unwrap();
    let rewrite = (action.make)(&toml::Table::new()).unwrap();
    rewrite.rewrite(input, &mut Replies::new(answers)).unwrap()
}

fn text(role: &str, text: &str) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}]})
}

fn texts(rewritten: &Rewritten) -> Vec<String> {
    let messages = rewritten.messages.as_ref().unwrap();
    let text = |m: &ChatMessage| {
        let json = message_to_json(m)["content"].clone();
        json.as_str().or(json[0]["text"].as_str()).unwrap_or_default().to_owned()
    };
    messages.iter().map(text).collect()
}

fn written(rewritten: &Rewritten) -> &str {
    match &rewritten.files[0].content {
        FileContent::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn conversation(n_turns: usize) -> Vec<Value> {
    let system = json!({"role": "system", "content": "be good"});
    let turns = (1..=n_turns).flat_map(|n| {
        [text("user", &format!("question {n}")), text("assistant", &format!("answer {n}"))]
    });
    std::iter::once(system).chain(turns).collect()
}

#[test]
fn a_summary_precedes_the_kept_messages_and_is_written_to_the_daily_file() {
    let numbers = &[
        ("max_turns", 3.0),
        ("max_tokens", 50_000.0),
        ("few_turns", 5.0),
        ("summary_chars", 500.0),
        ("summary_max_tokens", 500.0),
        ("inject", 1.0),
    ];
    let replies = [SummaryReply::Text("- two things".into())];
    let conversation = conversation(4);
    let remembered =
        act("cowagent.remember", input(&conversation, numbers, Memory::default()), &replies);
    assert!(remembered.fired);
    assert_eq!(
        texts(&remembered)[5],
        "[System: Previous conversation summary — 2 turns were compacted]\n\n- two things\n\n\
         The recent conversation continues below.\n\n---\n\nquestion 3"
    );
    let file = "\n## Trimmed Context (time unknown)\n\n- two things\n";
    assert_eq!(written(&remembered), file);
    assert_eq!(remembered.files[0].name, "memory/daily.md");
    // The same texts are not summarized twice.
    let again = act("cowagent.remember", input(&conversation, numbers, remembered.memory), &[]);
    assert!(!again.fired && again.messages.is_none());
}

#[test]
fn a_daily_file_has_its_date_and_hours_and_a_new_day_a_new_file() {
    let numbers = &[
        ("max_turns", 3.0),
        ("max_tokens", 50_000.0),
        ("few_turns", 5.0),
        ("summary_chars", 500.0),
        ("summary_max_tokens", 500.0),
        ("inject", 1.0),
    ];
    let replies = [SummaryReply::Text("- two things".into())];
    let at = |time: &str, n_turns, memory| {
        let since = humantime::parse_rfc3339(time).unwrap();
        let since = since.duration_since(std::time::UNIX_EPOCH).unwrap();
        let since = Some(Millis(i64::try_from(since.as_millis()).unwrap()));
        let input = RewriteInput { since, ..input(&conversation(n_turns), numbers, memory) };
        act("cowagent.remember", input, &replies)
    };
    let first = at("2026-03-01T22:00:30Z", 4, Memory::default());
    assert_eq!(first.files[0].name, "memory/2026-03-01.md");
    let file = "# Daily Memory: 2026-03-01\n\n\n## Trimmed Context (23:01)\n\n- two things\n";
    assert_eq!(written(&first), file);
    let same = at("2026-03-01T22:50:00Z", 9, first.memory.clone());
    assert_eq!(same.files[0].name, first.files[0].name);
    let entry = "\n## Trimmed Context (23:51)\n\n- two things\n";
    assert!(same.files[0].appends);
    assert_eq!(written(&same), entry);
    let next = at("2026-03-01T23:00:00Z", 9, first.memory);
    assert_eq!(next.files[0].name, "memory/2026-03-02.md");
    assert_eq!(
        written(&next),
        "# Daily Memory: 2026-03-02\n\n\n## Trimmed Context (00:01)\n\n- two things\n"
    );
}

#[test]
fn half_of_too_many_turns_is_dropped() {
    let limited = act(
        "cowagent.limit_turns",
        input(&conversation(4), &[("max_turns", 3.0)], Memory::default()),
        &[],
    );
    assert_eq!(texts(&limited), ["be good", "question 3", "answer 3", "question 4", "answer 4"]);
    assert_eq!(limited.log, ["info: 💾 上下文轮次超限: 4 > 3，裁剪至 2 轮（移除 2 轮）"]);
    let kept = act(
        "cowagent.limit_turns",
        input(&conversation(3), &[("max_turns", 3.0)], Memory::default()),
        &[],
    );
    assert!(!kept.fired);
}

#[test]
fn of_the_two_answers_to_the_budget_only_one_acts() {
    let numbers = &[("max_tokens", 10.0), ("few_turns", 5.0)];
    let run = |name: &str, n_turns: usize| {
        act(name, input(&conversation(n_turns), numbers, Memory::default()), &[])
    };
    assert!(run("cowagent.flatten_turns", 4).fired && !run("cowagent.halve_turns", 4).fired);
    assert!(!run("cowagent.flatten_turns", 5).fired && run("cowagent.halve_turns", 5).fired);
    assert_eq!(texts(&run("cowagent.halve_turns", 5))[1], "question 3");
}

#[test]
fn a_second_overflow_of_the_same_call_empties_the_conversation() {
    let numbers = &[("result_chars", 1e4), ("user_chars", 1e4), ("keep_turns", 5.0)];
    let first = act("cowagent.recover", input(&conversation(8), numbers, Memory::default()), &[]);
    assert_eq!(first.messages.as_ref().map(Vec::len), Some(11));
    assert_eq!(first.halt, None);
    let second = act("cowagent.recover", input(&conversation(8), numbers, first.memory), &[]);
    assert_eq!(texts(&second), ["be good"]);
    assert!(second.halt.unwrap().starts_with("抱歉，对话历史过长"));
}

#[test]
fn a_short_conversation_is_emptied_at_once() {
    let numbers = &[("result_chars", 1e4), ("user_chars", 1e4), ("keep_turns", 5.0)];
    let recovered =
        act("cowagent.recover", input(&conversation(5), numbers, Memory::default()), &[]);
    assert!(recovered.halt.is_some());
    assert_eq!(texts(&recovered), ["be good"]);
}

#[test]
fn a_third_equal_success_brings_a_hint() {
    let call = |n: usize| {
        let id = n.to_string();
        [
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "t", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "o"}]}),
        ]
    };
    let with_calls = |n: usize| -> Vec<Value> {
        std::iter::once(text("user", "go")).chain((0..n).flat_map(call)).collect()
    };
    let run = |n: usize| {
        act("cowagent.hint_at_repeats", input(&with_calls(n), &[], Memory::default()), &[])
    };
    assert!(!run(2).fired);
    let hinted = run(3);
    assert!(texts(&hinted).last().unwrap().starts_with("工具已成功执行"));
}

#[test]
fn an_unknown_key_of_a_preset_is_refused() {
    let table = toml::Table::from_iter([("colour".to_owned(), toml::Value::Boolean(true))]);
    assert!(ACTIONS.iter().all(|action| (action.make)(&table).is_err()));
}
