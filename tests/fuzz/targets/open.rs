//! Opening a file: decompression, detection, reading, counting and context windows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::exec::{LoadOptions, load_stream};
use plimsoll::progress::Progress;
use plimsoll_fuzz::counter;

fuzz_target!(|bytes: &[u8]| {
    let options = LoadOptions {
        counter: counter(),
        window: None,
        conversation: 0,
    };
    if let Err(refused) = load_stream("fuzz", bytes, &options, &Progress::default()) {
        assert!(refused.to_string().len() < 2_000, "{refused}");
    }
});
