//! Files of settings: presets, configurations of real systems, and prices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::presets::native::import;
use plimsoll::presets::{self, prices::Prices};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match presets::parse(text) {
        Ok(policy) => {
            let values = policy.defaults();
            for knob in &policy.knobs {
                let value = values.get(&knob.name).expect("every setting has a default");
                assert!((knob.range[0]..=knob.range[1]).contains(&value));
            }
        }
        // Not a preset: try the two other kinds of files.
        Err(_) if Prices::with_own(text).is_ok() => {}
        Err(_) => {
            if let Ok(imported) = import(text) {
                let toml = imported.to_toml().expect("a bundled preset");
                presets::parse(&toml).expect("what is written can be read");
            }
        }
    }
});
