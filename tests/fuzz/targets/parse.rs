//! Every parser, whether the file is of its format or not: the first byte chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::formats::FORMATS;
use plimsoll::progress::Progress;
use plimsoll_fuzz::{check, input};

fuzz_target!(|bytes: &[u8]| {
    if let Some((which, bytes)) = bytes.split_first() {
        let format = &FORMATS[usize::from(*which) % FORMATS.len()];
        check(&(format.parse)(&input(bytes), &Progress::default()));
    }
});
