//! A small seeded generator whose sequence is part of the contract: a report repeats bit for bit.

use std::num::NonZeroU64;

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014; constants of Vigna's
/// public-domain C version, 2015). 64 bits of state, period 2^64. For resampling and shuffling, not for secrets.
///
/// It is written here rather than taken from a library because its output must never change under a seed that stands in
/// a frozen cohort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that starts at `seed`; every seed is good.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 uniform bits. O(1).
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform integer in `0..n`, without modulo bias: draws above the largest multiple of `n` are rejected, fewer
    /// than one in two on average even for the worst `n`. O(1) expected.
    pub fn below(&mut self, n: NonZeroU64) -> u64 {
        // 2^64 mod n, computed without 2^64; that many draws at the top would favour small results.
        let surplus = (u64::MAX % n + 1) % n;
        loop {
            let draw = self.next_u64();
            if draw <= u64::MAX - surplus {
                return draw % n;
            }
        }
    }

    /// Permutes `items` uniformly (Fisher and Yates 1938, in Durstenfeld's 1964 form). O(n).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            if let Some(other) = self.index(last + 1) {
                items.swap(last, other);
            }
        }
    }

    /// An index below `len` (at least 1) from the high bits of a product (Lemire 2019, without the rejection): several
    /// times as fast as [`Self::index`], with a bias below `len / 2^64`. For resampling only.
    #[expect(clippy::cast_possible_truncation, reason = "below `len`, which is a usize")]
    pub(crate) fn scaled(&mut self, len: usize) -> usize {
        ((u128::from(self.next_u64()) * len as u128) >> 64) as usize
    }

    /// A draw from the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        // In (0, 1]: the logarithm of 0 is no number.
        let mut uniform = || ((self.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let (u, v) = (uniform(), uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A uniform index into a list of `len` items; `None` if the list is empty. O(1) expected.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the draw is below `len`, which is a usize"
    )]
    pub fn index(&mut self, len: usize) -> Option<usize> {
        NonZeroU64::new(len as u64).map(|n| self.below(n) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values_of_the_published_generator() {
        let mut zero = SplitMix64::new(0);
        assert_eq!(
            [zero.next_u64(), zero.next_u64(), zero.next_u64()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
        let mut other = SplitMix64::new(1_234_567);
        assert_eq!(
            [
                other.next_u64(),
                other.next_u64(),
                other.next_u64(),
                other.next_u64(),
                other.next_u64()
            ],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn below_rejects_the_surplus_and_keeps_powers_of_two() {
        // For n = 2^63 + 1 every draw from n on is surplus: the accepted ones are those below n, unchanged.
        let n = (1_u64 << 63) + 1;
        let mut raw = SplitMix64::new(7);
        let accepted: Vec<u64> = std::iter::repeat_with(|| raw.next_u64())
            .filter(|draw| *draw < n)
            .take(20)
            .collect();
        let mut rng = SplitMix64::new(7);
        let drawn: Vec<u64> = (0..20).map(|_| rng.below(NonZeroU64::new(n).unwrap())).collect();
        assert_eq!(drawn, accepted);

        let mut raw = SplitMix64::new(9);
        let mut rng = SplitMix64::new(9);
        for _ in 0..50 {
            assert_eq!(rng.below(NonZeroU64::new(16).unwrap()), raw.next_u64() & 15);
        }
        assert_eq!(rng.below(NonZeroU64::MIN), 0);
        assert_eq!(rng.index(0), None);
    }

    #[test]
    fn below_is_even_over_a_small_range() {
        let mut rng = SplitMix64::new(3);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[rng.index(6).unwrap()] += 1;
        }
        // Standard deviation of a count is 91; five of them leave one false alarm in millions, and the seed is fixed.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 460), "{counts:?}");
    }

    #[test]
    fn shuffle_reaches_every_order_about_equally() {
        let mut rng = SplitMix64::new(11);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [1, 2, 3];
            rng.shuffle(&mut items);
            *seen.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| count.abs_diff(1_000) < 150), "{seen:?}");
    }
}
