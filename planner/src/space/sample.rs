//! Seeded draws that are the same on every machine.

use std::collections::BTreeSet;

use super::count::Counter;
use super::error::SpaceError;
use super::types::{Assignment, Space};

/// `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number below `bound`, which must not be 0 (then it is 0).
    pub fn below(&mut self, bound: u128) -> u128 {
        if bound <= 1 {
            return 0;
        }
        // Bits beyond the bound's own are cut off, so that fewer than half of the draws are thrown away.
        let mask = u128::MAX >> (bound - 1).leading_zeros();
        loop {
            let drawn = ((u128::from(self.next_u64()) << 64) | u128::from(self.next_u64())) & mask;
            if drawn < bound {
                return drawn;
            }
        }
    }
}

/// Plans drawn from a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Distinct and legal, in the order in which they were drawn.
    pub assignments: Vec<Assignment>,
    /// The space holds no more than was asked for: these are all of its plans, in order.
    pub whole: bool,
}

impl Space {
    /// Draws `n` distinct plans uniformly. More draws with the same seed begin with the same plans, unless they take
    /// the whole space.
    pub fn sample(&self, seed: u64, n: u64) -> Result<Sample, SpaceError> {
        let mut counter = Counter::fast(self)?;
        let total = counter.total()?;
        if u128::from(n) >= total {
            return Ok(Sample {
                assignments: self.walk()?.collect(),
                whole: true,
            });
        }
        let mut random = SplitMix64::new(seed);
        let mut drawn = BTreeSet::new();
        let mut assignments = Vec::new();
        while (assignments.len() as u64) < n {
            let index = random.below(total);
            if drawn.insert(index) {
                assignments.push(counter.pick(index)?);
            }
        }
        Ok(Sample {
            assignments,
            whole: false,
        })
    }
}
