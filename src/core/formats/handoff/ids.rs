//! New ids, the same for the same session, so that a written file can be compared.

use crate::session::Session;

/// A source of ids that are unique within a session. Two sessions with the same name and the same first 4 KB get the same
/// ids of messages; the ids of the sessions themselves are random.
#[derive(Clone, Debug)]
pub(in crate::formats) struct HandoffIds {
    state: u64,
}

impl HandoffIds {
    /// Creates the ids of a session.
    pub(in crate::formats) fn new(session: &Session) -> Self {
        // FNV-1a, see <http://www.isthe.com/chongo/tech/comp/fnv/>.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let texts = session.parts.iter().take(8).map(|part| part.body.text());
        let bytes = texts.flat_map(str::bytes).take(4096);
        Self { state: session.source.name.bytes().chain(bytes).fold(0xcbf2_9ce4_8422_2325, add) }
    }

    /// Returns a UUID (version 4).
    pub(in crate::formats) fn uuid(&mut self) -> String {
        let (high, low) = (self.number(), self.number());
        let bytes = u128::from(high) << 64 | u128::from(low);
        crate::formats::resume::uuid(bytes.to_be_bytes(), 4)
    }

    /// Returns eight hexadecimal digits that differ from earlier ones.
    pub(in crate::formats) fn short(&mut self, is_used: impl Fn(&str) -> bool) -> String {
        loop {
            let id = format!("{:08x}", self.number() >> 32);
            if !is_used(&id) {
                return id;
            }
        }
    }

    /// Returns the next number of `SplitMix64`, see <https://prng.di.unimi.it/splitmix64.c>.
    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
