//! A small deterministic generator of random numbers.

/// `SplitMix64` (<https://prng.di.unimi.it/splitmix64.c>): the same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Generator(u64);

impl Generator {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns an index below `end`; 0 if `end` is 0.
    pub fn index(&mut self, end: usize) -> usize {
        ((u128::from(self.number()) * end as u128) >> 64) as usize
    }

    /// Returns a number from 0 up to and excluding 1.
    pub fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = self.index(end + 1);
            items.swap(end, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        let mut generator = Generator::new(1_234_567);
        let numbers: Vec<_> = (0..3).map(|_| generator.number()).collect();
        let reference =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, reference);
    }

    #[test]
    fn indices_and_shares_are_in_range_and_even() {
        let mut generator = Generator::new(1);
        let mut counts = [0_usize; 5];
        for _ in 0..50_000 {
            counts[generator.index(5)] += 1;
            assert!((0.0..1.0).contains(&generator.share()));
        }
        assert!(counts.iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
        assert_eq!(generator.index(0), 0);
    }
}
