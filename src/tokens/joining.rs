//! Joins the bytes of a piece to tokens as a vocabulary's rule has it: of all neighbors that make a token together those
//! first whose token comes first in the vocabulary, from left to right.

use super::ranks::{NONE, Ranks};

/// Bytes of the longest pieces that are joined here. Each step looks at the whole piece, so that longer ones would take
/// more than linear time.
pub(super) const LONGEST: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 10;
/// Of neighbors that make no token.
const NEVER: i32 = i32::MAX;
/// Behind a piece so much can be read.
const MARGIN: usize = 16;

/// What is known of a piece while it is joined; kept from piece to piece for the room it takes.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// Its bytes, and zeros.
    bytes: Vec<u8>,
    /// By the place where a token begins: what it makes with the next, that with the lowest number first. The rank, then
    /// the place, so that the lowest is the first of equals. [`NEVER`] where no token begins.
    steps: Vec<i32>,
    /// By the place where a token begins: where it ends.
    ends: Vec<u16>,
    /// By the place where a token begins: where the one before it does.
    before: Vec<u16>,
}

impl Joining {
    /// The tokens of a piece of up to [`LONGEST`] bytes.
    pub(super) fn count(&mut self, ranks: &Ranks, piece: &[u8]) -> usize {
        let len = piece.len();
        self.begin(ranks, piece);
        let mut tokens = len;
        loop {
            let step = self
                .steps
                .iter()
                .fold(NEVER, |first, step| first.min(*step));
            if step == NEVER {
                return tokens;
            }
            let at = step as usize % LONGEST;
            let next = usize::from(self.ends[at]);
            let end = usize::from(self.ends[next]);
            self.steps[next] = NEVER;
            self.ends[at] = end as u16;
            tokens -= 1;
            self.steps[at] = NEVER;
            if end < len {
                self.before[end] = at as u16;
                self.steps[at] = self.step(ranks, at, usize::from(self.ends[end]));
            }
            if at > 0 {
                let before = usize::from(self.before[at]);
                self.steps[before] = self.step(ranks, before, end);
            }
        }
    }

    /// Every byte is a token.
    fn begin(&mut self, ranks: &Ranks, piece: &[u8]) {
        let len = piece.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(piece);
        self.bytes.resize(len + MARGIN, 0);
        self.ends.clear();
        self.ends.extend(1..=len as u16);
        self.before.clear();
        self.before
            .extend((0..len as u16).map(|at| at.wrapping_sub(1)));
        self.steps.clear();
        let pairs = piece.windows(2).enumerate();
        self.steps
            .extend(pairs.map(|(at, pair)| step(ranks.of_pair(pair[0], pair[1]), at)));
        self.steps.push(NEVER);
    }

    /// The step that joins what stands between these places.
    fn step(&self, ranks: &Ranks, from: usize, to: usize) -> i32 {
        step(ranks.rank_within(&self.bytes, from, to), from)
    }
}

fn step(rank: u32, at: usize) -> i32 {
    match rank {
        NONE => NEVER,
        rank => (rank << PLACE_BITS | at as u32).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::Rule;
    use super::super::vocabulary::{self, library};
    use super::*;
    use proptest::prelude::*;

    fn agree(piece: &[u8]) {
        for rule in Rule::ALL {
            let counted = Joining::default().count(vocabulary::ranks(rule), piece);
            assert_eq!(
                counted,
                library(rule).bpe.count(piece),
                "{rule:?} {piece:?}"
            );
        }
    }

    #[test]
    fn a_rank_and_a_place_fit_a_step() {
        for rule in Rule::ALL {
            let most = vocabulary::tokens(rule).count() << PLACE_BITS;
            assert!(i32::try_from(most).is_ok_and(|most| most < NEVER));
        }
    }

    #[test]
    fn all_tokens_and_what_they_make_with_others_count_as_the_library_counts() {
        for rule in Rule::ALL {
            let all: Vec<_> = vocabulary::tokens(rule).collect();
            for (rank, one) in all.iter().enumerate().step_by(5) {
                let other = all[rank * 31 % all.len()];
                agree(&[one, other].concat());
                agree(&[other, one, &other[1..], other].concat());
            }
        }
    }

    #[test]
    fn runs_count_as_the_library_counts() {
        for unit in ["a", " ", "=", "漢", "ab", "\t", "é"] {
            for times in [20, 21, 63, 64, 65, 128, 129, LONGEST / unit.len()] {
                agree(unit.repeat(times).as_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn odd_pieces_count_as_the_library_counts(
            bytes in proptest::collection::vec(any::<u8>(), 1..300),
            letters in "[ ]?[a-zA-Z]{1,99}",
            few in "[aAbB ]{1,99}",
            other in "[一-龥ぁ-んァ-ヶа-яα-ω가-힣]{1,99}",
        ) {
            agree(&bytes);
            agree(letters.as_bytes());
            agree(few.as_bytes());
            agree(other.as_bytes());
        }
    }
}
