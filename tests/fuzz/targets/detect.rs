//! Detection by every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::formats::{FORMATS, Probe, check_start};
use plimsoll::progress::Progress;

fuzz_target!(|bytes: &[u8]| {
    let _ = check_start(bytes);
    let probe = Probe::new(&bytes.to_vec().into(), 400, &Progress::default())
        .expect("the progress is not cancelled");
    for format in FORMATS {
        let _ = (format.detect)(&probe);
    }
    assert!(probe.looks_like().len() < 1_000);
});
