//! Rules of thumb: counts by length alone, as many systems estimate for their own triggers.

use super::Counter;

pub(super) const CHARS_4: Counter = Counter {
    name: "chars/4",
    help: "A quarter of the characters, rounded up: the most common estimate; low for code, much too low for CJK.",
    is_exact: false,
    count: |text| shorten(text.chars().count(), 4),
};

pub(super) const BYTES_4: Counter = Counter {
    name: "bytes/4",
    help: "A quarter of the UTF-8 bytes, rounded up: like chars/4 for ASCII, nearer for CJK.",
    is_exact: false,
    count: |text| shorten(text.len(), 4),
};

pub(super) const CHARS_3: Counter = Counter {
    name: "chars/3",
    help: "A third of the characters, rounded up: a cautious estimate for code and JSON.",
    is_exact: false,
    count: |text| shorten(text.chars().count(), 3),
};

fn shorten(length: usize, per_token: usize) -> u32 {
    u32::try_from(length.div_ceil(per_token)).unwrap_or(u32::MAX)
}
