//! Files of settings: presets, configurations of real systems, prices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::presets::native::import;
use plimsoll::presets::{self, prices::Prices};

fuzz_target!(|text: &str| {
    if let Ok(policy) = presets::parse(text) {
        let values = policy.defaults();
        for knob in &policy.knobs {
            let value = values.get(&knob.name).expect("every knob has a default");
            assert!((knob.range[0]..=knob.range[1]).contains(&value));
        }
    }
    if let Ok(imported) = import(text) {
        let toml = imported.to_toml().expect("a bundled preset");
        presets::parse(&toml).expect("what is written can be read");
    }
    let _ = Prices::with_own(text);
});
