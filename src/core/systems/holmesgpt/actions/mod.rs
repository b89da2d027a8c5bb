//! `HolmesGPT`'s mechanisms as stages of a policy, and its token counts as meters.

mod compact;
mod fair;
mod settings;
mod spill;

use super::limits::{self, Overrides};
use crate::chat::{ChatMessage, Shape};
use crate::engine::{NamedAction, NamedMeter, NamedWindow};
use crate::json::Value;
use crate::systems::litellm::{PRIMING, TokenCounter, Tokenizer};
use std::sync::LazyLock;

/// The actions that presets may name.
pub static ACTIONS: &[NamedAction] = &[spill::SPILL, compact::COMPACT, fair::TRUNCATE];

/// Its count for a model that litellm does not list for OpenAI, such as any named with its provider.
pub static METER: NamedMeter = NamedMeter {
    name: "holmesgpt",
    help: "litellm's count of messages with cl100k_base: 3 per message, names, ids and contents; only the arguments of calls.",
    shape: Shape::OpenAi,
    units: |message| CL100K.message(message),
    tokens: with_priming,
    tools: |tools| definitions(&CL100K, tools),
};

/// Its count for GPT-4o, GPT-4.1, GPT-5 and the o models, named without a provider.
pub static METER_O200K: NamedMeter = NamedMeter {
    name: "holmesgpt_o200k",
    help: "litellm's count of messages with o200k_base: 3 a message, names, ids and contents; of calls only the arguments.",
    shape: Shape::OpenAi,
    units: |message| O200K.message(message),
    tokens: with_priming,
    tools: |tools| definitions(&O200K, tools),
};

/// The window that it assumes for a model, without settings.
pub static WINDOW: NamedWindow = NamedWindow {
    name: "holmesgpt",
    window: |model| limits::window(model, &Overrides::default()).unsigned_abs(),
    output: |model| limits::known_output(model).unsigned_abs(),
};

static CL100K: LazyLock<TokenCounter> = LazyLock::new(|| counting("cl100k_base"));
static O200K: LazyLock<TokenCounter> = LazyLock::new(|| counting("o200k_base"));

fn counting(vocabulary: &str) -> TokenCounter {
    TokenCounter::new(Tokenizer::named(vocabulary).unwrap_or(Tokenizer::CHARS_4))
}

/// Adds the priming of the answer, once a request.
fn with_priming(units: u64) -> u64 {
    units + PRIMING
}

/// Returns the tokens of tool definitions in a conversation that has instructions, as nearly all have.
fn definitions(counter: &TokenCounter, tools: &[Value]) -> u64 {
    let with_system = [ChatMessage::new("system", "")];
    counter.definitions(&with_system, tools)
}

#[cfg(test)]
mod tests {
    use super::super::count::Llm;
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    #[test]
    fn the_meter_adds_up_to_the_count_of_a_request() {
        let mut messages: Vec<_> = [
            json!({"role": "system", "content": "You investigate."}),
            json!({"role": "user", "content": "why?", "name": "bob"}),
            json!({"role": "tool", "content": "out", "tool_call_id": "c", "name": "f"}),
        ]
        .iter()
        .map(message_from_json)
        .collect();
        let tools = [json!({"type": "function", "function": {"name": "f", "description": "d"}})];
        for (meter, counter) in [(&METER, &CL100K), (&METER_O200K, &O200K)] {
            let llm = Llm { counter: **counter, ..Llm::with_chars_4("") };
            let units = messages.iter().map(meter.units).sum();
            let sum: u64 = (meter.tokens)(units) + (meter.tools)(&tools);
            assert_eq!(sum.cast_signed(), llm.count(&mut messages, &tools).total);
        }
        assert_eq!((WINDOW.window)("gpt-5"), 272_000);
        assert_eq!((WINDOW.window)(""), 200_000);
    }

    #[test]
    fn presets_give_each_stage_its_numbers_and_nothing_unknown() {
        for text in [
            include_str!("../../../assets/presets/holmesgpt.toml"),
            include_str!("../../../assets/presets/holmesgpt-document.toml"),
            include_str!("../../../assets/presets/holmesgpt-v038.toml"),
            include_str!("../../../assets/presets/holmesgpt-legacy.toml"),
        ] {
            let preset: toml::Table = toml::from_str(text).unwrap();
            for stage in preset["stage"].as_array().unwrap() {
                let mut action = stage["do"].as_table().unwrap().clone();
                let name = action.remove("named").unwrap();
                let named = ACTIONS.iter().find(|a| name.as_str() == Some(a.name));
                let named = named.unwrap();
                let is_legacy_spill = stage["id"].as_str() == Some("refuse");
                for number in named.numbers {
                    let is_given = action.remove(*number).is_some();
                    let is_storage = ["storage", "bash"].contains(number);
                    assert!(is_given || is_legacy_spill && is_storage, "{number}");
                }
                assert!((named.make)(&action).is_ok(), "{action:?}");
            }
        }
    }
}
