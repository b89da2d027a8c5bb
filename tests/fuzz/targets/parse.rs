//! Every parser with files of any format. The first byte selects the parser and whether the file is compressed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::formats::FORMATS;
use plimsoll::progress::Progress;
use plimsoll_fuzz::{check, input, packed};

fuzz_target!(|bytes: &[u8]| {
    if let Some((which, bytes)) = bytes.split_first() {
        let format = &FORMATS[usize::from(*which) % FORMATS.len()];
        let input = if *which < 128 { input } else { packed };
        check(&format.read(&input(bytes), &Progress::default()));
    }
});
