//! Cases of `HolmesGPT`.

mod agent_loop;
mod agent_loop_case;
mod limit;
mod repeat_guard;
mod scripted_answers;
mod small;
mod spill;

use super::{Answer, Case, NotCovered, no_stage};
use plimsoll::json::Value;
use plimsoll::systems::holmesgpt::{Limits, Llm, Overrides, Reserve, Storage};
use plimsoll::systems::litellm::Tokenizer;

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    match &*case.stage {
        "count" => small::count(case),
        "flatten" => Ok(small::flatten(case)),
        "limits" => Ok(small::limits(case)),
        "split" => small::split(case),
        "spill" => spill::spill(case),
        "limit" if is(case, Version::Legacy) => limit::legacy(case),
        "limit" => limit::limit(case),
        "loop" => agent_loop_case::call_stream(case),
        _ => Err(no_stage(case)),
    }
}

/// Release of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V045,
    V038,
    Legacy,
}

fn version(case: &Case) -> Version {
    match case.whole["upstream"]["variant"].as_str() {
        Some("legacy") => Version::Legacy,
        Some(variant) if variant.starts_with("0.38") => Version::V038,
        _ => Version::V045,
    }
}

fn is(case: &Case, wanted: Version) -> bool {
    version(case) == wanted
}

/// Returns the settings of a case.
fn overrides(config: &Value) -> Overrides {
    let number = |key: &str| config[key].as_i64().unwrap_or(0);
    let default = Overrides::default();
    Overrides {
        max_context_size: number("max_context_size_override"),
        max_output_token: number("override_max_output_token"),
        tool_pct: config["tool_max_allocated_context_window_pct"]
            .as_f64()
            .unwrap_or(default.tool_pct),
        tool_tokens: config["tool_max_allocated_context_window_tokens"]
            .as_i64()
            .unwrap_or(default.tool_tokens),
    }
}

/// Returns the model of a case.
fn llm(case: &Case) -> Result<Llm, NotCovered> {
    let config = &case.config;
    let model = config["model"].as_str().unwrap_or_default();
    let tokenizer = if config["tokenizer"] == "litellm+ceil(chars/4)" {
        Tokenizer::CHARS_4
    } else {
        Tokenizer::of_model(model).map_err(|why| NotCovered(format!("{model} {why}")))?
    };
    Ok(if is(case, Version::Legacy) {
        let limits = Limits::of(model, &overrides(config), Reserve::Smaller);
        Llm::legacy(model, tokenizer, limits)
    } else {
        let limits = Limits::of(model, &overrides(config), Reserve::Larger);
        Llm::new(model, tokenizer, limits)
    })
}

/// Returns the tool definitions of a case.
fn tools(case: &Case) -> &[Value] {
    case.input["tools"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the storage of a case.
fn storage(case: &Case) -> Storage<'_> {
    Storage {
        folder: case.config["tool_results_dir"].as_str(),
        is_enabled: is_storage_on(case.config["storage_enabled_env"].as_str()),
        spares_failures: is(case, Version::V038),
    }
}

/// Parses `HOLMES_TOOL_RESULT_STORAGE_ENABLED`: JSON of its lower-cased text (default: true).
fn is_storage_on(setting: Option<&str>) -> bool {
    setting.is_none_or(|text| !matches!(&*text.trim().to_lowercase(), "false" | "0" | "null"))
}

#[cfg(test)]
mod tests {
    use super::is_storage_on;

    #[test]
    fn only_false_turns_storage_off() {
        assert!(is_storage_on(None));
        assert!(is_storage_on(Some("True")));
        assert!(!is_storage_on(Some("FALSE")));
    }
}
