//! Rules of thumb: estimates from the length alone, as many systems use for their triggers.

use super::Counter;

pub(super) const CHARS_4: Counter = Counter {
    name: "chars/4",
    help: "A quarter of the characters, rounded up. The most common estimate; low for code, far too low for CJK.",
    is_exact: false,
    count: |text| divided(text.chars().count(), 4),
};

pub(super) const BYTES_4: Counter = Counter {
    name: "bytes/4",
    help: "A quarter of the UTF-8 bytes, rounded up. Equals chars/4 for ASCII; closer for CJK.",
    is_exact: false,
    count: |text| divided(text.len(), 4),
};

pub(super) const CHARS_3: Counter = Counter {
    name: "chars/3",
    help: "A third of the characters, rounded up. A cautious estimate for code and JSON.",
    is_exact: false,
    count: |text| divided(text.chars().count(), 3),
};

fn divided(length: usize, per_token: usize) -> u32 {
    u32::try_from(length.div_ceil(per_token)).unwrap_or(u32::MAX)
}
