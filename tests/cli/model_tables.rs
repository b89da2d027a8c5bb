//! Context windows, prices and image tokens of models: the bundled tables, and those of the user.

use crate::program;
use base64::Engine as _;
use plimsoll::json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the JSON output of a command.
fn output(home: &Path, args: &[&str]) -> Value {
    let output = program::plimsoll(home, args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

/// Writes a conversation with a model.
fn talk(folder: &Path, model: &str, content: &Value) -> String {
    let path = folder.join(format!("{}.json", model.replace(['/', ':'], "-")));
    let answer = json!({"role": "assistant", "content": "Done."});
    let talk = json!({"model": model, "messages": [{"role": "user", "content": content}, answer]});
    fs::write(&path, talk.to_string()).expect("written");
    path.to_string_lossy().into_owned()
}

fn report(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    folder.join(name).to_string_lossy().into_owned()
}

fn recorded_cost(result: &Value) -> f64 {
    let lanes = result["lanes"].as_array().expect("lanes");
    let lane = lanes.iter().find(|lane| lane["lane"] == "recorded");
    lane.expect("a recorded lane")["cost"]["usd"].as_f64().unwrap_or(-1.0)
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 5e-6, "{found}, not {expected}");
}

#[test]
fn windows_of_current_models_are_known() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (model, window) in [
        ("gpt-6-sol", 922_000),
        ("gpt-6.1-terra", 922_000),
        ("gpt-5.5-2026-04-23", 922_000),
        ("o3", 200_000),
        ("gemini-2.5-flash", 1_048_576),
        ("qwen/qwen3.6-27b", 262_144),
        ("zai/glm-5.3", 1_000_000),
        ("MiniMax-M3", 1_000_000),
        ("mistral-large-4", 1_048_576),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", 200_000),
        ("claude-4.5-sonnet", 200_000),
    ] {
        let file = talk(home.path(), model, &json!("Hello"));
        let result = output(home.path(), &["inspect", &file, "--json"]);
        assert_eq!(result["window"], window, "{model}");
        assert_eq!(result["window_source"], "model_table", "{model}");
        let result = output(home.path(), &["diagnose", &file, "--json"]);
        assert!(result["models"][0]["price"]["input"].as_f64() > Some(0.0), "{model}");
    }
}

#[test]
fn the_window_of_an_unknown_member_of_a_family_is_assumed() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (model, window) in [
        ("gpt-7-sol", 922_000),
        ("claude-opus-9", 1_000_000),
        ("gpt-5.6-nova", 922_000),
        ("my-own-model", 200_000),
    ] {
        let file = talk(home.path(), model, &json!("Hello"));
        let result = output(home.path(), &["inspect", &file, "--json"]);
        assert_eq!(
            (&result["window"], &result["window_source"]),
            (&json!(window), &json!("assumed"))
        );
        let named = result["warnings"].to_string().contains("is assumed to be that of");
        assert_eq!(named, model != "my-own-model", "{model}");
        let text = program::plimsoll(home.path(), &["inspect", &file]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains("assumed") && !text.contains("of the model"), "{text}");
        let listed = output(home.path(), &["sessions", &file, "--json"]);
        assert_eq!(listed["sessions"][0]["window_source"], "assumed", "{listed}");
        // A price is a bill: it is not assumed.
        let result = output(home.path(), &["diagnose", &file, "--json"]);
        assert!(result["models"][0]["price"].is_null(), "{model}");
    }
}

#[test]
fn calls_have_the_price_of_their_hour() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let peak = fs::read_to_string(report("41a-ccusage1643-v4pro-peak.jsonl")).expect("a report");
    let low = fs::read_to_string(report("41c-v4flash-offpeak.jsonl")).expect("a report");
    for (name, text, usd) in [
        ("peak", peak.clone(), 0.15752),
        ("noon", peak.replace("2026-09-15T02", "2026-09-15T12"), 0.07876),
        ("saturday", peak.replace("2026-09-15T02", "2026-09-19T02"), 0.07876),
        ("flash", low.clone(), 0.01845),
        ("flash-peak", low.replace("2026-09-15T12", "2026-09-15T02"), 0.0369),
    ] {
        let file = home.path().join(format!("{name}.jsonl"));
        fs::write(&file, text).expect("written");
        let result = output(home.path(), &["diagnose", &file.to_string_lossy(), "--json"]);
        assert_close(recorded_cost(&result), usd);
    }
    let gemini = report("16a-litellm14849-gemini25pro.json");
    let result = output(home.path(), &["diagnose", &gemini, "--json"]);
    assert_close(recorded_cost(&result), 0.10316);
    let kimi = report("39-kimi-code-wire-1.1.jsonl");
    let result = output(home.path(), &["inspect", &kimi, "--json"]);
    assert_eq!(result["models"], json!(["kimi-k2"]));
    // The answer is recorded by its pieces and again as a message.
    assert_eq!(result["messages"], json!(3));
    assert_eq!(
        (&result["window"], &result["window_source"]),
        (&json!(262_144), &json!("model_table"))
    );
}

/// Returns an image of which only the header with the size is there.
fn image(width: u32, height: u32) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(height.to_be_bytes());
    png.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    base64::engine::general_purpose::STANDARD.encode(png)
}

#[test]
fn image_tokens_follow_the_rule_of_the_model() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let url = format!("data:image/png;base64,{}", image(900, 700));
    let shown = |detail: Option<&str>| {
        let mut image = json!({"url": url});
        if let Some(detail) = detail {
            image["detail"] = json!(detail);
        }
        json!([{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": image}])
    };
    for (model, detail, tokens, accuracy) in [
        ("gpt-4o", None, 765, "exact"),
        ("gpt-4o", Some("high"), 765, "exact"),
        ("gpt-4o", Some("low"), 85, "exact"),
        ("gpt-4o-mini", Some("auto"), 25_501, "exact"),
        ("gpt-4o-mini", Some("low"), 2_833, "exact"),
        ("gpt-5", None, 630, "exact"),
        ("o3", None, 675, "exact"),
        ("gpt-4.1-mini", None, 1_034, "exact"),
        ("gpt-4.1-mini", Some("low"), 1_034, "exact"),
        ("gpt-5.2", None, 766, "estimated"),
        ("gemini-2.5-pro", None, 1_032, "estimated"),
        ("gemini-3.8-flash", None, 1_120, "estimated"),
        ("claude-sonnet-4-5", None, 825, "estimated"),
    ] {
        let file = talk(home.path(), model, &shown(detail));
        let result = output(home.path(), &["inspect", &file, "--json"]);
        let tokens_found = &result["tokens"]["by_kind"]["media"];
        assert_eq!(
            (tokens_found, &result["tokens"]["accuracy"]),
            (&json!(tokens), &json!(accuracy)),
            "{model} {detail:?}"
        );
    }
}

const MAP: &str = r#"{
    "sample_spec": {"mode": "one of: chat"},
    "gpt-6-sol": {"mode": "chat", "litellm_provider": "openai", "max_input_tokens": 2000000,
        "input_cost_per_token": 7e-06, "output_cost_per_token": 1e-05},
    "gpt-9": {"mode": "chat", "litellm_provider": "openai", "max_input_tokens": 3000000}
}"#;

#[test]
fn newer_tables_of_the_user_take_precedence() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = talk(home.path(), "gpt-6-sol", &json!("Hello"));
    let newer = talk(home.path(), "gpt-9", &json!("Hello"));
    let map = home.path().join("map.json");
    fs::write(&map, MAP).expect("written");
    let map = map.to_string_lossy().into_owned();
    let window = |args: &[&str]| output(home.path(), args)["window"].clone();
    let input = |args: &[&str]| output(home.path(), args)["models"][0]["price"]["input"].clone();
    assert_eq!(window(&["inspect", &file, "--json"]), 922_000);
    assert_eq!(window(&["inspect", &file, "--models", &map, "--json"]), 2_000_000);
    assert_eq!(window(&["inspect", &newer, "--models", &map, "--json"]), 3_000_000);
    assert_eq!(input(&["diagnose", &file, "--json"]), 2.0);
    assert_eq!(input(&["diagnose", &file, "--json", "--prices", &map]), 7.0);

    let own = home.path().join("own.toml");
    fs::write(&own, "[models]\n\"gpt-6-sol\" = 5_000\n").expect("written");
    let own = own.to_string_lossy().into_owned();
    assert_eq!(window(&["inspect", &file, "--models", &own, "--json"]), 5_000);

    let data = home.path().join(".local/share/plimsoll");
    fs::create_dir_all(&data).expect("created");
    fs::write(data.join("model_prices_and_context_window.json"), MAP).expect("written");
    assert_eq!(window(&["inspect", &file, "--json"]), 2_000_000);
    assert_eq!(window(&["inspect", &file, "--json", "--no-state"]), 922_000);
    assert_eq!(window(&["inspect", &file, "--models", &own, "--json"]), 5_000);
    assert_eq!(input(&["diagnose", &file, "--json"]), 7.0);
    let listed = output(home.path(), &["state", "list", "--json"]);
    assert!(listed["tables"].to_string().contains("model_prices_and_context_window.json"));
    // A damaged file in the folder is named and does not stop the program; a given one does.
    fs::write(data.join("models.toml"), "[models").expect("written");
    let run = program::plimsoll(home.path(), &["inspect", &file, "--json"]);
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && error.contains("models.toml"), "{error}");
    let damaged = data.join("models.toml").to_string_lossy().into_owned();
    let run = program::plimsoll(home.path(), &["inspect", &file, "--models", &damaged]);
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{error}");
    assert!(error.contains("models.toml") && error.trim().lines().count() == 1, "{error}");
}
