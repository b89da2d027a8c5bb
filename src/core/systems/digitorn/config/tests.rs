use super::{Application, Level};
use crate::json::{Value, json};

/// Returns the document's complete example, as parsed by a YAML reader.
fn complete_example() -> Value {
    json!({
        "app": {"app_id": "context-test", "name": "Context Management Test"},
        "modules": {"hello": {}, "filesystem": {"constraints": {"allowed_actions": ["read", "find", "grep"]}}},
        "agents": [{
            "id": "assistant",
            "role": "assistant",
            "brain": {
                "provider": "deepseek",
                "model": "deepseek-chat",
                "backend": "openai_compat",
                "config": {"api_key": "{{env.DEEPSEEK_API_KEY}}"},
                "context": {
                    "max_tokens": 0,
                    "output_reserved": 4096,
                    "strategy": "summarize",
                    "keep_recent": 6,
                    "compression_trigger": 0.15,
                    "summary_max_tokens": 512,
                    "auto_compact": true,
                    "summary_brain": {"provider": "ollama", "model": "qwen2.5:3b", "backend": "openai_compat"},
                },
            },
            "system_prompt": "You are a test assistant.\n",
        }],
        "execution": {
            "mode": "conversation",
            "max_turns": 50,
            "timeout": 120.0,
            "context": {"max_tokens": 0, "strategy": "truncate", "keep_recent": 10, "compression_trigger": 0.75},
            "hooks": [
                {
                    "id": "pressure_log",
                    "on": "turn_start",
                    "condition": {"type": "always"},
                    "action": {"type": "log", "message": "Turn {turn}: ~{tokens} tokens, {messages} messages"},
                    "cooldown": 0,
                },
                {
                    "id": "turn5_reminder",
                    "on": "turn_start",
                    "condition": {"type": "turn_count", "count": 5},
                    "action": {"type": "inject_message", "role": "system", "message": "Reminder: 5 turns."},
                    "cooldown": 0,
                },
            ],
        },
        "capabilities": {"default_policy": "auto"},
    })
}

fn why<'a>(application: &'a Application, path: &str) -> Option<&'a str> {
    let found = application.ignored.iter().find(|i| i.path == path);
    found.map(|ignored| &*ignored.why)
}

#[test]
fn the_complete_example_is_parsed_as_shipped() {
    let application = Application::from_json(&complete_example());
    assert_eq!(application.level, Level::Brain);
    assert_eq!(application.max_tokens, 131_072);
    assert_eq!(application.context.keep_recent, 6);
    assert_eq!(application.context.compression_trigger, json!(0.15));
    let ids: Vec<&str> = application.hooks.iter().map(|h| &*h.id).collect();
    assert_eq!(ids, ["pressure_log", "turn5_reminder", "_auto_compact"]);
    let brain = application.summary_brain.as_ref().unwrap();
    assert_eq!(brain.provider_id, "_summary_ollama");
    assert!(why(&application, "execution.hooks[turn5_reminder].condition.count").is_some());
    assert!(why(&application, "execution.hooks[turn5_reminder].action.message").is_some());
    assert!(why(&application, "execution.context.strategy").is_some());
    assert!(why(&application, "capabilities").is_some());
    assert!(why(&application, "execution.hooks[pressure_log].action.message").is_none());
}

#[test]
fn a_brain_replaces_the_whole_block_and_the_rest_is_default() {
    let mut example = complete_example();
    example["agents"][0]["brain"]["context"] = json!({"max_tokens": 8000});
    example["execution"]["context"]["keep_recent"] = json!(3);
    example["execution"]["context"]["summary_brain"] = json!({
        "model": "m",
        "temperature": 0.2,
        "config": {"api_key": "{{env.KEY}}"},
    });
    let application = Application::from_json(&example);
    assert_eq!((application.max_tokens, application.context.keep_recent), (8_000, 10));
    assert_eq!(application.context.strategy, "summarize");
    let brain = application.summary_brain.as_ref().unwrap();
    assert_eq!(brain.provider_id, "_summary_default");
    assert_eq!(brain.settings["api_key"], "{{env.KEY}}");
    assert!(why(&application, "execution.context.summary_brain.temperature").is_some());
}

#[test]
fn a_disabled_hook_that_compacts_keeps_the_injected_one_away() {
    let mut example = complete_example();
    example["agents"][0]["hooks"] =
        json!([{"id": "off", "enabled": false, "action": {"type": "compact_context"}}]);
    let application = Application::from_json(&example);
    let last = application.hooks.last().unwrap();
    assert_eq!((&*last.id, last.agent_id.as_deref()), ("off", Some("assistant")));
    assert_eq!(application.hooks.len(), 3);
}

#[test]
fn an_empty_configuration_has_the_defaults_and_a_wrong_type_is_reported() {
    let application = Application::from_json(&Value::Null);
    assert_eq!((application.level, application.max_tokens), (Level::Default, 128_000));
    assert_eq!(application.hooks.len(), 1);
    let wrong = json!({"execution": {"context": {"keep_recent": "many", "window": 1}}});
    let application = Application::from_json(&wrong);
    assert_eq!(application.context.keep_recent, 10);
    assert!(why(&application, "execution.context.keep_recent").is_some());
    assert!(why(&application, "execution.context.window").is_some());
}
